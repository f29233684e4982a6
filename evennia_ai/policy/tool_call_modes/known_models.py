"""How a model is asked: as its profile says, as a probe found, or by its name.

Small models fail at native tool calls, but can write one JSON object. Models without tools in their
chat template get the JSON object too, because such a template drops the tools silently. Unknown
names get tools, because hosted models rarely name their size.
"""

import re
from collections.abc import Mapping

from evennia_ai.policy.context.windows import bare_name
from evennia_ai.policy.tool_call_modes.form import (
    AUTO,
    SCHEMA,
    TEXT_FORM,
    TOOLS,
    TOOLS_FORM,
    ToolCallMode,
)
from evennia_ai.policy.tool_call_modes.schema_form import SchemaForm
from evennia_ai.policy.tool_call_modes.wire_order import WireStyle

SMALL_BILLIONS = 4.0  # parameters
FILE_ENDING = re.compile(r"\.gguf$", re.IGNORECASE)
# "1.5b" and "e2b" (effective size) in billions, "360m" in millions; not "4bit", "a3b" or "8x7b".
SIZE = re.compile(r"(?<![a-z\d.])e?(\d+(?:\.\d+)?)b(?![a-z\d])|(?<![a-z\d.])(\d{2,3})m(?![a-z\d])")

# Patterns for the beginning of a name without its vendor.
# Small models whose names hold no size, or whose default on Ollama is small.
SMALL = (
    r"(?:meta-)?llama-?3\.2(?::latest)?$",  # 3b
    r"granite-?[34](?:\.\d)?-?(?:h-)?(?:micro|tiny|nano|moe)",
    r"orca-mini|smollm|tinyllama|tinydolphin|stablelm-?2|falcon-?3(?::latest)?$",
    r"phi-?(?:2|3-mini|3\.5-mini|4-mini)|gemini-nano|minicpm-?(?:2|3|5)|lfm-?2(?:\.5)?(?::latest)?$",
    # A family's name alone is an alias that somebody gave to a local model, of any size. The JSON
    # object works with all sizes; tools fail with the small ones.
    r"(?:qwen|llama|gemma|phi|smollm|granite|lfm|local|local-model|default)$",
)
# Families whose chat templates drop the list of tools.
WITHOUT_TOOLS = (
    r"gemma-?(?:1|2|3n?|7b|2b)(?!\d)|codegemma|gemini-gemma|gemma:|shieldgemma|medgemma",
    r"phi-?\d|phind",
    r"deepseek-r1(?:-0528-qwen3)?(?:-distill.*|[:-](?:1\.5|7|8|14|32|70)b.*)$|.*r1-distill",
    r"deepseek-(?:coder|llm|v2)|deepseek-math",
    r"(?:meta-)?llama-?[12](?![\d.])|(?:meta-)?llama-?3(?![\d.])(?!-(?:[1-3]-|groq))|codellama|llama-?guard",
    r"(?:meta-)?llama-?3\.2-vision",
    r"mistral-7b-(?:instruct-)?v0\.[12]|(?:open-)?mixtral-8x7b|mathstral",
    r"qwen-?1\.5|qwen-(?:1\.8|7|14|72)b|codeqwen|qwen-?2(?:[:-](?!5-)|$)",
    r"smollm|tinyllama|tinydolphin|stablelm|stable-code|starcoder|dolphin-(?:phi|2)",
    r"vicuna|zephyr|openchat|orca|solar-10|solar-0|(?:01-)?yi-|yi:|falcon-?(?:7|40|180|2)|mpt",
    r"olmo-?[12]?(?:[:-]|$)|olmoe|aya-|command-r-v01$|exaone-?[23]|internlm-?[12]|chatglm|baichuan",
    r"neural-chat|starling|wizard|nous-hermes-?2(?!-pro)|openhermes|rwkv|eurollm|teuken|bloom",
    # Models for role play
    r"mythomax|mythalion|l3-|noromaid|tiefighter|psyfighter|fimbulvetr|airoboros|chronos|pygmalion",
)
# Families whose chat templates show the tools, and forget the calls that were made.
WITHOUT_CALLS = (r"lfm-?2", r"granite-?3(?![\d])")
# Families whose chat templates raise an error at a system message, or drop it.
WITHOUT_SYSTEM = (
    r"gemma(?!-?4)|codegemma|gemini-gemma|shieldgemma|medgemma",
    r"phi-?3(?![\d.])",
    r"mistral-7b-(?:instruct-)?v0\.[12]|(?:open-)?mixtral-8x7b",
)
REQUEST_FORMS: Mapping[str, ToolCallMode] = {
    form.name: form for form in (TOOLS_FORM, SchemaForm(), TEXT_FORM)
}


def any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Return one pattern that matches if one of several does."""
    return re.compile(rf"\A(?:{'|'.join(patterns)})")


IS_SMALL, LACKS_TOOLS = any_of(SMALL), any_of(WITHOUT_TOOLS)
LACKS_CALLS, LACKS_SYSTEM = any_of(WITHOUT_CALLS), any_of(WITHOUT_SYSTEM)


def form_for(model: str) -> str:
    """Return the request form for a model by its name: `TOOLS` or `SCHEMA`."""
    name = known_name(model)
    sizes = [float(b) if b else float(m) / 1000 for b, m in SIZE.findall(name)]
    small = IS_SMALL.match(name) or (sizes and max(sizes) <= SMALL_BILLIONS)
    return SCHEMA if small or LACKS_TOOLS.match(name) else TOOLS


def style_for(model: str) -> WireStyle:
    """Return which messages a model's chat template supports, by its name."""
    name = known_name(model)
    calls = form_for(model) == TOOLS and not LACKS_CALLS.match(name)
    return WireStyle(system=not LACKS_SYSTEM.match(name), calls=calls)


def known_name(model: str) -> str:
    """Return a model's name in lower case, without vendor, folder and file ending."""
    return bare_name(FILE_ENDING.sub("", model.strip().replace("\\", "/")))


def choose_form(model: str, wanted: str = AUTO, stated: str = "") -> ToolCallMode:
    """Return the form for a model.

    ``wanted`` is the profile's own; ``told`` is what a probe found, "" if it ran for none. If both
    are silent, the model's name decides.
    """
    name = wanted if wanted in REQUEST_FORMS else stated or form_for(model)
    return REQUEST_FORMS.get(name, TOOLS_FORM)
