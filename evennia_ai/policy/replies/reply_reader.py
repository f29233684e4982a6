"""From a model's output to tool calls, in each request form, at its end or while it arrives.

If a reply arrives in parts, each sentence of a speech is a call, all with the same id. If it
arrives whole, one call has the same sentences.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from evennia_ai.messages import SAY, WHISPER, LLMReply, ToolCallRequest
from evennia_ai.policy.replies.json_parts import FieldEvent, ObjectReader
from evennia_ai.policy.replies.speech import WORDS, SentenceSplitter, Speech, joined, spoken
from evennia_ai.policy.replies.text_calls import ACT, beginnings, read_text_calls
from evennia_ai.policy.request_forms.form import SCHEMA, TEXT, Asked, NamedCall, tool_name
from evennia_ai.policy.request_forms.schema_form import (
    SAY_CHARS,
    act_calls_of,
    act_fields,
    calls_of,
    target_of,
)

CUT_OFF = "length"  # the finish reason of a reply that reached its limit
MARKS = ("{", "}", "<", "`", "[")  # of calls and of reasoning

Calls = list[ToolCallRequest]


class ReplyReader:
    """A reader of one reply; each form has its own."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._calls: Calls = []
        self._in_parts = False

    def feed(self, content: str) -> Calls:
        """Add a part of the text; return the calls that are finished now."""
        return self._keep(self._read(content))

    def feed_call(self, index: int, name: str, arguments: str) -> Calls:
        """Add a part of a native call, by its number; return the calls that are finished now."""
        return self._keep(self._read_call(index, name, arguments))

    def finish(self, reply: LLMReply) -> LLMReply:
        """Return the whole reply with all calls, also those that were returned before."""
        raise NotImplementedError

    def _read(self, content: str) -> Calls:
        return []

    def _read_call(self, index: int, name: str, arguments: str) -> Calls:
        return []

    def _keep(self, calls: Calls) -> Calls:
        self._in_parts = True
        self._calls += calls
        return calls

    def _read_whole(self, reply: LLMReply) -> None:
        """Read a reply's text if no part of it came before."""
        if not self._in_parts:
            self._calls += self._read(reply.content)

    def _with_calls(self, reply: LLMReply, tied: bool = False) -> LLMReply:
        """Return the reply with the calls; what was cut off behind them does not matter."""
        calls = tuple(self._calls if self._in_parts else joined(self._calls))
        return replace(reply, content="", tool_calls=calls, finish_reason="stop", tied=tied)


class SchemaReader(ReplyReader):
    """Reads the object of the form `schema`."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._object = ObjectReader(streamed=(SAY,))
        self._values: dict[str, Any] = {}
        self._speech: Speech | None = None

    def finish(self, reply: LLMReply) -> LLMReply:
        """Return the reply with the calls of its object; without one, those in its text."""
        self._read_whole(reply)
        if self._speech is not None:
            self._calls += self._speech.end(unfinished=True)
        elif self._object.done and (ACT in self._values or SAY in self._values):
            self._calls += numbered(calls_of(self._values, self._asked))
        if not self._calls:
            return with_written_calls(reply, self._asked, acts=True)
        return self._with_calls(reply, tied=True)

    def _read(self, content: str) -> Calls:
        return [call for event in self._object.feed(content) for call in self._heed(event)]

    def _heed(self, event: FieldEvent) -> Calls:
        if event.kind == "finished":
            self._values[event.name] = event.value
        # Words are said early only behind the act and its fields, as the schema orders them.
        act_is_known = act_fields(self._values, self._asked) <= set(self._values)
        if event.name != SAY or event.kind == "started" or not act_is_known:
            return []
        acts: Calls = []
        if event.kind == "text" and self._speech is None:
            acts = numbered(act_calls_of(self._values, self._asked))
            whispers = self._values[ACT] == WHISPER
            self._speech = Speech(WHISPER, target_of(self._values)) if whispers else Speech()
        if self._speech is None:
            return []
        if event.kind == "text":
            return acts + self._speech.add(event.value)
        return self._speech.end(unfinished=len(event.value) >= SAY_CHARS)


class NativeReader(ReplyReader):
    """Reads native tool calls; text beside them is none of the character's words."""

    # Only the words of `say` are streamed: text that comes first may turn out to be a model's
    # thoughts about the calls behind it.
    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._open: OpenCall | None = None

    def finish(self, reply: LLMReply) -> LLMReply:
        """Return the reply with its own calls, or else those in its text."""
        if self._open is not None:
            self._calls += self._open.end(unfinished=reply.finish_reason == CUT_OFF)
            return replace(reply, tool_calls=tuple(self._calls))
        return reply if reply.tool_calls else with_written_calls(reply, self._asked)

    def _read_call(self, index: int, name: str, arguments: str) -> Calls:
        calls: Calls = []
        if self._open is None or index != self._open.index:
            calls = self._open.end() if self._open else []
            self._open = OpenCall(index)
        return calls + self._open.add(name, arguments)


class OpenCall:
    """A native call that is still arriving."""

    def __init__(self, index: int) -> None:
        self.index = index
        self._id, self._name, self._arguments = f"call{index}", "", ""
        self._object = ObjectReader(streamed=(WORDS,))
        self._speech = Speech(call_id=self._id)

    def add(self, name: str, arguments: str) -> Calls:
        """Add a part; return a call for each finished sentence of `say`."""
        self._name = name or self._name
        self._arguments += arguments
        events = self._object.feed(arguments) if self._name == SAY else []
        texts = [e.value for e in events if e.name == WORDS and e.kind == "text"]
        return self._speech.add("".join(texts))

    def end(self, unfinished: bool = False) -> Calls:
        """Return the call, or what is left of its words."""
        if self._speech.begun:
            return self._speech.end(unfinished or not self._object.done)
        return [ToolCallRequest(self._id, self._name, self._arguments or "{}")]


class TextReader(ReplyReader):
    """Reads plain words; all from the first sentence that may be a call waits for the end."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self._splitter = SentenceSplitter()
        self._tools = parameters(asked)
        self._text = ""
        self._said_to = 0  # position in the text
        self._waits = False

    def finish(self, reply: LLMReply) -> LLMReply:
        """Return the reply with its sentences and calls; mere words that came whole stay text."""
        self._read_whole(reply)
        found = read_text_calls(self._text[self._said_to :], self._tools)
        is_cut_off = reply.finish_reason == CUT_OFF
        if not found.calls and not (self._calls and (self._in_parts or is_cut_off)):
            return reply
        # Words beside a call of `say` are about it.
        if found.words and not is_cut_off and SAY not in dict(found.calls):
            self._calls.append(spoken(found.words))
        self._calls += numbered(NamedCall(*call) for call in found.calls)
        return self._with_calls(reply)

    def _read(self, content: str) -> Calls:
        self._text += content
        calls: Calls = []
        for piece in () if self._waits else self._splitter.feed(content):
            self._waits = self._begins_call(piece)
            if self._waits:
                break
            self._said_to = self._text.index(piece, self._said_to) + len(piece)
            calls.append(spoken(piece))
        return calls

    def _begins_call(self, piece: str) -> bool:
        if any(mark in piece for mark in MARKS):
            return True
        return beginnings(tuple(sorted(self._tools))).search(piece) is not None


READERS: dict[str, Callable[[Asked], ReplyReader]] = {SCHEMA: SchemaReader, TEXT: TextReader}


def reply_reader(form: str, asked: Asked) -> ReplyReader:
    """Return the reader of a reply in a request form."""
    return READERS.get(form, NativeReader)(asked)


def with_written_calls(reply: LLMReply, asked: Asked, acts: bool = False) -> LLMReply:
    """Return the reply with the calls that are written in its text, if any.

    With ``acts``, an object of the form `schema` counts as its calls, too.
    """
    found = read_text_calls(reply.content, parameters(asked), acts)
    if not found.calls:
        return reply
    calls: list[NamedCall] = []
    for name, arguments in found.calls:
        is_act = acts and name == ACT
        calls += calls_of(json.loads(arguments), asked) if is_act else [NamedCall(name, arguments)]
    changed = replace(reply, content=found.words, tool_calls=tuple(numbered(calls)), tied=acts)
    return replace(changed, finish_reason="stop")  # a call that was cut off was not found


def parameters(asked: Asked) -> dict[str, dict[str, object]]:
    """Return the arguments' schema of each offered tool by name."""
    return {tool_name(t): dict(t["function"].get("parameters", {})) for t in asked.tools}


def numbered(calls: Iterable[NamedCall]) -> list[ToolCallRequest]:
    """Return calls with ids."""
    return [
        ToolCallRequest(f"act{number}", call.name, call.arguments)
        for number, call in enumerate(calls)
    ]
