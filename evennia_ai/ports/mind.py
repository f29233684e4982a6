"""The assistant as its parts see it, its character, and what all assistants share.

`game.minds`, `assistant_character`, `services`, `game.perception` and `tools.registry` implement
these protocols. `mind.Mind` puts the parts of an assistant together from its `MindContext`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol, cast

from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.messages import Audience, Authors, Situation, ToolCallRequest
from evennia_ai.policy.audience import KnownLine, known
from evennia_ai.policy.call_record import LockAsked
from evennia_ai.policy.compaction.plan import ContextUse
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry, Persona
from evennia_ai.policy.conversation.tool_call_rules import ToolOffer
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.retrieval.relevance import NO_CONTEXT, QueryContext
from evennia_ai.policy.tokens import CountText
from evennia_ai.ports.log import Conversation, Inbox, PendingActs, TurnRecord, Turns
from evennia_ai.ports.models import (
    Embedder,
    Gateway,
    LoreRanking,
    MemoryMatch,
    Nearness,
    RemoteEmbedder,
    SemanticMemory,
)
from evennia_ai.ports.world import Character, WorldClock
from evennia_ai.scheduling import Clock, TimeSlices

GUESSED_OVERHEAD = 1_600  # tokens


class Memories(Protocol):
    """The search over a character's log, journal and profiles (`memory.recall_index`)."""

    def __len__(self) -> int: ...
    def prepare(
        self,
        services: Services,
        queries: Sequence[str] = (),
        upto: int | None = None,
        whole: bool = True,  # False leaves the older lines of a long log for later
    ) -> Deferred[None]: ...  # before `search` with the same query and line
    def search(  # noqa: PLR0913  # all but four have defaults
        self,
        query: str,
        limit: int,
        audience: Audience | None,
        now: datetime,
        keep: Callable[[Record], bool] | None = None,
        *,
        upto: int | None = None,
        everything: bool = False,
        context: QueryContext = NO_CONTEXT,
    ) -> Sequence[MemoryMatch]: ...


@dataclass(frozen=True)
class ToolContext:
    """The context of a tool call."""

    character: Character
    audience: Audience  # dbrefs of everybody the prompt was built for
    private: bool  # True if the prompt held anything that only ``audience`` may know
    speakers: Audience  # dbrefs of those whose new words are in the turn
    whispered: bool = False  # True if the words that started the turn were whispered
    askers: Audience = frozenset()  # dbrefs of those whom the turn answers; not the overheard
    waiting: Audience = frozenset()  # dbrefs of those who wait for the answer
    hops: int = 0  # length of the chain of assistants' answers that led to the turn
    allowed: frozenset[str] | None = None  # names of the prompt context's tools, None for all
    deadline_at: float = 0.0  # the clock's second at which the tool is cancelled
    heard: tuple[str, ...] = ()  # the new lines of others, as the prompt tells them
    refused: str = ""  # why the turn's last reply was not spoken, "" if none was refused
    # the messages that the call is about; empty for those this turn heard
    source_seqs: tuple[int, ...] = ()
    said_at: str = ""  # when these messages were said, ISO time; empty for those this turn heard
    is_own_thought: bool = False  # True if what it writes down was stated by nobody
    # everybody whose words the prompt holds (`policy.audience`). A tool's lock must let all of
    # them pass (P8), and a record that the tool writes has them as authors
    authors: Authors = frozenset()
    confirmed_by: str = ""  # dbref of the person who confirmed or approved this very call, else ""
    item: str = ""  # dbref of the thing that they agreed to, "" for any
    # what the package's own tools use; None where a tool is tried without an assistant
    assistant: ToolMindContext = field(default=cast(Any, None), compare=False, repr=False)
    # the locks that the call asked so far, with their answers
    locks: list[LockAsked] = field(default_factory=list, compare=False, repr=False)

    @property
    def causes(self) -> Audience:
        """Return those who answer for what the turn does: the askers, if any, else the speakers."""
        return self.askers or self.speakers

    @property
    def all_authors(self) -> Authors:
        """Return the authors of the prompt and of the new words, a stranger if there are none."""
        return known(self.authors | self.speakers)


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool call."""

    # done, failed, refused, asked if a person must agree first, or unknown if it did not finish
    state: str
    text: str  # what the model is told
    # dbrefs of those the act reached, None for the turn's whole audience
    heard_by: Audience | None = None
    read: tuple[
        str, ...
    ] = ()  # references to what was consulted (`policy.compaction.restored_context`)
    changed: tuple[str, ...] = ()  # references to what was changed
    # authors of the text that did not write the prompt (`policy.audience`); what a tool shows
    # of players' own texts has them as authors
    authors: Authors = frozenset()
    # True if the text quotes lines of the log with `messages.MARK` before those that the game
    # perceived, and passed all else through `messages.unmarked`
    quotes_log: bool = False
    told: bool = False  # True if whoever agreed to the call was told what came of it


@dataclass(frozen=True)
class ToolSpec:
    """What the engine must know about a tool."""

    name: str
    category: str  # free, once (in a turn) or final (ends the turn)
    world: bool  # True if others notice its effect
    safe_to_retry: bool  # True if running it again after a crash does no harm
    schema: Mapping[str, Any] = field(repr=False)  # its JSON schema in chat-completions form
    tokens: int = 0  # size of the schema in a request, 0 if it is left out
    # False if the tool is left out of requests; it still runs if a model calls it
    shown: bool = True
    late: bool = False  # True if it is left out, and the talk tells of it instead
    reads: bool = False  # True if it only reads, so that a trial really runs it
    leaves: bool = False  # True if it takes the character away from those who hear it

    @cached_property
    def left_out(self) -> ToolSpec:
        """Return this tool as one that requests do not show."""
        return replace(self, tokens=0, shown=False)

    @cached_property
    def told_late(self) -> ToolSpec:
        """Return this tool as one that the talk came to need after its start."""
        return replace(self.left_out, late=True)


class Toolbox(Protocol):
    """The tools an assistant may use."""

    def offered(self, context: ToolContext) -> Sequence[ToolSpec]:
        """Return the tools that every author of the prompt may use; unshown ones come last."""

    def permitted(self, context: ToolContext, specs: Iterable[ToolSpec]) -> Sequence[ToolSpec]:
        """Return those of some offered tools that every author of a longer prompt may use."""

    def run(
        self, context: ToolContext, call: ToolCallRequest, dry: bool = False
    ) -> Deferred[ToolResult]:
        """Check locks and arguments again and run the tool, unless ``dry``; errors are results."""


class World(Protocol):
    """What a character perceives."""

    def listeners(self, character: Character) -> Audience: ...  # dbrefs, without itself
    def situation(self, character: Character) -> Situation: ...
    def lore(
        self, character: Character, audience: Audience
    ) -> tuple[Sequence[LoreEntry], Audience]: ...  # all lore, and the labels of what may be used
    def labels_of(self, character: Character) -> frozenset[str]: ...  # the scopes it belongs to
    def name_of(self, character: Character, dbref: str) -> str: ...  # empty if nobody has the dbref
    def looks_of(self, character: Character, dbref: str) -> str: ...  # empty if it is out of sight
    def authors_of(self, dbref: str) -> Authors: ...  # of an object's name and description


class MemorySource(Protocol):
    """Memories that an extension adds to those of an assistant.

    ``prepare`` is called before each search, with its queries, and may read the database. A match
    holds a record with ``id``, ``content``, ``timestamp``, ``audience`` and the other fields of
    `BaseRecord`, so that its authors are known; its ``label`` says before the words how the
    character came to know it, such as ", Bruno told you". What ``audience`` may not know is left
    out, whatever ``search`` returns.
    """

    def prepare(self, queries: Sequence[str]) -> Deferred[None]: ...
    def search(
        self,
        query: str,
        limit: int,
        audience: Audience | None,
        now: datetime,
        keep: Callable[[Record], bool] | None = None,
    ) -> Sequence[MemoryMatch]: ...


class Services(Protocol):
    """What the engine uses of what all assistants share."""

    @property
    def clock(self) -> Clock: ...
    @property
    def world_clock(self) -> WorldClock: ...
    @property
    def slices(self) -> TimeSlices: ...
    @property
    def gateway(self) -> Gateway: ...
    @property
    def toolbox(self) -> Toolbox: ...
    @property
    def world(self) -> World: ...
    @property
    def profiles(self) -> Mapping[str, Mapping[str, Any]]: ...  # model profiles by name
    @property
    def embedder(self) -> Embedder | RemoteEmbedder | None: ...  # None if words alone rank
    @property
    def lore_ranking(self) -> LoreRanking: ...
    @property
    def nearness(self) -> Nearness: ...
    @property
    def semantic(self) -> SemanticMemory: ...
    @property
    def extensions(self) -> Sequence[Any]: ...  # `Extension`, whose tools know these services
    @property
    def link_hosts(self) -> Collection[str]: ...  # whose addresses may be said
    def now(self) -> datetime: ...  # in UTC
    def text(self, key: str, **values: str) -> str: ...  # a line for players that no model wrote
    # Returns those whose lines were refused in the last minute: others are answered before them.
    def held_back(self, speakers: Iterable[str]) -> frozenset[str]: ...


class Identity(Protocol):
    """Who an assistant is. A game may change all but ``id`` while it runs."""

    @property
    def id(self) -> int: ...  # of the assistant, in every table
    @property
    def character(self) -> Character: ...
    @property
    def name(self) -> str: ...  # the character's, as others know it
    @property
    def persona(self) -> Persona: ...
    @property
    def persona_authors(self) -> Authors: ...


class Settings(Protocol):
    """The effective settings of an assistant, resolved once a tick."""

    @property
    def config(self) -> AssistantConfig: ...
    @property
    def profile(self) -> ModelProfile: ...
    @property
    def count_text(self) -> CountText: ...  # the model's own counter if known, else an estimate
    def resolve(self) -> object: ...  # reads them again
    def tell_owner(self, trouble: str) -> None: ...  # once


class Presence(Protocol):
    """Who is near an assistant and who talks with it. Times are seconds of the clock."""

    last_talk_at: float | None  # when it last heard somebody speak
    news_at: float | None  # when something last happened that it may react to unasked

    @property
    def partners(self) -> MutableMapping[str, datetime]: ...  # dbref to time of the last exchange
    def is_in_conversation(self, dbref: str) -> bool: ...
    def players_near(self) -> bool: ...
    def pause(self, seconds: float) -> Deferred[bool]: ...  # False if somebody spoke meanwhile


class AssistantStatus(Protocol):
    """What the game lets an assistant do, and is told of it."""

    @property
    def is_forgetting(self) -> bool: ...  # True while somebody's words are being deleted
    def may_think(self) -> bool: ...  # False while it must not start anything
    def wake(self) -> None: ...  # tick soon
    def tell(
        self, key: str, dbrefs: Iterable[str], reason: str = ""
    ) -> None: ...  # a line that it does not speak
    def author_note(self) -> Sequence[KnownLine]: ...  # a builder's words for the next turns
    def signal(self, name: str, on: bool) -> None: ...  # notes what it is doing, for a game's code

    def thinking(self, turn: TurnRecord, begins: bool) -> None: ...  # announces it
    # Announces that a compaction starts (result None) or ended. Neither of these raises.
    def compacting(self, reason: str, result: Mapping[str, Any] | None) -> None: ...


class SleepController(Protocol):
    """The sleep of an assistant, as the world sees it. Writing raises StoreUnavailable."""

    @property
    def is_asleep(self) -> bool: ...
    @property
    def needs_pass(self) -> bool: ...  # True if it sleeps and has not sorted its memories yet
    @property
    def woken_at(self) -> float | None: ...  # in the clock's seconds
    def sleep_through(
        self, run: Callable[[Any], Deferred[dict[str, Any]]]
    ) -> Deferred[dict[str, Any]]: ...  # ``run`` gets the `SleepPassTimer` of a sleep pass
    def wake_up(self, reason: str) -> None: ...
    def go_to_bed(self, cause: str, reason: str = "") -> bool: ...  # True if it sleeps now
    def lie_down(self) -> None: ...  # at the end of a tick, if that is planned


@dataclass
class RequestSizes:
    """What is known of the sizes of an assistant's requests, in tokens."""

    # of the last request beside its messages of the conversation; all of it was counted as sent
    overhead: int = GUESSED_OVERHEAD


@dataclass
class OfferedTools:
    """The tools that the current talk has needed so far."""

    offer: ToolOffer = field(default_factory=ToolOffer)


@dataclass(frozen=True)
class MindContext:
    """What every part of a mind is given: what is one assistant's own, and what all share."""

    who: Identity
    settings: Settings
    log: Conversation
    inbox: Inbox
    turns: Turns
    pending_acts: PendingActs
    memories: Callable[[], Memories]  # the search over all that it remembers
    presence: Presence
    status: AssistantStatus
    sleep: SleepController
    sizes: RequestSizes
    offered: OfferedTools
    services: Services

    @property
    def name(self) -> str:
        return self.who.name

    @property
    def character(self) -> Character:
        return self.who.character

    @property
    def config(self) -> AssistantConfig:
        return self.settings.config

    @property
    def profile(self) -> ModelProfile:
        return self.settings.profile

    @property
    def clock(self) -> Clock:
        return self.services.clock

    @property
    def world_clock(self) -> WorldClock:
        return self.services.world_clock

    @property
    def slices(self) -> TimeSlices:
        return self.services.slices

    @property
    def world(self) -> World:
        return self.services.world

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return self.services.now()


@dataclass(frozen=True)
class ToolMindContext(MindContext):
    """What the tools of this package use of their assistant."""

    line: Callable[..., str]  # shows a memory in a prompt: `turn.recall.Recall.line`
    use: Callable[[], ContextUse]  # how full the context window is
