"""Patterns that read attributes from plain sentences, in English and German.

Few, and certain: questions, doubtful sentences and those about somebody else yield nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from evennia_ai.policy.facts.cues import is_question
from evennia_ai.policy.facts.sources import sentences_of

YES, NO = "yes", "no"
LONGEST_NAME, LONGEST_VALUE = 60, 120

PRONOUNS = frozenset("i she he they it you er sie es ich du".split())
DOUBT = re.compile(
    r"\b(?:not|never|n't|cannot|if|whether|may|might|maybe|perhaps|would|could|should|used to"
    r"|seems?|probably|nicht|nie|niemals|kein\w*|wenn|falls|ob|vielleicht|würde|könnte|sollte"
    r"|wahrscheinlich|angeblich)\b|n['’]t\b",
    re.IGNORECASE,
)
ARTICLE = r"(?:an? |the |some |eine?[nmrs]? |der |die |das |den |dem )?"
AMOUNT = r"\d[\d.,']*(?: [\w-]+){0,2}"
COUNTED = (
    rf"(?:{AMOUNT}|(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty"
    r"|fifty|a hundred|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|zwanzig)"
    r"(?: [\w-]+){1,2})"
)

# Attribute and pattern; the pattern begins with the verb. An attribute with `{thing}` may hold for
# many things: its value is yes or no, and "-" before it means no.
SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (attribute, re.compile(rf"^(?:still |now |also |noch |jetzt |auch )?{pattern}$", re.IGNORECASE))
    for attribute, pattern in (
        ("debt to {whom}", rf"owes? (?P<whom>[\w' -]{{1,40}}?) (?P<value>{COUNTED})"),
        ("debt to {whom}", rf"owes? (?P<value>{COUNTED}) to (?P<whom>[\w' -]{{1,40}})"),
        ("debt to {whom}", rf"schuldet (?P<whom>[\w' -]{{1,40}}?) (?P<value>{COUNTED})"),
        ("home", r"(?:lives?|dwells?|resides?) (?P<value>(?:in|at|near|by|on|above|under) .+)"),
        ("home", r"(?:wohnt|lebt) (?P<value>(?:in|im|am|an|bei|beim|auf|über|unter) .+)"),
        ("origin", r"(?:comes?|hails?|is) from (?P<value>.+)"),
        ("origin", r"(?:kommt|stammt) aus (?P<value>.+)"),
        ("work", rf"works? as {ARTICLE}(?P<value>.+)"),
        ("work", r"works? (?P<value>(?:at|in|for) .+)"),
        ("work", rf"arbeitet als {ARTICLE}(?P<value>.+)"),
        ("called", r"(?:is (?:called|named)|calls (?:him|her|it|them)sel(?:f|ves)) (?P<value>.+)"),
        ("called", r"(?:heißt|nennt sich) (?P<value>.+)"),
        ("age", r"is (?P<value>[\w-]+) years old"),
        ("age", r"ist (?P<value>[\w-]+) Jahre alt"),
        ("likes {thing}", r"(?:likes?|loves?|enjoys?|mag|liebt) (?P<thing>.+)"),
        ("-likes {thing}", r"(?:dislikes?|hates?|hasst) (?P<thing>.+)"),
        ("fears {thing}", r"(?:fears?|is afraid of|fürchtet) (?P<thing>.+)"),
        ("has {thing}", rf"(?:has|owns?|hat|besitzt) {ARTICLE}(?P<thing>.+)"),
    )
)  # fmt: skip
TRAILING = re.compile(
    r"(?:(?<!\s)\s++(?:too|now|again|as well|auch|jetzt)[\s.!,;]*+|(?<![\s.!,;])[\s.!,;]++)$",
    re.IGNORECASE,
)
COMMON_WORDS = frozenset("to been had just already no gone seen".split())


def read_attributes(text: str, names: Collection[str]) -> list[tuple[str, str]]:
    """Return the attributes and values that a text gives a subject by these names."""
    own = {word for name in names for word in name.casefold().split()}
    found = [read_sentence(sentence, own) for sentence in sentences_of(text)]
    return [pair for pair in found if pair is not None]


def read_sentence(sentence: str, own: Collection[str]) -> tuple[str, str] | None:
    """Return the attribute and value that one sentence gives, None if unclear."""
    plain = TRAILING.sub("", sentence)
    if is_question(sentence) or DOUBT.search(plain):
        return None
    said = predicate_of(plain, own)
    for attribute, pattern in SHAPES:
        match = pattern.match(said)
        if match:
            return as_pair(attribute, match)
    return None


def predicate_of(sentence: str, own: Collection[str]) -> str:
    """Return a sentence without its subject; empty if the subject is somebody else."""
    words = sentence.split()
    count = 0
    while count < len(words) and words[count].casefold().strip(",:") in {*own, "the", "der", "die"}:
        count += 1
    if count == 0 and words and words[0].casefold() in PRONOUNS:
        count = 1
    return " ".join(words[count:])


def as_pair(attribute: str, match: re.Match[str]) -> tuple[str, str] | None:
    """Return a pattern match as name and value, None if it is unusable."""
    groups = {name: words.strip() for name, words in match.groupdict().items()}
    thing = groups.get("thing", "")
    if thing.casefold().split(" ")[0] in COMMON_WORDS:
        return None  # "has been ...", "likes to ..."
    name = attribute.removeprefix("-").format(**groups)
    value = groups.get("value") or (NO if attribute.startswith("-") else YES)
    if len(name) > LONGEST_NAME or len(value) > LONGEST_VALUE:
        return None
    return name, value
