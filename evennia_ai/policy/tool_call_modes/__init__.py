"""Request forms: how a model is asked for a turn, and how its reply becomes tool calls."""
