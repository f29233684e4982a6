"""The way to a model: gateway, OpenAI client, endpoints."""
