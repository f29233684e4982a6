"""Compact a conversation: summarise its oldest part and move the start of the model's view."""

from evennia_ai.sleep.compaction.compact import compact_conversation_history

__all__ = ["compact_conversation_history"]
