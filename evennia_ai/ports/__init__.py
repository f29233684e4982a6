"""Protocols of what the engine needs from outside. Thin adapters implement them at the edge."""

from evennia_ai.messages import (
    LLMReply,
    Situation,
    ToolCallRequest,
    Usage,
)
from evennia_ai.ports.game import GameScript, GameServices, LogRetention
from evennia_ai.ports.log import Conversation, Inbox, ModelCallRecord, OpenEvents, TurnRecord, Turns
from evennia_ai.ports.memory import Embedder, Found, RemoteEmbedder, SemanticMemory
from evennia_ai.ports.models import (
    TASK_SUMMARY,
    Caller,
    Gateway,
    HeardLine,
    LLMClient,
    LLMRequest,
    Scene,
)
from evennia_ai.ports.records import (
    DayPlan,
    EntityProfiles,
    Goals,
    Journal,
    JournalArchive,
    Records,
    Watcher,
)
from evennia_ai.ports.script import (
    Character,
    Memories,
    Script,
    Services,
    SharedMemory,
    Slices,
    Toolbox,
    ToolContext,
    Watch,
    World,
)
from evennia_ai.ports.tools import ToolResult, ToolSpec

__all__ = [
    "TASK_SUMMARY",
    "Caller",
    "Character",
    "Conversation",
    "DayPlan",
    "Embedder",
    "EntityProfiles",
    "Found",
    "GameScript",
    "GameServices",
    "Gateway",
    "Goals",
    "HeardLine",
    "Inbox",
    "Journal",
    "JournalArchive",
    "LLMClient",
    "LLMReply",
    "LLMRequest",
    "LogRetention",
    "Memories",
    "ModelCallRecord",
    "OpenEvents",
    "Records",
    "RemoteEmbedder",
    "Scene",
    "Script",
    "SemanticMemory",
    "Services",
    "SharedMemory",
    "Situation",
    "Slices",
    "ToolCallRequest",
    "ToolContext",
    "ToolResult",
    "ToolSpec",
    "Toolbox",
    "TurnRecord",
    "Turns",
    "Usage",
    "Watch",
    "Watcher",
    "World",
]
