"""The built-in model profiles, those of a game, and settings that do not fit together.

A game's entries are merged into the built-in profile of the same name one by one, so ``{"ollama":
{"model": "qwen3:8b"}}`` is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from evennia_ai.config.declared import FIELDS, OWNERS, by_present_names
from evennia_ai.config.fields import AssistantConfig
from evennia_ai.config.resolve import valid_values
from evennia_ai.errors import ConfigError
from evennia_ai.policy.compaction.plan import CompactionLimits
from evennia_ai.policy.context.windows import WindowGuess, model_window
from evennia_ai.policy.limits.endpoints import (
    NOTHING_KNOWN,
    EndpointFacts,
    is_local,
    local_deadline,
)
from evennia_ai.policy.limits.money import FREE, Prices, read_prices
from evennia_ai.policy.redaction import hide_secrets
from evennia_ai.policy.tool_call_modes.form import (
    AUTO,
    FORMER_FORMS,
    FORMS,
    PLAIN_FORM,
    TOOLS,
    TOOLS_FORM,
    ToolCallMode,
    choose_form,
    forgets_calls,
)
from evennia_ai.policy.tool_call_modes.wire_order import CALLS, SYSTEM, WireStyle

Profiles = dict[str, dict[str, Any]]

DEFAULT_PROFILE = FIELDS["profile"].default
MODEL_VARIABLE = "EVENNIA_AI_MODEL"
OPENAI_ADDRESS = "https://api.openai.com/v1"
REMOTE_DEADLINE_S = 30.0
REPLY_TOKENS_WITH_THOUGHT = 2_000
# Tokens to use of a context window by request form: docs/models.md has the measured costs.
WORKING_WINDOWS: Mapping[str, int] = {"tools": 12_000, "plain": 6_000}
# Most tokens of a reply by request form, where that is less than the setting's default: two short
# sentences take 60 in English and twice as many in most other scripts.
REPLY_TOKENS: Mapping[str, int] = {"plain": 120}

OFFLINE: Mapping[str, Any] = {"client": "offline", "model": "offline"}

ENDPOINTS: Mapping[str, Mapping[str, Any]] = {
    "ollama": {"base_url": "http://localhost:11434/v1"},
    "llamacpp": {"base_url": "http://localhost:8080/v1"},
    "vllm": {"base_url": "http://localhost:8000/v1"},
    # Newer models refuse max_tokens; their reasoning counts as part of the reply.
    "openai": {
        "base_url": OPENAI_ADDRESS,
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
    base_url: str = field(default="", repr=False)  # it may hold a password
    api_key_env: str = ""
    context_window: int | None = None
    working_window: int | None = None  # the most of it to fill; None for that of the request form
    extra: Mapping[str, Any] = field(default_factory=dict)  # part of the body of every request
    settings: Mapping[str, object] = field(default_factory=dict)  # of `AssistantConfig`
    max_in_flight: int | None = None  # the most calls at a time
    stream: bool = True  # whether replies may be streamed
    form: str = AUTO  # the request form: one of `CHOICES`
    prices: Mapping[str, Prices] = field(default_factory=dict)  # by model, "" for any
    fallback: ModelProfile | None = None  # asked for what this endpoint cannot answer
    told: EndpointFacts = NOTHING_KNOWN  # what is known of the endpoint; no game sets it

    @property
    def key(self) -> str:
        """The endpoint and the model, to tell what is known of them from what is of others."""
        return f"{self.name} {self.model}"

    @property
    def has_model(self) -> bool:
        """False for a profile of the stand-in."""
        return self.client != "offline"

    @property
    def calls_tools(self) -> bool:
        """True for a model with native tool calls, which can judge what it reads, too."""
        return self.has_model and request_form(self).native

    @property
    def is_local(self) -> bool:
        """True if its endpoint is on this machine or in a private network."""
        return is_local(self.base_url)

    @property
    def price(self) -> Prices | None:
        """The prices of its model, None if nobody set them; without them a local model is free."""
        prices = self.prices.get(self.model, self.prices.get(""))
        return FREE if prices is None and (self.is_local or not self.has_model) else prices

    def with_model(self, model: str) -> ModelProfile:
        """Return the profile with another model; its fallback keeps its own."""
        return self if model == self.model else replace(self, model=model)


PROFILE_FIELDS = {item.name for item in fields(ModelProfile)} - {"name", "settings", "told"}


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
        return {**OFFLINE}
    return {
        "client": "openai",
        "base_url": environ.get("OPENAI_BASE_URL", ""),
        "api_key_env": "OPENAI_API_KEY" if environ.get("OPENAI_API_KEY") else "",
        "model": environ.get(MODEL_VARIABLE) or "gpt-4o-mini",
    }


def merge_profiles(
    built_in: Mapping[str, Mapping[str, Any]], own: Mapping[str, Mapping[str, Any]]
) -> Profiles:
    """Return the built-in profiles with a game's own merged in; another client inherits nothing.

    Raises ConfigError if a value is not a profile.
    """
    merged: Profiles = {name: dict(entries) for name, entries in built_in.items()}
    if not isinstance(own, Mapping) or not all(isinstance(e, Mapping) for e in own.values()):
        raise ConfigError("it must be a dictionary with one dictionary for each profile.")
    for name, entries in own.items():
        base = merged.get(name, {})
        if entries.get("client", base.get("client")) != base.get("client"):
            base = {}
        merged[name] = {**base, **entries}
        if "extra" in base and "extra" in entries:
            merged[name]["extra"] = {**base["extra"], **entries["extra"]}
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
    raw = by_present_names(profiles[name])
    strange = sorted(set(raw) - PROFILE_FIELDS - set(FIELDS))
    if strange:
        allowed = ", ".join(sorted(PROFILE_FIELDS))
        raise ConfigError(
            f"The model profile '{name}' has unknown entries: {', '.join(strange)}. "
            f"Use {allowed}, or settings of an assistant."
        )
    own = {key: value for key, value in raw.items() if key in PROFILE_FIELDS - {"prices"}}
    for key, value in own.items():
        if problem := problem_with(key, value):
            raise ConfigError(f"The model profile '{name}' has {problem}.")
    own["fallback"] = read_fallback(name, raw.get("fallback"), profiles)
    if raw.get("prices") is not None:
        try:
            own["prices"] = read_prices(raw["prices"], own.get("model", ""))
        except ConfigError as error:
            raise ConfigError(f"The prices of the model profile '{name}': {error}") from error
    settings = {key: raw[key] for key in raw if key in FIELDS}
    return ModelProfile(name=name, settings=settings, **own)


def read_fallback(
    name: str, wanted: str | None, profiles: Mapping[str, Mapping[str, Any]]
) -> ModelProfile | None:
    """Return the profile that the profile ``name`` falls back to, without a fallback of its own."""
    if not wanted:
        return None
    named = f"The model profile '{name}' names the fallback '{wanted}'"
    if wanted == name:
        raise ConfigError(f"{named}, which is itself. Name another profile.")
    if wanted not in profiles:
        known = ", ".join(sorted(set(profiles) - {name})) or "none"
        raise ConfigError(f"{named}, which does not exist. Known profiles: {known}.")
    fallback = resolve_profile(wanted, {wanted: {**profiles[wanted], "fallback": None}})
    if not fallback.has_model:
        raise ConfigError(f"{named}, which is the stand-in. Name a profile with a model.")
    if not fallback.model:
        raise ConfigError(f"{named}, which names no model. Set 'model' in it.")
    return fallback


@dataclass(frozen=True)
class ChosenSettings:
    """The settings that somebody set, and the profile with the model that they name.

    ``complaints`` has a sentence for each value that cannot be used.
    """

    profile: ModelProfile
    values: Mapping[str, Any]
    complaints: list[str]


def choose_settings(
    game: Mapping[str, object], own: Mapping[str, object], profiles: Mapping[str, Mapping[str, Any]]
) -> ChosenSettings:
    """Return the settings of the game, the profile and the assistant; the last that is set wins.

    An invalid value counts as not set; without a usable profile the stand-in answers.
    """
    values = valid_values(game, own)[0]
    complaints = [f"In settings.py, AI_ASSISTANT: {wrong}" for wrong in valid_values(game)[1]]
    try:
        profile = resolve_profile(values.get("profile", DEFAULT_PROFILE), profiles)
    except ConfigError as error:
        complaints.append(str(error))
        profile = ModelProfile(**OFFLINE, name="offline")
    values = valid_values(game, profile.settings, own)[0]
    of_profile = valid_values(profile.settings)[1]
    complaints += [f"In the model profile '{profile.name}': {wrong}" for wrong in of_profile]
    more = valid_values(own)[1]
    profile = profile.with_model(values.get("llm_model") or profile.model)
    if profile.client == "openai" and not profile.model:
        more.append(missing_model(profile.name))
    return ChosenSettings(profile, values, list(dict.fromkeys([*complaints, *more])))


def fit_settings(
    values: Mapping[str, Any],
    profile: ModelProfile,
    prompt_tokens: Callable[[AssistantConfig], int],
) -> AssistantConfig:
    """Return the effective settings; what nobody set is as the profile's endpoint needs it.

    A model gets the working window and the longest reply of its request form, and a local one also
    the turn_deadline that its speed needs. The stand-in costs nothing, so it keeps the
    settings' own defaults. ``prompt_tokens`` estimates the next prompt.
    """
    if not profile.has_model:
        return made_config(**values)
    form = request_form(profile).name
    fitting: dict[str, Any] = {
        "max_context_tokens": profile.working_window or WORKING_WINDOWS[form]
    }
    if form in REPLY_TOKENS:
        fitting["max_reply_tokens"] = REPLY_TOKENS[form]
    config = made_config(**{**fitting, **values})
    if "turn_deadline" in values or not profile.is_local:
        return config
    deadline_s = local_deadline(
        profile.told.speed, profile.told.answered, prompt_tokens(config), config.max_reply_tokens
    )
    return made_config(**{**fitting, "turn_deadline": deadline_s, **values})


@lru_cache(100)
def made_config(**values: Any) -> AssistantConfig:
    """Return settings, the same object for the same values: most assistants share theirs."""
    return AssistantConfig.of(values)


def request_form(profile: ModelProfile) -> ToolCallMode:
    """Return how the profile's model is asked; the stand-in reads native calls."""
    if not profile.has_model:
        return TOOLS_FORM
    form = choose_form(profile.model, profile.form, profile.told.form)
    return PLAIN_FORM if TOOLS in profile.told.refused else form


def wire_style(profile: ModelProfile, form: str) -> WireStyle:
    """Return what a model's chat template supports in a request form, as far as that is known."""
    refused = profile.told.refused
    calls = form == TOOLS and refused.keys().isdisjoint((TOOLS, CALLS))
    calls = calls and not forgets_calls(profile.model)
    return WireStyle(profile.told.system is not False and SYSTEM not in refused, calls, profile.key)


def usable_window(config: AssistantConfig, profile: ModelProfile) -> int:
    """Return the smallest of ``max_context_tokens``, the profile's and the model's window."""
    window = model_window(profile.model, profile.context_window, profile.told.window).tokens
    return min(filter(None, (config.max_context_tokens, profile.working_window, window)))


def window_known(profile: ModelProfile) -> WindowGuess:
    """Return the window of the profile's model, and the source of the figure."""
    return model_window(profile.model, profile.context_window, profile.told.window)


LEAST_WINDOW = 1_000  # tokens, as for max_context_tokens
CLIENTS = ["openai", "offline"]  # extensions add theirs; ``offline`` stands for no model
CHOICES: Mapping[str, Sequence[str]] = {"client": CLIENTS, "form": (AUTO, *FORMS, *FORMER_FORMS)}
PROFILE_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "context_window": ((int, type(None)), "a whole number or None"),
    "working_window": ((int, type(None)), "a whole number or None"),
    "max_in_flight": ((int, type(None)), "a whole number or None"),
    "fallback": ((str, type(None)), "the name of a profile or None"),
    "extra": ((Mapping,), "a dictionary"),
    "stream": ((bool,), "True or False"),
}


def problem_with(entry: str, value: object) -> str:
    """Return what is wrong with one entry of a profile, and what is allowed; "" if nothing is."""
    if entry in CHOICES:
        allowed = ", ".join(CHOICES[entry])
        wrong = value not in CHOICES[entry]
        return f"the {entry} {value!r}; it must be one of {allowed}" if wrong else ""
    kinds, in_words = PROFILE_KINDS.get(entry, ((str,), "text"))
    if not isinstance(value, kinds):
        return f"{entry} = {hide_secrets(repr(value))}; it must be {in_words}"
    if entry == "working_window" and isinstance(value, int) and value < LEAST_WINDOW:
        return f"{entry} = {value}; it must be at least {LEAST_WINDOW:,} tokens"
    return ""


THRESHOLDS = ("mask_threshold", "compact_sleep_threshold", "compact_emergency_threshold")


def context_complaints(
    config: AssistantConfig, profile: ModelProfile, fixed_tokens: int
) -> Iterator[str]:
    """Yield one sentence for each problem; ``fixed_tokens`` are those outside the conversation."""
    for earlier, later in pairwise(THRESHOLDS):
        low, high = getattr(config, earlier), getattr(config, later)
        if low >= high:
            yield f"{earlier} ({low:g}) must be below {later} ({high:g}). Change one of them."
    if profile.client == "openai" and profile.model and window_known(profile).tokens is None:
        yield (
            f"The context window of the model '{profile.model}' is unknown; "
            f"{config.max_context_tokens:,} tokens (max_context_tokens) are assumed. Set "
            f"context_window in the profile '{profile.name}'."
        )
    yield from too_little_room(config, usable_window(config, profile), fixed_tokens)


def complaints_of_extensions(own: Mapping[str, Any], profile: ModelProfile) -> Iterator[str]:
    """Yield what classes of extensions' settings find wrong with an assistant's own settings."""
    values = valid_values(own)[0]
    for owner in dict.fromkeys(OWNERS[name] for name in values):
        if complaints := getattr(owner, "complaints", None):
            yield from complaints(AssistantConfig.of(values).part(owner), profile)


def too_little_room(config: AssistantConfig, window: int, fixed_tokens: int) -> Iterator[str]:
    """Yield a complaint if the window has too little space for conversation."""
    limits = CompactionLimits(
        window, fixed_tokens, config.max_reply_tokens, config.compact_target, 0
    )
    if fixed_tokens + config.max_reply_tokens >= window:
        yield (
            f"The context window of {window:,} tokens is full before anybody speaks: tools, "
            f"persona and the reply take {fixed_tokens + config.max_reply_tokens:,}. Raise "
            "max_context_tokens or the profile's context_window, or shorten the persona."
        )
    elif limits.is_cramped:
        yield (
            f"Only {limits.target_tokens:,} of {window:,} tokens are left for conversation after "
            "a compaction, so it will compact again and again. Raise max_context_tokens, the "
            "profile's context_window, or compact_target."
        )
