"""The size of a model's context window in tokens, from the best source.

The sources are, in order: the game's profile, the endpoint's own answer, and a table by model name.
The table follows the vendors' model pages and configurations, checked against LiteLLM's
``model_prices_and_context_window`` of November 2026. If sources differ, or a name stands for
several models, it has the smaller figure. A local server may give a model less than the table says;
the profile's or the server's figure comes first.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

BY_PROFILE, BY_ENDPOINT = "as the profile says", "as its endpoint tells"
BY_NAME, BY_NOBODY = "by the model's name", "not known, so max_context_tokens counts"
LEAST, MOST = 256, 100_000_000
K = 1024

# Patterns for the beginning of a name without its vendor; the first match counts.
MODELS: tuple[tuple[str, int], ...] = (
    # OpenAI; from gpt-5 on, the figure is the limit of the prompt alone
    (r"gpt-6", 922_000),
    (r"gpt-5\.[56](?!.{0,60}-(?:cyber|mini|nano))", 922_000),
    (r"gpt-5\.4(?!.{0,60}-(?:mini|nano))", 922_000),
    (r"gpt-5(?:\.\d)?-(?:chat|instant)", 128_000),
    (r"gpt-5", 272_000),
    (r"gpt-4\.1", 1_047_576),
    (r"gpt-4\.5|gpt-4-turbo|gpt-4-(?:1106|0125|vision)|(?:chat)?gpt-4o|gpt-audio", 128_000),
    (r"gpt-4-32k", 32_768),
    (r"gpt-4(?![\w.])", 8_192),
    (r"gpt-3\.?5-turbo-instruct", 4_096),
    (r"gpt-3\.?5", 16_385),
    (r"gpt-oss", 128 * K),
    (r"o1-(?:mini|preview)", 128_000),
    (r"o[134](?![\w.])", 200_000),
    # Anthropic
    (r"claude-(?:opus|sonnet)-(?:4-[678]|5)|claude-haiku-5|claude-(?:fable|mythos)", 1_000_000),
    (r"claude-2\.0|claude-2$|claude-instant", 100_000),
    (r"claude", 200_000),
    # Google
    (r"gemini-gemma", 8 * K),
    (r"gemini-1\.0|gemini-pro$", 32_760),
    (r"gemini-.{0,40}(?:tts|image)", 8_192),
    (r"gemini-(?:robotics|omni|.{0,40}computer-use)", 128_000),
    (r"gemini", 1_048_576),
    (r"gemma-?4", 128 * K),
    (r"gemma-?3n|gemma-?3[:-](?:1b|270m)", 32 * K),
    (r"gemma-?3", 128 * K),
    (r"gemma|codegemma", 8 * K),
    # Meta
    (r"(?:meta-)?llama-?4", 128 * K),
    (r"(?:meta-)?llama-?3\.[123]", 128 * K),
    (r"(?:meta-)?llama-?guard", 8 * K),
    (r"(?:meta-)?llama-?3", 8 * K),
    (r"codellama", 16 * K),
    (r"(?:meta-)?llama-?2", 4 * K),
    # Mistral
    (r"mistral-large-2402|mistral-medium-2312", 32_000),
    (r"mistral-large-(?:2407|2411)|mistral-nemo|open-mistral-nemo|pixtral|mathstral", 128_000),
    (r"mistral-(?:large|medium)-(?:[34]|25|26|latest)|mistral-small-(?:26|latest)", 262_144),
    (r"mistral-small-?3\.[12]|mistral-small-(?:2503|2506)|mistral-(?:large|medium)", 128_000),
    (r"ministral|codestral|devstral", 128_000),
    (r"magistral", 40_000),
    (r"(?:open-)?mixtral-8x22b", 64 * K),
    (r"(?:open-)?mixtral|(?:open-)?mistral", 32_000),
    # Alibaba
    (r"qwen-?3\.\d-(?:max|plus|flash)", 1_000_000),
    (r"qwen-?3\.\d|qwen-?3-?(?:coder|next|vl)|qwen-?3.{0,40}-2507", 256 * K),
    (r"qwen-?3", 32 * K),
    (r"qwq", 32 * K),
    (r"qwen-?2|qwen-?1\.5|codeqwen", 32 * K),
    # DeepSeek
    (r"deepseek-(?:v4|flash)", 1_000_000),
    (r"deepseek-(?:chat|reasoner|v3\.[12])|deepseek-r1-distill-(?:llama|qwen)", 128 * K),
    (r"deepseek-(?:r1|v3)", 64 * K),
    (r"deepseek-coder(?!-v2)", 16 * K),
    # others
    (r"phi-?4-mini|phi-?3\.5|phi-?3.{0,40}128k", 128 * K),
    (r"phi-?4", 16 * K),
    (r"phi-?3", 4 * K),
    (r"phi-?2|tinyllama", 2 * K),
    (r"command", 128_000),
    (r"aya-expanse", 8 * K),
    (r"nova-micro", 128_000),
    (r"nova", 300_000),
    (r"moonshot-v1-8k", 8 * K),
    (r"moonshot-v1-32k", 32 * K),
    (r"grok-4\.(?:20|3)", 1_000_000),
    (r"grok-4\.\d|grok-build-latest", 500_000),
    (r"grok-(?:4|code|build)", 256_000),
    (r"grok", 131_072),
    (r"kimi-k3", 1_000_000),
    (r"kimi-k2\.|kimi-k2-(?:0905|thinking)", 256_000),
    (r"kimi", 128 * K),
    (r"glm-?5\.[23]", 1_000_000),
    (r"glm-?4\.[67]|glm-?5", 200_000),
    (r"glm-?4", 128 * K),
    (r"minimax-m3", 512_000),
    (r"minimax-m2", 192 * K),
    (r"granite-?3\.[123]|granite-?4|smollm3|hermes-?3|nemotron", 128 * K),
    (r"granite|smollm|olmo|starcoder|solar|yi|vicuna|zephyr|openchat|orca|falcon|stablelm", 4 * K),
    (r"nous-hermes-?2-mixtral", 32 * K),
)  # fmt: skip
TABLE = tuple((re.compile(pattern), window) for pattern, window in MODELS)
VENDOR = re.compile(r"\A(?:ft:|[a-z][a-z-]*+\.(?=[a-z]))")

# Endpoints' names for the window they grant, the most reliable first.
FIELDS = (
    "loaded_context_length",  # LM Studio
    "n_ctx",  # llama.cpp
    "num_ctx",  # Ollama
    "max_model_len",  # vLLM, SGLang
    "max_total_tokens",  # text-generation-inference
    "max_input_tokens",  # LiteLLM, Anthropic
    "context_window",  # Groq
    "context_length",  # OpenRouter, Together, Fireworks, Ollama's list of loaded models
    "max_context_length",  # Mistral, LM Studio
    "inputTokenLimit",  # Google
    "max_context_tokens",
    "max_seq_len",
    "context_size",
)
NESTED = (
    "meta", "top_provider", "limits", "capabilities", "model_info", "details", "model_spec",
    "default_generation_settings", "parameters",
)  # fmt: skip
LISTS = ("data", "models")
NAMES = ("id", "name", "model", "model_name", "key")


@dataclass(frozen=True)
class WindowGuess:
    """A window in tokens, None if unknown, and its source."""

    tokens: int | None
    source: str


def model_window(
    model: str, profile_window: int | None = None, endpoint_window: int | None = None
) -> WindowGuess:
    """Return the window to use, from the best source.

    What the endpoint says counts more than a larger figure of the profile.
    """
    if profile_window and endpoint_window and endpoint_window < profile_window:
        return WindowGuess(endpoint_window, BY_ENDPOINT)
    if profile_window:
        return WindowGuess(profile_window, BY_PROFILE)
    if endpoint_window:
        return WindowGuess(endpoint_window, BY_ENDPOINT)
    by_name = known_window(model)
    return WindowGuess(by_name, BY_NAME if by_name else BY_NOBODY)


@cache
def known_window(model: str) -> int | None:
    """Return a model's window in tokens by its name alone, None if unknown."""
    name = bare_name(model)
    return next((window for pattern, window in TABLE if pattern.match(name)), None)


def bare_name(model: str) -> str:
    """Return a model's name in lower case without vendor: "openai/gpt-4o" → "gpt-4o"."""
    name = model.lower().replace("_", "-").rpartition("/")[2].strip()
    while match := VENDOR.match(name):
        name = name[match.end() :].strip()
    return name


def window_from_models(answer: object, model: str) -> int | None:
    """Return a model's window in tokens from its endpoint's answer, None if missing.

    ``answer`` is the untrusted JSON of ``/models``, ``/models/<name>`` or a server's own page. A
    server with a single model may name it differently.
    """
    entries = list(_entries(answer))
    for entry in entries:
        if any(_same_model(entry.get(key), model) for key in NAMES):
            return window_of(entry)
    return window_of(entries[0]) if len(entries) == 1 else None


def list_models(answer: object) -> Sequence[Mapping[str, Any]]:
    """Return the entries with an ``id`` of an endpoint's untrusted list of models."""
    return [entry for entry in _entries(answer) if isinstance(entry.get("id"), str)]


def window_of(entry: Mapping[str, object]) -> int | None:
    """Return the window from the first known field of one model's entry, or None."""
    nested = (entry.get(key) for key in NESTED)
    places = [entry, *(place for place in nested if isinstance(place, Mapping))]
    windows = (_tokens(place.get(field)) for field in FIELDS for place in places)
    return next(filter(None, windows), None)


def _entries(answer: object) -> Iterator[Mapping[str, object]]:
    """Yield the entries of a list of models, or the one entry that the answer is."""
    if isinstance(answer, Mapping):
        lists = (answer[key] for key in LISTS if isinstance(answer.get(key), list))
        answer = next(lists, [answer])
    if isinstance(answer, list):
        yield from (entry for entry in answer if isinstance(entry, Mapping))


def _same_model(name: object, model: str) -> bool:
    if not isinstance(name, str):
        return False
    plain, wanted = (each.strip().lower().removeprefix("models/") for each in (name, model))
    return plain == wanted or plain.removesuffix(":latest") == wanted.removesuffix(":latest")


def _tokens(value: object) -> int | None:
    """Return a plausible number of tokens, or None."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 12:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and LEAST <= value <= MOST else None
