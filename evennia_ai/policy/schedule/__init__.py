"""When a character sleeps, and what is reported of a sleep pass."""
