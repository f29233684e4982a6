"""The built-in model profiles, and how a game's ``AI_ASSISTANT["PROFILES"]`` extends them.

A game's entries are merged into the built-in profile of the same name one by one, so ``{"ollama":
{"model": "qwen3:8b"}}`` is enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from evennia_ai.config.fields import FIELDS, AssistantConfig
from evennia_ai.errors import ConfigError
from evennia_ai.policy.context.windows import KnownWindow, model_window

Profiles = dict[str, dict[str, Any]]

MODEL_VARIABLE = "EVENNIA_AI_MODEL"
MERGED = frozenset({"extra"})
LOCAL_DEADLINE_S = 60.0
REMOTE_DEADLINE_S = 30.0
REPLY_TOKENS_WITH_THOUGHT = 2_000
LEAST_WINDOW = 1_000  # tokens, as for max_context_tokens
# Tokens to use of a context window by request form: docs/models.md has the measured costs.
WORKING_WINDOWS: Mapping[str, int] = {"tools": 12_000, "schema": 6_000, "text": 6_000}

OFFLINE: Mapping[str, Any] = {"client": "offline", "model": "offline"}

ENDPOINTS: Mapping[str, Mapping[str, Any]] = {
    "ollama": {"base_url": "http://localhost:11434/v1", "turn_deadline": LOCAL_DEADLINE_S},
    "llamacpp": {"base_url": "http://localhost:8080/v1", "turn_deadline": LOCAL_DEADLINE_S},
    "vllm": {"base_url": "http://localhost:8000/v1", "turn_deadline": LOCAL_DEADLINE_S},
    # Newer models refuse max_tokens; their reasoning counts as part of the reply.
    "openai": {
        "base_url": "https://api.openai.com/v1",
        "api_key_env": "OPENAI_API_KEY",
        "extra": {"max_completion_tokens": REPLY_TOKENS_WITH_THOUGHT},
        "max_reply_tokens": REPLY_TOKENS_WITH_THOUGHT,
        "turn_deadline": REMOTE_DEADLINE_S,
    },
    # Reasoning is never spoken, so it need not be sent.
    "openrouter": {
        "base_url": "https://openrouter.ai/api/v1",
        "api_key_env": "OPENROUTER_API_KEY",
        "extra": {"reasoning": {"exclude": True}},
        "turn_deadline": REMOTE_DEADLINE_S,
    },
}


@dataclass(frozen=True)
class ModelProfile:
    """An endpoint and how to use it; keys are named by environment variable only."""

    name: str
    client: str = "offline"
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    context_window: int | None = None
    working_window: int | None = None  # the most of it to fill; None for that of the request form
    extra: Mapping[str, Any] = field(default_factory=dict)  # part of the body of every request
    settings: Mapping[str, object] = field(default_factory=dict)  # of `AssistantConfig`
    max_in_flight: int | None = None  # the most calls at a time
    told_window: int | None = None  # as the endpoint itself reports; no game sets it


PROFILE_FIELDS = {item.name for item in fields(ModelProfile)} - {"name", "settings", "told_window"}
CLIENTS = ("openai", "offline")
PROFILE_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "context_window": ((int, type(None)), "a whole number or None"),
    "working_window": ((int, type(None)), "a whole number or None"),
    "max_in_flight": ((int, type(None)), "a whole number or None"),
    "extra": ((Mapping,), "a dictionary"),
}


def default_profiles(environ: Mapping[str, str]) -> Profiles:
    """Return the profiles that every game has: offline, default, and one for each usual endpoint.

    ``EVENNIA_AI_MODEL`` is the model of all endpoints, until a game or an assistant names another.
    """
    model = environ.get(MODEL_VARIABLE, "")
    known: Profiles = {"offline": dict(OFFLINE), "default": default_profile(environ)}
    for name, entries in ENDPOINTS.items():
        known[name] = {"client": "openai", "model": model, "context_window": None, **entries}
    return known


def default_profile(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the profile ``default`` from the environment."""
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
    """Return the built-in profiles with a game's own merged in, entry by entry, ``extra`` likewise.

    With another client a profile inherits nothing. Raises ConfigError if a value is not a profile.
    """
    merged: Profiles = {name: dict(entries) for name, entries in built_in.items()}
    if not isinstance(own, Mapping) or not all(isinstance(e, Mapping) for e in own.values()):
        raise ConfigError("it must be a dictionary with one dictionary for each profile.")
    for name, entries in own.items():
        base = merged.get(name, {})
        if entries.get("client", base.get("client")) != base.get("client"):
            base = {}
        merged[name] = {**base, **entries}
        for key in MERGED & set(base) & set(entries):
            merged[name][key] = {**base[key], **entries[key]}
    return merged


def missing_model(profile_name: str) -> str:
    """Return the complaint about a profile without a model."""
    return (
        f"The profile '{profile_name}' names no model. Set 'model' in the profile, the "
        f"setting llm_model, or {MODEL_VARIABLE} in the environment."
    )


def resolve_profile(name: str, profiles: Mapping[str, Mapping[str, Any]]) -> ModelProfile:
    """Return the profile ``name`` from the game's ``PROFILES``; raises ConfigError."""
    if name not in profiles:
        known = ", ".join(sorted(profiles)) or "none"
        raise ConfigError(f"There is no model profile '{name}'. Known profiles: {known}.")
    raw = dict(profiles[name])
    strange = sorted(set(raw) - PROFILE_FIELDS - set(FIELDS))
    if strange:
        allowed = ", ".join(sorted(PROFILE_FIELDS))
        raise ConfigError(
            f"The model profile '{name}' has unknown entries: {', '.join(strange)}. "
            f"Use {allowed}, or settings of an assistant."
        )
    if raw.get("client", "offline") not in CLIENTS:
        raise ConfigError(
            f"The model profile '{name}' has the client '{raw['client']}'; "
            f"it must be one of {', '.join(CLIENTS)}."
        )
    own = {key: value for key, value in raw.items() if key in PROFILE_FIELDS}
    for key, value in own.items():
        kinds, in_words = PROFILE_KINDS.get(key, ((str,), "text"))
        if not isinstance(value, kinds):
            raise ConfigError(
                f"The model profile '{name}' has {key} = {value!r}; it must be {in_words}."
            )
    working = own.get("working_window")
    if working is not None and working < LEAST_WINDOW:
        raise ConfigError(
            f"The model profile '{name}' has working_window = {working}; "
            f"it must be at least {LEAST_WINDOW:,} tokens."
        )
    return ModelProfile(name=name, settings={key: raw[key] for key in raw if key in FIELDS}, **own)


def request_form(profile: ModelProfile) -> str:
    """Return the form in which a profile's model is asked."""
    return "tools"


def default_settings(profile: ModelProfile) -> dict[str, int]:
    """Return the settings that a profile's requests change unless a game or a builder sets them.

    The offline brain costs nothing, so it keeps the settings' own defaults.
    """
    if profile.client == "offline":
        return {}
    return {"max_context_tokens": profile.working_window or WORKING_WINDOWS[request_form(profile)]}


def usable_window(config: AssistantConfig, profile: ModelProfile) -> int:
    """Return the smallest of ``max_context_tokens``, the profile's and the model's window."""
    window = window_known(config, profile).tokens
    return min(filter(None, (config.max_context_tokens, profile.working_window, window)))


def window_known(config: AssistantConfig, profile: ModelProfile) -> KnownWindow:
    """Return the window of an assistant's model, and the source of the figure."""
    model = config.llm_model or profile.model
    return model_window(model, profile.context_window, profile.told_window)
