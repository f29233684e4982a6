"""Facts in conversation: extraction, comparison with a summary, recall."""
