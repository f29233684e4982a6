"""The demo world: a tavern quarter with three characters with assistants."""
