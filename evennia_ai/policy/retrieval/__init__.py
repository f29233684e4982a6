"""Ranking of memories for a query."""
