"""The model's view of the log, and the size of the context window."""
