"""Models, embedders and long-term memory, and what a search over memories finds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from twisted.internet.defer import Deferred, fail

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import MemoryUnavailable
from evennia_ai.messages import (
    Audience,
    Authors,
    Delta,
    InboxEvent,
    LLMReply,
    Situation,
    ToolCallRequest,
    WireMessage,
)
from evennia_ai.policy.call_record import PromptTrace, RequestExtras
from evennia_ai.policy.conversation.persona_and_lore import Fit, LoreEntry
from evennia_ai.policy.facts.terms import SentenceKinds
from evennia_ai.policy.records.journal_entry import EntryForMemory, MemoryRow
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.tool_call_modes.form import TOOLS

TASK_SUMMARY, TASK_CHECK = "summary", "summary_check"


@dataclass(frozen=True)
class RequestSource:
    """What a request was made from, for clients that do not read its text."""

    mind: Any  # its `MindContext` or `Mind`
    turn: Any = None  # its `TurnRecord`, None outside a turn
    prompt: Any = None  # the turn's `Prompt`
    undone: frozenset[str] = frozenset()  # ids of the turn's tool calls that were not done
    # of a summary: the previous one, then a line for each message; and the most tokens for it
    material: tuple[str, ...] = ()
    room_tokens: int = 0


@dataclass(frozen=True)
class Caller:
    """Who causes and pays for a model call."""

    assistant: str = ""  # its id
    # dbrefs of those whose words started the call, and who pay for it
    speakers: Audience = frozenset()
    background: bool = False  # True if nobody waits for the reply
    config: AssistantConfig | None = None  # the assistant's settings
    turn_id: int | None = None  # number of the turn that the call belongs to, None for no turn
    # False if work in the background fails rather than wait until players have been quiet
    may_wait: bool = True
    # how much of the prompt, 0 to 1, are lines of others, which the speakers do not pay
    unpaid_share: float = 0.0


@dataclass(frozen=True)
class LLMRequest:
    """One model call."""

    messages: Sequence[WireMessage]  # in chat-completions form
    # schemas of the tools that the reply may call; their form sends them or describes them in
    # the messages
    tools: Sequence[Mapping[str, Any]] = ()
    # schemas of further ones, of which the talk tells: they came after its start
    late_tools: Sequence[Mapping[str, Any]] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    tokens: int = 0  # estimated size of everything that is sent
    caller: Caller = Caller()
    form: str = TOOLS  # name of the request form
    stop: Sequence[str] = ()  # texts at which the reply ends
    # in which an endpoint must begin to answer; a stream may pause half as long. None: no bound
    silence_s: float | None = field(default=None, compare=False)
    certain: bool = False  # asks the stand-in for nothing but what it surely knows, "" otherwise
    # where the prompt comes from, None if its record is not kept
    trace: PromptTrace | None = field(default=None, compare=False, repr=False)
    authors: Authors = frozenset()  # everybody whose words the prompt holds (`policy.audience`)
    situation: Situation = field(default_factory=Situation)  # what the character perceives
    events: Sequence[InboxEvent] = ()  # what it heard, and answers now
    # None if no character asks
    source: RequestSource | None = field(default=None, compare=False, repr=False)
    # called in the reactor's thread with each finished tool call of a reply that is still
    # arriving, in the order of the reply's ``tool_calls``; None to get all at once
    on_call: Callable[[ToolCallRequest], None] | None = field(
        default=None, compare=False, repr=False
    )
    # called with each part of a raw reply if the client can stream it, possibly in another
    # thread, so it must be quick and touch nothing of the game. The last delta comes before
    # the Deferred fires. A reply that the endpoint sends whole has no deltas
    on_delta: Callable[[Delta], None] | None = field(default=None, compare=False, repr=False)

    @property
    def sent(self) -> RequestExtras:
        """Return what is sent beside the messages, for the record of the call."""
        return RequestExtras(self.tools, None, self.form, self.temperature, self.max_tokens)

    @property
    def is_public(self) -> bool:
        """Return True if nothing in it is for some people only, as far as its prompt tells."""
        return self.source is None or (self.trace is not None and not self.trace.private)

    @property
    def all_tools(self) -> list[Mapping[str, Any]]:
        """Return the schemas of the tools that the reply may call, late ones among them."""
        return [*self.tools, *self.late_tools]


class LLMClient(Protocol):
    """A client for one kind of model."""

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Ask once. Fires with the reply; fails with a `ProviderError`. Cancelling drops it."""


class Gateway(Protocol):
    """The only way to a model; it handles deadlines, retries, limits and clients."""

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float
    ) -> Deferred[LLMReply]:
        """Ask, with retries, before ``deadline_at`` in the clock's seconds.

        Fires with the reply; fails with a `ProviderError`, at the deadline `DeadlineExceeded`.
        """


class SemanticMemory:
    """Long-term memory: a copy of the journal for other programs, which recall never searches.

    This class has none; an extension's subclass has one. Every Deferred fails with
    `MemoryUnavailable` if the store is down or too slow, and with `TurnAborted` if the server
    stops. ``agent`` is a character.
    """

    @property
    def trouble(self) -> str:
        """Return the current problem, in words for an admin; empty if there is none."""
        return "no extension has one: the journal is the only memory"

    @property
    def is_off(self) -> bool:
        """Return True if the game runs without it, so that waiting is useless."""
        return True

    @property
    def was_used(self) -> bool:
        """Return False if nothing was ever stored, True if that is not known."""
        return True

    def put(self, agent: str, items: Sequence[EntryForMemory]) -> Deferred[Mapping[str, str]]:
        """Add items; fires with their memories' ids by entry id, without items that failed."""
        return fail(MemoryUnavailable(self.trouble))

    def delete(self, ids: Sequence[str]) -> Deferred[None]:
        """Delete memories, if they are there."""
        return fail(MemoryUnavailable(self.trouble))

    def delete_all(self, agent: str) -> Deferred[None]:
        """Delete every memory of a character."""
        return fail(MemoryUnavailable(self.trouble))

    def rows(self, agent: str) -> Deferred[Sequence[MemoryRow]]:
        """Fetch every memory of a character."""
        return fail(MemoryUnavailable(self.trouble))

    def stop(self) -> None:
        """Close it, since the server stops. Returns at once, even if a call hangs."""


class Embedder(Protocol):
    """Turns texts into vectors; if questions need another way, it also has ``embed_query``."""

    name: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> Any:
        """Return a float32 array of shape (texts, dimensions) with rows of length 1."""


class RemoteEmbedder(Protocol):
    """An embedder that answers later: an endpoint, or a thread of its own."""

    name: str
    dimensions: int

    def embed_later(self, texts: Sequence[str], query: bool = False) -> Deferred[Any]:
        """Fire with what `Embedder.embed` returns, or `embed_query`; fails with a ProviderError."""


class Nearness(Protocol):
    """How near texts are to each other in meaning."""

    def prepare(self, services: Any, texts: Iterable[str]) -> Deferred[None]:
        """Fire when these texts can be compared; never fails."""

    def cosines(self, text: str, others: Sequence[str]) -> list[float]:
        """Return how near a text is to others, 1 at most; none if not all have been prepared."""

    def vectors(self, texts: Sequence[str]) -> Mapping[str, Any]:
        """Return the unit vectors of texts, by text; none if not all have been prepared."""

    def kinds(self, text: str) -> SentenceKinds | None:
        """Return what kind of sentence a text is; None if it is not prepared, or not by MiniLM."""


class LoreRanking(Protocol):
    """How well pieces of lore fit a line."""

    def prepare(
        self, services: Any, entries: Sequence[LoreEntry], lines: Sequence[str]
    ) -> Deferred[None]:
        """Fire when these pieces can be ranked for these lines; never fails."""

    def fits(self, entries: Sequence[LoreEntry], line: str) -> Mapping[LoreEntry, Fit]:
        """Return how well each piece fits; what is not among ``entries`` changes nothing (P9)."""


@dataclass(frozen=True)
class MemoryMatch:
    """A record that a search found."""

    record: Record
    score: float  # compares within one search
    fit: float  # compares between searches: its cosine with the query; by words alone above 1 or 0
