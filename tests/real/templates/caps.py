"""What a chat template supports, read from the page ``/props`` of llama.cpp's server."""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class TemplateCaps:
    """What a chat template supports.

    Attributes:
        tools: True if it shows the list of tools.
        calls: True if it shows the tool calls of earlier messages.
        system: True if it takes a system message.
        alternates: True if it insists on alternating roles.
    """

    tools: bool
    calls: bool
    system: bool
    alternates: bool


def caps_from_template(template: str) -> TemplateCaps:
    """Return what a chat template supports, read from its Jinja source."""
    return TemplateCaps(
        tools=bool(re.search(r"(?<![\w'\"])tools(?![\w'\"])", template)),
        calls="tool_calls" in template,
        system=bool(re.search(r"""['"]system['"]""", template))
        and "system role not supported" not in template.lower(),
        alternates="must alternate" in template,
    )


def caps_from_props(props: Mapping[str, object]) -> TemplateCaps | None:
    """Return what a chat template supports from llama.cpp's ``/props``, None if it tells nothing.

    The server's own trials of the template count more than its source, which may mention tools
    without showing them.
    """
    template, tried = props.get("chat_template"), props.get("chat_template_caps")
    if not isinstance(template, str):
        return None
    read = caps_from_template(template)
    if not isinstance(tried, Mapping):
        return read
    return TemplateCaps(
        tools=bool(tried.get("supports_tools", read.tools)),
        calls=bool(tried.get("supports_tool_calls", read.calls)),
        system=bool(tried.get("supports_system_role", read.system)),
        alternates=read.alternates,
    )
