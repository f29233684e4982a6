"""A trigger as a builder writes it: when, how often, and what the character then does."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evennia_ai.errors import ConfigError
from evennia_ai.policy.sanitize import clean_heard

MOST_TRIGGERS, TEXT_CHARS = 20, 300
SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400}
ANYBODY = frozenset({"somebody", "someone", "anybody", "anyone"})
HOURS = {"dawn": "06:00", "noon": "12:00", "dusk": "18:00", "midnight": "00:00"}
TIME, SAYS, USED = "time", "says", "used"
COMBAT = frozenset({"attacked", "hit", "missed", "killed", "flees"})
THINGS = frozenset({USED, "taken", "dropped", "given"})
ACTIVE = {"uses": USED, "takes": "taken", "drops": "dropped", "gives": "given"}
WHOLE = re.compile(r"\A(.+?):\s*+(say|pose|emote|do|think)\b[\s:]*+(.+)", re.IGNORECASE)
RATE = re.compile(r", ?once (per person )?per (?:([1-9]\d?) )?(minute|hour|day)s?\Z", re.I)
WHO = r"(?:when )?(?P<who>[^:]{1,60}?)"
THING = r"(?:an? |the )?(?P<drawn>drawn )?(?P<thing>[^:]{1,60}?)"
BELOW = r"(?: below (?P<below>half|[1-9]\d? ?%))?"
FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"{WHO} (?P<kind>enters)(?: (?P<how>with|carrying|wielding) {THING})?",
        rf"{WHO} (?P<kind>leaves|flees)",
        rf"{WHO} (?P<kind>says) (?P<words>.+)",
        rf"(?:when )?(?:it is |i am )?(?P<kind>attacked|hit|missed|killed){BELOW}",
        rf"{WHO} is (?P<kind>attacked|hit|missed|killed)",
        rf"{WHO} (?P<kind>uses|takes|drops|gives) {THING}",
        rf"(?:when )?{THING} is (?P<kind>used|taken|dropped|given)",
        r"at (?P<at>dawn|noon|dusk|midnight|(?:[01]?\d|2[0-3]):[0-5]\d)",
        r"every (?:(?P<n>[1-9]\d?) )?(?P<unit>minute|hour|day)s?",
    )
)
PLACEHOLDER = re.compile(r"\$(who|what|damage|health)\b")
HOW = "For example: |wwhen somebody enters: say Welcome, $who!|n See |whelp aitrigger|n."


@dataclass(frozen=True)
class Trigger:
    """One trigger, by its ``number``, as `read_trigger` reads its ``text``.

    ``own`` is True if it must happen to the character itself, ``wielded`` if the ``thing`` must be
    in the hand; a hit must leave less than ``below`` per cent. Once in a ``period`` of the world
    (unit, number) it comes, in a day at ``minute``. It acts once in ``within_s`` seconds, for
    ``each`` person apart, and not by what it did before it was ``added`` (unix seconds).
    """

    number: int
    text: str
    added: float
    kind: str
    act: str
    what: str
    who: str = ""
    thing: str = ""
    wielded: bool = False
    own: bool = False
    below: int = 100
    words: str = ""
    period: tuple[str, int] = ("day", 1)
    minute: int = 0
    within_s: int = 3_600
    each: bool = True

    @property
    def name(self) -> str:
        return f"trigger {self.number}"


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with values in place of its placeholders; a value's own ones stay."""
    return PLACEHOLDER.sub(lambda match: values[match[1]], text)


def read_trigger(written: str, number: int = 1, added: float = 0.0) -> Trigger:
    """Return a trigger that a builder wrote; raises ConfigError with what to write instead."""
    text = clean_heard(written, TEXT_CHARS + 1)
    whole = WHOLE.fullmatch(text)
    if len(text) > TEXT_CHARS:
        raise ConfigError(f"A trigger has at most {TEXT_CHARS} characters.")
    if whole is None:
        raise ConfigError(f"It must say when, a colon, and say, pose, think or do. {HOW}")
    when, verb, what = map(str.strip, whole.groups())
    rate = RATE.search(when)
    bare = when[: rate.start()] if rate else when
    match = next(filter(None, (form.fullmatch(bare) for form in FORMS)), None)
    if match is None:
        raise ConfigError(f"'{bare[:60]}' is nothing that sets a trigger off. {HOW}")
    verb = verb.lower().replace("pose", "emote")
    if verb != "do" and what[0] == what[-1] == '"':
        what = what[1:-1].strip() or what
    fields = read_condition({key: value for key, value in match.groupdict().items() if value})
    if rate:
        within_s = int(rate[2] or 1) * SECONDS[rate[3].lower()]
        fields |= {"within_s": within_s, "each": bool(rate[1])}
    return Trigger(number, text, added, act=verb, what=what, **fields)


def read_condition(parts: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a trigger that say what sets it off."""
    if "kind" not in parts:
        hour, minute = map(int, HOURS.get(at := parts.get("at", "0:0").lower(), at).split(":"))
        period = (parts.get("unit", "day").lower(), int(parts.get("n", 1)))
        usual = {"within_s": 60, "each": False}
        return {"kind": TIME, "period": period, "minute": 60 * hour + minute, **usual}
    who, kind = parts.get("who", ""), parts["kind"].lower()
    kind = ACTIVE.get(kind, kind)
    return {
        "kind": kind,
        "who": "" if who.lower() in ANYBODY else who,
        "own": kind in COMBAT and not who,
        "thing": parts.get("thing", ""),
        "wielded": "drawn" in parts or parts.get("how", "").lower() == "wielding",
        "below": int(parts.get("below", "100").lower().replace("half", "50").rstrip("% ")),
        "words": parts.get("words", "").strip('"'),
    }


def read_stored(stored: Any) -> Iterator[Trigger]:
    """Yield the triggers of a stored value; what was damaged is left out."""
    for row in stored if isinstance(stored, Iterable) else ():
        try:
            yield read_trigger(str(row["text"]), int(row["number"]), float(row["added"]))
        except (ConfigError, KeyError, TypeError, ValueError):
            continue
