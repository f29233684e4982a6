"""How fast an endpoint reads and writes, in tokens a second, and the deadline that fits it.

With llama.cpp a call that ends at its deadline is not lost: the server still reads the batch that
it began (2,048 tokens) and keeps it for the next call (measured).
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Speed:
    """Tokens a second, read anew and written; None if unknown."""

    read: float | None = None
    written: float | None = None

    @property
    def is_known(self) -> bool:
        """Return True if both figures are known."""
        return self.read is not None and self.written is not None

    def seconds_for(self, read: float, written: float) -> float:
        """Return the time for a call with that many tokens; unknown speed takes no time."""
        return read / (self.read or float("inf")) + written / (self.written or float("inf"))


UNKNOWN = Speed()


def measure_speed(reply: LLMReply, took_s: float) -> Speed:
    """Return the speed of one call: as the endpoint reports it, else an estimate."""
    # The estimate divides the call's time between prompt and reply by `READ_PER_WRITTEN`. It is too
    # high if the endpoint had the prompt in its cache and does not say so.
    told = reply.timings
    if told is not None:  # figures from too few tokens do not count
        return Speed(
            told.read_per_s if told.read >= LEAST_READ else None,
            told.written_per_s if told.written >= LEAST_WRITTEN else None,
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


def has_changed(old: Speed, new: Speed) -> bool:
    """Return True if a figure is new or differs by more than `TOLERANCE` of the old one."""
    return any(
        now is not None and (before is None or abs(now - before) > TOLERANCE * before)
        for before, now in ((old.read, new.read), (old.written, new.written))
    )


def local_deadline(speed: Speed, answered: bool, prompt_tokens: int, reply_tokens: int) -> float:
    """Return the turn deadline for a local model, `LOCAL_DEADLINE_S` to `LONGEST_DEADLINE_S`.

    ``answered`` is True if the endpoint has answered since the server start. ``prompt_tokens`` is
    the whole prompt, since none of it may be in a cache; ``reply_tokens`` is the reply's limit.
    """
    needed_s = LOAD * speed.seconds_for(prompt_tokens, REPLY_SHARE * reply_tokens)
    least_s = LOCAL_DEADLINE_S if answered else FIRST_DEADLINE_S
    return max(least_s, min(needed_s, LONGEST_DEADLINE_S))
