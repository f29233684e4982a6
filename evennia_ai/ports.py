"""What the engine needs from outside, as protocols. Adapters are thin and live at the edge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.events import Audience as Audience
from evennia_ai.events import Heard as Heard
from evennia_ai.events import InboxEvent as InboxEvent
from evennia_ai.events import Situation as Situation
from evennia_ai.messages import LLMReply as LLMReply
from evennia_ai.messages import Message, WireMessage
from evennia_ai.messages import ToolCallRequest as ToolCallRequest
from evennia_ai.messages import Usage as Usage
from evennia_ai.policy.known_line import KnownLine
from evennia_ai.policy.long_term import MemoryItem, MemoryRow, Stored
from evennia_ai.policy.lore import LoreEntry
from evennia_ai.policy.persona import Persona
from evennia_ai.policy.projection import CompactionRecord as CompactionRecord
from evennia_ai.policy.projection import View as View
from evennia_ai.policy.tokens import CountText as CountText
from evennia_ai.policy.tokens import UsageReport as UsageReport

# --- models ----------------------------------------------------------------------------------


TASK_SUMMARY = "summary"


@dataclass(frozen=True)
class HeardLine:
    """One new thing the character heard, as the prompt for this turn names it."""

    kind: str
    speaker: str
    text: str
    private: bool


@dataclass(frozen=True)
class Scene:
    """The same content as the prompt, structured, for a brain that is not a language model.

    It is built from the items selected for the prompt's audience and nothing else. ``lore`` holds
    the pieces of static knowledge in this prompt; ``step`` counts the turn's model calls from 1.
    ``task`` names what is wanted where it is not a turn, with its ``material``: for a summary the
    one so far, then what happened since, a line each; ``room_tokens`` is the most it may take.
    """

    name: str
    persona: Persona
    lines: tuple[HeardLine, ...]
    situation: Situation = field(default_factory=Situation)
    lore: tuple[str, ...] = ()
    step: int = 1
    task: str = ""
    material: tuple[str, ...] = ()
    room_tokens: int = 0


@dataclass(frozen=True)
class Caller:
    """On whose behalf a model is asked.

    ``speakers`` are the dbrefs whose words set the call off, and who pay for it; ``background`` is
    True where nobody waits for the reply; ``tokens_per_day`` is the assistant's own budget, None
    for no limit.
    """

    assistant: str = ""
    speakers: Audience = frozenset()
    background: bool = False
    tokens_per_day: int | None = None


@dataclass(frozen=True)
class LLMRequest:
    """One call of a model. ``messages`` and ``tools`` are in chat-completions form; ``tokens`` is
    the estimated length of both."""

    messages: Sequence[WireMessage]
    scene: Scene
    tools: Sequence[Mapping[str, Any]] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    tokens: int = 0
    caller: Caller = Caller()


class LLMClient(Protocol):
    """A model, wherever it runs."""

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Ask once, without retries.

        Fires with the reply; fails with a `ProviderError`. Cancelling abandons the call.
        """


class Gateway(Protocol):
    """The only way to a model: deadlines, retries, caps, budgets and choice of client."""

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float
    ) -> Deferred[LLMReply]:
        """Ask before ``deadline_at`` (the clock's seconds), as often as it takes and may help.

        Fires with the reply; fails with a `ProviderError` (`DeadlineExceeded` when time is up).
        """


# --- the inbox, the log, turns -----------------------------------------------------------------
#
# Every method that writes does so in one transaction, and fails with `StoreUnavailable` where the
# database cannot be written now; then nothing has changed, neither there nor in memory.


@dataclass(frozen=True)
class TurnRecord:
    """An open turn: its lease and for whom it thinks.

    ``private`` is True when the words that set it off were whispered; ``done_before`` are world
    acts of earlier attempts at the same events, which were done or may have been.
    """

    id: int
    audience: Audience
    private: bool
    events: tuple[InboxEvent, ...]
    overheard: tuple[InboxEvent, ...] = ()
    done_before: tuple[ToolCallRequest, ...] = ()

    @property
    def hops(self) -> int:
        """The longest chain of assistants' answers that led here."""
        return max((event.heard.hops for event in self.events), default=0)

    @property
    def askers(self) -> Audience:
        """Those who wait for the answer: everybody who heard what set the turn off."""
        return frozenset().union(*(event.heard.audience for event in self.events))

    @property
    def speakers(self) -> Audience:
        """Everybody whose new words are in this turn."""
        heard = (event.heard.speaker for event in (*self.events, *self.overheard))
        return frozenset(speaker for speaker in heard if speaker)


@dataclass(frozen=True)
class OpenEvents:
    """What calls for an answer, oldest first: ``waiting`` has no turn yet; the answer to what is
    ``doubtful`` was on its way when the server died."""

    waiting: tuple[InboxEvent, ...] = ()
    doubtful: tuple[InboxEvent, ...] = ()


class Conversation(Protocol):
    """One assistant's log: append-only, with the view of it that a model may see."""

    def append(self, messages: Sequence[Message]) -> list[Message]:
        """Store messages in one transaction; returns them with ``seq`` and ``at`` filled in."""

    def view(self) -> Sequence[Message]:
        """The last compaction's marker, if any, and every message after it. Do not mutate."""

    @property
    def current(self) -> View:
        """The view with its sizes, and with what can be called to mind of what is out of it."""

    def compact(self, record: CompactionRecord) -> CompactionRecord:
        """Store a compaction; returns it with its id. The log itself stays as it is."""

    def mask(self, upto_seq: int) -> int:
        """Show long tool results up to a message masked from now on; returns how many."""

    def undo(self) -> CompactionRecord | None:
        """Put the last compaction out of force; returns it, None where there is none."""


class Inbox(Protocol):
    """One assistant's stored events."""

    def put(self, heard: Heard) -> int:
        """Store before anything else happens; returns the event's id."""

    def open_events(self) -> OpenEvents:
        """Everything that calls for an answer and has none."""

    def overheard(self) -> Sequence[InboxEvent]:
        """Events that will be taken into the log with the next turn, oldest first."""

    def close(self, event_ids: Sequence[int], state: str, reason: str = "") -> None:
        """End events as answered, excused, noted or expired."""


class Turns(Protocol):
    """One assistant's turns, model calls and acts."""

    def begin(
        self, events: Sequence[InboxEvent], audience: Audience, private: bool, context: str
    ) -> TurnRecord:
        """Open a turn in one transaction: claim its events, take what was overheard since the
        last turn, and append both to the conversation in the order they were heard."""

    def finish(self, turn_id: int, outcome: str, detail: str = "") -> None:
        """Close a turn with its outcome and close the events it named accordingly."""

    def give_back(self, turn_id: int) -> None:
        """Close a turn whose answer nobody could hear; its events wait again, or are doubtful where
        something may have been said."""

    def recover(self) -> None:
        """Close the turn that an error left open, if any, by what is known of its acts."""

    def is_current(self, turn_id: int) -> bool:
        """False once the turn was closed or its lease belongs to an older process."""

    def record_model_call(self, turn_id: int | None, call: ModelCallRecord) -> None:
        """Store what one model call cost and how it ended; None where it belongs to no turn."""

    def intend(self, turn_id: int, call: ToolCallRequest, world: bool) -> int:
        """Store the intent of an act before it is done; returns its id."""

    def record_outcome(
        self, act_id: int, state: str, result: str, messages: Sequence[Message] = ()
    ) -> None:
        """Store how an act ended, done, failed, refused or unknown, and append what the
        conversation holds of it, in one transaction: a crash leaves both or neither."""


@dataclass(frozen=True)
class ModelCallRecord:
    """What one model call was and cost; ``error`` is empty when it went well; ``speakers`` are
    those whose words set it off."""

    profile: str
    model: str
    purpose: str
    estimated_tokens: int
    usage: Usage | None
    duration_ms: int
    finish_reason: str = ""
    error_kind: str = ""
    error: str = ""
    speakers: Audience = frozenset()


# --- tools and the world --------------------------------------------------------------------------


@dataclass(frozen=True)
class ToolContext:
    """For whom and on whose words a tool runs.

    ``private`` is True when the prompt held anything only ``audience`` may know, ``whispered``
    when the words that set the turn off were whispered; ``askers`` wait for an answer;
    ``allowed`` narrows the tools to a
    prompt context's own; ``deadline_at`` is the clock's second at which a tool is given up;
    ``source_seqs`` are the messages it is all about, where those are not what this turn heard;
    ``remembered`` are those whose words are in the prompt as memories: they need a tool's right as
    the speakers do (P8), but what is written down is not theirs.
    """

    script: Any
    character: Any
    audience: Audience
    private: bool
    speakers: Audience
    whispered: bool = False
    askers: Audience = frozenset()
    hops: int = 0
    allowed: frozenset[str] | None = None
    deadline_at: float = 0.0
    source_seqs: tuple[int, ...] = ()
    remembered: Audience = frozenset()


@dataclass(frozen=True)
class ToolResult:
    """How a call ended: ``state`` is done, failed, refused or, where it did not come to an end,
    unknown; ``text`` goes back to the model.

    ``heard_by`` are those an act reached where it reached only some of the turn's audience;
    ``read`` and ``changed`` name what was consulted, see `policy.consulted`; ``speakers`` are those
    whose remembered words it brought back.
    """

    state: str
    text: str
    heard_by: Audience | None = None
    read: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    speakers: Audience = frozenset()


@dataclass(frozen=True)
class ToolSpec:
    """What the engine must know of a tool. ``category`` is free, once or final; ``tokens`` is what
    its schema takes in a request."""

    name: str
    category: str
    world: bool
    safe_to_retry: bool
    schema: Mapping[str, Any] = field(repr=False)
    tokens: int = 0


class Toolbox(Protocol):
    """The tools an assistant may use."""

    def offered(self, context: ToolContext) -> Sequence[ToolSpec]:
        """The tools that every speaker in the turn may use, in a stable order."""

    def run(self, context: ToolContext, call: ToolCallRequest) -> Deferred[ToolResult]:
        """Check rights and arguments again and run the tool. Never fails: errors are results."""


class World(Protocol):
    """The character's senses."""

    def listeners(self, character: Any) -> Audience:
        """Who would hear the character speak aloud now, itself not among them."""

    def situation(self, character: Any) -> Situation:
        """What it sees."""

    def lore(self, character: Any, audience: Audience) -> tuple[Sequence[LoreEntry], Audience]:
        """Every piece of lore there is, and the labels that say which of them the character knows
        and this audience may hear."""

    def name_of(self, character: Any, dbref: str) -> str:
        """What the character calls somebody, empty where there is nobody of that dbref."""

    def looks_of(self, character: Any, dbref: str) -> str:
        """What somebody or something within its sight looks like now, empty for any other."""


class SemanticMemory(Protocol):
    """Long-term memory: what journals hold, found by its meaning. ``agent`` names a character.

    Every Deferred fails with `MemoryUnavailable` where the store is down or too slow, and with
    `TurnAborted` where the server stops. Nothing here is the truth: the journal is.
    """

    @property
    def trouble(self) -> str:
        """What is wrong with it now, in words for an admin; empty where nothing is."""

    @property
    def is_off(self) -> bool:
        """True where the game does without it: nothing will come of waiting."""

    def put(self, agent: str, items: Sequence[MemoryItem]) -> Deferred[Mapping[str, Stored]]:
        """Store items; what is there already is not stored again.

        Fires with where they are, by their entries' ids; one that could not be stored is missing.
        """

    def search(
        self, agent: str, query: str, limit: int, keys: Sequence[str] | None
    ) -> Deferred[Sequence[MemoryRow]]:
        """Look for what is nearest in meaning, among memories of these audiences' keys alone; None
        is all. Fires with at most ``limit`` rows, best first."""

    def delete(self, agent: str, ids: Sequence[str]) -> Deferred[None]:
        """Delete memories; one that is gone already is passed over."""

    def delete_all(self, agent: str) -> Deferred[None]:
        """Delete every memory of a character."""

    def rows(self, agent: str) -> Deferred[Sequence[MemoryRow]]:
        """Fires with every memory of a character."""


class Embedder(Protocol):
    """Turns texts into vectors, so that texts of like meaning are near each other."""

    name: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> Any:
        """One row for each text: a float32 array of (texts, dimensions), rows of length 1."""


class RemoteEmbedder(Protocol):
    """An embedder that cannot answer at once."""

    name: str
    dimensions: int

    def embed_later(self, texts: Sequence[str]) -> Deferred[Any]:
        """Fires with what `Embedder.embed` returns; fails with a `ProviderError`."""


class Slices(Protocol):
    """Work that takes its turn, so that none of it holds others up for long."""

    def put(self, work: Callable[..., object], *args: Any) -> None:
        """Call ``work(*args)`` soon, after everything put before it."""


class Memories(Protocol):
    """What a character wrote down and takes to be so, as it can be searched."""

    def prepare(self, services: Services, queries: Sequence[str] = ()) -> Deferred[None]:
        """Take in what has changed, and what will be asked. Fires when a search is quick; fails
        with StoreUnavailable."""

    def search(
        self,
        query: str,
        limit: int,
        audience: Audience | None,
        now: datetime,
        discretion: str = "strict",
        keep: Callable[[Mapping[str, Any]], bool] | None = None,
    ) -> Sequence[Any]:
        """The records nearest to what is asked, best first, each with its ``record`` and its
        ``score``, as far as all of an audience may know them."""


class Services(Protocol):
    """What a script is given to work with."""

    clock: IReactorTime
    slices: Slices
    gateway: Gateway
    toolbox: Toolbox
    world: World
    profiles: Mapping[str, Mapping[str, Any]]
    semantic: SemanticMemory

    def now(self) -> datetime:
        """The time, in UTC."""

    def text(self, key: str) -> str:
        """A line for players that no model wrote."""

    def compacting(self, script: Any, reason: str, result: Mapping[str, Any] | None) -> None:
        """A compaction begins (no result yet), or has ended with its result. Never raises."""

    def thinking(self, script: Any, turn: TurnRecord, begins: bool) -> None:
        """A turn's thought begins, or ends however it did: those present may be shown it.

        Never raises."""


class Script(Protocol):
    """What the engine touches of an `AssistantScript`.

    ``prompt_overhead`` is what the last request took beside the conversation, in tokens;
    ``compaction_strikes`` counts the compactions in a row of which no summary came,
    ``small_compactions`` those in a row that took out little; ``compaction_cost`` is what was spent
    on the next one so far (`policy.costs`); ``count_text``
    counts tokens as the model does where that is known; ``usage_reports`` are the latest counts of
    the endpoint's beside ours.
    """

    id: int
    prompt_overhead: int
    compaction_strikes: int
    small_compactions: int
    compaction_cost: Mapping[str, int]
    count_text: CountText
    usage_reports: MutableSequence[UsageReport]

    config: AssistantConfig
    profile: ModelProfile
    services: Services
    conversation: Conversation
    inbox: Inbox
    turns: Turns
    persona: Persona

    @property
    def partners(self) -> MutableMapping[str, datetime]:
        """Who is in conversation with the character: dbref → time of the last exchange."""

    def is_in_conversation(self, dbref: str) -> bool:
        """True where the last exchange with somebody is short enough ago."""

    memories: Memories

    def pins(self, audience: Audience | None) -> Sequence[KnownLine]:
        """What it keeps in mind for good and this audience may know, None for what everybody may,
        a line each."""

    def goals(self, audience: Audience | None) -> Sequence[KnownLine]:
        """What it is after, as for `pins`."""

    def occupation(self) -> Sequence[KnownLine]:
        """What it is about at this time of its day, a line, or none."""

    def journalled_since(self, at: str, audience: Audience | None) -> Sequence[str]:
        """What was written into the journal since a time in ISO form, as for `pins`."""

    def tell_owner(self, trouble: str) -> None:
        """Have whoever looks after it know of something, once."""

    def may_think(self) -> bool:
        """False while it must not begin anything."""

    def make_room(self) -> Deferred[bool]:
        """Compact at once, without a model; True where there is more room now."""
