"""The model profiles every game has, and how a game's own go with them. Plain data.

A game names or changes profiles in ``AI_ASSISTANT["PROFILES"]``; what it says of a profile that is
here already is merged into it, entry by entry, so that ``{"ollama": {"model": "qwen3:8b"}}`` is
enough.
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


@dataclass(frozen=True)
class ModelProfile:
    """An endpoint and how to use it. Keys are named by environment variable, never held here.

    ``settings`` are overrides of `AssistantConfig` that come with the profile; ``extra`` goes into
    every request's body as it is; ``max_in_flight`` caps the calls its endpoint gets at a time.
    ``told_window`` is what the endpoint itself says of the model's window; no game sets it.
    """

    name: str
    client: str = "offline"
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    context_window: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    max_in_flight: int | None = None
    told_window: int | None = None


PROFILE_FIELDS = {item.name for item in fields(ModelProfile)} - {"name", "settings", "told_window"}
CLIENTS = ("openai", "offline")
PROFILE_KINDS = {
    "context_window": (int, type(None)),
    "max_in_flight": (int, type(None)),
    "extra": (Mapping,),
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


def resolve_profile(name: str, profiles: Mapping[str, Mapping[str, Any]]) -> ModelProfile:
    """Read the profile ``name`` from the Django setting's ``PROFILES``; raises ConfigError."""
    if name not in profiles:
        known = ", ".join(sorted(profiles)) or "none"
        raise ConfigError(f"There is no model profile '{name}'. There are: {known}.")
    raw = dict(profiles[name])
    strange = sorted(set(raw) - PROFILE_FIELDS - set(FIELDS))
    if strange:
        raise ConfigError(f"The model profile '{name}' has unknown entries: {', '.join(strange)}.")
    if raw.get("client", "offline") not in CLIENTS:
        raise ConfigError(
            f"The model profile '{name}' has the client '{raw['client']}'; "
            f"it must be one of {', '.join(CLIENTS)}."
        )
    own = {key: value for key, value in raw.items() if key in PROFILE_FIELDS}
    for key, value in own.items():
        if not isinstance(value, PROFILE_KINDS.get(key, str)):
            raise ConfigError(f"The model profile '{name}' has {key} = {value!r}, which cannot be.")
    return ModelProfile(name=name, settings={key: raw[key] for key in raw if key in FIELDS}, **own)


def usable_window(config: AssistantConfig, profile: ModelProfile) -> int:
    """The context window in tokens that may be filled: the smaller of the setting and of what is
    known of the model."""
    window = window_known(config, profile).tokens
    return min(config.max_context_tokens, window or config.max_context_tokens)


def window_known(config: AssistantConfig, profile: ModelProfile) -> KnownWindow:
    """What is known of the window of an assistant's model, and from whom."""
    model = config.llm_model or profile.model
    return model_window(model, profile.context_window, profile.told_window)
