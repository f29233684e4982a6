"""Call a model through the gateway, record what the call cost, and do background work with it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai import ports
from evennia_ai.config import ModelProfile, usable_window, window_known
from evennia_ai.config.profiles import wire_style
from evennia_ai.errors import ContextOverflow, ProviderError, ProviderRejected, TurnAborted
from evennia_ai.messages import (
    NO_USAGE,
    OFFLINE,
    Audience,
    LLMReply,
    Usage,
    WireMessage,
    turn_label,
)
from evennia_ai.policy.audience import of_records
from evennia_ai.policy.call_record import KeptCall, PackedCall, RecordedReply, make_record
from evennia_ai.policy.limits.money import add_call
from evennia_ai.policy.provider_errors import is_silent_overflow
from evennia_ai.policy.records.record import Record, people_in
from evennia_ai.policy.replies.reply_reader import CUT_OFF
from evennia_ai.policy.texts import complete_lines
from evennia_ai.policy.tool_call_modes.form import TOOLS
from evennia_ai.policy.tool_call_modes.wire_order import count_request
from evennia_ai.ports.background import BackgroundReply, BatchResult
from evennia_ai.scheduling import Coroutine, retry_write, yield_to_reactor
from evennia_ai.turn.context_use import ContextMeter
from evennia_ai.turn.prompt_contexts import CONTEXT_PRE_COMPACTION
from evennia_ai.turn.prompt_trace import trace_apart

log = Logger()
T = TypeVar("T")
R = TypeVar("R")

NO_REPLY = LLMReply("", finish_reason="")
SUSPICIOUS_SHARE = 0.5  # of the window, for a request that was refused without a cause
COMPACTING = frozenset({ports.TASK_SUMMARY, ports.TASK_CHECK, CONTEXT_PRE_COMPACTION.name})


@dataclass(frozen=True)
class Purpose:
    """What a model call is for, and its name in the log of calls."""

    name: str
    profile: ModelProfile
    turn_id: int | None
    ensure_wanted: Callable[[], None]  # raises TurnAborted once nobody needs the reply


@dataclass(eq=False)
class ModelCalls:
    """Asks one assistant's models through the gateway, and records what each call cost."""

    _mind: ports.MindContext
    _meter: ContextMeter
    # What the next compaction has cost so far (`policy.limits.money`).
    compaction_cost: dict[str, int] = field(default_factory=dict)

    @property
    def background_profile(self) -> ModelProfile:
        """Return the profile for what nobody waits for: with ``background_model``, if it is set."""
        profile = self._mind.profile
        return profile.with_model(self._mind.config.background_model or profile.model)

    @property
    def summary_profile(self) -> ModelProfile:
        """Return the profile for summaries: with ``compact_model``, else as in the background."""
        profile = self.background_profile
        return profile.with_model(self._mind.config.compact_model or profile.model)

    def caller(self, speakers: Audience, background: bool) -> ports.Caller:
        """Return who causes and pays for a call."""
        return ports.Caller(str(self._mind.who.id), speakers, background, self._mind.config)

    def background_request(self, wire: Sequence[WireMessage], max_tokens: int) -> ports.LLMRequest:
        """Return a request that no player waits for, and none pays for."""
        return ports.LLMRequest(
            messages=wire,
            max_tokens=max_tokens,
            temperature=self._mind.config.temperature,
            caller=self.caller(frozenset(), background=True),
            source=ports.RequestSource(self._mind),
        )

    def for_turn(
        self, turn: ports.TurnRecord, request: ports.LLMRequest, purpose: str, deadline_at: float
    ) -> Deferred[LLMReply]:
        """Ask the model once for a turn and record what the call cost.

        Fires with an `LLMReply`; fails with a `ProviderError`, and with `TurnAborted` if the turn
        lost its lease meanwhile, so that a late reply is dropped.
        """
        wanted = partial(ensure_current, self._mind.turns, turn)
        return self._ask(
            request, Purpose(purpose, self._mind.profile, turn.id, wanted), deadline_at
        )

    def apart(
        self,
        request: ports.LLMRequest,
        purpose: str,
        profile: ModelProfile | None = None,
        deadline_at: float | None = None,
    ) -> Deferred[LLMReply]:
        """Ask for something apart from any turn, by default the background's model.

        The reply must come in the time of a turn, and before ``deadline_at``, if that is given.
        Fires and fails as `for_turn`; `TurnAborted` means that the assistant must not think any
        more.
        """

        def ensure_awake() -> None:
            if not self._mind.status.may_think():
                raise TurnAborted(f"{self._mind.name} may not think any more")

        call = Purpose(purpose, profile or self.background_profile, None, ensure_awake)
        end_at = self._mind.clock.seconds() + self._mind.config.turn_deadline
        if deadline_at is not None:
            end_at = min(end_at, deadline_at)
        return self._ask(request, call, end_at)

    @inlineCallbacks
    def _ask(
        self, request: ports.LLMRequest, purpose: Purpose, deadline_at: float
    ) -> Coroutine[LLMReply]:
        clock, profile = self._mind.clock, purpose.profile
        if not request.tokens:
            sent = request.tools if request.form == TOOLS else ()
            style, count_text = wire_style(profile, request.form), self._mind.settings.count_text
            tokens = count_request(request.messages, style, sent, count_text)
            request = replace(request, tokens=tokens)
        started, reply = clock.seconds(), NO_REPLY
        failure: ProviderError | None = None
        try:
            reply = yield self._mind.services.gateway.complete(request, profile, deadline_at)
            if reply.from_fallback and profile.fallback is not None:
                profile = profile.fallback
            if reply.usage is not None and reply.model != OFFLINE:
                own = purpose.turn_id is not None and not reply.from_fallback
                self._meter.note(request.tokens, reply.usage, profile, own)
            window = window_known(profile).tokens or self._mind.config.max_context_tokens
            if is_silent_overflow(reply, window):
                failure = ContextOverflow(f"The request filled the window of '{profile.model}'.")
        except ProviderError as error:
            failure = self._as_overflow(request, error, profile)
        is_free = (profile.model if failure else reply.model) == OFFLINE
        record = ports.ModelCallRecord(
            profile=profile.name,
            model=reply.model or profile.model,
            purpose=purpose.name,
            estimated_tokens=0 if is_free else request.tokens,
            usage=NO_USAGE if is_free else reply.usage,
            duration_ms=max(0, int((clock.seconds() - started) * 1000)),
            finish_reason=reply.finish_reason,
            error_kind=failure.kind if failure else "",
            error=str(failure or ""),
            speakers=request.caller.speakers,
            unpaid_share=request.caller.unpaid_share,
            kept=record_of(request, reply),
            prices=profile.price,
        )
        if purpose.name in COMPACTING:
            usage, cost = record.usage or Usage(record.estimated_tokens, 0), self.compaction_cost
            sizes = usage.prompt_tokens, usage.completion_tokens
            self.compaction_cost = add_call(cost, *sizes, record.duration_ms)
        yield retry_write(clock, partial(self._store, purpose, request, record))
        purpose.ensure_wanted()
        if failure:
            raise failure
        return reply

    def _store(
        self, purpose: Purpose, request: ports.LLMRequest, record: ports.ModelCallRecord
    ) -> None:
        """Store a call; raises StoreUnavailable, and TurnAborted once nobody needs the reply."""
        purpose.ensure_wanted()
        extensions = ports.overriding(self._mind.services.extensions, "after_model_call")
        also = [partial(extension.after_model_call, request, record) for extension in extensions]
        self._mind.turns.record_model_call(purpose.turn_id, record, also)

    def _as_overflow(
        self, request: ports.LLMRequest, error: ProviderError, profile: ModelProfile
    ) -> ProviderError:
        """Return the error, as an overflow if nothing else explains why a long request failed.

        The next asking is shorter, so it decides.
        """
        window = usable_window(self._mind.config, profile)
        is_long = request.tokens > SUSPICIOUS_SHARE * window
        if not (is_long and isinstance(error, ProviderRejected) and error.is_unexplained):
            return error
        return ContextOverflow(str(error), status=error.status, code=error.code)


def ensure_current(turns: ports.Turns, turn: ports.TurnRecord) -> None:
    """Raise TurnAborted if the turn has lost its lease."""
    if not turns.is_current(turn.id):
        raise TurnAborted(f"{turn_label(turn.id)} is no longer current")


def record_of(request: ports.LLMRequest, reply: LLMReply) -> PackedCall | None:
    """Return what to store of a call's prompt and reply, None if its prompt has no trace."""
    if request.trace is None:
        return None
    raw = reply.raw or reply
    calls = tuple((call.name, call.arguments) for call in raw.tool_calls)
    kept = KeptCall(request.trace, request.sent, RecordedReply(raw.content, calls))
    try:
        return make_record(kept, request.messages, request.authors)
    except Exception:  # noqa: BLE001  # an answer must not fail because it cannot be explained
        log.failure("the prompt of a call cannot be kept; aiwhy will not explain its lines")
        return None


# --- work that no player waits for ----------------------------------------------------------


@dataclass(eq=False)
class BackgroundWork:
    """Work that no player waits for: asks a model, and writes many items in pieces."""

    _mind: ports.MindContext
    _calls: ModelCalls

    @inlineCallbacks
    def ask(
        self, purpose: str, messages: Sequence[WireMessage], max_tokens: int, read: Sequence[Record]
    ) -> Coroutine[BackgroundReply]:
        """Ask the model for summaries, at the gateway's low priority.

        ``purpose`` is the call's name in the log; ``messages`` are everything that the model sees,
        and ``read`` the character's records in it, all for one audience. Fires with the reply,
        without a last line that was cut off. Fails with a `ProviderError`, and with TurnAborted if
        the assistant must not think any more.
        """
        confided = (record["audience"] for record in read if record["audience"] is not None)
        request = replace(
            self._calls.background_request(messages, max_tokens),
            trace=trace_apart(next(confided, None)),
            authors=of_records(read).union(*map(people_in, read)),
        )
        reply: LLMReply = yield self._calls.apart(request, purpose)
        if reply.finish_reason == CUT_OFF:
            return BackgroundReply(complete_lines(reply.content), is_cut=True)
        return BackgroundReply(reply.content)

    @inlineCallbacks
    def ask_each(
        self, items: Iterable[T], ask: Callable[[T], Deferred[R]]
    ) -> Coroutine[BatchResult[R]]:
        """Ask a model about each item in turn, until a provider fails; fails as ``ask`` does."""
        results: list[R] = []
        for item in items:
            yield yield_to_reactor(self._mind.slices.put)
            try:
                results.append((yield ask(item)))
            except ProviderError as error:
                message = "{name}: {error}; the rest waits for the next sleep pass"
                log.warn(message, name=self._mind.name, error=error)
                return BatchResult(results, str(error))
        return BatchResult(results)

    @inlineCallbacks
    def write_in_pieces(
        self, items: Sequence[T], size: int, write: Callable[[Sequence[T]], int | None]
    ) -> Coroutine[int]:
        """Write about many items, ``size`` of them in one transaction, with a pause before each.

        Fires with the sum of what ``write`` returns; fails with StoreUnavailable.
        """
        total = 0
        for start in range(0, len(items), size):
            yield yield_to_reactor(self._mind.slices.put)
            work = partial(write, items[start : start + size])
            total += (yield retry_write(self._mind.clock, work)) or 0
        return total


def own_evidence(profile: ModelProfile) -> str:
    """Return the evidence of what a character says: `OFFLINE` if the stand-in chooses it."""
    return "" if profile.has_model else OFFLINE
