"""A persona in parts, in the first person: facts, wants, what it never does, habits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from evennia_ai.offline.languages import ENGLISH, Language, language_of, read
from evennia_ai.offline.voice import refused, spoken, wanted
from evennia_ai.offline.words import sentences
from evennia_ai.policy.conversation.persona import Persona


@dataclass(frozen=True)
class Character:
    """The parts of a persona, in the first person."""

    identity: str
    facts: tuple[str, ...]
    wants: tuple[str, ...]
    nevers: tuple[str, ...]
    examples: tuple[str, ...]
    habits: tuple[str, ...]
    terse: bool
    language: str


@lru_cache(maxsize=512)
def read_character(persona: Persona, name: str) -> Character:
    """Return the parts of a persona; what it must keep secret is left out."""
    code = language_of(" ".join((persona.text, persona.voice, *persona.knows))) or ENGLISH
    language = rules_of(code)

    def having(key: str, texts: list[str]) -> list[str]:
        return [text for text in texts if language.pattern("voice", key).search(text)]

    clauses = sentences(persona.text)
    about_talk = having("about_talk", clauses)
    own = [spoken(c, name, language) for c in clauses if c not in about_talk]
    every = own + [spoken(entry, name, language) for entry in persona.knows]
    guarded = having("guarded", every)
    wants = [text for text in having("goal", every) if text not in guarded]
    nevers = [text for text in having("never", own) if text not in {*wants, *guarded}]
    facts = [text for text in every if text and text not in {*wants, *nevers, *guarded}]
    return Character(
        identity=facts[0] if facts and facts[0] in own else "",
        facts=tuple(facts),
        wants=(*wants, *(wanted(entry, language) for entry in persona.wants)),
        nevers=(*(refused(entry, language) for entry in persona.never), *nevers),
        examples=tuple(entry.strip("\"“”' ") for entry in persona.examples),
        habits=habits_of(persona.manner, language),
        terse=bool(having("terse", [persona.text, persona.voice, persona.manner])),
        language=code,
    )


def rules_of(code: str) -> Language:
    """Return the language whose rules read a persona: its own, if it has such rules."""
    return read(code) if "voice" in read(code).data else read(ENGLISH)


def habits_of(manner: str, language: Language) -> tuple[str, ...]:
    """Return the parts of the manner that can be shown: "wipes mugs while listening"."""
    parts = re.split(r"[,;.]\s++(?:and )?|(?<!\s)\s++(?:and|und)\s+", manner)
    shown = (part.strip(" .") for part in parts)
    return tuple(part for part in shown if language.pattern("voice", "habit").match(part))
