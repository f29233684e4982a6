"""The composition root: puts everything together, and owns the shared timers."""
