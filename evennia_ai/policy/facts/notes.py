"""Choice of the players' sentences to journal if the model chooses none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from evennia_ai.policy.facts import cues
from evennia_ai.policy.facts.check import Fact, missing_facts, source_label
from evennia_ai.policy.facts.terms import NAME, NUMBER, TIME, normal_words

ALWAYS = frozenset({cues.DEBT, cues.PROMISE, cues.SECRET, cues.RELATION})
EXACT = frozenset({NAME, NUMBER, TIME})
OF_ONESELF = EXACT | {cues.IDENTITY, cues.PREFERENCE, cues.TASK, cues.WISH, cues.ITEM}
ABOUT_ONESELF = frozenset({cues.IDENTITY, cues.PREFERENCE, cues.RELATION})
LONGEST = 200  # characters

ONESELF = re.compile(
    r"\b(?:i|i'(?:m|d|ll|ve)|my|mine|me|we|we'(?:re|d|ll|ve)|our|us|let's|ich|mein(?:e[mnrs]?)?|mir"
    r"|mich|wir|uns(?:ere?)?|je|j'\w+|m'\w+|moi|mon|ma|mes|nous|notre|nos|yo|mi|mis|mí|nuestr[ao]s?"
    r"|nací|vivo|debo|odio|soy|tengo|busco|я|мне|меня|мной|мо[йяюеёи]\w*|мы|нас|нам|наш\w*)\b"
    r"|^(?:the )?name(?:'s| is)\b",
    re.IGNORECASE,
)
# An errand for now: a request, also after a name ("Mira, give me ..."), or an order at a bar.
REQUEST = re.compile(
    r"^\W*+(?:[^\W\d_]++(?: [^\W\d_]++)?,\s++"
    r"|(?!(?:i|you|he|she|we|they)\b)[^\W\d_]++\s++(?=\w+ (?:me|us)\b))?"
    r"(?:(?:please|now|so|well|oh|und|bitte|s'il (?:te|vous) plaît|por favor|пожалуйста),? )*"
    r"(?:give|gib|bring|show|tell|take|come|go|wait|look|sell|pass|hand|help|stop|fetch|let me|wave"
    r"|ignore|forget|print|repeat|pretend|say|follow|dance|sing|sit|drop|get|put|open|close|read"
    r"|lass mich|i (?:want|need) you to|sag (?:mir|uns)|erzähl|komm|geh|zeig|hol|warte|wink\w*"
    r"|donne|dis-moi|montre|apporte|viens|attends|raconte|dame|dime|muéstra\w*|trae\w*|ven|espera"
    r"|cuénta\w*|дай\w*|скажи\w*|покажи\w*|принеси\w*|иди\w*|подожди\w*|расскажи\w*|помаши\w*)\b",
    re.IGNORECASE,
)
ORDER = re.compile(
    r"\b(?:(?:i'll|i will) (?:have|take)|(?:i'd|i would) like (?:an?|some|the|another)"
    r"|ich nehme|ich hätte gern|je (?:prends|voudrais une?)|quisiera una?|мне,? пожалуйста)\b",
    re.IGNORECASE,
)
MOOD = re.compile(
    r"\b(?:i'm|i am|we're|ich bin|je suis|estoy|я)(?: \w+){0,2} (?:tired|hungry|thirsty|sorry|glad"
    r"|fine|well|cold|wet|ready|busy|late|happy|sure|here|done|lost|müde|hungrig|durstig|fertig|da"
    r"|hier|fatiguée?|là|cansad[ao]|устала?)\W*$|^(?:tengo hambre|j'ai faim)",
    re.IGNORECASE,
)
PASSING = (REQUEST, ORDER, MOOD)
# Words for machines: a call, a tag, a variable.
MACHINE = re.compile(r"[{}<>`\[\]|\\]|\w_\w|://")


def choose_notes(facts: Iterable[Fact], known: Iterable[str], most: int) -> list[Fact]:
    """Return the ``most`` most important sentences that no ``known`` text holds, oldest first."""
    # A text must name the speaker, too: two people may owe the same. Questions, requests, moods and
    # the character's own words are never chosen.
    worth = (fact for fact in facts if fact.dbref and not fact.asked and is_worth_noting(fact))
    new = missing_facts(map(with_speaker, worth), known)
    best = sorted(new, key=lambda fact: (-fact.weight, -fact.seq))[:most]
    return sorted(best, key=lambda fact: fact.seq)


def with_speaker(fact: Fact) -> Fact:
    """Return a fact that only a text with its speaker's name holds."""
    return replace(fact, exact=fact.exact.union(normal_words(fact.speaker)))


def note_of(fact: Fact) -> str:
    """Return a sentence as an event, or with its speaker, whose claim or performance it stays."""
    return f"{source_label(fact.speaker, fact.nature)}{fact.sentence}"


def is_about_speaker(fact: Fact) -> bool:
    """Return True if it says who the speaker is, what they like, or who is close to them."""
    return not fact.kinds.isdisjoint(ABOUT_ONESELF) and bool(ONESELF.search(plain(fact)))


def is_worth_noting(fact: Fact) -> bool:
    """Return True for a statement that matters beyond the conversation."""
    # These are debts, promises, secrets and relations, lasting facts about the speaker, and names
    # with a number, a time or an occupation.
    words, kinds = plain(fact), fact.kinds
    if len(words) > LONGEST or MACHINE.search(words):
        return False
    if not kinds.isdisjoint(ALWAYS):
        return True
    if any(pattern.search(words) for pattern in PASSING):
        return False
    if ONESELF.search(words):
        return not kinds.isdisjoint(OF_ONESELF)
    return len(kinds & EXACT) > 1 or kinds >= {NAME, cues.IDENTITY}


def plain(fact: Fact) -> str:
    """Return the sentence with straight apostrophes."""
    return fact.sentence.replace("’", "'")
