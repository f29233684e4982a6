"""The model profiles every game has, and how a game's own go with them. Plain data.

A game names or changes profiles in ``AI_ASSISTANT["PROFILES"]``; what it says of a profile that is
here already is merged into it, entry by entry, so that ``{"ollama": {"model": "qwen3:8b"}}`` is
enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evennia_ai.errors import ConfigError

Profiles = dict[str, dict[str, Any]]

MODEL_VARIABLE = "EVENNIA_AI_MODEL"
MERGED = frozenset({"extra"})
LOCAL_DEADLINE_S = 60.0
REMOTE_DEADLINE_S = 30.0
REPLY_TOKENS_WITH_THOUGHT = 2_000

OFFLINE: Mapping[str, Any] = {"client": "offline", "model": "offline"}

ENDPOINTS: Mapping[str, Mapping[str, Any]] = {
    "ollama": {"base_url": "http://localhost:11434/v1", "turn_deadline": LOCAL_DEADLINE_S},
    "llamacpp": {"base_url": "http://localhost:8080/v1", "turn_deadline": LOCAL_DEADLINE_S},
    "vllm": {"base_url": "http://localhost:8000/v1", "turn_deadline": LOCAL_DEADLINE_S},
    # Its newer models refuse max_tokens; what they think to themselves counts as part of the reply.
    "openai": {
        "base_url": "https://api.openai.com/v1",
        "api_key_env": "OPENAI_API_KEY",
        "extra": {"max_completion_tokens": REPLY_TOKENS_WITH_THOUGHT},
        "max_reply_tokens": REPLY_TOKENS_WITH_THOUGHT,
        "turn_deadline": REMOTE_DEADLINE_S,
    },
    # Thoughts are never spoken: no need to send them.
    "openrouter": {
        "base_url": "https://openrouter.ai/api/v1",
        "api_key_env": "OPENROUTER_API_KEY",
        "extra": {"reasoning": {"exclude": True}},
        "turn_deadline": REMOTE_DEADLINE_S,
    },
}


def default_profiles(environ: Mapping[str, str]) -> Profiles:
    """The profiles every game has: ``offline``, ``default``, and one for each usual endpoint.

    ``OPENAI_BASE_URL``, ``OPENAI_API_KEY`` and ``EVENNIA_AI_MODEL`` choose what ``default`` is;
    without the first two it is the offline brain. ``EVENNIA_AI_MODEL`` is the model of the others
    too, until a game or an assistant names another.
    """
    model = environ.get(MODEL_VARIABLE, "")
    known: Profiles = {"offline": dict(OFFLINE), "default": default_profile(environ)}
    for name, entries in ENDPOINTS.items():
        known[name] = {"client": "openai", "model": model, "context_window": None, **entries}
    return known


def default_profile(environ: Mapping[str, str]) -> dict[str, Any]:
    """The profile ``default``, as the environment has it."""
    if not (environ.get("OPENAI_API_KEY") or environ.get("OPENAI_BASE_URL")):
        return dict(OFFLINE)
    return {
        "client": "openai",
        "base_url": environ.get("OPENAI_BASE_URL", ""),
        "api_key_env": "OPENAI_API_KEY" if environ.get("OPENAI_API_KEY") else "",
        "model": environ.get(MODEL_VARIABLE) or "gpt-4o-mini",
    }


def merge_profiles(
    built_in: Mapping[str, Mapping[str, Any]], own: Mapping[str, Mapping[str, Any]]
) -> Profiles:
    """A game's own profiles over the built-in ones of the same name, entry by entry.

    ``extra`` is merged likewise. A profile with another client than the built-in one of its name
    shares nothing with it. Raises ConfigError for what is no profile at all.
    """
    merged: Profiles = {name: dict(entries) for name, entries in built_in.items()}
    if not isinstance(own, Mapping) or not all(isinstance(e, Mapping) for e in own.values()):
        raise ConfigError("it must be a dictionary of dictionaries, one for each profile.")
    for name, entries in own.items():
        base = merged.get(name, {})
        if entries.get("client", base.get("client")) != base.get("client"):
            base = {}
        merged[name] = {**base, **entries}
        for key in MERGED & set(base) & set(entries):
            merged[name][key] = {**base[key], **entries[key]}
    return merged


def missing_model(profile_name: str) -> str:
    """What is told where nothing says which model to ask."""
    return (
        f"The profile '{profile_name}' names no model. Say which: 'model' in the profile, the "
        f"setting llm_model, or {MODEL_VARIABLE} in the environment."
    )
