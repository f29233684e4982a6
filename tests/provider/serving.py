"""How the stub provider's server reads and writes: speed, prompt cache and chat template."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from tests.provider.stub_replies import Body, Reply, build_completion
from tests.provider.stub_stream import PIECE_CHARS
from tests.provider.transport_faults import error_reply

Messages = Sequence[Mapping[str, Any]]

CHARS_PER_TOKEN = 4
LEAST_SHARE = 0.1  # of a prompt that must match, for a slot to be used again
UNMEASURED = 1_000.0  # tokens a second that a server without a speed tells


# --- speed and cache -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Speed:
    """The speed of a server in tokens a second; 0 takes no time. Its cache has so many slots."""

    read_tokens_per_s: float = 0.0
    write_tokens_per_s: float = 0.0
    slots: int = 0


def serve(reply: Reply, body: Body, number: int, speed: Speed, cached: int | None) -> Reply:
    """Return a reply as a server of this speed sends it, with its timings.

    ``cached`` are the tokens of the prompt that it need not read, None if it has no cache.
    """
    if "raw" in reply or speed == Speed():
        return reply
    completion = reply.get("completion") or build_completion(reply, body, number)
    usage = completion.get("usage") or {}
    prompt, written = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    known = min(cached or 0, prompt)
    latency_s = (reply.get("latency") or 0.0) + seconds(prompt - known, speed.read_tokens_per_s)
    piece = {"pause_s": seconds(PIECE_CHARS / CHARS_PER_TOKEN, speed.write_tokens_per_s)}
    if not body.get("stream"):
        latency_s += seconds(written, speed.write_tokens_per_s)
    if usage and cached is not None:
        details = {**usage, "prompt_tokens_details": {"cached_tokens": known}}
        timings = read_timings(prompt - known, known, written, speed)
        completion = {**completion, "usage": details, "timings": timings}
    streamed = {**piece, **reply.get("stream", {})}
    return {**reply, "completion": completion, "latency": latency_s, "stream": streamed}


def seconds(tokens: float, per_s: float) -> float:
    """Return the time that so many tokens take."""
    return tokens / per_s if per_s else 0.0


def read_timings(fresh: int, cached: int, written: int, speed: Speed) -> dict[str, float]:
    """Return the timings that llama.cpp reports."""
    return {
        "cache_n": cached,
        "prompt_n": fresh,
        "prompt_per_second": speed.read_tokens_per_s or UNMEASURED,
        "predicted_n": written,
        "predicted_per_second": speed.write_tokens_per_s or UNMEASURED,
    }


class PromptCache:
    """What a server keeps: slots, each with the prompt it read last."""

    def __init__(self, slots: int) -> None:
        self._slots = [""] * slots
        self._order = list(range(slots))  # the slot that was used last comes last

    def read(self, body: Body) -> int | None:
        """Read a prompt; return the tokens that a slot held already, None without slots.

        As llama.cpp does, use the slot that shares most, or the one that was used least recently
        if none shares enough.
        """
        prompt = prompt_text(body)
        if not self._slots:
            return None
        slot = max(self._order, key=lambda one: shared_chars(self._slots[one], prompt))
        if shared_chars(self._slots[slot], prompt) < LEAST_SHARE * len(prompt):
            slot = self._order[0]
        known = shared_chars(self._slots[slot], prompt)
        self._slots[slot] = prompt
        self._order.remove(slot)
        self._order.append(slot)
        return known // CHARS_PER_TOKEN


def shared_chars(text: str, other: str) -> int:
    """Return the length of the beginning that two texts share."""
    pairs = zip(text, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def prompt_text(body: Body) -> str:
    """Return a prompt as most templates render it: the system message, the tools, the talk."""
    messages = [json.dumps(message) for message in body.get("messages", ())]
    has_system = bool(messages) and body["messages"][0].get("role") == "system"
    tools = json.dumps(body.get("tools") or [])
    return "".join([*messages[:has_system], tools, *messages[has_system:]])


# --- chat templates ------------------------------------------------------------------------------

ALTERNATE = "onversation roles must alternate user/assistant/user/assistant/..."


def alternates(messages: Messages) -> bool:
    """Return True if user and assistant take turns after the system message."""
    roles = [message.get("role") for message in messages]
    talk = roles[1:] if roles[:1] == ["system"] else roles
    return all((role == "user") == (index % 2 == 0) for index, role in enumerate(talk))


def talk_alternates(messages: Messages) -> bool:
    """Return True if user and assistant take turns, past tool calls and results left out."""
    talk = [item for item in messages if item.get("role") != "tool" and not item.get("tool_calls")]
    return alternates(talk)


def is_system_first(messages: Messages) -> bool:
    """Return True if no system message follows another message."""
    return all(message.get("role") != "system" for message in messages[1:])


def uses_tools(body: Body) -> bool:
    """Return True if a request offers tools, or shows past calls or results."""
    past = any(item.get("tool_calls") or item["role"] == "tool" for item in body["messages"])
    return past or bool(body.get("tools"))


# Each rule tells whether a request is accepted, and the words of a refusal.
RULES: Mapping[str, tuple[Callable[[Body], bool], str]] = {
    "alternate": (lambda body: alternates(body["messages"]), f"C{ALTERNATE}"),
    "talk_alternates": (
        lambda body: talk_alternates(body["messages"]),
        f"After the optional system message, c{ALTERNATE}",
    ),
    "no_user_after_tool": (
        lambda body: (
            not any(
                (before.get("role"), after.get("role")) == ("tool", "user")
                for before, after in zip(body["messages"], body["messages"][1:], strict=False)
            )
        ),
        "Unexpected role 'user' after role 'tool'",
    ),
    "system_first": (
        lambda body: is_system_first(body["messages"]),
        "System message must be at the beginning.",
    ),
    "no_tools": (lambda body: not uses_tools(body), "This model does not support tools."),
    "no_system": (
        lambda body: all(item.get("role") != "system" for item in body["messages"]),
        "System role not supported",
    ),
}
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    **{name: (name,) for name in RULES},
    "qwen": ("system_first",),
    "gemma": ("system_first", "alternate"),
    "mistral": ("system_first", "talk_alternates", "no_user_after_tool"),
}


def check_template(name: str) -> str:
    """Return the name of a template, "" for none; raise ValueError if it is unknown."""
    if name and name not in TEMPLATES:
        raise ValueError(f"There is no template '{name}'; there are: {', '.join(TEMPLATES)}.")
    return name


def template_refusal(body: Body, template: str) -> Reply | None:
    """Return the error with which a template refuses a request, None if it accepts it."""
    for rule in TEMPLATES.get(template, ()):
        accepts, words = RULES[rule]
        if not accepts(body):
            raised = f"While executing CallExpression:\nError: Jinja Exception: {words}"
            return error_reply(400, f"\n------------\n{raised}")
    return None
