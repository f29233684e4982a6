"""Choice of the players' sentences to journal if the model chooses none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evennia_ai.messages import Audience
from evennia_ai.policy.facts.check import (
    DEBT,
    IDENTITY,
    ITEM,
    PREFERENCE,
    PROMISE,
    RELATION,
    SECRET,
    STATEMENT,
    TASK,
    WEIGHTS,
    Fact,
    missing_facts,
)
from evennia_ai.policy.facts.terms import NAME, NUMBER, THING, TIME

ALWAYS = frozenset({DEBT, PROMISE, SECRET, RELATION})
OF_ONESELF = frozenset({IDENTITY, PREFERENCE, TASK, ITEM, NAME, NUMBER, TIME, STATEMENT})
ABOUT_ONESELF = frozenset({IDENTITY, PREFERENCE, RELATION})
EXACT = frozenset({NAME, NUMBER, TIME})
LONGEST = 200  # characters

ONESELF = re.compile(
    r"\b(?:i|i'(?:m|d|ll|ve)|my|mine|me|we|we'(?:re|d|ll|ve)|our|us|let's|ich|mein(?:e[mnrs]?)?|mir"
    r"|mich|wir|uns(?:ere?)?)\b|^(?:the )?name(?:'s| is)\b",
    re.IGNORECASE,
)
LASTING_WISH = re.compile(
    r"\b(?:i|we)(?:'d| would)? (?:really |always |also )*(?:want|wish|hope|dream|plan|mean|need"
    r"|like|love|hate|fear|dislike|prefer|loathe|miss|can(?:'t|not) (?:abide|stand|bear|stomach))\b"
    r"|\bich (?:will|möchte|hoffe|wünsche|brauche|hasse|liebe)\b",
    re.IGNORECASE,
)
# An errand for now: a request, or an order at a bar.
REQUEST = re.compile(
    r"^\W*(?:(?:please|now|so|well|oh|und|bitte),? )*(?:give|gib|bring|show|tell|take|come|go|wait"
    r"|look|sell|pass|hand|help|stop|fetch|let me|ignore|forget|print|repeat|pretend|say|lass mich"
    r"|i (?:want|need) you to|sag (?:mir|uns)|erzähl|komm|geh|zeig|hol|warte)\b",
    re.IGNORECASE,
)
ORDER = re.compile(
    r"\b(?:(?:i'll|i will) (?:have|take)|(?:i'd|i would) like (?:an?|some|the|another)"
    r"|ich nehme|ich hätte gern)\b",
    re.IGNORECASE,
)
MOOD = re.compile(
    r"\b(?:i'm|i am|we're|ich bin)(?: \w+){0,2} (?:tired|hungry|thirsty|sorry|glad|fine|well|cold"
    r"|wet|ready|busy|late|happy|sure|here|done|lost|müde|hungrig|durstig|fertig|da|hier)\W*$",
    re.IGNORECASE,
)
PASSING = (REQUEST, ORDER, MOOD)
# Words for machines: a call, a tag, a variable.
MACHINE = re.compile(r"[{}<>`\[\]|\\]|\w_\w|://")


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence to journal: its main fact, and the kinds of all its facts."""

    fact: Fact
    kinds: frozenset[str]

    @property
    def text(self) -> str:
        """Return the sentence with its speaker, whose claim it stays."""
        return f"{self.fact.speaker}: {self.fact.sentence}"

    @property
    def is_about_speaker(self) -> bool:
        """Return True if it says who the speaker is, what they like, or who is close to them."""
        return not self.kinds.isdisjoint(ABOUT_ONESELF) and bool(ONESELF.search(plain(self)))


def choose_notes(facts: Sequence[Fact], known: Iterable[str], most: int) -> list[Note]:
    """Return the ``most`` most important sentences that no ``known`` text holds, oldest first.

    Questions, requests, moods and the character's own words are never chosen.
    """
    groups: dict[tuple[str, str, Audience | None], list[Fact]] = {}
    for fact in facts:
        if fact.dbref and fact.weight >= WEIGHTS[fact.kind]:
            groups.setdefault((fact.speaker, fact.sentence, fact.audience), []).append(fact)
    texts = list(known)
    notes = [Note(group[0], frozenset(f.kind for f in group)) for group in groups.values()]
    new = [note for note in notes if is_worth_noting(note) and missing_facts([note.fact], texts)]
    best = sorted(new, key=lambda note: (-note.fact.weight, -note.fact.seq))[:most]
    return sorted(best, key=lambda note: note.fact.seq)


def is_worth_noting(note: Note) -> bool:
    """Return True for a statement that matters beyond the conversation.

    These are debts, promises, secrets and relations, lasting facts about the speaker, and names
    with a number, a time or an occupation.
    """
    words = plain(note)
    if len(words) > LONGEST or MACHINE.search(words):
        return False
    if not note.kinds.isdisjoint(ALWAYS):
        return True
    if note.fact.attribute == "name":
        return True
    if any(pattern.search(words) for pattern in PASSING):
        return False
    if ONESELF.search(words):
        wish = LASTING_WISH.search(words) and THING in note.kinds
        return bool(wish) or not note.kinds.isdisjoint(OF_ONESELF)
    return len(note.kinds & EXACT) > 1 or note.kinds >= {NAME, IDENTITY}


def plain(note: Note) -> str:
    """Return the sentence with straight apostrophes."""
    return note.fact.sentence.replace("’", "'")
