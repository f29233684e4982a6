"""Decisions in a conversation: who is addressed, what joins, when a turn ends."""
