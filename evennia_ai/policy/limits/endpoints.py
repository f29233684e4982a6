"""What is known of an endpoint: its window, request form and speed; the deadline that fits it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from ipaddress import ip_address
from math import ceil
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, PositiveInt, TypeAdapter, ValidationError

from evennia_ai.messages import LLMReply

LEAST_READ, LEAST_WRITTEN = 32, 8  # tokens; below, overhead hides the speed
READ_PER_WRITTEN = 4.0  # a model on a CPU reads about four tokens while it writes one (measured)
NEW_SHARE = 0.3
TOLERANCE = 0.25
LOCAL_DEADLINE_S = 60.0
FIRST_DEADLINE_S = 120.0  # the server may have to load the model first
LONGEST_DEADLINE_S = 180.0
LOAD = 2.0  # other calls share the machine
REPLY_SHARE = 0.5  # few replies use up max_reply_tokens
REFUSED_S = 24 * 3_600.0  # then what was refused is tried again


Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]


@dataclass(frozen=True)
class Speed:
    """Tokens a second, read anew and written; None if unknown."""

    read: Rate | None = None
    written: Rate | None = None

    def seconds_for(self, read: float, written: float) -> float:
        """Return the time for a call with that many tokens; unknown speed takes no time."""
        return read / (self.read or float("inf")) + written / (self.written or float("inf"))


UNKNOWN = Speed()


def measure_speed(reply: LLMReply, took_s: float) -> Speed:
    """Return the speed of one call: as the endpoint reports it, else an estimate."""
    # The estimate divides the call's time between prompt and reply by `READ_PER_WRITTEN`. It is too
    # high if the endpoint had the prompt in its cache and does not say so.
    timings = reply.timings
    if timings is not None:  # figures from too few tokens do not count
        return Speed(
            timings.read_per_s if timings.read >= LEAST_READ else None,
            timings.written_per_s if timings.written >= LEAST_WRITTEN else None,
        )
    usage = reply.usage
    if usage is None or took_s <= 0 or usage.completion_tokens < LEAST_WRITTEN:
        return UNKNOWN
    written = (usage.prompt_tokens / READ_PER_WRITTEN + usage.completion_tokens) / took_s
    return Speed(written * READ_PER_WRITTEN, written)


def smooth_speed(old: Speed, new: Speed) -> Speed:
    """Return the running figure after one more measurement, an exponential average."""
    return Speed(_smooth(old.read, new.read), _smooth(old.written, new.written))


def _smooth(old: float | None, new: float | None) -> float | None:
    if old is None or new is None:
        return new if old is None else old
    return old + NEW_SHARE * (new - old)


def local_deadline(speed: Speed, answered: bool, prompt_tokens: int, reply_tokens: int) -> float:
    """Return the turn deadline for a local model, in whole seconds: similar prompts have the same.

    ``answered``: the endpoint has answered since the server start; ``reply_tokens``: the most.
    """
    needed_s = LOAD * speed.seconds_for(prompt_tokens, REPLY_SHARE * reply_tokens)
    least_s = LOCAL_DEADLINE_S if answered else FIRST_DEADLINE_S
    return max(least_s, float(ceil(min(needed_s, LONGEST_DEADLINE_S))))


@dataclass(frozen=True)
class EndpointFacts:
    """What replies and probes told about one model of one endpoint."""

    window: PositiveInt | None = None  # the context window in tokens, None if unknown
    # the request form that the probe found, empty if unknown
    form: Annotated[str, Field(pattern="^(?:tools|plain|schema|text)?$")] = ""
    system: bool | None = None  # True if a system message is accepted, None if unknown
    speed: Speed = UNKNOWN
    # What it refused, by name (`llm.refusals`), with its own words; requests leave that out.
    refused: Mapping[str, str] = field(default_factory=dict)
    refused_at: float = 0.0  # the newest of it, in seconds of the epoch
    # Since the server start, never stored:
    answered: bool = False


NOTHING_KNOWN = EndpointFacts()


def after_reply(
    facts: EndpointFacts, reply: LLMReply, took_s: float, now: float = 0.0
) -> EndpointFacts:
    """Return the facts after a reply at ``now``, in seconds of the epoch."""
    return replace(
        facts,
        refused_at=facts.refused_at if reply.refused.keys() <= facts.refused.keys() else now,
        speed=smooth_speed(facts.speed, measure_speed(reply, took_s)),
        answered=True,
        refused={**facts.refused, **reply.refused},
    )


def should_store(stored: EndpointFacts, facts: EndpointFacts) -> bool:
    """Return True if facts differ from the stored ones, the speed by more than `TOLERANCE`."""
    before, now = stored.speed, facts.speed
    stored_values, known = (
        (fact.window, fact.form, fact.system, fact.refused_at, {*fact.refused})
        for fact in (stored, facts)
    )
    return stored_values != known or any(
        new is not None and (old is None or abs(new - old) > TOLERANCE * old)
        for old, new in ((before.read, now.read), (before.written, now.written))
    )


FACTS = TypeAdapter(EndpointFacts)


def stored_facts(facts: EndpointFacts) -> dict[str, object]:
    values: dict[str, object] = FACTS.dump_python(facts, exclude={"answered"})
    return values


def read_facts(stored: object) -> EndpointFacts:
    """Return facts from stored data, `NOTHING_KNOWN` if it is unusable."""
    try:
        return FACTS.validate_python(stored)
    except ValidationError:
        return NOTHING_KNOWN


@lru_cache(maxsize=64)  # each call asks three times
def is_local(base_url: str) -> bool:
    """Return True for a server on this machine or in a private network, such as a container."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        is_short = bool(host) and "." not in host
        return is_short or host.endswith((".local", ".lan", ".internal"))
