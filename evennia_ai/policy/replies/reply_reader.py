"""From a model's output to tool calls, in each request form, at its end or while it arrives.

A reader's calls are the same whether a reply arrives whole or in parts, except that a streamed
speech has one call for each sentence, all with the same id.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from evennia_ai.messages import LLMReply, ToolCallRequest
from evennia_ai.policy.replies.partial_json import ObjectReader
from evennia_ai.policy.replies.sentences import SentenceSplitter
from evennia_ai.policy.replies.text_calls import read_text_calls
from evennia_ai.policy.request_forms.form import SCHEMA, TEXT, Asked, NamedCall, tool_name
from evennia_ai.policy.request_forms.schema_form import SAY_CHARS, WHISPER, act_calls_of, calls_of
from evennia_ai.policy.sanitize import cut_text

SAY, WORDS = "say", "text"
CUT_OFF = "length"  # the finish reason of a reply that reached its limit
# A sentence with one of these may belong to a tool call or to reasoning.
SUSPICIOUS = ("{", "}", "<", "`", "[", "((")
ACT_FIELD, TARGET_FIELD, SAY_FIELD = "act", "target", "say"

Calls = list[ToolCallRequest]


class ReplyReader(Protocol):
    """A reader of one reply."""

    def feed(self, content: str) -> Calls:
        """Add a part of the text; return the calls that are finished now."""

    def feed_call(self, index: int, name: str, arguments: str) -> Calls:
        """Add a part of a native call, by its number; return the calls that are finished now."""

    def finish(self, reply: LLMReply) -> LLMReply:
        """Return the whole reply with all calls, also those that were returned before."""


class Speech:
    """Words that are said in one call, or sentence by sentence if the reply is streamed."""

    def __init__(self, call_id: str, streamed: bool, name: str = SAY, target: str = "") -> None:
        self.said = 0  # sentences
        self.length = 0
        self._base = {"target": target} if target else {}
        self._id, self._name = call_id, name
        self._splitter = SentenceSplitter() if streamed else None
        self._rest: list[str] = []

    def add(self, text: str) -> Calls:
        """Add words; return a call for each finished sentence."""
        self.length += len(text)
        if self._splitter is None:
            self._rest.append(text)
            return []
        return [self._call(piece) for piece in self._splitter.feed(text)]

    def end(self, unfinished: bool = False) -> Calls:
        """Return the call for the last words; of an unfinished speech only whole sentences."""
        rest = self._splitter.rest() if self._splitter else "".join(self._rest).strip()
        if unfinished:
            rest = "" if self.said else cut_text(rest, max(1, len(rest) - 1))
        return [self._call(rest)] if rest else []

    def _call(self, words: str) -> ToolCallRequest:
        self.said += 1
        arguments = json.dumps({WORDS: words, **self._base}, ensure_ascii=False)
        return ToolCallRequest(self._id, self._name, arguments)


class SchemaReader:
    """Reads the object of the form `schema`; its act comes before its words."""

    def __init__(self, asked: Asked, streamed: bool) -> None:
        self._asked, self._streamed = asked, streamed
        self._object = ObjectReader(streamed=(SAY_FIELD,))
        self._calls: Calls = []
        self._speech: Speech | None = None
        self._fed = False

    def feed(self, content: str) -> Calls:
        """Add a part of the text; return the calls that are finished now."""
        self._fed, before = True, len(self._calls)
        for event in self._object.feed(content):
            if event.name == SAY_FIELD and event.kind == "text" and self._can_speak():
                self._speech = self._speech or self._begin()
                self._calls += self._speech.add(event.value)
        return self._calls[before:]

    def feed_call(self, index: int, name: str, arguments: str) -> Calls:
        """Return nothing: no tools were sent."""
        return []

    def finish(self, reply: LLMReply) -> LLMReply:
        """Return the reply with the calls of its object; without one, those in its text."""
        if not self._fed:
            self.feed(reply.content)
        whole = self._object.done
        if self._speech is not None:
            length = self._speech.length
            self._calls += self._speech.end(not whole or length >= SAY_CHARS)
        elif whole:
            self._calls += numbered(calls_of(self._object.values, self._asked))
        if not self._calls:
            return read_plainly(reply, self._asked)
        calls = tuple(self._calls)
        # What came after the object, or was cut off behind whole sentences, does not matter.
        return replace(reply, content="", tool_calls=calls, finish_reason="stop", tied=True)

    def _can_speak(self) -> bool:
        """Return True if the act is known; without it, everything waits for the object's end."""
        return ACT_FIELD in self._object.values

    def _begin(self) -> Speech:
        """Add the act's calls and return the speech behind them."""
        values = self._object.values
        self._calls += numbered(act_calls_of(values, self._asked))
        if values[ACT_FIELD] == WHISPER:
            target = str(values.get(TARGET_FIELD) or "").strip()
            return Speech("speech", self._streamed, WHISPER, target)
        return Speech("speech", self._streamed)


class NativeReader:
    """Reads native tool calls; text beside them is none of the character's words.

    Only the words of `say` are streamed: text that comes first may turn out to be a model's
    thoughts about the calls behind it.
    """

    def __init__(self, asked: Asked, streamed: bool) -> None:
        self._asked, self._streamed = asked, streamed
        self._calls: Calls = []
        self._open: OpenCall | None = None

    def feed(self, content: str) -> Calls:
        """Return nothing."""
        return []

    def feed_call(self, index: int, name: str, arguments: str) -> Calls:
        """Add a part of a native call, by its number; return the calls that are finished now."""
        before = len(self._calls)
        if self._open is None or index != self._open.index:
            self._close()
            self._open = OpenCall(index, f"call{index}", self._streamed)
        self._calls += self._open.add(name, arguments)
        return self._calls[before:]

    def finish(self, reply: LLMReply) -> LLMReply:
        """Return the reply with its own calls, or else those in its text."""
        if not reply.tool_calls and not self._calls:
            return read_plainly(reply, self._asked)
        if self._open is None:
            return reply
        self._close(unfinished=reply.finish_reason == CUT_OFF)
        return replace(reply, tool_calls=tuple(self._calls))

    def _close(self, unfinished: bool = False) -> None:
        if self._open is not None:
            self._calls += self._open.end(unfinished)


class OpenCall:
    """A native call that is still arriving."""

    def __init__(self, index: int, call_id: str, streamed: bool) -> None:
        self.index = index
        self._id, self._name, self._arguments = call_id, "", ""
        self._object = ObjectReader(streamed=(WORDS,))
        self._speech = Speech(call_id, streamed)

    def add(self, name: str, arguments: str) -> Calls:
        """Add a part; return a call for each finished sentence of `say`."""
        self._name = name or self._name
        self._arguments += arguments
        if self._name != SAY:
            return []
        return [
            call
            for event in self._object.feed(arguments)
            if event.name == WORDS and event.kind == "text"
            for call in self._speech.add(event.value)
        ]

    def end(self, unfinished: bool) -> Calls:
        """Return the call, or what is left of its words."""
        if self._speech.said:
            return self._speech.end(unfinished or not self._object.done)
        return [ToolCallRequest(self._id, self._name, self._arguments or "{}")]


class TextReader:
    """Reads plain words; what looks like a call waits for the end."""

    def __init__(self, asked: Asked, streamed: bool) -> None:
        self._asked = asked
        self._calls: Calls = []
        self._splitter = SentenceSplitter()
        self._streamed = streamed
        self._held: list[str] = []

    def feed(self, content: str) -> Calls:
        """Add a part of the text; return the calls that are finished now."""
        if not self._streamed:
            return []
        if self._held:
            self._held.append(content)
            return []
        before = len(self._calls)
        for piece in self._splitter.feed(content):
            if self._held or any(mark in piece for mark in SUSPICIOUS):
                self._held.append(piece + " ")
            else:
                self._calls.append(say(piece))
        return self._calls[before:]

    def feed_call(self, index: int, name: str, arguments: str) -> Calls:
        """Return nothing: no tools were sent."""
        return []

    def finish(self, reply: LLMReply) -> LLMReply:
        """Return the reply with a call for each streamed sentence and for the rest."""
        if not self._calls:
            return read_plainly(reply, self._asked)
        rest = "".join(self._held) + self._splitter.rest()
        if reply.finish_reason == CUT_OFF:
            rest = ""
        if rest.strip():
            found = read_text_calls(rest, parameters(self._asked))
            self._calls += [say(found.words)] if found.words.strip() else []
            self._calls += numbered(NamedCall(*call) for call in found.calls if call[0] != SAY)
        return replace(reply, content="", tool_calls=tuple(self._calls), finish_reason="stop")


READERS: dict[str, type[SchemaReader | TextReader]] = {SCHEMA: SchemaReader, TEXT: TextReader}


def reply_reader(form: str, asked: Asked, streamed: bool = False) -> ReplyReader:
    """Return the reader of a reply in a request form."""
    return READERS.get(form, NativeReader)(asked, streamed)


def read_plainly(reply: LLMReply, asked: Asked) -> LLMReply:
    """Return the reply with the calls that are written in its text, if any."""
    found = read_text_calls(reply.content, parameters(asked))
    if not found.calls:
        return reply
    calls = numbered(NamedCall(*call) for call in found.calls)
    return replace(reply, content=found.words, tool_calls=tuple(calls))


def parameters(asked: Asked) -> dict[str, dict[str, object]]:
    """Return the arguments' schema of each offered tool by name."""
    return {tool_name(t): dict(t["function"].get("parameters", {})) for t in asked.tools}


def numbered(calls: Iterable[NamedCall]) -> Calls:
    """Return calls with ids."""
    return [
        ToolCallRequest(f"act{number}", call.name, call.arguments)
        for number, call in enumerate(calls)
    ]


def say(words: str) -> ToolCallRequest:
    """Return the call for one sentence of a streamed speech."""
    return ToolCallRequest("speech", SAY, json.dumps({WORDS: words}, ensure_ascii=False))
