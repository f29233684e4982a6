"""A persona in parts, in the first person: facts, wants, refusals, habits.

The rules stand in the language's data. A sentence that they do not fit is left as it is, or quoted
as what others say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from evennia_ai.offline.languages import ENGLISH, Language, language_of, read
from evennia_ai.offline.words import capitals, ended, sentences
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
    """Return the parts of a persona, without its secrets."""
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
    """Return the language whose rules read a persona: its own if it has rules, else English."""
    return read(code) if "voice" in read(code).data else read(ENGLISH)


def habits_of(manner: str, language: Language) -> tuple[str, ...]:
    """Return the parts of the manner that can be shown: "wipes mugs while listening"."""
    parts = re.split(r"[,;.]\s++(?:and )?|(?<!\s)\s++(?:and|und)\s+", manner)
    shown = (part.strip(" .") for part in parts)
    return tuple(part for part in shown if language.pattern("voice", "habit").match(part))


def spoken(clause: str, name: str, language: Language) -> str:
    """Return a clause of the persona as the character says it."""
    clause = language.pattern("voice", "that").sub("", clause.strip())
    if language.pattern("voice", "addressed").search(clause):
        return ended(capitals(language.rewritten("you", clause)))
    own = first_person(clause, name, language)
    if not own and language.pattern("voice", "possessive").match(clause):
        own = own_possessives(clause, language)
    if not own and language.pattern("voice", "no_verb").match(clause):
        own = language.data["forms"]["noun"].format(clause[:1].lower() + clause[1:])
    return ended(capitals(own or clause))


def first_person(sentence: str, name: str, language: Language) -> str:
    """Return "Mira keeps the inn." as "I keep the inn."; "" if it is not about the character."""
    rules = language.data.get("voice", {})
    subject, adverb = rules.get("subject", "(?!)"), rules.get("adverb", "(?!)")
    found = re.match(rf"(?:{subject}|{names_of(name)})\b,? ({adverb})?(\w+)", sentence, re.I)
    if not found:
        return ""

    def in_turn(again: re.Match[str]) -> str:
        return f"{again['joint']} {again['adverb']}{own_verb(again['verb'], language)}"

    rest = language.pattern("voice", "verb_again").sub(in_turn, sentence[found.end() :])
    verb = f"{found[1] or ''}{own_verb(found[2], language)}"
    return f"{language.data['forms']['i']} {verb}{own_possessives(rest, language)}"


def names_of(name: str) -> str:
    """Return a pattern of a name and its words."""
    return "|".join(re.escape(part) for part in {name, *name.split()} if len(part) > 1) or "(?!)"


def own_verb(verb: str, language: Language) -> str:
    """Return a third-person verb in the first person: "carries" gives "carry"."""
    return language.rewritten("verb", verb.lower(), most=1)


def own_possessives(text: str, language: Language) -> str:
    """Return a text about the character with its "his" or "her" as "my"."""
    if not language.pattern("voice", "others").search(text):
        text = language.pattern("voice", "verb_within").sub(
            lambda found: f"{language.data['forms']['i']} {own_verb(found['verb'], language)}",
            language.rewritten("own_alone", text),
        )
    return language.rewritten("own", text)


def wanted(entry: str, language: Language) -> str:
    """Return a goal as a sentence: "to find him" gives "I want to find him."."""
    text = own_possessives(language.pattern("voice", "wish").sub("", entry.strip()), language)
    noun = language.pattern("voice", "noun").match(text)
    form = language.data["forms"]["want_noun" if noun else "want_verb"]
    return ended(capitals(language.rewritten("you", form.format(text))))


def refused(entry: str, language: Language) -> str:
    """Return a refusal as a sentence: "steals" gives "I never steal."."""
    text = language.pattern("voice", "refusal").sub("", entry.strip(), count=1)
    verb, _, rest = own_possessives(text, language).partition(" ")
    form = language.data["forms"]["never"].format(verb=own_verb(verb, language), rest=rest)
    return ended(language.rewritten("you", form).strip())


def named_as_self(text: str, name: str, language: Language) -> str:
    """Return a lore sentence that names the character, in the first person if that is sure.

    "Bess's husband drowned" gives "My husband drowned".
    """
    past = language.data.get("voice", {}).get("past")
    if past is None:
        return text
    own = names_of(name)
    turned = re.sub(rf"\b(?:{own})['’]s\b", "my", text)
    told = re.compile(rf"\b(?:{own}) (?={past})(?P<rest>[^.;]*)")
    return capitals(told.sub(lambda m: "I " + own_possessives(m["rest"], language), turned))
