"""A persona in parts: facts, goals, what it never does, brevity."""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from evennia_ai.offline import grammar
from evennia_ai.offline.words import capital, ended, sentences, small
from evennia_ai.policy.conversation.persona import Persona

CLAUSE = re.compile(
    r"(?:[;:]|,)\s+(?:and |but |or |so )?(?=(?:you|your|there|under it all)\b)", re.I
)
LABEL = re.compile(
    r"^(?:your )?(?:habits?|manners?|goals?|ways?|secrets?|fears?|likes?)\s*:\s*", re.I
)
IDENTITY = re.compile(r"^(?:you are|you're|your name is)\s+(?!warm|slow|gentle|kind)", re.I)
GOAL = re.compile(
    r"\b(?:you (?:\w+ )?(?:want|wish|hope|need|dream|long|seek|plan|intend)|"
    r"you(?: are|'re) (?:looking|searching|hoping|trying)|"
    r"your (?:\w+ )?(?:goals?|aims?|wish|dream|purpose|hope|quest|task)s? (?:is|are))\b",
    re.I,
)
GUARDED = re.compile(
    r"\b(?:secretly|in secret|your (?:\w+ )?secret|(?:his|her|their) (?:\w+ )?secret|nobody (?:knows|must|may|shall|should)|"
    r"no one (?:knows|must|may|shall|should)|(?:never|not) (?:admit|let (?:on|anybody know))|keep (?:it|this) (?:secret|hidden)|"
    r"hide (?:it|this|the fact))\b",
    re.I,
)
OWN_GOAL = re.compile(r"I (?:\w+ )?(?:want|wish|hope|dream|long|seek|plan|intend)\b")
NEVER = re.compile(r"\byou (?:\w+ )?(?:never|refuse|won't|will not|do not|don't)\b", re.I)
ABOUT_TALK = re.compile(
    r"\b(?:you (?:\w+ )?(?:speak|talk|answer|tease|reply)|your (?:speech|voice|sentences|answers)|"
    r"sentences? at|short words|you are (?:warm|slow to speak|terse|curt|polite)|"
    r"habits?|you remember what|you ask|you often answer|let silence)\b",
    re.I,
)
TERSE = re.compile(r"\b(?:few words|short words|terse|laconic|curt|clipped|one sentence|gruff|taciturn|"
                   r"slow to speak|few and short|short sentences|brief)\b", re.I)  # fmt: skip
OF_YOU = re.compile(r"\byour?\b(?! (?:turn|lift|push|pull|must first))", re.I)
ARTICLES = frozenset(
    "to a an the more my some peace no nothing revenge that news work help money gold rest food someone somebody one another less enough time justice quiet".split()
)
NAME = r"(?>[A-Z][\w'’-]++(?: (?:of the |of )?[A-Z][\w'’-]++){0,5})"
WHO = re.compile(
    rf"(?<![\w'’-])(?P<n>{NAME})(?P<a>, [^,;]{{3,40}}+| [a-z][^,;]{{3,30}}+)?, who (?P<c>[^,;.]+)"
)
SEVERAL = re.compile(r"(?:both|all|each|are|were|have)\b")
WHOM = re.compile(
    rf"(?<![\w'’-])(?P<n>{NAME})(?:, [^,;]{{3,40}}+| [a-z][^,;]{{3,30}}+)?, (?P<p>of|with|to|from|for) whom (?P<c>[^,;.]+)"
)
APPOSED = re.compile(
    rf"(?<![\w'’-])(?P<n>{NAME}), (?P<a>(?:the|a|an|my|his|her) [^,;.]{{3,40}}+)(?=[,;.])"
)


@dataclass(frozen=True)
class Character:
    """The parts of a persona, in the first person."""

    identity: str
    facts: tuple[str, ...]
    asides: tuple[str, ...]
    wants: tuple[str, ...]
    nevers: tuple[str, ...]
    traits: tuple[str, ...]
    examples: tuple[str, ...]
    habits: tuple[str, ...]
    terse: bool


@lru_cache(maxsize=512)
def read_character(persona: Persona, name: str) -> Character:
    """Return the parts of a persona."""
    clauses = [part for sentence in sentences(persona.text) for part in split_clauses(sentence)]
    own = [(clause, spoken(clause, name)) for clause in clauses]
    wants = [
        said
        for clause, said in own
        if said and not GUARDED.search(clause) and (GOAL.search(clause) or OWN_GOAL.match(said))
    ]
    nevers = [said for clause, said in own if said and NEVER.search(clause)]
    traits = [said for clause, said in own if said and ABOUT_TALK.search(clause)]
    guarded = {said for clause, said in own if GUARDED.search(clause)}
    plain = [said for _, said in own if said and said not in {*traits, *nevers, *guarded}]
    identity = next((s for c, s in own if s and IDENTITY.search(c)), plain[0] if plain else "")
    knows = [known(entry, name) for entry in persona.knows]
    everything = f"{persona.text} {persona.voice} {persona.manner}"
    return Character(
        identity=identity,
        facts=(*plain, *knows),
        asides=tuple(part for text in (*plain, *knows) for part in asides(text, name)),
        wants=(*wants, *(wanted(entry) for entry in persona.wants)),
        nevers=(*(refused(entry) for entry in persona.never), *nevers),
        traits=tuple(traits),
        examples=tuple(entry.strip("\"“”' ") for entry in persona.examples),
        habits=habits_of(persona.manner),
        terse=bool(TERSE.search(everything)),
    )


def split_clauses(sentence: str) -> list[str]:
    """Return a long sentence in parts that stand alone, a short one whole."""
    sentence = LABEL.sub("", sentence)
    if re.match(r"(?:if|when|whoever|whenever|while|since|because|although)\b", sentence, re.I):
        return [sentence]
    parts = [part.strip() for part in CLAUSE.split(sentence)]
    joined: list[str] = []
    for part in parts:
        if joined and len(part.split()) < 5:
            joined[-1] += ", " + part
        else:
            joined.append(part)
    if GOAL.match(sentence) and len(sentence.split()) <= 25:
        return [sentence]
    return [LABEL.sub("", part) for part in joined if part]


def spoken(clause: str, name: str) -> str:
    """Return a clause of the persona as the character says it."""
    if re.search(r"\byou", clause, re.I):
        own = grammar.own_possessives(clause) if IDENTITY.search(clause) else clause
        return ended(grammar.to_first_person(own))
    if re.match(r"(?:his|her|their)\b", clause, re.I):
        return ended(capital(grammar.own_clauses(grammar.own_possessives(clause))))
    return ended(grammar.from_third_person(clause, name) or capital(clause))


def asides(sentence: str, name: str) -> list[str]:
    """Return what a sentence says of others, as sentences of their own.

    "Brannoc, the smith, who owes me money" gives "Brannoc is the smith.", "Brannoc owes me money.".
    """
    found = [f"{m['n']} is {m['a']}." for m in APPOSED.finditer(sentence)]
    found += [f"{m['n']} {m['c']}." for m in WHO.finditer(sentence) if not SEVERAL.match(m["c"])]
    found += [f"{capital(m['c'])} {m['p']} {m['n']}." for m in WHOM.finditer(sentence)]
    own = {"I", *name.split(), name}
    return [
        text
        for text in found
        if not any(text.startswith(f"{part} ") for part in own if part != "I")
    ]


def known(entry: str, name: str) -> str:
    """Return known facts as a sentence; a leading "he" or "her" is the character."""
    text = re.sub(r"^(?:that|you know that|you know)\s+(?=\S)", "", entry.strip(), flags=re.I)
    if re.match(r"(?:he|she|they)\b", text, re.I):
        return ended(grammar.from_third_person(text, name) or capital(text))
    if re.match(r"(?:his|her|their)\b", text, re.I):
        first, _, rest = text.partition(" ")
        return ended(f"{capital(grammar.own_possessives(first.lower()))} {rest}")
    return ended(grammar.to_first_person(text) if OF_YOU.search(text) else capital(text))


def wanted(entry: str) -> str:
    """Return a goal as a sentence: "to find him" gives "I want to find him."."""
    text = re.sub(r"^you (?:want|wish|hope) ", "", entry.strip(), flags=re.I)
    text = grammar.own_clauses(grammar.own_possessives(text))
    if re.match(r"(?:I|you|your)\b", text, re.I):
        return ended(grammar.to_first_person(text))
    joint = "" if is_noun_phrase(text) else "to "
    return ended(grammar.to_first_person(f"I want {joint}{small(text)}"))


def is_noun_phrase(text: str) -> bool:
    """Return True if a goal names a thing and not an action."""
    first, _, rest = text.partition(" ")
    if first.lower() in ARTICLES or first.isdigit() or first.endswith("ing"):
        return True
    return rest.split(" ", 1)[0].lower() in {"of", "and", ""} or first[:1].isupper()


def refused(entry: str) -> str:
    """Return what it never does as a sentence: "steals" gives "I never steal."."""
    text = re.sub(r"^(?:you )?(?:never|to) ", "", entry.strip(), flags=re.I)
    text = grammar.own_clauses(grammar.own_possessives(text))
    verb, _, rest = re.sub(r"^you ", "", text, flags=re.I).partition(" ")
    return ended(grammar.to_first_person(f"I never {grammar.base_form(verb)} {rest}".strip()))


def habits_of(manner: str) -> tuple[str, ...]:
    """Return the parts of the manner that can be shown: "wipes mugs while listening"."""
    parts = [part.strip(" .") for part in re.split(r"[,;.]\s++(?:and )?|(?<!\s)\s++and\s+", manner)]
    shown = [part for part in parts if re.match(r"[a-z]{2,}s\b(?! (?:is|are))", part)]
    quiet = re.compile(r"^(?:speaks|talks|answers|asks|says|never|always|is|has|does|was|knows|likes|hates"
                       r"|calls|tells|lets|judges|trusts|remembers|forgets|thinks|treats)\b")  # fmt: skip
    return tuple(part for part in shown if not quiet.match(part) and len(part.split()) > 1)
