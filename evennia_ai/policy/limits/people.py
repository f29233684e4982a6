"""What one person may cause in a minute, and what a flood of lines is.

A line is counted for the character that says it and for its account, so that a second character
gives no more room. Lines that need no answer are counted for each assistant that hears them.
Times are in the clock's seconds.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from evennia_ai.messages import Audience
from evennia_ai.policy.audience import people_among
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.texts import one_of

MINUTE_S = 60.0
HOSTILE_WINDOW_S = 600.0
ANSWER, TOO_FAST, COOLING = "", "too fast", "cooling down after hostile lines"
MOST_READ = 2_000  # characters of a line, for signs of a hostile prompt

Count = Annotated[int, Field(ge=1, le=1_000_000)]


class PersonLimits(BaseModel):
    """What one person may cause, for the whole game; None sets no limit."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    turns_per_minute: Count | None = 30  # lines that need an answer, to all characters together
    hostile_lines: Count | None = 5  # in ten minutes, before the person must cool down
    cool_down: float = Field(default=300.0, ge=0.0, le=86_400.0)  # seconds; 0 disables it
    flood_lines: Count | None = 200  # refused lines in a minute, of all people, that alert staff
    alert_pause: float = Field(default=900.0, ge=0.0, le=86_400.0)  # seconds between two alerts


@dataclass(frozen=True)
class Person:
    """What one person caused lately: times of accepted and of hostile lines."""

    lines: tuple[float, ...] = ()
    hostile: tuple[float, ...] = ()
    cooling_until: float = 0.0
    refused_at: float = float("-inf")  # of the last line that was not answered
    told_at: float = float("-inf")  # of the last refusal that the person read


@dataclass(frozen=True)
class Crowd:
    """All people's lately refused lines, and when staff were alerted last."""

    refused: tuple[float, ...] = ()
    alerted_at: float = float("-inf")
    names: frozenset[str] = field(default_factory=frozenset)  # of whose lines were refused


def judge_line(person: Person, now: float, limits: PersonLimits) -> str:
    """Return `ANSWER` if a line may be answered, else why not."""
    if now < person.cooling_until:
        return COOLING
    most = limits.turns_per_minute
    if most is not None and len(since(person.lines, now - MINUTE_S)) >= most:
        return TOO_FAST
    return ANSWER


def after_line(
    person: Person, now: float, verdict: str, hostile: int, limits: PersonLimits
) -> Person:
    """Return a person after a line; ``hostile`` is how many signs of attack it counts for."""
    lines = since(person.lines, now - MINUTE_S)
    if verdict == ANSWER:
        return cooled(replace(person, lines=(*lines, now)), now, hostile, limits)
    return replace(person, lines=lines, refused_at=now)


def cooled(person: Person, now: float, hostile: int, limits: PersonLimits) -> Person:
    """Return a person after some hostile acts; enough of them begin a time to cool down."""
    acts = (*since(person.hostile, now - HOSTILE_WINDOW_S), *[now] * hostile)
    most = limits.hostile_lines
    if not hostile or most is None or len(acts) < most:
        return replace(person, hostile=acts)
    return replace(person, hostile=(), cooling_until=now + limits.cool_down)


def after_refusal(crowd: Crowd, now: float, name: str) -> Crowd:
    recent = since(crowd.refused, now - MINUTE_S)
    names = crowd.names if recent else frozenset()
    return replace(crowd, refused=(*recent, now), names=names | {name})


def is_flood(crowd: Crowd, now: float, limits: PersonLimits) -> bool:
    """Return True if staff must be alerted now: a flood, and no alert lately."""
    if limits.flood_lines is None or now - crowd.alerted_at < limits.alert_pause:
        return False
    return len(since(crowd.refused, now - MINUTE_S)) >= limits.flood_lines


def since(times: Iterable[float], start: float) -> tuple[float, ...]:
    return tuple(time for time in times if time > start)


# Words to a language model and not to a character, in English, German, French and Spanish. A few
# of them in ten minutes are needed: one alone may be part of a story.
HOSTILE = re.compile(
    rf"\b(?:{one_of('ignore|disregard|forget|override|bypass')} (?:\w+ ){{0,3}}?"
    r"(?:instructions?|prompts?|rules|guidelines|programming|persona)\b"
    r"|(?:system|hidden|initial|original|developer) (?:prompt|message|instructions?)\b"
    r"|(?:developer|debug|god|dan|admin) mode\b|jailbreak\w*|as an ai\b|you are now (?:an?|in)\b"
    r"|ignoriere? (?:\w+ ){0,3}?(?:anweisung|regel|vorgabe)\w*|system-?prompt"
    r"|ignore[zs]? (?:\w+ ){0,3}?(?:consignes|règles)"
    r"|ignora (?:\w+ ){0,3}?(?:instrucciones|reglas))"
    r"|<[|/]?(?:im_start|im_end|tool_call|function|system|assistant)\b|\[/?(?:INST|SYS)\]"
    r"|\{\s{0,9}\"(?:name|tool|tool_calls|function|act)\"\s{0,9}:",
    re.IGNORECASE,
)


def is_hostile(text: str) -> bool:
    """Return True for a line that speaks to the model behind a character, as attacks do."""
    return HOSTILE.search(text[:MOST_READ]) is not None


PINS_FULL = "You keep in mind as much as you can for others: note this in your journal instead."
TOO_MANY_ENTRIES = "You noted enough of what they told you for one day: leave this."


@dataclass(frozen=True)
class PinPlan:
    """The pins that give way to a new one, oldest first; ``refusal`` if it cannot be kept."""

    gone: tuple[Record, ...] = ()
    refusal: str = ""


def plan_pin(
    pins: Sequence[Record], people: Audience, room: int, most: int, count_text: Callable[[str], int]
) -> PinPlan:
    """Decide how a new pin finds its place.

    Only pins of the same ``people`` give way, the oldest first, then those of nobody's words.
    ``pins`` are the character's own, oldest first; ``room`` is in tokens, beside the new one;
    ``most`` is how many pins one person's words may cause.
    """
    own = [p for p in pins if bool(by := causes_of(p)) == bool(people) and by <= people]
    nobodys = [pin for pin in pins if people and not causes_of(pin)]
    left, gone = list(pins), list[Record]()
    while True:
        is_many = is_reached(left, people, most)
        if not is_many and sum(count_text(pin["content"]) for pin in left) <= room:
            return PinPlan(tuple(gone))
        source = own or ([] if is_many else nobodys)
        if not source:
            return PinPlan(refusal=PINS_FULL)
        gone.append(source.pop(0))
        left.remove(gone[-1])


def causes_of(record: Record) -> Audience:
    """Return the people who caused a record: its one speaker, else everybody behind its words."""
    source = record["source_entity"]
    return frozenset({source}) if source else people_among(record["speakers"])


def is_reached(records: Iterable[Record], people: Audience, most: int) -> bool:
    """Return True if one of these people caused as many of these records as allowed."""
    causes = [name for record in records for name in causes_of(record) & people]
    return any(causes.count(name) >= most for name in people)
