"""What the engine needs from outside, as protocols. Adapters are thin and live at the edge."""

from evennia_ai.messages import (
    Audience,
    Heard,
    InboxEvent,
    LLMReply,
    Situation,
    ToolCallRequest,
    Usage,
)
from evennia_ai.policy.context.projection import CompactionRecord, View
from evennia_ai.policy.tokens import CountText, UsageReport
from evennia_ai.ports.log import Conversation, Inbox, ModelCallRecord, OpenEvents, TurnRecord, Turns
from evennia_ai.ports.memory import Embedder, Memories, RemoteEmbedder, SemanticMemory
from evennia_ai.ports.models import (
    TASK_SUMMARY,
    Caller,
    Gateway,
    HeardLine,
    LLMClient,
    LLMRequest,
    Scene,
)
from evennia_ai.ports.services import Script, Services, Slices, World
from evennia_ai.ports.tools import Toolbox, ToolContext, ToolResult, ToolSpec

__all__ = [
    "TASK_SUMMARY",
    "Audience",
    "Caller",
    "CompactionRecord",
    "Conversation",
    "CountText",
    "Embedder",
    "Gateway",
    "Heard",
    "HeardLine",
    "Inbox",
    "InboxEvent",
    "LLMClient",
    "LLMReply",
    "LLMRequest",
    "Memories",
    "ModelCallRecord",
    "OpenEvents",
    "RemoteEmbedder",
    "Scene",
    "Script",
    "SemanticMemory",
    "Services",
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
    "UsageReport",
    "View",
    "World",
]
