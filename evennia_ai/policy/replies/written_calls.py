"""A reply whose calls are written in its text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from evennia_ai.messages import LLMReply, ToolCallRequest
from evennia_ai.policy.replies.text_calls import ACT, Call, read_text_calls
from evennia_ai.policy.request_forms.form import Asked, NamedCall, tool_name
from evennia_ai.policy.request_forms.schema_form import calls_of


def with_written_calls(reply: LLMReply, asked: Asked, acts: bool = False) -> LLMReply:
    """Return the reply with the calls that are written in its text, if any.

    With ``acts``, an object of the form `schema` counts as its calls, too.
    """
    found = read_text_calls(reply.content, parameters(asked), acts)
    if not found.calls:
        return reply
    calls = [one for call in found.calls for one in named_calls(call, asked, acts)]
    changed = replace(reply, content=found.words, tool_calls=tuple(numbered(calls)), tied=acts)
    return replace(changed, finish_reason="stop")  # a call that was cut off was not found


def named_calls(call: Call, asked: Asked, acts: bool) -> list[NamedCall]:
    """Return the calls that one written call stands for."""
    name, arguments = call
    return calls_of(json.loads(arguments), asked) if acts and name == ACT else [NamedCall(*call)]


def parameters(asked: Asked) -> dict[str, dict[str, object]]:
    """Return the arguments' schema of each offered tool by name."""
    return {tool_name(t): dict(t["function"].get("parameters", {})) for t in asked.tools}


def numbered(calls: Iterable[NamedCall]) -> list[ToolCallRequest]:
    """Return calls with ids."""
    return [
        ToolCallRequest(f"act{number}", call.name, call.arguments)
        for number, call in enumerate(calls)
    ]
