"""The demo world: a tavern quarter with three people who have minds of their own."""
