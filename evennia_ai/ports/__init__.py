"""Protocols of what the engine needs from outside. Thin adapters implement them at the edge."""

from evennia_ai.ports.extension import Extension, Revision, overriding
from evennia_ai.ports.goal_records import DayPlan, Goals
from evennia_ai.ports.journal import Journal, JournalArchive
from evennia_ai.ports.log import (
    AlsoDo,
    Conversation,
    Inbox,
    Lines,
    ModelCallRecord,
    OpenEvents,
    TurnRecord,
    Turns,
)
from evennia_ai.ports.mind import (
    AssistantStatus,
    Identity,
    Memories,
    MemorySource,
    MindContext,
    OfferedTools,
    Presence,
    RequestSizes,
    Services,
    Settings,
    Toolbox,
    ToolContext,
    ToolMindContext,
    ToolResult,
    ToolSpec,
    World,
)
from evennia_ai.ports.models import (
    TASK_CHECK,
    TASK_SUMMARY,
    Caller,
    Embedder,
    Gateway,
    LLMClient,
    LLMRequest,
    MemoryMatch,
    RemoteEmbedder,
    RequestSource,
    SemanticMemory,
)
from evennia_ai.ports.profiles import EntityProfiles
from evennia_ai.ports.records import RecordStore
from evennia_ai.ports.world import Character
