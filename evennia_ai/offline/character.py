"""A persona in parts, in the first person: facts, wants, what it never does, habits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from evennia_ai.offline.languages import ENGLISH, GERMAN, language_of, read
from evennia_ai.offline.voice import (
    base_form,
    from_third_person,
    german_first_person,
    german_verb,
    own_possessives,
    to_first_person,
)
from evennia_ai.offline.words import capital, ended, sentences
from evennia_ai.policy.conversation.persona import Persona

CLAUSE = re.compile(r"[;:]\s+(?:and |but )?(?=(?:you|your)\b)|,\s+and (?=you (?!were\b|are\b))", re.I)  # fmt: skip
GOAL = re.compile(r"\b(?:I (?:\w+ )?(?:want|wish|hope|dream|long|seek|plan) |my (?:\w+ )?(?:goal|aim|wish|dream|hope|quest)s? (?:is|are)\b|mein (?:ziel|wunsch)\b|ich (?:will|möchte|wünsche|suche)\b)", re.I)  # fmt: skip
GUARDED = re.compile(r"\b(?:secret\w*|nobody (?:knows|must|may|shall|should)|no one (?:knows|must|may|should)|hide (?:it|this|the fact)|geheim\w*|niemand (?:weiß|darf))\b", re.I)  # fmt: skip
NEVER = re.compile(r"\bI (?:\w+ )?(?:never|refuse|won't|will not|do not|don't)\b|\bnie(?:mals)?\b", re.I)  # fmt: skip
ABOUT_TALK = re.compile(
    r"\b(?:you (?:\w+ )?(?:speak|talk|answer|reply)|your (?:speech|voice|sentences|answers|habits?|manner)|habits:|sentences? at|short words|you are (?:warm|slow to speak|terse|curt|polite))\b", re.I)  # fmt: skip
TERSE = re.compile(r"\b(?:few words|short words|terse|laconic|curt|clipped|taciturn|slow to speak|few and short|short sentences|wortkarg|knapp)\b", re.I)  # fmt: skip
NO_VERB = re.compile(r"^(?:an?|the|eine?|der|die)\s", re.I)
NOUNS_FIRST = frozenset("a an the my some peace no nothing revenge that news work help money gold rest food someone somebody one another less enough time quiet".split())  # fmt: skip
SHORT_CLAUSE = 5  # words


@dataclass(frozen=True)
class Character:
    """The parts of a persona, in the first person."""

    identity: str
    facts: tuple[str, ...]
    wants: tuple[str, ...]
    nevers: tuple[str, ...]
    guarded: tuple[str, ...]
    examples: tuple[str, ...]
    habits: tuple[str, ...]
    terse: bool
    language: str


@lru_cache(maxsize=512)
def read_character(persona: Persona, name: str) -> Character:
    """Return the parts of a persona."""
    language = language_of(" ".join((persona.text, persona.voice, *persona.knows))) or ENGLISH
    clauses = [part for sentence in sentences(persona.text) for part in split_clauses(sentence)]
    own = [spoken(c, name, language) for c in clauses if not ABOUT_TALK.search(c)]
    knows = [spoken(entry, name, language) for entry in persona.knows]
    every = [text for text in (*own, *knows) if text]
    guarded = [text for text in every if GUARDED.search(text)]
    wants = [text for text in every if GOAL.search(text) and text not in guarded]
    nevers = [text for text in own if NEVER.search(text) and text not in {*wants, *guarded}]
    facts = [text for text in every if text not in {*wants, *nevers, *guarded}]
    everything = f"{persona.text} {persona.voice} {persona.manner}"
    return Character(
        identity=facts[0] if facts and own and facts[0] in own else "",
        facts=tuple(facts),
        wants=(*wants, *(wanted(entry, name, language) for entry in persona.wants)),
        nevers=(*(refused(entry, language) for entry in persona.never), *nevers),
        guarded=tuple(guarded),
        examples=tuple(entry.strip("\"“”' ") for entry in persona.examples),
        habits=habits_of(persona.manner),
        terse=bool(TERSE.search(everything)),
        language=language,
    )


def split_clauses(sentence: str) -> list[str]:
    """Return a long sentence in parts that stand alone, a short one whole."""
    parts = [part.strip() for part in CLAUSE.split(sentence)]
    if any(len(part.split()) < SHORT_CLAUSE for part in parts):
        return [sentence]
    return [capital(part) for part in parts]


def spoken(clause: str, name: str, language: str) -> str:
    """Return a clause of the persona as the character says it."""
    clause = re.sub(r"^(?:that|you know that|dass)\s+(?=\S)", "", clause.strip(), flags=re.I)
    if language == GERMAN:
        verbs = read(GERMAN).data["verbs"]
        own = german_first_person(clause, name, verbs)
        return ended(capital(own or clause))
    if re.search(r"\byou", clause, re.I):
        return ended(to_first_person(clause))
    own = from_third_person(clause, name)
    if not own and re.match(r"(?:his|her|their)\b", clause, re.I):
        own = own_possessives(clause)
    if not own and NO_VERB.match(clause) and len(clause.split()) < 12 and not _has_verb(clause):
        own = f"I am {clause[:1].lower()}{clause[1:]}"
    return ended(capital(own or clause))


def _has_verb(clause: str) -> bool:
    return bool(re.search(r"\b(?:is|are|was|were|has|have|had|will|can|costs?|\w+(?:ed|es|ks|ts|ns|ps|ds))\b", clause))  # fmt: skip


def wanted(entry: str, name: str, language: str) -> str:
    """Return a goal as a sentence: "to find him" gives "I want to find him."."""
    text = entry.strip()
    first = text.split(" ", 1)[0]
    if language == GERMAN:
        noun = re.match(r"(?:eine?[nmrs]?|de[nmrs]|das|die|mein\w*|mehr|kein\w*)\b|[A-ZÄÖÜ]", text)
        return ended(f"Ich wünsche mir {text}" if noun else f"Ich will {text}")
    text = own_possessives(re.sub(r"^you (?:want|wish|hope) ", "", text, flags=re.I))
    if re.match(r"(?:I|you|your)\b", text):
        return ended(to_first_person(text))
    thing = first.lower() in NOUNS_FIRST or first.isdigit() or first.endswith("ing")
    thing = thing or first[:1].isupper() or text.split(" ", 2)[1:2] in ([], ["of"], ["and"])
    wish = first.lower() == "to" or thing or " " not in text.partition(",")[0]
    return ended(to_first_person(f"I want {'' if wish else 'to '}{text}"))


def refused(entry: str, language: str) -> str:
    """Return what it never does as a sentence: "steals" gives "I never steal."."""
    text = entry.strip()
    if language == GERMAN:
        verb, _, rest = text.partition(" ")
        rest = re.sub(r"\b(?:sein|ihr)(e|en|em|er|es)?\b", lambda m: f"mein{m[1] or ''}", rest)
        return ended(f"Ich {german_verb(verb, read(GERMAN).data['verbs'])} nie {rest}".strip())
    text = own_possessives(re.sub(r"^(?:you )?(?:never|to) ", "", text, flags=re.I))
    verb, _, rest = re.sub(r"^you ", "", text, flags=re.I).partition(" ")
    return ended(to_first_person(f"I never {base_form(verb)} {rest}".strip()))


def habits_of(manner: str) -> tuple[str, ...]:
    """Return the parts of the manner that can be shown: "wipes mugs while listening"."""
    parts = [part.strip(" .") for part in re.split(r"[,;.]\s++(?:and )?|(?<!\s)\s++(?:and|und)\s+", manner)]  # fmt: skip
    shown = [part for part in parts if re.match(r"[a-zäöü]{2,}(?:s|t)\b(?! (?:is|are|ist))", part)]
    quiet = re.compile(r"^(?:speaks|talks|answers|asks|says|never|always|is|has|does|was|knows|likes|hates|calls|tells|lets|judges|trusts|remembers|forgets|thinks|treats|not|ist|hat|spricht|redet|sagt)\b")  # fmt: skip
    return tuple(part for part in shown if not quiet.match(part) and len(part.split()) > 1)
