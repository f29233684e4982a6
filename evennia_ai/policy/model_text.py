"""Requests to a model and the lines of its replies: material as data, answers as checked JSON."""

from __future__ import annotations

import json
from typing import Any

from evennia_ai.messages import WireMessage, unmarked
from evennia_ai.policy.sanitize import strip_reasoning


def fenced(mark: str, text: str) -> str:
    """Return text between ``<mark>`` tags, with any closing tag in the text made harmless."""
    return f"<{mark}>\n{text.replace(f'</{mark}', f'< /{mark}')}\n</{mark}>"


def request(instructions: str, material: str, *, with_marks: bool = False) -> list[WireMessage]:
    """Return a request of two messages: instructions as system, material as user.

    ``with_marks`` keeps `messages.MARK` in material that holds it before perceived lines only.
    """
    material = material if with_marks else unmarked(material)
    return [{"role": "system", "content": instructions}, {"role": "user", "content": material}]


def reply_lines(reply: str) -> list[str]:
    """Return the stripped lines of a reply, without reasoning, blank lines and code fences."""
    lines = (line.strip() for line in strip_reasoning(reply).splitlines())
    return [line for line in lines if line and not line.startswith("```")]


def complete_lines(reply: str) -> str:
    """Return a reply that was cut off, without its last line unless that is a whole object."""
    head, _, last = reply.rpartition("\n")
    return reply if read_line_object(last) else head


def read_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a model wrote, or None if the text is not one. Never raises."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_line_object(line: str) -> dict[str, Any]:
    """Return the JSON object on one line, a comma behind it allowed; empty if there is none."""
    return read_object(line.strip().rstrip(",")) or {}
