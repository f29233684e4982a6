"""From a model's output to tool calls, in each request form, at its end or while it arrives.

If a reply arrives in parts, each sentence of a speech is a call, all with the same id. If it
arrives whole, one call has the same sentences.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from evennia_ai.messages import SAY, SPEECH, Delta, LLMReply, Sent, ToolCallRequest
from evennia_ai.policy.replies.speech import ENDED, WORDS, SentenceSplitter, spoken, whole_sentences
from evennia_ai.policy.replies.streaming_json import PartialJson, arriving_text
from evennia_ai.policy.replies.text_tool_calls import Tools, read_text_calls, tidy_calls
from evennia_ai.policy.texts import read_object
from evennia_ai.policy.tool_call_modes.form import PLAIN, Call, Schema, tool_name

CUT_OFF = "length"  # the finish reason of a reply that reached its limit

Calls = list[ToolCallRequest]


class ReplyReader:
    """A reader of one reply in plain words.

    They wait for the end: chat templates that open a model's reasoning in the prompt leave only its
    closing mark in the reply, and until then nobody knows that it was no speech.
    """

    def __init__(self, tools: Sequence[Schema]) -> None:
        self._tools = parameters(tools)

    def hear(self, delta: Delta) -> Calls:
        """Add a part of the reply; return the calls that are finished now."""
        return []

    def finish(self, reply: LLMReply) -> LLMReply:
        """Return the whole reply with all calls, also those that were returned before."""
        return with_written_calls(reply, self._tools, is_speech=True)


class NativeReader(ReplyReader):
    """Reads native tool calls; text beside them is none of the character's words.

    Servers interleave calls, and repeat or replace what they sent: a call counts as whole once
    another one has begun and its own arguments are an object with fields. The words of the first
    call that is still open are said while they arrive. Text that comes first may turn out to be a
    model's thoughts about the calls behind it, so it waits for the end.
    """

    def __init__(self, tools: Sequence[Schema]) -> None:
        super().__init__(tools)
        self._calls: Calls = []
        self._arriving: list[ArrivingCall] = []
        self._first_open = 0

    def hear(self, delta: Delta) -> Calls:
        """Add a part of the reply; return the calls that are finished now."""
        index, calls = delta.tool_index, list[ToolCallRequest]()
        if index is None:
            return calls
        while index >= len(self._arriving):
            self._arriving.append(ArrivingCall(len(self._arriving), self._tools))
        self._arriving[index].add(delta)
        while self._first_open < index and self._arriving[self._first_open].is_whole:
            calls += self._arriving[self._first_open].end()
            self._first_open += 1
        if self._first_open == index:
            calls += self._arriving[index].words()
        return self._add(calls)

    def finish(self, reply: LLMReply) -> LLMReply:
        """Return the reply with its own calls, or else those in its text."""
        is_cut_off = reply.finish_reason == CUT_OFF
        calls = reply.tool_calls[self._first_open :]
        if not reply.tool_calls:
            return with_written_calls(reply, self._tools)
        for open_call in self._arriving[self._first_open : self._first_open + 1]:
            if open_call.begun:
                self._add(open_call.end(is_cut_off))
                calls = calls[1:]
        for call in calls:
            is_cut = is_cut_off and read_object(call.arguments) is None
            self._add(self._begun(call) if is_cut else tidied(call, self._tools))
        if is_cut_off and all(is_whole(call, self._tools) for call in self._calls):
            reply = replace(reply, finish_reason="tool_calls")  # the limit came behind them
        return replace(reply, tool_calls=tuple(self._calls))

    def _begun(self, call: ToolCallRequest) -> Calls:
        """Return what is whole of a call that was cut off: the sentences of a speech."""
        words = arriving_text(call.arguments, WORDS) if call.name == SAY else ""
        whole = whole_sentences(words)
        is_speech = bool(whole) and words.startswith(whole)
        return [replace(spoken(whole, call.id), sent=call.sent)] if is_speech else [call]

    def _add(self, calls: Calls) -> Calls:
        """Add calls and return them; what is said twice in a reply is one speech, with one id."""
        for number, call in enumerate(calls):
            if self._calls and self._calls[-1].name == call.name == SAY:
                calls[number] = replace(call, id=self._calls[-1].id)
            self._calls.append(calls[number])
        return calls


class ArrivingCall:
    """A native call that is still arriving; of speech each finished sentence is one, with its id.

    ``begun`` is True if a sentence was said.
    """

    def __init__(self, index: int, tools: Tools) -> None:
        self._id, self._tools = f"call{index}", tools
        self._name, self._arguments, self._said = "", PartialJson(), ""
        self._is_whole: bool | None = None  # None if a part came since it was asked
        self._sent: Callable[[], Sent] = dict
        self.begun = False
        self._splitter = SentenceSplitter()

    @property
    def is_whole(self) -> bool:
        """Return True if the arguments are an object with fields."""
        if self._is_whole is None:
            self._is_whole = bool(self._name and self._arguments.read())
        return self._is_whole

    def add(self, delta: Delta) -> None:
        self._name, self._is_whole, self._sent = delta.tool_name or self._name, None, delta.sent
        self._arguments.add(delta.arguments)

    def words(self) -> Calls:
        text = arriving_text(self._arguments.look(), WORDS) if self._name == SAY else ""
        if not text.startswith(self._said):
            return []
        new, self._said = text.removeprefix(self._said), text
        return self._say(self._splitter.feed(new))

    def end(self, is_cut_off: bool = False) -> Calls:
        calls = self.words()
        call = ToolCallRequest(self._id, self._name, str(self._arguments), self._sent())
        whole = tidied(call, self._tools)
        if not self.begun:
            return whole
        text, rest = (read_object(whole[0].arguments) or {}).get(WORDS), self._splitter.rest()
        is_whole = (text == self._said and not is_cut_off) or bool(ENDED.search(rest))
        return calls + self._say([rest] if rest and is_whole else [])

    def _say(self, sentences: list[str]) -> Calls:
        self.begun = self.begun or bool(sentences)
        return [replace(spoken(text, self._id), sent=self._sent()) for text in sentences]


def is_whole(call: ToolCallRequest, tools: Tools) -> bool:
    """Return True if a call holds all that its tool asks for, and its words end a sentence."""
    given = read_object(call.arguments) or {}
    words = given.get(WORDS, ".") if call.name in SPEECH else "."
    has_all = set(tools.get(call.name, {}).get("required", ())) <= given.keys()
    return has_all and bool(given) and bool(ENDED.search(str(words)))


def tidied(call: ToolCallRequest, tools: Tools) -> Calls:
    """Return a native call as it is meant, or the calls that it holds."""
    calls = tidy_calls(call.name, call.arguments, tools)
    return [
        ToolCallRequest(f"{call.id}.{number}" if number else call.id, *item, call.sent)
        for number, item in enumerate(calls)
    ]


def reply_reader(form: str, tools: Sequence[Schema]) -> ReplyReader:
    """Return a reader of one reply in a mode; ``tools`` are the schemas of the offered ones."""
    return ReplyReader(tools) if form == PLAIN else NativeReader(tools)


def with_written_calls(reply: LLMReply, tools: Tools, is_speech: bool = False) -> LLMReply:
    """Return the reply with the calls that are written in its text, if any.

    Words beside them stay text; if the text ``is_speech``, they are said, unless the reply was cut
    off. Of a reply without calls a half sentence at its end is left out, and all if it ends within
    a call: it is asked for once more.
    """
    text, is_cut_off = read_text_calls(reply.content, tools), reply.finish_reason == CUT_OFF
    if not text.calls:
        words = "" if text.is_cut else reply.content
        return replace(reply, content=whole_sentences(words.strip()) if is_cut_off else words)
    calls = [replace(call, sent=reply.sent) for call in numbered(text.calls)]
    # Words beside a call of `say` are about it.
    is_said = text.words and not (is_cut_off or text.is_cut) and SAY not in dict(text.calls)
    if is_speech and is_said:
        calls.insert(0, spoken(text.words))
    words = "" if is_speech else text.words
    # A call that was cut off was not found, and what is cut behind the calls does not matter.
    return replace(reply, content=words, tool_calls=tuple(calls), finish_reason="stop")


def parameters(tools: Sequence[Schema]) -> dict[str, dict[str, object]]:
    """Return the arguments' schema of each offered tool by name."""
    return {tool_name(t): dict(t["function"].get("parameters", {})) for t in tools}


def numbered(calls: Iterable[Call]) -> list[ToolCallRequest]:
    return [
        ToolCallRequest(f"act{number}", name, arguments)
        for number, (name, arguments) in enumerate(calls)
    ]
