"""How many tokens a model's context window holds, by whoever knows best.

First what the game's profile says, then what the endpoint says of itself, then a table by the
model's name. The table's sources: the vendors' model pages and configurations, checked against
LiteLLM's ``model_prices_and_context_window`` of November 2026; where sources differ, or a name
stands for several models, the smaller figure. A local server may give a model less than this: its
own figure, or the profile's, comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

BY_PROFILE, BY_ENDPOINT = "as the profile says", "as its endpoint tells"
BY_NAME, BY_NOBODY = "by the model's name", "nobody says how many; max_context_tokens are taken"
LEAST, MOST = 256, 100_000_000
K = 1024

# By how a name begins, without its vendor's; the first that fits.
MODELS: tuple[tuple[str, int], ...] = (
    # OpenAI; of the models from gpt-5 on, what a prompt may hold
    (r"gpt-6", 922_000),
    (r"gpt-5\.[56](?!.*-(?:cyber|mini|nano))", 922_000),
    (r"gpt-5\.4(?!.*-(?:mini|nano))", 922_000),
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
    (r"gemini-.*(?:tts|image)", 8_192),
    (r"gemini-(?:robotics|omni|.*computer-use)", 128_000),
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
    (r"qwen-?3\.\d|qwen-?3-?(?:coder|next|vl)|qwen-?3.*-2507", 256 * K),
    (r"qwen-?3", 32 * K),
    (r"qwq", 32 * K),
    (r"qwen-?2|qwen-?1\.5|codeqwen", 32 * K),
    # DeepSeek
    (r"deepseek-(?:v4|flash)", 1_000_000),
    (r"deepseek-(?:chat|reasoner|v3\.[12])|deepseek-r1-distill-(?:llama|qwen)", 128 * K),
    (r"deepseek-(?:r1|v3)", 64 * K),
    (r"deepseek-coder(?!-v2)", 16 * K),
    # others
    (r"phi-?4-mini|phi-?3\.5|phi-?3.*128k", 128 * K),
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
VENDOR = re.compile(r".*/|ft:|[a-z][a-z-]*\.(?=[a-z])")

# What endpoints call the room they give, the surest first: what is loaded, what may be asked.
GIVEN = (
    "loaded_context_length",  # LM Studio
    "n_ctx",  # llama.cpp
    "num_ctx",  # Ollama
    "max_model_len",  # vLLM, SGLang
    "max_total_tokens",  # text-generation-inference
    "max_input_tokens",  # LiteLLM, Anthropic
    "context_window",  # Groq
    "context_length",  # OpenRouter, Together, Fireworks, Ollama's list of what is loaded
    "max_context_length",  # Mistral, LM Studio
    "inputTokenLimit",  # Google
    "max_context_tokens",
    "max_seq_len",
    "context_size",
)
# What the model was made for: the server may give it less. A dot stands for any beginning.
TRAINED = (
    "n_ctx_train",  # llama.cpp
    ".context_length",  # Ollama: "llama.context_length"
    "max_position_embeddings",
)
NESTED = (
    "meta", "top_provider", "limits", "capabilities", "model_info", "details", "model_spec",
    "default_generation_settings", "parameters",
)  # fmt: skip
LISTS = ("data", "models")
NAMES = ("id", "name", "model", "model_name", "key")


@dataclass(frozen=True)
class KnownWindow:
    """A window in tokens, None where nobody knows it, and who says so."""

    tokens: int | None
    source: str


def model_window(
    model: str, profile_window: int | None = None, endpoint_window: int | None = None
) -> KnownWindow:
    """The window to go by, from whoever knows best.

    Args:
        model: the model's name.
        profile_window: what the game's profile says.
        endpoint_window: what ``window_from_models`` read.
    """
    by_name = known_window(model)
    sources = ((BY_PROFILE, profile_window), (BY_ENDPOINT, endpoint_window), (BY_NAME, by_name))
    known = (KnownWindow(tokens, source) for source, tokens in sources if tokens)
    return next(known, KnownWindow(None, BY_NOBODY))


def known_window(model: str) -> int | None:
    """The window of a model by its name alone, in tokens; None for one we do not know."""
    name = bare_name(model)
    return next((window for pattern, window in TABLE if pattern.match(name)), None)


def bare_name(model: str) -> str:
    """A model's name in lower case without its vendor's: "openai/gpt-4o" is "gpt-4o"."""
    name = model.strip().lower().replace("_", "-")
    while found := VENDOR.match(name):
        name = name[found.end() :]
    return name


def window_from_models(
    answer: object, model: str, fields: Sequence[str] = (*GIVEN, *TRAINED)
) -> int | None:
    """A model's window as its endpoint tells it, in tokens; None where it does not.

    Args:
        answer: the parsed JSON of ``/models``, ``/models/<name>`` or a server's own page, of
            whatever form; nothing in it is trusted.
        model: the model's name as it is asked for. A server of one model may call it otherwise.
        fields: ``GIVEN`` for what the server gives, ``TRAINED`` for what the model could take.
    """
    entries = list(_entries(answer))
    for entry in entries:
        if any(_same_model(entry.get(key), model) for key in NAMES):
            return window_of(entry, fields)
    return window_of(entries[0], fields) if len(entries) == 1 else None


def window_of(entry: Mapping[str, object], fields: Sequence[str]) -> int | None:
    """The window in one model's entry, or in what it holds, by the first of the fields it has."""
    nested = (entry.get(key) for key in NESTED)
    places = [entry, *(place for place in nested if isinstance(place, Mapping))]
    values = [(str(key), value) for place in places for key, value in place.items()]
    for field in fields:
        for key, value in values:
            named = key.endswith(field) if field[0] == "." else key == field
            if named and (window := _tokens(value)):
                return window
    return None


def _entries(answer: object) -> Iterator[Mapping[str, object]]:
    """The entries of a list of models, or the one entry that the answer is."""
    if isinstance(answer, Mapping):
        lists = (answer[key] for key in LISTS if _is_list(answer.get(key)))
        answer = next(lists, [answer])
    if _is_list(answer):
        yield from (entry for entry in answer if isinstance(entry, Mapping))


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _same_model(name: object, model: str) -> bool:
    if not isinstance(name, str):
        return False
    plain, asked = (each.strip().lower().removeprefix("models/") for each in (name, model))
    return plain == asked or plain.removesuffix(":latest") == asked.removesuffix(":latest")


def _tokens(value: object) -> int | None:
    """A plausible number of tokens, or None."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 12:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and LEAST <= value <= MOST else None
