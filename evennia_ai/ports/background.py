"""Work that no player waits for: asking a model in sleep, and the steps that extensions add."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from twisted.internet.defer import Deferred

from evennia_ai.messages import WireMessage
from evennia_ai.policy.records.record import Record
from evennia_ai.ports.mind import MindContext

T = TypeVar("T")
R = TypeVar("R")

NO_MODEL = "no model to ask"


@dataclass(frozen=True)
class BackgroundReply:
    """A model's reply in complete lines; ``is_cut`` is True if it reached its token limit."""

    text: str
    is_cut: bool = False


@dataclass(frozen=True)
class BatchResult(Generic[R]):
    """The results for the items, and the provider's error that ended the work, if any."""

    results: list[R]
    error: str = ""

    @property
    def calls(self) -> int:
        """Return how often a model was asked, if once for each item."""
        return len(self.results) + bool(self.error)

    def report(self, *, cut_off: int = 0, **figures: Any) -> dict[str, Any]:
        """Return a step's result dict: ``success``, its figures, and the ``error``, if any.

        ``cut_off`` is how many replies reached their token limit; zero is not reported.
        """
        if cut_off:
            figures["cut_off"] = cut_off
        error = {"error": self.error} if self.error else {}
        return {"success": not self.error, **figures, **error}


def skip(reason: str, **figures: Any) -> dict[str, Any]:
    """Return the result dict of a step that had nothing to do."""
    return {"skipped": True, "reason": reason, **figures}


class BackgroundModel(Protocol):
    """Asks a model, and writes in pieces (`turn.model_call.BackgroundWork`)."""

    def ask(
        self, purpose: str, messages: Sequence[WireMessage], max_tokens: int, read: Sequence[Record]
    ) -> Deferred[BackgroundReply]: ...
    def ask_each(
        self, items: Iterable[T], ask: Callable[[T], Deferred[R]]
    ) -> Deferred[BatchResult[R]]: ...
    def write_in_pieces(
        self, items: Sequence[T], size: int, write: Callable[[Sequence[T]], int | None]
    ) -> Deferred[int]: ...


@dataclass(frozen=True)
class SleepContext(MindContext):
    """What a sleep step of an extension works with: the assistant's own parts, and its model."""

    background: BackgroundModel


@dataclass(frozen=True)
class SleepStep:
    """A step that an extension adds to the end of a whole sleep pass.

    Attributes:
        name: its key in the results, which no other step has.
        title: its name in reports.
        run: does the work for one assistant. It returns a Deferred of a result dict: ``success``
            and figures, or that of `skip`. It may be broken off anywhere, and run again without
            doing anything twice. What it asks a model about has one audience.
        sentence: a format for its figures in reports; "" lists them.
    """

    name: str
    title: str
    run: Callable[[SleepContext], Deferred[dict[str, Any]]]
    sentence: str = ""
