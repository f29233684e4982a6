"""A trigger as a builder writes it: when, how often, and what the character then does."""

import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evennia_ai.config import setting
from evennia_ai.errors import ConfigError
from evennia_ai.policy.retrieval.words import stem
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.texts import BoundedPattern
from evennia_ai.ports.world import WorldClock

MOST_TRIGGERS, TEXT_CHARS = 20, 300
TIME, SAYS, USED, HIT = "time", "says", "used", "hit"
PLAYER, EVERYBODY = "player", "*"  # names for who has an account, and for all with the character
MOVES, THINGS = frozenset({"enters", "leaves"}), frozenset({USED, "taken", "dropped", "given"})
COMBAT = frozenset({"attacked", HIT, "missed", "killed", "flees"})
SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
DAY_MINUTES, DAWN, NOON, DUSK = 1_440, "dawn", "noon", "dusk"
PARTS = {"half": 50, "third": 33, "quarter": 25}
NUMBERS = {"once": 1, "twice": 2}

GRAMMAR = tomllib.loads(Path(__file__).with_name("grammar.toml").read_text(encoding="utf-8"))
TIMES: Mapping[str, str] = GRAMMAR["times"]
KINDS = {stem(verb): kind for kind, verbs in GRAMMAR["verbs"].items() for verb in verbs.split()}
WORDS = {name: frozenset(words.split()) for name, words in GRAMMAR["words"].items()}
HELD, FIGHTS, DEATHS, RECEIVES = (
    {*map(stem, WORDS[name])} for name in ("held", "fight", "death", "receive")
)
CLOCK = rf"(?:(?:2[0-4]|[01]?\d)(?::[0-5]\d)?(?: ?[ap]m)?|{'|'.join(TIMES)})\b"
LEAD = r"\b(?:limit(?:ed)?(?: to)?|max(?:imum)?|at most|no more than|only|cooldown)"
PATTERNS = {
    name: BoundedPattern(
        text.replace("CLOCK", CLOCK).replace("LEAD", LEAD), TEXT_CHARS + 1, re.IGNORECASE
    )
    for name, text in GRAMMAR["patterns"].items()
}
Moment = int | str  # a minute of the day, or a name of `WorldClock.day_parts`
PLACEHOLDER = re.compile(r"\$(who|what|damage|health)\b|\{(who|what|damage|health)\}")
EVENTS = "Somebody enters, leaves, says, takes, drops, gives or uses; a fight; or a time."
HOW = "For example: |wwhen somebody enters: say Welcome, $who!|n See |whelp aitrigger|n."


@dataclass(frozen=True)
class Trigger:
    """One trigger, by its ``number``, as `read_trigger` reads its ``text``.

    It waits for what ``actor`` does, to ``victim`` (None is the character itself) or with ``thing``
    (``count`` at once); empty names are anybody or anything. ``how`` the thing is had may be
    "wielded" or "without"; ``way`` is an exit or a place. A blow must bring the health to a figure
    in ``health`` (per cent) from one that was not. ``hours`` are for `minute_on`, and
    ``period`` (unit, number) is how often a time comes, in a day at ``hours``. It acts ``most``
    times in ``within_s`` seconds, or in a fight (0), for ``each`` person apart.
    """

    number: int
    text: str
    kind: str
    act: str
    what: str
    actor: str = ""
    victim: str | None = ""
    thing: str = ""
    count: int = 1
    how: str = ""
    way: str = ""
    place: str = ""
    health: range = range(101)
    words: str = ""
    hours: tuple[Moment, Moment] = (0, DAY_MINUTES)
    period: tuple[str, int] = ("day", 1)
    is_passive: bool = False
    most: int = 5
    within_s: float = 60.0
    each: bool = False

    @property
    def name(self) -> str:
        return f"trigger {self.number}"


def find(name: str, text: str) -> re.Match[str] | None:
    return PATTERNS[name].search(text)


def read(name: str, text: str) -> re.Match[str] | None:
    return PATTERNS[name].fullmatch(text)


def cut(name: str, text: str) -> str:
    """Return a text without what a pattern finds in it."""
    return PATTERNS[name].sub("", text).strip()


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with values in place of its placeholders; a value's own ones stay."""
    return PLACEHOLDER.sub(lambda match: values[match[1] or match[2]], text)


def read_trigger(written: str, number: int = 1, me: str = "") -> Trigger:
    """Return a trigger that a builder wrote for ``me``; raises ConfigError with what to write."""
    text = clean_heard(written, TEXT_CHARS + 1)
    if len(text) > TEXT_CHARS:
        raise ConfigError(f"A trigger has at most {TEXT_CHARS} characters.")
    whole = read("whole", text)
    if whole is None:
        raise ConfigError(f"Write when, a colon, and what the character does. {HOW}")
    when, often = read_limit(cut("start", whole["when"].strip()), in_speech=False)
    what, others = read_limit(whole["what"].strip(), in_speech=True)
    match = read("act", what)
    act, what = (match[1].lower(), match[2]) if match else ("do", what)
    if act != "do" and what[:1] == what[-1:] == '"':
        what = what[1:-1].strip() or what
    if not what:
        if act != "think":
            raise ConfigError(f"What does the character {act}? {HOW}")
        what = when
    fields = read_event(when, me.lower().split())
    if fields is None:
        raise ConfigError(f"'{when[:60]}' is nothing that sets a trigger off. {EVENTS} {HOW}")
    act = act.replace("pose", "emote")
    return Trigger(number, text, act=act, what=what, **{**fields, **often, **others})


def read_limit(text: str, in_speech: bool) -> tuple[str, dict[str, Any]]:
    """Return a text without the limit at its end, and the limit's fields.

    In speech, one behind a comma is spoken, too, unless a sentence ends before the comma.
    """
    for match in PATTERNS["limit"].finditer(text):
        number, units = match["n"], f"{match['per']} {match['time'] or ''}"
        is_spoken = in_speech and match["mark"] == "," and text[match.start() - 1] not in '.!?"'
        if is_spoken or not (number or match["time"]):
            continue
        most = NUMBERS.get((number or "once").lower()) or int(number)
        fields: dict[str, Any] = {"most": most, "within_s": math.inf}
        for count, unit in PATTERNS["per"].findall(units.lower()):
            if unit in SECONDS:
                fields["within_s"] = int(count or 1) * float(SECONDS[unit])
            elif stem(unit) in FIGHTS:
                fields["within_s"] = 0.0
            else:
                fields["each"] = True
        return text[: match.start()].rstrip(" ;,"), fields
    return text, {}


def read_event(when: str, me: list[str]) -> dict[str, Any] | None:
    """Return the fields of a trigger that say what sets it off; None for nothing."""
    rest, fields = read_time(cut("here", when.strip()))
    if "kind" in fields:
        return None if rest else fields
    if match := find("first", rest):
        rest = rest[: match.start()]
        fields |= {"most": 1, "within_s": math.inf, "each": True}
    match = find("health", rest)
    if match is None:
        sentence = read_sentence(rest, me)
        return {**fields, **sentence} if sentence and sentence["kind"] else None
    part = PARTS.get(match["part"].lower()) or int(match["part"].lower().rstrip("% percnt"))
    is_above = match["rel"].lower() in ("above", "over", "more than", ">", ">=")
    fields["health"] = range(part + 1, 101) if is_above else range(part)
    rest = cut("of_health", f"{rest[: match.start()]}{rest[match.end() :]}".strip())
    sentence = read_sentence(rest, me)
    if sentence is None or sentence["kind"] not in COMBAT:
        sentence = read_blow(HIT, "", (rest, "", ""), True, me)
    return {**fields, **sentence}


def read_time(text: str) -> tuple[str, dict[str, Any]]:
    """Return a text without the time in it, and the fields of that; a moment has a kind."""
    rest, fields = text, dict[str, Any]()
    if match := find("period", rest):
        fields |= {"kind": TIME, "period": (match["unit"].lower(), int(match["n"] or 1))}
        rest = rest[match.end() :].strip()
    if match := find("window", rest):
        fields["hours"] = hours_of(match)
        rest = f"{rest[: match.start()].rstrip(' ,')}{rest[match.end() :]}".strip()
        if not rest:
            fields["kind"] = TIME
    match = read("place", rest)
    if match and read("moment", match["when"]):
        rest, fields["place"] = match.groups()
    if match := read("moment", rest):
        moment = moment_of(match["at"])
        rest, fields = "", {**fields, "kind": TIME, "hours": (moment, moment)}
    return rest, fields


def read_sentence(text: str, me: list[str]) -> dict[str, Any] | None:
    """Return the fields of "somebody takes the bell", "hit" or "Ann is attacked by Bob"."""
    words = text.split()
    stems = [stem(word.lower().strip(",.!?")) for word in words]
    bare = [word.lower() for word in words]
    passive = [n + 1 for n, word in enumerate(bare[:-1])
               if word in WORDS["passive"] and not find("article", f"{bare[n + 1]} ")]  # fmt: skip
    known = [n for n, word in enumerate(stems) if word in KINDS and n + 1 not in passive]
    others = [n for n, word in enumerate(words) if n and word.islower() and word.endswith("s")]
    at = next(iter(known or passive or others), None)
    if at is None:
        return None
    is_passive, kind, verb = at in passive, KINDS.get(stems[at], USED), stems[at]
    end = passive[0] - 1 if is_passive else at
    subject, by, rest = " ".join(words[:end]), "", " ".join(words[at + 1 :])
    is_passive |= kind in COMBAT and not subject
    if is_passive and (match := find("by", rest)):
        by, rest = match[1], rest[: match.start()].strip()
    if kind in MOVES:
        if match := find("with", subject):  # "somebody carrying a torch enters"
            subject, rest = subject[: match.start()], f"{rest} {match[0]}"
        return {"kind": kind, "actor": person(subject, me) or "", **read_manner(rest)}
    if kind == SAYS:
        speech = {"kind": SAYS, "actor": person(subject, me) or "", "words": cut("topic", rest)}
        return speech if rest else None
    if kind in COMBAT:
        is_passive |= not rest and not bare[at].endswith("s")  # "when Ann hurt", "when attacked"
        return read_blow(kind, verb, (subject, by, rest), is_passive, me)
    rest = cut("way", rest)
    if kind == "given":
        is_passive |= verb in RECEIVES
        return read_gift((by, subject) if is_passive else (subject, ""), rest, me)
    is_passive |= not rest and bool(find("article", subject))  # "when the door opens"
    thing, actor = (subject, by) if is_passive else (rest, subject)
    fields = {"kind": kind, "actor": person(actor, me) or "", **counted_thing(thing)}
    is_use = kind != USED or verb == stem("use")
    return fields if thing and (is_use or fields["thing"]) else None


def read_gift(people: tuple[str, str], rest: str, me: list[str]) -> dict[str, Any] | None:
    """Return the fields of a gift, which somebody notices who gets it."""
    giver, receiver = people
    thing, _, to = rest.partition(" to ")
    first, _, others = thing.partition(" ")
    if giver and others and is_me(first, me):
        thing = others
    if receiver and not thing:  # "when the ring is given"
        thing, receiver = receiver, ""
    if not (thing and is_me(to.strip(), me) and is_me(receiver, me)):
        return None
    return {"kind": "given", "actor": person(giver, me) or "", **counted_thing(thing)}


def read_blow(
    kind: str, verb: str, parts: tuple[str, str, str], is_passive: bool, me: list[str]
) -> dict[str, Any]:
    """Return the fields of an event of a fight, of its subject, "by" whom, and its object."""
    subject, by, target = parts
    if verb in FIGHTS and not cut("article", f"{subject} "):  # "when a fight starts"
        fields = {"kind": kind, "victim": EVERYBODY, "within_s": 0.0, "most": 1}
        return fields if read("begins", target) else {"kind": ""}
    if not (is_passive or kind == "flees" or verb in DEATHS):
        return {"kind": kind, "actor": person(subject, me) or "", "victim": person(target, me)}
    victim = person(subject, me)
    people = {"actor": person(by, me) or "", "victim": victim, "is_passive": victim is not None}
    return {"kind": kind, **people}


def read_manner(text: str) -> dict[str, Any]:
    """Return the fields of what follows "enters": a thing that is had, and the way or the place."""
    match = find("with", cut("in_hand", text))
    way = cut("way", text[: match.start()] if match else text).strip()
    if match is None:
        return {"way": way}
    how, is_drawn = match["how"].split()[0].lower(), find("in_hand", text)
    if match["drawn"] or is_drawn or stem(how) in HELD:
        how = "wielded"
    return {"way": way, "how": how, **counted_thing(match["thing"])}


def counted_thing(text: str) -> dict[str, Any]:
    """Return the fields of a thing, or of several of one name."""
    thing = cut("article", text.strip())
    match = read("count", thing)
    name = match["thing"] if match else thing
    name = "" if name.lower() in WORDS["anything"] else name
    return {"thing": name, "count": int(match["n"]) if match else 1}


def person(text: str, me: list[str]) -> str | None:
    """Return the name that a trigger waits for: "" for anybody, None for the character itself."""
    name = cut("article", text.strip())
    if is_me(name, me):
        return None
    if name.lower() in WORDS["anybody"]:
        return ""
    return PLAYER if name.lower() in ("player", "players") else name


def is_me(name: str, me: list[str]) -> bool:
    return not name or name.lower() in WORDS["me"].union(me, [" ".join(me)])


def hours_of(match: re.Match[str]) -> tuple[Moment, Moment]:
    """Return the moments of the world's day from which and before which something counts."""
    if part := match["part"]:
        return (DUSK, DAWN) if part.lower() == "night" else (DAWN, DUSK)
    start, end = match["after"] or match["start"], match["before"] or match["end"]
    first = moment_of(start) if start else 0
    if end:
        return first, moment_of(end)
    dawn, begin, noon = (minute_on(moment, WorldClock.day_parts) for moment in (DAWN, first, NOON))
    return first, DAY_MINUTES if dawn <= begin < noon else DAWN


def minute_on(moment: Moment, day_parts: Mapping[str, float]) -> float:
    """Return the minute of the day at a moment, in a world whose parts of a day begin so."""
    return moment if isinstance(moment, int) else day_parts[moment] * 60 % DAY_MINUTES


def moment_of(text: str) -> Moment:
    """Return the moment of the day of a time such as dusk, 06:30 or 8 pm."""
    if text.lower() in TIMES:
        return TIMES[text.lower()]
    hour, minute = map(int, (*re.findall(r"\d+", text), "0")[:2])
    return (hour % 12 + 12 * ("p" in text.lower()) if "m" in text.lower() else hour) * 60 + minute


def read_rules(written: str, me: str = "") -> Iterator[Trigger]:
    """Yield the triggers of a setting, a line with a number for each; raises ConfigError."""
    for line in filter(str.strip, written.splitlines()):
        number, _, text = line.strip().partition(" ")
        if not number.isdecimal():
            raise ConfigError(f"A trigger begins with its number, not '{number[:20]}'.")
        if text:  # of the last one that was removed only the number is left, to use no number twice
            yield read_trigger(text, int(number), me)


def write_rules(triggers: Iterable[Trigger], last: int) -> str:
    """Return triggers as the setting has them; ``last`` is the highest number ever used."""
    lines = {item.number: f"{item.number} {item.text}" for item in triggers}
    return "\n".join([*lines.values(), *([] if last in lines or not last else [str(last)])])


@dataclass(frozen=True)
class TriggerSettings:
    """What a character does when something happens."""

    trigger_rules: str = setting(
        "",
        "What the character does when something happens, a line with a number for each trigger. "
        "`aitrigger` writes them.",
        check=lambda written: [*read_rules(str(written))],
    )
