"""What providers do differently, as data, and an index of such data elsewhere.

To support a provider that differs, find the row and extend the data it names. Names without a
module are defined here; ``tests/llm/test_quirks.py`` checks that every name exists.

======================================  ======================================================
The provider or server ...              Data
======================================  ======================================================
needs a parameter in every request      `config.profiles.ENDPOINTS` (its ``extra``)
calls the reply limit otherwise         `REPLY_LIMITS`, and name it in the ``extra``
sends content in parts                  `TEXT_PART_TYPES`
reports token counts under other names  `USAGE_FORMS`
reports cached tokens elsewhere         `CACHED_TOKENS`
takes hints about its prompt cache      `CACHE_KEY_HOSTS`, `CACHE_BREAKPOINTS`
writes tool calls into the text         `policy.replies.text_calls.NAME_KEYS`, `ARGUMENT_KEYS`
writes its reasoning into the text      `policy.sanitize.REASONING`
sends error texts under another name    `ERROR_TEXT_FIELDS`
sends the error's code elsewhere        `ERROR_CODE_FIELDS`
fails                                   `policy.failures.TABLE`
tells how long to wait                  `policy.limits.retry.asked_wait_s`
refuses to stream                       `STREAM_REFUSED`, `STREAM_REFUSED_STATUS`
names a reply's end otherwise           `CUT_OFF_REASONS`, `FAILED_REASONS`
writes its keys otherwise               `policy.secrecy.KEY_LIKE`
tells the window in another field       `policy.context.windows.FIELDS`, `NESTED` there
tells the window on a page of its own   `WINDOW_PAGES`
tells no window, but its name does      `policy.context.windows.MODELS`
listens at a port of its own            `policy.probe.LOCAL_SERVERS`
======================================  ======================================================
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from evennia_ai.policy.probe import LLAMACPP_PORT, OLLAMA_PORT

REPLY_LIMITS = ("max_tokens", "max_completion_tokens")  # the second: OpenAI's newer models
TEXT_PART_TYPES = ("text", "output_text")
# ``length`` is OpenAI's word; others are Anthropic's, Gemini's (also with the name of its enum),
# Mistral's, the Responses API's and watsonx'.
CUT_OFF_REASONS = re.compile(
    r"(?:finish_?reason[._])?(?:max_?(?:new_|output_|completion_)?tokens|(?:model_|max_)?length"
    r"|(?:token|time)_limit|incomplete)",
    re.IGNORECASE,
)
# The reply failed in its middle: OpenRouter, z.ai (also for a full window), vLLM, DeepSeek, Cohere,
# watsonx.
FAILED_REASONS = frozenset(
    "error network_error abort cancelled timeout error_toxic insufficient_system_resource "
    "model_context_window_exceeded".split()
)


class CacheBreakpoints(NamedTuple):
    """How requests mark the end of a reusable prefix, for some models at one host."""

    host: str
    models: re.Pattern[str]
    mark: Mapping[str, object]  # goes into the content part that ends the prefix
    options: Mapping[str, object]  # go into the body


CACHE_KEY_HOSTS = ("api.openai.com",)
CACHE_BREAKPOINTS = (
    # From GPT-5.6 on, the implicit breakpoint is behind the newest message, which always changes.
    CacheBreakpoints(
        "api.openai.com",
        re.compile(r"gpt-(?:5\.(?:[6-9]|\d\d)|[6-9]|\d\d)"),
        {"prompt_cache_breakpoint": {"mode": "explicit"}},
        {"prompt_cache_options": {"mode": "explicit"}},
    ),
    CacheBreakpoints(
        "openrouter.ai", re.compile(r"anthropic/"), {"cache_control": {"type": "ephemeral"}}, {}
    ),
)

# Names of the prompt's count, of the reply's count, and of counts to add to the prompt's. The first
# form that a reply has is read.
USAGE_FORMS: tuple[tuple[str, ...], ...] = (
    ("prompt_tokens", "completion_tokens"),
    # OpenAI's Responses API has only the first two; Anthropic counts cached tokens apart.
    ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
)
# Where a reply tells how much of the prompt came from a cache; the first that does counts.
CACHED_TOKENS = (
    ("usage", "prompt_tokens_details", "cached_tokens"),
    ("usage", "prompt_cache_hit_tokens"),  # DeepSeek
    ("usage", "cache_read_input_tokens"),  # proxies to Anthropic
    ("usage", "input_tokens_details", "cached_tokens"),
    ("usage", "cached_tokens"),  # Moonshot
    ("timings", "cache_n"),  # llama.cpp
)

# Some servers return the request inside the error's body, so only these fields are read.
ERROR_TEXT_FIELDS = frozenset(
    "error errors message msg detail details code type status reason title raw metadata "
    "retryDelay".split()
)
ERROR_CODE_FIELDS = ("code", "status", "type")
STREAM_REFUSED_STATUS = (400, 405, 415, 422, 501)
STREAM_REFUSED = re.compile(r"\bstream(?:ing|ed)?\b", re.IGNORECASE)


class WindowPage(NamedTuple):
    """A page of a local server that tells its model's context window."""

    owner: str  # the ``owned_by`` of its models, by which the server is recognised
    port: int  # its usual one, by which it is recognised, too
    path: str


LLAMACPP, OLLAMA = "llamacpp", "library"
WINDOW_PAGES = (
    WindowPage(LLAMACPP, LLAMACPP_PORT, "/props"),
    WindowPage(OLLAMA, OLLAMA_PORT, "/api/ps"),
)
