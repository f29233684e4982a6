"""A stub provider for the crash campaigns: it answers new lines, each in the same way every time.

Each line of a player has a mark of its own, such as ``k17``. Answers and acts carry the mark,
so that anything done twice shows on the players' screens. The model first acts and speaks in its
next reply. If the server is killed between the two, players have seen the act and no answer.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from evennia_ai.testing import provider
from evennia_ai.testing.stub_process import StubProvider

NEW = "Not answered yet:\n"
LINE = re.compile(r"^- (?P<who>\S+) (?P<how>says|whispers to you): (?P<words>.*)$", re.M)
MARK = re.compile(r"\bk\d+\b")
THING = "pewter mug"
SUMMARY_S = 0.6
KEPT_OF_LINES = 4
Call = dict[str, Any]


class MarkedModel(StubProvider):
    """A running provider with this model."""

    module = __name__


def answer(body: Any) -> dict[str, Any]:
    """Return the reply to a request."""
    messages = body["messages"]
    if not body.get("tools"):
        return {"text": summary_of(str(messages[-1]["content"])), "latency": SUMMARY_S}
    _, _, new = str(messages[-1]["content"]).partition(NEW)
    lines = list(LINE.finditer(new))
    calls = list(deeds_for(lines)) or list(words_for(lines)) or list(closing_words(messages[:-1]))
    return {"tool_calls": calls or [call("noop")]}


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
        yield call("say", text=f"I heard {together(lines)}")
        return
    for who in dict.fromkeys(line["who"] for line in lines):
        own = [line for line in lines if line["who"] == who]
        yield call("whisper", target=who, text=f"I heard {together(own)}")


def together(lines: Iterable[re.Match[str]]) -> str:
    """Return one text that answers several lines."""
    return " and ".join(line["words"] for line in lines)


def closing_words(messages: Sequence[Mapping[str, Any]]) -> Iterator[Call]:
    """Return a line about the acts just done."""
    done = takewhile(lambda message: message["role"] != "user", reversed(messages))
    marks = sorted(set(MARK.findall(json.dumps(list(done)))))
    if marks:
        yield call("say", text=f"I did {' and '.join(marks)}")


def call(name: str, **arguments: str) -> Call:
    """Return a tool call in the stub's form."""
    return {"name": name, "arguments": json.dumps(arguments)}


if __name__ == "__main__":
    provider.answer_politely = answer
    provider.main(sys.argv[1:])
