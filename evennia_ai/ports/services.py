"""What an assistant is given to work with, and what the engine touches of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from datetime import datetime
from typing import Any, Protocol

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.messages import Audience, Situation
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.conversation.lore import LoreEntry
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.policy.tokens import CountText, UsageReport
from evennia_ai.ports.log import Conversation, Inbox, TurnRecord, Turns
from evennia_ai.ports.memory import Memories, SemanticMemory
from evennia_ai.ports.models import Gateway
from evennia_ai.ports.tools import Toolbox


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


class Slices(Protocol):
    """Work that takes its turn, so that none of it holds others up for long."""

    def put(self, work: Callable[..., object], *args: Any) -> None:
        """Call ``work(*args)`` soon, after everything put before it."""


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
    on the next one so far (`policy.limits.budgets`); ``count_text``
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

    def compact_on_overflow(self) -> Deferred[bool]:
        """Compact at once, without a model; True where there is more room now."""
