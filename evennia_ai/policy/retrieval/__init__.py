"""How memories are ranked for a query."""
