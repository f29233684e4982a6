"""The way to a model: gateway, OpenAI client, probe, tokenizers."""
