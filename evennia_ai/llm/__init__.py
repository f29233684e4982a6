"""The way to a model: the gateway, the OpenAI client on its thread, the probe, the tokenizers."""
