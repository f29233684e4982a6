"""Work that no player waits for: ask a model, write many items in pieces, report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config.profiles import request_form
from evennia_ai.errors import ProviderError
from evennia_ai.messages import OFFLINE, LLMReply, WireMessage
from evennia_ai.policy.authors import of_records
from evennia_ai.policy.model_text import complete_lines
from evennia_ai.policy.records.provenance import Record, people_in
from evennia_ai.policy.replies.reply_reader import CUT_OFF
from evennia_ai.ports import Scene, Script
from evennia_ai.scheduling import Steps, pause, persist
from evennia_ai.turn.llm_interaction import background_request
from evennia_ai.turn.model_call import ask_apart
from evennia_ai.turn.prompt_trace import trace_apart

log = Logger()
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class BackgroundReply:
    """A model's reply in complete lines; ``is_cut`` is True if it reached its token limit."""

    text: str
    is_cut: bool = False


def has_model(script: Script) -> bool:
    """Return False if the offline brain answers, which cannot handle such requests."""
    return script.profile.client != "offline"


def own_nature(script: Script) -> str:
    """Return the nature of what the character says: `OFFLINE` if the offline brain chooses it."""
    return "" if has_model(script) else OFFLINE


def calls_tools(script: Script) -> bool:
    """Return True if the assistant's model is asked by native tool calls."""
    return request_form(script.profile).native


@inlineCallbacks
def ask_in_background(
    script: Script,
    purpose: str,
    messages: Sequence[WireMessage],
    max_tokens: int,
    read: Sequence[Record],
) -> Steps[BackgroundReply]:
    """Ask the model for summaries, at the gateway's low priority.

    ``purpose`` is the call's name in the log; ``messages`` are everything that the model sees, and
    ``read`` the character's records in it, all for one audience.
    Fires with the reply, without a last line that was cut off. Fails with a `ProviderError`, and
    with TurnAborted if the assistant must not think any more.
    """
    scene = Scene(script.character_name, script.persona, ())
    confided = (one["audience"] for one in read if one["audience"] is not None)
    request = replace(
        background_request(script, messages, scene, max_tokens),
        trace=trace_apart(next(confided, None)),
        authors=of_records(read).union(*map(people_in, read)),
    )
    reply: LLMReply = yield ask_apart(script, request, purpose)
    if reply.finish_reason == CUT_OFF:
        return BackgroundReply(complete_lines(reply.content), is_cut=True)
    return BackgroundReply(reply.content)


@dataclass(frozen=True)
class Asked(Generic[R]):
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


@inlineCallbacks
def ask_each(
    script: Script, items: Iterable[T], ask: Callable[[T], Deferred[R]]
) -> Steps[Asked[R]]:
    """Ask a model about each item in turn, until a provider fails; fails as ``ask`` otherwise."""
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


@inlineCallbacks
def write_in_pieces(
    script: Script, items: Sequence[T], size: int, write: Callable[[Sequence[T]], int | None]
) -> Steps[int]:
    """Write about many items, ``size`` of them in one transaction, with a pause before each.

    Fires with the sum of what ``write`` returns; fails with StoreUnavailable.
    """
    total = 0
    for start in range(0, len(items), size):
        yield pause(script.services.slices.put)
        work = partial(write, items[start : start + size])
        total += (yield persist(script.services.clock, work)) or 0
    return total


def skip(reason: str, **figures: Any) -> dict[str, Any]:
    """Return the result dict of a step that was skipped."""
    return {"skipped": True, "reason": reason, **figures}
