"""A trigger as a builder writes it: when, how often, and what the character then does."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from evennia_ai.config import setting
from evennia_ai.errors import ConfigError
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.texts import BoundedPattern

TEXT_CHARS = 300
TIME, USED = "time", "used"
DAY, MIDNIGHT = 1_440, "0:00"  # the minutes of a day, and its first moment
ME, ANYBODY, PLAYER = "me", "somebody", "player"  # whom a trigger waits for, if not a name
ANY = frozenset("somebody someone anybody anyone anything something".split())
SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
HALVES = {"half": 50, "third": 33, "quarter": 25}
PARTS = {"night": ("dusk", "dawn"), "day": ("dawn", "dusk")}
HOW = (
    "Write, for example, |wwhen somebody enters: say Welcome, $who!; limit once per person|n. Or "
    "one who leaves, says, takes, drops, gives, uses, attacks, hits, misses, kills or flees, or "
    "|wwhen hit below 50 %|n, |wat dusk|n or |wevery hour|n. See |whelp aitrigger|n."
)
# The forms of a condition, a line each (the world's hours may follow), and parts of several.
FORMS = r"""
at (?P<at>CLOCK)(?: in (?P<place>.+?))?
every (?P<count>[1-9]\d? )?(?P<unit>minute|hour)s?
(?P<actor>.+?) (?P<verb>enters)
(?P<actor>.+?) (?P<verb>enters) (?:wielding|with (?:an? )?drawn) (?P<wielded>.+?)
(?P<actor>.+?) (?P<verb>enters) with (?P<wielded>.+?) in hand
(?P<actor>.+?) (?P<verb>enters) (?:carrying|with) (?P<carried>.+?)
(?P<actor>.+?) (?P<verb>enters) without (?P<lacked>.+?)
(?P<actor>.+?) (?P<verb>leaves)(?: (?:by |through )?(?P<way>.+?))?
(?:(?P<actor>.+?) )?(?P<verb>says|hears) (?P<words>".*"|.+)
(?P<actor>.+?) (?P<verb>takes|drops|gives|uses|rings) (?P<thing>.+?)
(?P<thing>.+?) is (?P<verb>taken|dropped|given|used|rung)BY
(?P<verb>given) (?P<thing>.+?)BY
(?:(?P<victim>.+?) is )?(?P<verb>attacked|hit|damaged|missed|killed|defeated)BELOW?BY
(?P<actor>.+?) (?P<verb>attacks|hits|misses|kills) (?P<victim>.+?)
(?P<victim>.+?) (?P<verb>flees|dies)
(?:(?P<victim>.+?)(?:'s)? )?(?P<verb>hp)(?: is)?BELOW
"""
SHARED = {
    "HOURS": "(?:,? (?:after|between|from) (?P<first>HOUR))?(?:,? (?:before|and|to|until) "
    "(?P<last>HOUR))?(?:,? (?:at|by|during the) (?P<part>night|day))?",
    "HOUR": r"(?:CLOCK|1?\d|2[0-4])",
    "CLOCK": r"(?:(?:[01]?\d|2[0-3]):[0-5]\d|dawn|noon|dusk|midnight)",
    "BELOW": r"(?: (?:below|under) (?:an? )?(?P<below>half|third|quarter|[1-9]\d? ?%))",
    "BY": r"(?: by (?P<actor>.+?))??",
}
ROLES = {"actor", "victim", "thing", "place", "way", "wielded", "carried", "lacked"}
KINDS = {
    "hears": "says", "takes": "taken", "drops": "dropped", "gives": "given", "uses": USED,
    "rings": USED, "rung": USED, "attacks": "attacked", "hits": "hit", "damaged": "hit",
    "hp": "hit", "misses": "missed", "kills": "killed", "defeated": "killed", "dies": "killed",
}  # fmt: skip


def pattern(text: str) -> BoundedPattern:
    """Return a pattern that knows no case."""
    for name, part in SHARED.items():
        text = text.replace(name, part)
    return BoundedPattern(text, TEXT_CHARS + 1, re.IGNORECASE)


READ_FORMS = [pattern(f"{form}HOURS") for form in FORMS.split("\n") if form]
WHOLE = pattern(
    r"""(?:when |if )?(?P<when>(?:"[^"]*"|:[0-5]\d|[^":])+?):(?![0-5]\d\b)(?P<what>.*)"""
)
ACT = pattern(r"(?:do )?(say|pose|emote|think|do)\b[:,]?(.*)")
LIMIT = pattern(
    r"(?P<mark>(?:[;,] ?)?\blimit |[;,] ?)(?P<most>once|[1-9]\d{0,2})"
    r"(?P<per>(?: (?:per|an?) (?:[1-9]\d{0,3} )?[a-z]+){1,3})\Z"
)
PER = pattern(r"(?:per|an?) (\d*) ?([a-z]+?)s?\b")
ARTICLE = pattern(r"\A(?:the|an?|any|some|every|each) ")
PLACEHOLDER = re.compile(r"\$(who|what|damage|health)\b|\{(who|what|damage|health)\}")


@dataclass(frozen=True)
class Trigger:
    """One trigger, by its ``number``, as `read_trigger` reads its ``text``.

    It waits for an event of a ``kind`` with those ``wanted``: for each role in it (`FORMS`) a name,
    `ME`, `ANYBODY` or `PLAYER`. A blow must bring the health below ``below`` per cent, if that is
    not 0; ``at`` is the moment for which "time" waits (`minute_on`), and again ``every`` so many
    minutes. It acts between the ``hours``, ``most`` times in ``within_s`` seconds, or in a fight
    (0), for ``each`` person apart.
    """

    number: int
    text: str
    kind: str
    act: str
    what: str
    wanted: tuple[tuple[str, str], ...] = ()
    is_passive: bool = False
    below: int = 0
    words: str = ""
    at: str = ""
    every: int = DAY
    hours: tuple[str, str] = MIDNIGHT, MIDNIGHT
    most: int = 5
    within_s: float = 60.0
    each: bool = False

    @property
    def name(self) -> str:
        return f"trigger {self.number}"


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with values in place of its placeholders; a value's own ones stay."""
    return PLACEHOLDER.sub(lambda match: values[match[1] or match[2]], text)


def read_trigger(written: str, number: int = 1, me: str = "") -> Trigger:
    """Return a trigger that a builder wrote for ``me``; raises ConfigError with what to write."""
    text = clean_heard(written, TEXT_CHARS + 1)
    if len(text) > TEXT_CHARS:
        raise ConfigError(f"A trigger has at most {TEXT_CHARS} characters.")
    whole = WHOLE.fullmatch(text)
    if whole is None:
        raise ConfigError(f"Write when, a colon, and what the character does. {HOW}")
    when, often = read_limit(whole["when"].strip(), is_spoken=False)
    what, others = read_limit(whole["what"].strip(), is_spoken=True)
    match = ACT.fullmatch(what)
    act, what = (match[1].lower(), match[2].strip()) if match else ("do", what)
    if act != "do" and what[:1] == what[-1:] == '"':
        what = what[1:-1].strip()
    if not what and act != "think":
        raise ConfigError(f"What does the character {act}? {HOW}")
    fields = {**read_event(when, me.lower()), **often, **others}
    return Trigger(number, text, act=act.replace("pose", "emote"), what=what or when, **fields)


def read_limit(text: str, is_spoken: bool) -> tuple[str, dict[str, Any]]:
    """Return a text without the limit at its end, and its fields; of speech a comma is spoken."""
    match = LIMIT.search(text)
    if match is None or (is_spoken and match["mark"].strip() == ","):
        return text, {}
    most = 1 if match["most"].lower() == "once" else int(match["most"])
    fields: dict[str, Any] = {"most": most, "within_s": math.inf}
    for count, unit in PER.findall(match["per"].lower()):
        if unit in SECONDS:
            fields["within_s"] = int(count or 1) * float(SECONDS[unit])
        elif unit == "fight":
            fields["within_s"] = 0.0
        elif unit == "person":
            fields["each"] = True
        else:
            raise ConfigError(f"'{unit}' is no limit. Write: once per day, 3 per hour per person.")
    return text[: match.start()].strip(), fields


def read_event(text: str, me: str) -> dict[str, Any]:
    """Return the fields of a trigger that say what sets it off; raises ConfigError."""
    match = form_of(text.removesuffix(" here"))
    if match is None:
        raise ConfigError(f"{not_understood(text)} {HOW}")
    parts = match.groupdict()
    roles = {name: part for name, part in parts.items() if name in ROLES}
    named = {role: who(part or ME, me) for role, part in roles.items() if part or role == "victim"}
    small = defaultdict(str, ((name, (part or "").lower()) for name, part in parts.items()))
    verb, below, unit, first = small["verb"], small["below"], small["unit"], small["first"]
    end = MIDNIGHT if first in ("", "dawn") else "dawn"
    return {
        "kind": KINDS.get(verb, verb) or TIME,
        "wanted": tuple(named.items()),
        "is_passive": named.get("victim", ME) != ME and match.start("victim") == 0,
        "words": parts.get("words") or "",
        "below": HALVES.get(below) or int(below.rstrip(" %") or 0),
        "at": small["at"] or first or MIDNIGHT,
        "every": int(small["count"] or 1) * SECONDS[unit] // 60 if unit else DAY,
        "hours": PARTS.get(small["part"]) or (first or MIDNIGHT, small["last"] or end),
    }


def form_of(text: str) -> re.Match[str] | None:
    """Return a condition as the first form that it has, None if it has none."""
    return next(filter(None, (form.fullmatch(text) for form in READ_FORMS)), None)


def not_understood(text: str) -> str:
    """Return a sentence on which part of a condition has no form."""
    if rest := part_behind(text, form_of):
        return f"'{text.removesuffix(rest).strip()}' is understood, but not '{rest}' behind it."
    return f"'{text[:60]}' is nothing that sets a trigger off."


def part_behind(text: str, is_known: Callable[[str], object]) -> str:
    """Return the words behind the longest known beginning of a text, "" if none is known."""
    words = text.split()
    ends = (end for end in range(len(words) - 1, 0, -1) if is_known(" ".join(words[:end])))
    return " ".join(words[next(ends, len(words)) :])


def who(written: str, me: str) -> str:
    """Return the name of whom or what a trigger waits for, without an article."""
    name = ARTICLE.sub("", written)
    if name.lower() in (ME, "i", me, *me.split()):
        return ME
    return ANYBODY if name.lower() in ANY else name


def minute_on(moment: str, day_parts: Mapping[str, float]) -> float:
    """Return the minute of the day at "dusk", "06:30" or "8", where parts of a day begin so."""
    hour, _colon, minute = moment.partition(":")
    is_part = moment in day_parts
    return day_parts[moment] * 60 % DAY if is_part else int(hour) * 60 + int(minute or 0)


@lru_cache(maxsize=256)
def read_rules(written: str, me: str = "") -> tuple[Trigger, ...]:
    """Return the triggers of a setting, a line with a number for each; raises ConfigError.

    One that is not understood, such as an older version wrote, has no kind, and in ``what`` why.
    One that was removed has no text either: no number is used twice.
    """
    triggers = []
    for line in filter(str.strip, written.splitlines()):
        number, _space, text = line.strip().partition(" ")
        if not number.isdecimal():
            raise ConfigError(f"A trigger begins with its number, not '{number[:20]}'.")
        try:
            triggers.append(read_trigger(text, int(number), me))
        except ConfigError as error:
            triggers.append(Trigger(int(number), text, kind="", act="", what=str(error)))
    return tuple(triggers)


@dataclass(frozen=True)
class TriggerSettings:
    """What a character does when something happens."""

    trigger_rules: str = setting(
        "",
        "What the character does when something happens, a line with a number for each trigger. "
        "`aitrigger` writes them.",
        check=read_rules,
    )
