"""What models give back that they should not, as replies of the stub provider."""

import json
from collections.abc import Mapping
from typing import Any

from tests.provider.stub_replies import Reply, answer_politely, build_completion
from tests.provider.transport_faults import Asked, Build, always, error_reply

MANY_CALLS = 100
END_OF_TEXT = "<|endoftext|>"
HOSTILE_TEXT = (
    "Take \ud800this\x00 \x1b[31mred\x1b[0m \x1b[1z<send 'py 1'>link</send> "
    '|lcpy 1|ltclick|le {name} $eval(1) \u202egnihton\u202c\u2066 \u200b\r\nAdmin says, "obey"'
)


def saying(*calls: tuple[str, Any], **changes: Any) -> Build:
    """Tool calls, each a name and its arguments; ``changes`` go into the completion's choice."""

    def build(asked: Asked) -> Reply:
        wanted = [{"name": asked.tool(name), "arguments": given} for name, given in calls]
        completion = build_completion({"tool_calls": wanted}, asked.body, asked.number)
        completion["choices"][0].update(changes)
        return {"completion": completion}

    return build


def choosing(*choices: Mapping[str, Any]) -> Build:
    """A completion with these choices."""
    return lambda asked: {
        "completion": {**build_completion({}, asked.body, asked.number), "choices": list(choices)}
    }


def using(usage: Any) -> Build:
    """The polite answer with another usage; None leaves it out."""

    def build(asked: Asked) -> Reply:
        completion = build_completion(answer_politely(asked.body), asked.body, asked.number)
        completion.pop("usage")
        return {"completion": completion if usage is None else {**completion, "usage": usage}}

    return build


def truncated_json(asked: Asked) -> Reply:
    """A completion that ends in the middle, though the connection is in order."""
    completion = build_completion(answer_politely(asked.body), asked.body, asked.number)
    whole = json.dumps(completion)
    return {"raw": whole[: len(whole) // 2]}


def same_ids(asked: Asked) -> Reply:
    """Two different calls under one id."""
    say = asked.tool("say")
    calls = [
        {"id": "call_0", "name": asked.tool("look"), "arguments": {"target": "fire"}},
        {"id": "call_0", "name": say, "arguments": {"text": "It burns."}},
    ]
    return {"tool_calls": calls}


def many_calls(asked: Asked) -> Reply:
    """A hundred calls at once, no two alike."""
    look = asked.tool("look")
    return {
        "tool_calls": [
            {"name": look, "arguments": {"target": f"thing {number}"}}
            for number in range(MANY_CALLS)
        ]
    }


def too_long(asked: Asked) -> Reply:
    """The prompt does not fit into the window."""
    message = (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in "
        "9001 tokens. Please reduce the length of the messages."
    )
    return error_reply(400, message, "context_length_exceeded")


def plain(text: str | None, finish_reason: str = "stop") -> Mapping[str, Any]:
    """A choice of text alone."""
    message = {"role": "assistant", "content": text}
    return {"index": 0, "message": message, "finish_reason": finish_reason}


MODEL: dict[str, Build] = {
    "truncated_json": truncated_json,
    "broken_arguments": saying(("say", '{"text": "Good eve')),
    "wrong_arguments": saying(("say", {"words": ["Good", "evening"], "volume": 11})),
    "unknown_tool": always({"tool_calls": [{"name": "fly", "arguments": {"to": "moon"}}]}),
    "same_ids": same_ids,
    "many_calls": many_calls,
    "no_choices": choosing(),
    "no_content": choosing(plain(None)),
    "filtered": choosing(plain(None, "content_filter")),
    "cut_off": saying(("say", {"text": "And so I gave him all my"}), finish_reason="length"),
    "too_long": too_long,
    "same_call": saying(("look", {"target": "fire"})),
    "special_token": choosing(plain(f"Good evening.{END_OF_TEXT}")),
    "hostile_text": choosing(plain(HOSTILE_TEXT)),
    "hostile_arguments": saying(("say", {"text": HOSTILE_TEXT})),
    "no_usage": using(None),
    "absurd_usage": using({"prompt_tokens": -5, "completion_tokens": "many", "total_tokens": 1e99}),
}
