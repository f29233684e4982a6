"""The frame of a background step: ask a model about several items, and report what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import ProviderError
from evennia_ai.ports import Script
from evennia_ai.scheduling import Steps, pause

log = Logger()

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Asked(Generic[R]):
    """The results for the items, and the provider's error that ended the work, if any."""

    results: list[R]
    error: str = ""

    @property
    def calls(self) -> int:
        """Return how often a model was asked, if it was asked once for each item."""
        return len(self.results) + bool(self.error)

    def report(self, **figures: Any) -> dict[str, Any]:
        """Return a step's result dict: ``success``, its figures, and the ``error``, if any."""
        error = {"error": self.error} if self.error else {}
        return {"success": not self.error, **figures, **error}


@inlineCallbacks
def ask_each(
    script: Script, items: Iterable[T], ask: Callable[[T], Deferred[R]]
) -> Steps[Asked[R]]:
    """Do some work that asks a model on each item in turn, until a provider fails.

    Fires with what was `Asked`; fails as ``ask`` does, except with a `ProviderError`.
    """
    results: list[R] = []
    for item in items:
        yield pause(script.services.slices.put)
        try:
            results.append((yield ask(item)))
        except ProviderError as error:
            message = "{name}: {error}; the rest waits for the next sleep pass"
            log.warn(message, name=script.character_name, error=error)
            return Asked(results, str(error))
    return Asked(results)


def skip(reason: str, **figures: Any) -> dict[str, Any]:
    """Return the result dict of a step that was skipped."""
    return {"skipped": True, "reason": reason, **figures}
