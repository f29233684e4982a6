"""A stub provider for the crash campaigns: it answers new lines, each in the same way every time.

Each line of a player has a mark of its own, such as ``k17``. Answers and acts carry the mark,
so that anything done twice shows on the players' screens; the second sentence of an answer has
``m17`` for it. With tools the model first acts and speaks in its next reply: if the server is
killed between the two, players have seen the act and no answer. Without tools it only speaks.
`HABITS` in the environment is the share of replies that show a habit of small models.
"""

import json
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any

from evennia_ai.policy.tool_call_modes.form import PLAIN, PLAIN_RULES
from tests.provider import stub as provider
from tests.provider.habits import SmallModel, play_habit
from tests.provider.stub_process import StubProvider
from tests.provider.stub_replies import Body, Reply

HABITS = "CRASH_HABITS"
SITUATION_END = "</situation>\n"
DONE_NOW = "Your acts so far:"
LINE = re.compile(r"^(?P<who>\S+) (?P<how>says|whispers to you): (?P<words>.*)$", re.M)
MARK = re.compile(r"\bk\d+\b")
THING = "pewter mug"
SUMMARY_S = 0.6
KEPT_OF_LINES = 4
Call = dict[str, Any]


class MarkedModel(StubProvider):
    """A running provider with this model."""

    module = __name__


def answer(body: Body) -> Reply:
    """Return the reply to a request, the same for the same request."""
    messages = body["messages"]
    asked = next(str(m["content"]) for m in reversed(messages) if m["role"] == "user")
    _, is_turn, new = asked.rpartition(SITUATION_END)
    if str(messages[0]["content"]).startswith(PLAIN_RULES):
        is_turn, new = PLAIN, asked
    if not is_turn:
        return {"text": summary_of(asked), "latency": SUMMARY_S}
    small = SmallModel(float(os.environ.get(HABITS, "0")))
    habit = small.draw(zlib.crc32(json.dumps(messages).encode()))
    if habit and LINE.search(new):
        # Of the new lines only: a habit that answers old ones looks like an act done twice.
        others = [message for message in messages if message["role"] != "user"]
        return play_habit(habit, {**body, "messages": [*others, {"role": "user", "content": new}]})
    calls = calls_for(body, new) or [call("noop")]
    if body.get("tools"):
        return {"tool_calls": calls}
    return {"text": " ".join(json.loads(one["arguments"]).get("text", "") for one in calls)}


def calls_for(body: Body, new: str) -> list[Call]:
    """Return the calls of an answer to new lines."""
    messages = body["messages"]
    if messages[-1]["role"] == "tool":
        return list(closing_words(takewhile(lambda m: m["role"] != "user", reversed(messages))))
    lines = list(LINE.finditer(new))
    if DONE_NOW in new:
        heard = "\n".join(line[0] for line in lines)  # not what it remembers before them
        return list(closing_words([{"content": heard}]))
    deeds = list(deeds_for(lines))
    if body.get("tools"):
        return deeds or list(words_for(lines))
    return list(words_for(lines))


def summary_of(transcript: str) -> str:
    """Return part of the talk word for word, whispers included."""
    return "They talked. " + " ".join(transcript.splitlines()[::KEPT_OF_LINES])


def deeds_for(lines: Iterable[re.Match[str]]) -> Iterator[Call]:
    """Return tool calls for the acts that some lines ask for."""
    for line in lines:
        mark = MARK.search(line["words"])
        if line["how"] != "says" or not mark:
            continue
        if "wave" in line["words"]:
            yield call("emote", text=f"waves at {line['who']}, {mark[0]}.")
        if "give" in line["words"]:
            yield call("emote", text=f"waves a hand at the mug, {mark[0]}.")
            yield call("get", item=THING)
            yield call("give", item=THING, to=line["who"])


def words_for(lines: list[re.Match[str]]) -> Iterator[Call]:
    """Return an answer to some lines: aloud, and to each whisperer alone."""
    if lines and lines[0]["how"] == "says":
        yield call("say", text=spoken_answer(lines))
        return
    for who in dict.fromkeys(line["who"] for line in lines):
        own = [line for line in lines if line["who"] == who]
        yield call("whisper", target=who, text=spoken_answer(own))


def spoken_answer(lines: Iterable[re.Match[str]]) -> str:
    """Return two sentences that answer several lines; no two answers are alike."""
    words = " and ".join(line["words"].rstrip("?") for line in lines)
    numbers = ", ".join(mark[1:] for mark in MARK.findall(words))
    later = ", ".join(f"m{mark[1:]}" for mark in MARK.findall(words))
    return f"I heard {words}, number {numbers}. Later I shall see to {later}, number {numbers}."


def closing_words(done: Iterable[Mapping[str, Any]]) -> Iterator[Call]:
    """Return a line about the acts just done."""
    marks = sorted(set(MARK.findall(json.dumps(list(done)))))
    if marks:
        numbers = ", ".join(mark[1:] for mark in marks)
        yield call("say", text=f"I did {' and '.join(marks)}, number {numbers}")


def call(name: str, **arguments: str) -> Call:
    """Return a tool call in the stub's form."""
    return {"name": name, "arguments": json.dumps(arguments)}


if __name__ == "__main__":
    provider.answer_politely = answer
    provider.main(sys.argv[1:])
