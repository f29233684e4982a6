"""Moderation: asks the game's word list, function and endpoint about words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from twisted.internet.defer import Deferred, inlineCallbacks, maybeDeferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from evennia_ai.config import ModelProfile
from evennia_ai.contrib.moderation.rules import (
    CLOSED,
    DOWN,
    SPOKEN,
    ModerationRules,
    read_rules,
    read_verdicts,
)
from evennia_ai.errors import ConfigError
from evennia_ai.game.settings import load_function
from evennia_ai.policy.staff_controls import find_banned
from evennia_ai.scheduling import Clock, Coroutine

log = Logger()

MODEL = "omni-moderation-latest"
PATH = "moderations"
HTTP_OK = 200
ModerationExchange = Callable[[ModelProfile, str, str, Mapping[str, Any]], Deferred[Any]]


class Moderation:
    """Decides about words; the network is reached outside the reactor, within a time limit."""

    def __init__(self, clock: Clock, exchange: ModerationExchange, rules: ModerationRules) -> None:
        """Set up; raises ConfigError if the callable cannot be imported."""
        self.rules = rules
        self._clock, self._exchange = clock, exchange
        self._warned_of = ""  # the error of the last warning in the log, until a check works
        self._judge = load_function(rules.callable)
        self._profile = read_endpoint(rules.endpoint)

    @inlineCallbacks
    def check(self, direction: str, texts: Sequence[str]) -> Coroutine[Sequence[str]]:
        """Fire with why each text is refused, "" if it may pass; never fails."""
        if not self.rules.applies_to(direction):
            return [""] * len(texts)
        reasons = [find_banned(text, self.rules.words) and "word list" for text in texts]
        try:
            if self._judge:
                for number, text in enumerate(texts):
                    verdict = yield self._in_time(maybeDeferred(self._judge, text, direction))
                    reasons[number] = reasons[number] or (str(verdict) if verdict else "")
            if self._profile and not all(reasons):
                body = {"model": self._profile.model, "input": list(texts)}
                reply = yield self._in_time(self._exchange(self._profile, "POST", PATH, body))
                verdicts = read_reply(reply, len(texts))
                reasons = [a or b for a, b in zip(reasons, verdicts, strict=True)]
        except Exception as error:  # noqa: BLE001  # the game's function may raise anything
            return self._without_verdict(reasons, error)
        self._warned_of = ""
        return reasons

    def _in_time(self, pending: Deferred[Any]) -> Deferred[Any]:
        return pending.addTimeout(self.rules.timeout, cast(IReactorTime, self._clock))

    def _without_verdict(self, reasons: Sequence[str], error: Exception) -> Sequence[str]:
        """Return the verdicts if a check failed: by the setting ``fail``."""
        closed = self.rules.fail == CLOSED
        problem, fate = f"{type(error).__name__}: {error}", "are refused" if closed else "pass"
        if problem != self._warned_of:
            self._warned_of = problem
            message = "evennia_ai: moderation failed ({error}); until it works, words {fate}"
            log.warn(message, error=problem, fate=fate)
        return [reason or (DOWN if closed else "") for reason in reasons]


class ClosedModeration:
    """Lets nothing be spoken that a model wrote: the setting ``MODERATION`` is wrong."""

    def check(self, direction: str, texts: Sequence[str]) -> Deferred[Sequence[str]]:
        """Fire with a refusal for each text that would be spoken."""
        return succeed([DOWN if direction == SPOKEN else ""] * len(texts))


def read_reply(reply: Any, count: int) -> list[str]:
    if reply.status != HTTP_OK:
        raise ValueError(f"the endpoint answered with status {reply.status}")
    return read_verdicts(reply.content, count)


def read_endpoint(fields: Mapping[str, Any]) -> ModelProfile | None:
    """Return the profile of a moderation endpoint, None without one; raises ConfigError."""
    if not fields:
        return None
    try:
        return ModelProfile("moderation", **{"client": "openai", "model": MODEL, **fields})
    except TypeError as error:
        raise ConfigError("endpoint takes base_url, model and api_key_env only") from error


def make_moderation(
    clock: Clock, exchange: ModerationExchange, value: Any
) -> Moderation | ClosedModeration | None:
    """Return what the setting ``MODERATION`` asks for, None if empty; raises ConfigError."""
    rules = read_rules(value)
    return Moderation(clock, exchange, rules) if value else None
