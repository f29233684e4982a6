"""A model that repeats all secret words it is shown, wherever it may write or speak.

It writes them into the journal, into profiles, goals and pins, searches for them, says them aloud,
whispers and acts them out, and puts them into every summary, reflection, plan and attribute.
"""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

from twisted.internet.defer import Deferred, succeed

from evennia_ai.config import ModelProfile
from evennia_ai.messages import ChatMessage, LLMReply, ToolCallRequest
from evennia_ai.ports import LLMRequest
from tests.reading_requests import is_summary

WORD = re.compile(r"\bzu[a-z]{6}x\b", re.IGNORECASE)
MOST_WORDS = 40  # in one entry
SPOKEN_WORDS = 10  # in one line: more would be taken for a line that was said before
# How likely it uses a tool that is offered, before it speaks.
WRITES = {
    "add_journal_entry": 0.5,
    "update_entity_observation": 0.35,
    "set_goal": 0.15,
    "pin_fact": 0.15,
    "search_memory": 0.12,
    "search_history": 0.12,
    "search_journal": 0.12,
}
SPEAKS = {"say": 0.7, "whisper": 0.3, "emote": 0.15}
SYLLABLES = ("oh", "ah", "hum", "tut", "aye", "nay", "lo", "ho", "fie", "eh")
LATE = 0.15  # the share of replies that take seconds
LATEST_S = 5.0


def words_in(text: str) -> list[str]:
    """Return the secret words of a text, each once, the newest first."""
    return list(dict.fromkeys(word.lower() for word in reversed(WORD.findall(text))))


class Parrot:
    """The model instead of a gateway's client; ``watch`` gets each request before its reply."""

    def __init__(self) -> None:
        self.watch: Callable[[LLMRequest], None] = lambda request: None
        self.rng = Random(0)
        self.names: list[str] = []  # whom it whispers to, and writes of
        self.clock: Any = None
        self.calls = 0

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float | None = None
    ) -> Deferred[LLMReply]:
        """Fire with a reply, at times some seconds later."""
        self.calls += 1
        self.watch(request)
        reply = self.reply(request)
        if self.clock is None or request.caller.background or self.rng.random() >= LATE:
            return succeed(reply)
        late: Deferred[LLMReply] = Deferred(lambda _: waits.cancel())
        waits = self.clock.callLater(self.rng.uniform(0.1, LATEST_S), late.callback, reply)
        return late

    def reply(self, request: LLMRequest) -> LLMReply:
        """Return calls that repeat all words, or a text where no tools are offered."""
        texts = [str(message.get("content") or "") for message in request.messages]
        words = words_in("\n".join(texts))[:MOST_WORDS]
        offered = {tool["function"]["name"] for tool in request.tools}
        self.rng.shuffle(words)  # a line that was said before is not spoken
        if not offered:
            task = is_summary(request) or request.caller.turn_id is None
            line = self.text(texts[0], "\n".join(texts[1:]), words) if task else self.line(words)
            return LLMReply(line)
        calls = self.writes(offered, words) if is_first(request.messages) else []
        calls += self.speaks(offered, words) or [("noop", {})]
        return LLMReply(
            "",
            tuple(
                ToolCallRequest(f"p{self.calls}_{number}", name, json.dumps(arguments))
                for number, (name, arguments) in enumerate(calls)
            ),
            "tool_calls",
        )

    def writes(self, offered: set[str], words: list[str]) -> list[tuple[str, dict[str, str]]]:
        """Return calls that write all words down, or search for one of them."""
        line = f"Of {self.rng.choice(self.names)} I know {' '.join(words)}."
        arguments = {
            "add_journal_entry": {"content": line},
            "pin_fact": {"content": line},
            "set_goal": {"goal": f"Find {' '.join(words[:6])}", "why": line},
            "update_entity_observation": {
                "entity": self.rng.choice(self.names),
                "observation": f"Knows of {' '.join(words)}.",
            },
            "search_memory": {"query": " ".join(words[:3])},
            "search_history": {"words": " ".join(words[:3])},
            "search_journal": {"words": " ".join(words[:3])},
        }
        usable = [name for name in WRITES if name in offered] if words else []
        return [(name, arguments[name]) for name in usable if self.rng.random() < WRITES[name]]

    def speaks(self, offered: set[str], words: list[str]) -> list[tuple[str, dict[str, str]]]:
        """Return calls that tell all words to those present."""
        line = {"text": self.line(words)}
        arguments = {
            "say": line,
            "whisper": {**line, "target": self.rng.choice(self.names)},
            "emote": {"text": f"mutters: {self.line(words)}"},
        }
        usable = [name for name in SPEAKS if name in offered]
        chosen = [name for name in usable if self.rng.random() < SPEAKS[name]]
        return [(name, arguments[name]) for name in chosen or usable[:1]]

    def line(self, words: list[str]) -> str:
        """Return a line with all words that is not like any before."""
        count = " ".join(SYLLABLES[int(digit)] for digit in str(self.calls))
        return f"{count.capitalize()}! {' '.join(words[:SPOKEN_WORDS]) or 'Well, well'}."

    def text(self, rules: str, material: str, words: list[str]) -> str:
        """Return the answer to a task without tools, in the form that its rules ask for."""
        line = " ".join(words)
        if '"because"' in rules:
            return json.dumps({"insight": line, "because": re.findall(r"\bj\d+\b", material)[:4]})
        if '"sources"' in rules:
            known = re.findall(r"\bp\d+\b", material)[:4]
            return json.dumps({"attribute": "secret", "value": line, "sources": known})
        if '"step"' in rules:
            return json.dumps({"step": f"Tell {line}"})
        if '"where"' in rules:
            return json.dumps({"from": "00:00", "to": "23:59", "what": line, "where": "here"})
        return f"Aim: none. Progress: they spoke of {line}. Next: nothing."


def is_first(messages: list[ChatMessage] | Any) -> bool:
    """Return True if the turn has no call yet."""
    last = messages[-1]
    return last["role"] == "user" and not str(last.get("content", "")).startswith("(")
