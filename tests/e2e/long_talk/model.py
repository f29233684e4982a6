"""A stub provider for the long talk: it repeats everything that its requests hold.

Each line of a player has a mark of its own: ``p-17`` said aloud, ``ann-s18`` whispered by Ann. The
model's answers, journal entries and summaries hold the marks of their request, so that a leak shows
again later. A summary is good, empty, a refusal, too long, or an overflow; a seed and the request
decide which.
"""

import json
import os
import re
import sys
import zlib
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest

from evennia_ai.policy.tokens import count_conversation_tokens, count_tools
from tests.provider import stub as provider
from tests.provider.stub_process import StubProvider
from tests.provider.stub_replies import Reply, build_completion, offered_tools
from tests.provider.transport_faults import error_reply

tokenizer = pytest.importorskip("evennia_ai.contrib.openai_tokens.tokenizer")

SEED = "LONG_TALK_SEED"
COUNTED_AS = "gpt-4o"
SECRET = re.compile(r"\b(ann|ben|cid)-s\d+\b")
MARK = re.compile(r"\b(?:p-|(?:ann|ben|cid)-s)\d+\b")
NEW = "</situation>\n"
LINE = re.compile(r"^(?P<who>\S+) (?P<how>says|whispers to you): (?P<words>.*)$", re.M)
NAMES = ("Ann", "Ben", "Cid")
TRANSCRIPT, MISSING = "<transcript>", "<missing>"

OVERFLOW = 0.01
LOOK_UP = 0.1
BETRAYAL = 0.08
MOST_MARKS = 8
MARKS_SUMMED_UP = 40
BAD_SUMMARIES = ("empty", "refusal", "too long", "overflow", "idle words")
SHARE_OF_BAD_SUMMARIES = 0.45
IDLE_WORDS = "There was much talk, of this and that, and the evening was long."
TALK = (
    "I keep the tally of it behind the counter, next to the jar with the copper buttons, and old "
    "Pell shall carry it over to the chapel on Thursday, {} paces, before the boats come in again."
)

Body = Mapping[str, Any]


class TellingModel(StubProvider):
    """A running provider with this model."""

    module = __name__


def count_request(body: Body) -> int:
    """Return the tokens of a request and its tools by o200k_base, without the reply."""
    count = tokenizer.count_for(COUNTED_AS)
    assert count is not None, "the encoding is not loaded"
    tools = count_tools(body.get("tools") or (), count)
    return tools + count_conversation_tokens(body["messages"], COUNTED_AS, count)


def words_in(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of some messages."""
    return json.dumps(list(messages), ensure_ascii=False)


def is_summary(body: Body) -> bool:
    """Return True if the request is for a summary, or for facts that one lacks."""
    words = str(body["messages"][-1]["content"])
    return not body.get("tools") and (TRANSCRIPT in words or MISSING in words)


def answer(body: Body) -> Reply:
    """Return the reply to a request, with its token use."""
    dice = Random(f"{os.environ.get(SEED)}:{zlib.crc32(words_in(body['messages']).encode())}")
    reply = choose(body, dice)
    if "raw" in reply:
        return reply
    completion = build_completion(reply, body, 0)
    completion["usage"]["prompt_tokens"] = count_request(body)
    return {"completion": completion}


def choose(body: Body, dice: Random) -> Reply:
    """Return the reply to a request."""
    if is_summary(body):
        return sum_up(body, dice)
    if "say" not in offered_tools(body):
        return write_down(body)
    return take_part(body, dice)


def too_long() -> Reply:
    """Return the provider's refusal of a request that exceeds its window."""
    words = "This model's maximum context length is 8000 tokens. Your messages had 9001 tokens."
    return error_reply(400, words, "context_length_exceeded")


def sum_up(body: Body, dice: Random) -> Reply:
    """Return a summary, good or bad."""
    words = str(body["messages"][-1]["content"])
    known = all_marks(words)
    manner = dice.choice(BAD_SUMMARIES) if dice.random() < SHARE_OF_BAD_SUMMARIES else "good"
    replies: dict[str, Reply] = {
        "good": {"text": f"Progress: they spoke of {', '.join(known[-MARKS_SUMMED_UP:])}."},
        "empty": {"text": ""},
        "refusal": {"text": "I'm sorry, but I can't help with that."},
        "too long": {"text": f"{words}\n{words}"},
        "idle words": {"text": IDLE_WORDS},
        "overflow": too_long(),
    }
    return replies[manner]


def all_marks(words: str) -> list[str]:
    """Return the marks in a text, each once, in their order."""
    return list(dict.fromkeys(found[0] for found in MARK.finditer(words)))


def write_down(body: Body) -> Reply:
    """Return journal entries before a compaction, and nothing once they are written."""
    messages = body["messages"]
    if messages[-1]["role"] == "tool":
        return {"tool_calls": [call("noop")]}
    known = all_marks(words_in(messages))
    note = call("add_journal_entry", content=f"Of {', '.join(known[:MOST_MARKS])} they spoke.")
    return {"tool_calls": [note, *[call("noop")] * (len(known) % 2)]}


def take_part(body: Body, dice: Random) -> Reply:
    """Return an answer that repeats marks; at times a search, an overflow or a wrong whisper."""
    messages = body["messages"]
    asked = max(index for index, one in enumerate(messages) if one["role"] == "user")
    before, _, new = str(messages[asked]["content"]).rpartition(NEW)
    others = [*messages[1:asked], {"content": before}, *messages[asked + 1 :]]
    known = all_marks(words_in(others))
    gossip = dice.sample(known, min(MOST_MARKS, len(known)))
    lines = list(LINE.finditer(new))
    if lines and dice.random() < OVERFLOW:
        return too_long()
    if lines and dice.random() < LOOK_UP:
        tool = dice.choice(("search_history", "search_journal"))
        return {"tool_calls": [call(tool, words=f"{dice.choice(NAMES)} secret chest {gossip}")]}
    talk = TALK.format(dice.randrange(1_000_000))  # a sentence that was said before is refused
    text = f"I heard {', '.join(all_marks(new))}. They also spoke of {', '.join(gossip)}. {talk}"
    if lines and dice.random() < BETRAYAL:
        return {"tool_calls": [call("whisper", target=dice.choice(NAMES), text=text)]}
    if lines and lines[0]["how"] != "says":
        return {"tool_calls": [call("whisper", target=lines[0]["who"], text=text)]}
    return {"tool_calls": [call("say", text=text)]}


def call(name: str, **arguments: str) -> dict[str, Any]:
    """Return a tool call in the stub's form."""
    return {"name": name, "arguments": json.dumps(arguments)}


if __name__ == "__main__":
    tokenizer.load()
    provider.answer_politely = answer
    provider.main(sys.argv[1:])
