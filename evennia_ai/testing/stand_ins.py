"""An assistant and its character without Evennia, for tests of the engine."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.messages import Audience, Heard
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.authors import BUILDER
from evennia_ai.policy.conversation.persona import Persona, read_persona
from evennia_ai.policy.conversation.react import ToolOffer
from evennia_ai.policy.tokens import CountText, UsageReport, estimate_tokens
from evennia_ai.ports import (
    Character,
    Embedder,
    Gateway,
    RemoteEmbedder,
    Script,
    Services,
    Situation,
)
from evennia_ai.sleep.emergency import compact_in_emergency, compact_on_overflow
from evennia_ai.testing.memory_conversation import MemoryConversation
from evennia_ai.testing.memory_records import EmptyGoals, EmptyPlan, EmptyProfiles, MemoryJournal
from evennia_ai.testing.memory_stores import MemoryInbox, MemoryTurns
from evennia_ai.testing.stand_in_services import NoPendingActs, StandInServices


class Namespace:
    """Evennia's ``db`` or ``ndb``: a name that was never set reads None."""

    def __getattr__(self, name: str) -> Any:
        return None


class StandInCharacter:
    """Plays an `AssistantCharacter`; ``said`` are the words it spoke."""

    def __init__(self, key: str, now: Callable[[], datetime], dbref: str = "#7") -> None:
        self.key = key
        self.dbref = dbref
        self.id = self.pk = int(dbref.lstrip("#"))
        self.db, self.ndb = Namespace(), Namespace()
        self.location: Any = None
        self.contents: list[Any] = []
        self.has_account = False
        self.assistant: Script | None = None
        self.journal = MemoryJournal(now)
        self.ai_profiles = EmptyProfiles()
        self.ai_goals = EmptyGoals()
        self.ai_plan = EmptyPlan()
        self.said: list[str] = []

    def attach_assistant(self, persona: str = "") -> Script | None:
        return self.assistant

    def ai_perceived(
        self, kind: str, actor: Any, item: Any = None, since: datetime | None = None
    ) -> bool:
        return False

    def at_ai_hear(self, event: Heard) -> Heard | None:
        return event

    def at_ai_pre_act(self, tool: str, args: dict[str, Any]) -> bool | None:
        return None

    def at_ai_situation(self, situation: Situation) -> Situation:
        return situation

    def at_ai_describe_self(self) -> str:
        return ""

    def at_ai_say(self, text: str) -> str:
        return text

    def at_ai_thinking(self, seconds: float) -> str | None:
        return None

    def at_pre_say(self, message: str, **kwargs: Any) -> str | None:
        return message

    def at_say(self, message: str, **kwargs: Any) -> None:
        self.said.append(message)


class StandInScript:
    """Plays an `AssistantScript` for the engine.

    Attributes:
        told: (key, dbref) of each line that is not the character's own speech.
        troubles: the problems reported to the owner.
        memories: over its conversation and journal, ranked by words alone without ``embedder``.
    """

    is_forgetting = False
    compact_on_overflow = compact_on_overflow
    compact_in_emergency = compact_in_emergency

    def __init__(
        self,
        gateway: Gateway,
        config: AssistantConfig | None = None,
        persona: str | Mapping[str, Any] | Persona = "You are Mira, a barkeep.",
        embedder: Embedder | RemoteEmbedder | None = None,
        name: str = "Mira",
    ) -> None:
        self.id = self.pk = 1
        self.db, self.ndb = Namespace(), Namespace()
        self.is_on = True
        self.prompt_overhead = 0
        self.tool_offer = ToolOffer()
        self.told: list[tuple[str, str]] = []
        self.compaction_strikes = 0
        self.small_compactions = 0
        self.compaction_cost: Mapping[str, int] = {}
        self.troubles: list[str] = []
        self.count_text: CountText = estimate_tokens
        self.usage_reports: deque[UsageReport] = deque(maxlen=8)
        self.services = StandInServices(gateway)
        self.config = config or AssistantConfig()
        self.profile = ModelProfile("test", model="scripted")
        self.persona = read_persona(persona)
        self.persona_authors = frozenset({BUILDER})
        self.character_name = name
        self.character = StandInCharacter(self.character_name, self.services.now)
        self.obj = self.character
        self.journal = self.character.journal
        self.conversation = MemoryConversation(self.services.now)
        self.inbox = MemoryInbox(self.services.now)
        self.memories = RecallIndex(
            self.journal,
            self.character.ai_profiles,
            embedder,
            partial(self.services.world.name_of, self.character),
            self.conversation.lines,
            self.character_name,
        )
        self.pending_acts = NoPendingActs()
        self.partners: dict[str, datetime] = {}
        self.turns = MemoryTurns(self.conversation, self.inbox)

    def is_in_conversation(self, dbref: str) -> bool:
        return dbref in self.partners

    def last_exchange_with(self, dbref: str) -> float:
        last = self.partners.get(dbref)
        return last.timestamp() if last else 0.0

    def players_near(self) -> bool:
        return bool(self.services.world.present)

    def wake(self) -> None:
        """Do nothing: a test decides when it ticks."""

    tick = wake

    def resolve_settings(self) -> None:
        """Keep the settings it was created with."""

    def tell(self, key: str, dbrefs: Iterable[str]) -> None:
        self.told += [(key, dbref) for dbref in dbrefs]

    def pins(self, audience: Audience | None) -> Sequence[KnownLine]:
        return ()

    def goals(self, audience: Audience | None) -> Sequence[KnownLine]:
        return ()

    def author_note(self) -> Sequence[KnownLine]:
        return ()

    def occupation(self) -> Sequence[KnownLine]:
        return ()

    def journalled_since(self, at: str, audience: Audience | None) -> Sequence[str]:
        return ()

    def tell_owner(self, trouble: str) -> None:
        self.troubles.append(trouble)

    def may_think(self) -> bool:
        return True

    def hears(
        self,
        text: str,
        speaker: str = "#5",
        name: str = "Ann",
        audience: Audience | None = None,
        **fields: Any,
    ) -> int:
        """Put words that need an answer into the inbox; return the event's id."""
        heard_by = frozenset({speaker}) if audience is None else audience
        defaults: dict[str, Any] = {"kind": "say", "addressed": True, **fields}
        return self.inbox.put(
            Heard(speaker=speaker, speaker_name=name, text=text, audience=heard_by, **defaults)
        )

    def whispered(self, text: str, speaker: str = "#5", name: str = "Ann") -> int:
        """Put a whisper into the inbox; return the event's id."""
        open_now = self.config.discretion == "trusting"
        return self.hears(text, speaker, name, kind="whisper", private=True, repeatable=open_now)


if TYPE_CHECKING:

    def check_ports(
        character: StandInCharacter, script: StandInScript, services: StandInServices
    ) -> tuple[Character, Script, Services]:
        """Let the type checker compare the stand-ins with the ports."""
        return character, script, services
