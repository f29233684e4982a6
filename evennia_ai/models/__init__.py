"""The tables: logs, daily sums, lore and shared personas.

The logs are append-only, except for the states of events and tool calls, the marks of turns,
``undone_at``, retention and "forget me". Only the assistant is a foreign key; speakers are plain
dbrefs, so that the log stays whole when a player is deleted. The rows of an assistant are deleted
with its script.
"""

from evennia_ai.models.fields import OwnedByAssistant
from evennia_ai.models.game import (
    CallRecord,
    DailyUse,
    Lore,
    ModelCall,
    PromptText,
    Report,
    SharedEntry,
    SharedPersona,
    SleepPass,
    SpeakerUse,
)
from evennia_ai.models.talk import (
    Amendment,
    Compaction,
    Event,
    LineVector,
    Message,
    PendingAct,
    ToolCall,
    Turn,
)
