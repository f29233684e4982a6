"""Raw replies: what a model writes in a request form, whole and in the parts of a stream."""

import json
from dataclasses import replace
from random import Random
from typing import Any

from evennia_ai.config import ModelProfile
from evennia_ai.llm.openai_client import build_body
from evennia_ai.llm.reply_body import ReplyBody
from evennia_ai.messages import Delta, LLMReply, ToolCallRequest
from evennia_ai.policy.tool_call_modes.form import PLAIN
from evennia_ai.ports import LLMRequest
from tests.provider.habits import WRITTEN, SmallModel, play_habit, write_calls
from tests.provider.stub_replies import build_completion

SPEECH = ("say", "whisper")
HABIT_RATE = 0.15
LONGEST_PIECE = 40


def write_raw(rng: Random, reply: LLMReply, request: LLMRequest) -> LLMReply:
    """Return a reply with calls as a model writes it in the request's form."""
    calls = [(call.name, read(call)) for call in reply.tool_calls]
    if not calls or request.form != PLAIN:
        return reply
    text = " ".join(str(given["text"]) for name, given in calls if name in SPEECH and given)
    acts = [{"name": name, "arguments": given} for name, given in calls if name not in SPEECH]
    text += write_calls(acts, rng.choice(list(WRITTEN)))
    if reply.finish_reason == "length" or None in [given for _, given in calls]:
        text = text[: len(text) * 2 // 3]
    return replace(reply, content=text, tool_calls=())


def read(call: ToolCallRequest) -> dict[str, Any] | None:
    """Return a call's arguments, None if they are broken."""
    try:
        return {"text": "", **json.loads(call.arguments)}
    except ValueError:
        return None


def habit_reply(rng: Random, request: LLMRequest, profile: ModelProfile) -> LLMReply | None:
    """Return the reply of a small model's habit; mostly None."""
    number = rng.randrange(1_000_000)
    habit = SmallModel(HABIT_RATE).draw(number)
    if habit is None:
        return None
    body = {**build_body(request, profile), "max_tokens": LONGEST_PIECE}
    completion = build_completion(play_habit(habit, body), body, number)
    read = ReplyBody()
    read.add_whole(json.dumps(completion).encode())
    return read.reply(lambda: "another")


def deltas_of(rng: Random, reply: LLMReply) -> list[Delta]:
    """Return the parts of a reply as they arrive."""
    deltas = [Delta(piece) for piece in pieces(rng, reply.content)]
    for index, call in enumerate(reply.tool_calls):
        parts = pieces(rng, call.arguments) or [""]
        deltas += [Delta("", index, call.name, part) for part in parts]
    return deltas


def pieces(rng: Random, text: str) -> list[str]:
    """Return a text cut into pieces of any length."""
    found = []
    while text:
        size = rng.randint(1, LONGEST_PIECE)
        found.append(text[:size])
        text = text[size:]
    return found
