"""The demo world: a tavern quarter with three NPCs."""
