"""What a chat-completions endpoint answers, whole or in chunks, put together into one reply.

Servers that call themselves compatible differ in every part of it, so this reads plain JSON
leniently instead of using the SDK's types. To support one that differs, extend a constant here.
"""

import json
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from evennia_ai.llm.fields_beside import (
    CALL_FIELDS,
    CALL_TYPES,
    CALL_WRAPS,
    TEXT_PART_TYPES,
    FieldsBeside,
    objects_in,
    parse_body,
)
from evennia_ai.messages import Delta, LLMReply, Sent, ToolCallRequest
from evennia_ai.policy.replies.reply_reader import CUT_OFF
from evennia_ai.policy.replies.streaming_json import PartialJson, whole_characters
from evennia_ai.policy.replies.text_tool_calls import ARGUMENT_KEYS, MOST_CALLS
from evennia_ai.policy.texts import Fields, as_dict, as_text
from evennia_ai.policy.tokens import read_timings, read_usage

FIELD = re.compile(r"\A(?:\s*data:)+")  # again, from a proxy that wraps events
JOINT = re.compile(r"\n|(?<=\})\s*data:")  # between events that came as one
LAST_EVENT = "[DONE]"
USAGES = 16  # of a stream, the newest, among which the last plausible one counts
NAME_CHARS = 200  # kept of a call's name
APART = ("choices", "usage")
# ``length`` is OpenAI's word; every other server has one of its own.
CUT_OFF_REASONS = re.compile(
    r"max\w{0,24}tokens|length|limit|incomplete|filter|safety", re.IGNORECASE
)
# The reply failed in its middle: OpenRouter, z.ai, vLLM, DeepSeek, Cohere, watsonx, Gemini.
FAILED_REASONS = frozenset(
    "error network_error abort cancelled timeout error_toxic insufficient_system_resource".split()
)


class BrokenReply(Exception):
    """A body that ended early, is not readable or was not read. The text says which."""


@dataclass
class PartialToolCall:
    """A tool call as far as it was received."""

    id: str
    choice: int
    name: str = ""
    arguments: PartialJson = field(default_factory=PartialJson)
    beside: Fields = field(default_factory=dict)


@dataclass(frozen=True)
class ToolCallChunk:
    """A tool call of a message, or a part of one that a chunk adds.

    ``index`` is the server's number for it, None without one; ``choice`` that of its choice.
    """

    choice: int
    index: float | str | None
    id: str
    name: str
    arguments: str
    beside: Fields


class ReplyBody:
    """One reply, collected from a whole body or from the events of a stream.

    ``by`` is the key of the profile that was asked.
    """

    def __init__(self, by: str = "") -> None:
        self.begun = False  # True once `hear` returned a delta
        self.chunks = 0  # of a stream, also those of reasoning
        self.done = False  # True after the last event or a failure: the rest is not needed
        # True once it ended for a reason, False for good if it went on behind one: some servers
        # send a reason with every part.
        self.is_complete = False
        self._goes_on = False
        self.failure: object = None  # the error object that came in place of a reply
        self._told: dict[str, object] = {}  # beside the choices
        self._first_choice: int | None = None  # the lowest number of a choice with words
        self._words: list[str] = []  # of that choice
        self._finish_reasons: dict[int, str] = {}
        self._calls: list[PartialToolCall] = []  # one more than `MOST_CALLS` stands for all others
        self._by_index: dict[tuple[int, float | str], int] = {}
        self._by_id: dict[str, int] = {}
        self._last: int | None = None  # the call that was continued last
        self._beside = FieldsBeside(by)
        self._usages: deque[object] = deque(maxlen=USAGES)
        self._is_whole = False
        self._halves: dict[str, str] = {}  # of characters, which wait for the next part

    def add_whole(self, data: bytes) -> None:
        """Add a body that came whole; one that is no chat completion is a failure."""
        body = parse_body(data)
        if isinstance(body, str) and body.startswith("{") and JOINT.search(body):
            self.hear(None, body)
            return
        self.done = self._is_whole = True
        self.failure = find_failure(body)
        if self.failure is None and choices_of(body) is not None:
            self._add(as_dict(body))
        elif self.failure is None:
            self.failure = {}

    def hear(self, event: str | None, data: str) -> list[Delta]:
        """Add an event and return what it adds to the reply; events without a chunk add nothing.

        Several events between which a server left out the empty line come as one. Raises
        BrokenReply if a chunk is cut before the reply is complete.
        """
        text = data if data.startswith("{") else FIELD.sub("", data).strip()
        if self.done or text.strip('"') == LAST_EVENT:
            self.done = True
            return []
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            lines = JOINT.split(text)
            if len(lines) > 1:
                return [delta for line in lines for delta in self.hear(event, line)]
            if text.startswith("{") and not self.is_complete:
                raise BrokenReply("an event of the stream is not readable") from None
            value = {}  # such as "[PING]" or a comment of a proxy
        deltas: list[Delta] = []
        for chunk in objects_in(value):  # Gemini sends lists
            if not self.done:
                failure = find_failure(chunk, event == "error")
                self.done = failure is not None
                self.failure = None if self.is_complete else failure
            deltas += [] if self.done else self._add(chunk)
        return deltas

    def reply(self, new_id: Callable[[], str]) -> LLMReply:
        """Return the reply; without choices or content it is empty.

        What some servers spread over several choices is one. ``new_id`` makes the id of a tool call
        that has no id, or the id of another call. Raises BrokenReply if the reply is not complete.
        """
        # Some servers omit the last event, so a finish reason is enough.
        if not (self._finish_reasons or self.is_whole):
            raise BrokenReply("the stream ended before the reply was complete")
        calls: dict[str, ToolCallRequest] = {}
        first: dict[tuple[str, str], int] = {}  # the choice of a call; another's is the same act
        for call in self._calls[:MOST_CALLS]:
            call_id = call.id if call.id and call.id not in calls else new_id()
            act = call.name, str(call.arguments) or "{}"
            if first.setdefault(act, call.choice) == call.choice:
                calls[call_id] = ToolCallRequest(call_id, *act, self._sent_with(call))
        reasons = [self._finish_reasons[number] for number in sorted(self._finish_reasons)]
        is_cut_off = any(map(CUT_OFF_REASONS.search, reasons))
        # Some servers send zeros after a good usage.
        usages = (read_usage({**self._told, "usage": usage}) for usage in reversed(self._usages))
        return LLMReply(
            content="".join(self._words),
            tool_calls=tuple(calls.values()),
            finish_reason=CUT_OFF if is_cut_off else next(iter(reasons), "stop"),
            usage=next(filter(None, usages), None) or read_usage(self._told),
            model=as_text(self._told.get("model")),
            timings=read_timings(as_dict(self._told.get("timings"))),
            sent=self._beside.sent_with("", {}),
        )

    @property
    def is_whole(self) -> bool:
        """Return True if nothing is missing: it ended, or its last call is not cut."""
        is_over = self.done or self.is_complete
        return is_over or bool(self._calls and self._calls[-1].arguments.read())

    def _sent_with(self, call: PartialToolCall) -> Sent:
        return self._beside.sent_with(call.id, call.beside)

    def _add(self, chunk: Fields) -> list[Delta]:
        self.chunks += bool(chunk)
        self._told |= {name: value for name, value in chunk.items() if value and name not in APART}
        if usage := chunk.get("usage"):
            self._usages.append(usage)
        choices = choices_of(chunk) or []
        if len(choices) > 1:
            choices.sort(key=number_of)
        deltas = [delta for choice in choices for delta in self._read_choice(choice)]
        self.begun = self.begun or bool(deltas)
        self._goes_on = self._goes_on or (self.is_complete and bool(deltas))
        self.is_complete = bool(self._finish_reasons) and not self._goes_on
        return deltas

    def _read_choice(self, choice: Fields) -> list[Delta]:
        number = number_of(choice)
        if reason := reason_of(choice):
            self._finish_reasons[number] = reason
        added = as_dict(choice.get("delta")) or as_dict(choice.get("message"))
        self._usages.extend(filter(None, (choice.get("usage"), added.get("usage"))))
        self._beside.add_message(added)
        deltas = []
        content = join_content(added.get("content")) or as_text(choice.get("text"))
        if content := self._whole_characters(f"choice {number}", content):
            if self._first_choice is None or number < self._first_choice:
                self._first_choice, self._words = number, []
            # Some gateways repeat the whole text with the finish reason.
            is_again = reason and len(self._words) > 1 and content == "".join(self._words)
            if number == self._first_choice and not is_again:
                self._words.append(content)
                deltas.append(Delta(content))
        calls = call_parts(number, added) or call_parts(number, choice)
        return deltas + [delta for delta in map(self._read_call, calls) if delta is not None]

    def _read_call(self, part: ToolCallChunk) -> Delta | None:
        number = self._next_number if self._is_whole else self._find_call(part)
        if number == len(self._calls):
            name = self._calls[-1].name if self._calls and not part.name else ""
            self._calls.append(PartialToolCall(part.id, part.choice, name))
        if number == MOST_CALLS:
            return None
        call = self._calls[number]
        if call.name != part.name and not call.arguments:
            # A gateway to Gemini cuts names, too.
            call.name = (call.name + part.name)[:NAME_CHARS]
        call.beside = self._beside.kept(call.beside, part.beside)
        added = self._whole_characters(f"call {number}", part.arguments)
        if added.startswith("{") and call.arguments:
            added = added.removeprefix(call.arguments.look())  # some send all so far each time
        call.arguments.add(added)
        if call.choice != self._calls[0].choice:
            return None  # perhaps the same act in another choice
        sent = partial(self._sent_with, call)
        return Delta(tool_index=number, tool_name=call.name, arguments=added, sent=sent)

    def _whole_characters(self, place: str, text: str) -> str:
        """Return a part of a text with the half of a character that ended the part before it.

        A half at its own end waits; proxies cut texts by units of UTF-16.
        """
        text = self._halves.pop(place, "") + text
        if "\ud800" <= text[-1:] <= "\udbff":
            self._halves[place], text = text[-1], text[:-1]
        return whole_characters(text)

    @property
    def _next_number(self) -> int:
        return min(len(self._calls), MOST_CALLS)

    def _find_call(self, part: ToolCallChunk) -> int:
        """Return the position of the call that a part continues or begins."""
        key = None if part.index is None else (part.choice, part.index)
        number = None if key is None else self._by_index.get(key)
        is_new = number is None and key is not None
        if part.id and (number is None or self._calls[number].id != part.id):
            number = self._by_id.get(part.id, number)
        if not (part.name or part.id) and (number is None or self._is_over(number)):
            number = self._last
        if number is None or self._is_another(number, part, is_new):
            number = self._next_number
            self._by_id.setdefault(part.id, number)
        if key is not None:
            self._by_index[key] = number
        self._last = number
        return number

    def _is_over(self, number: int) -> bool:
        """Return True if a call is whole and the last one is not, whatever index a part has."""
        last = self._last
        if last is None or last in (number, MOST_CALLS):
            return False
        is_whole = self._calls[number].arguments.read() is not None
        return is_whole and self._calls[last].arguments.read() is None

    def _is_another(self, number: int, part: ToolCallChunk, is_new: bool) -> bool:
        """Return True if another call begins, though the server repeats the index or the id.

        ``is_new`` says that the index was not used before.
        """
        # Some servers number every call 0, some repeat the name in each chunk.
        call = self._calls[number]
        if not part.name and not part.id and part.arguments.startswith("{"):
            so_far = call.arguments.look()
            return not part.arguments.startswith(so_far) and bool(call.arguments.read())
        if not (part.name and call.name):
            return False
        if part.id and call.id and part.id != call.id:
            return True
        is_same = part.name == call.name and not is_new
        if is_same and (not part.arguments or (part.id and call.id)):
            return False
        return call.arguments.read() is not None


def find_failure(body: object, is_error: bool = False) -> object:
    """Return the error object in a body or a chunk of a reply, None if there is none.

    ``is_error`` says that the event of a stream is an error by its name.
    """
    if isinstance(body, list) and body:  # Google
        body = body[0]
    if not isinstance(body, dict):
        return None
    if is_error or body.get("object") == "error" or body.get("error"):
        return unwrap(body)
    status = body.get("base_resp")  # MiniMax
    if isinstance(status, dict) and status.get("status_code"):
        return {"code": str(status["status_code"]), "message": status.get("status_msg")}
    choices = choices_of(body)
    if choices is None:
        is_sign_of_life = body.get("type") in ("heartbeat", "ping")
        message = not is_sign_of_life and body.get("message")
        return body if message or any(map(body.get, ("detail", "errors", "error_msg"))) else None
    for choice in choices:
        if choice.get("error"):
            return choice["error"]
        code = reason_of(choice)
        reason = code.lower()
        is_overflow = "context" in reason
        if is_overflow or reason in FAILED_REASONS or "malformed" in reason:
            code = "context_length_exceeded" if is_overflow else code
            return {"code": code, "message": "the reply ended with an error"}
    return None


def choices_of(body: object) -> list[Fields] | None:
    """Return the choices of a body or a chunk, None if it has none.

    A message on top (Ollama, Cohere) and the output of OpenAI's Responses API count as one.
    """
    fields = as_dict(body)
    if "choices" in fields:
        return objects_in(fields["choices"])
    if isinstance(fields.get("message"), dict):
        return [fields]
    output = fields.get("output")
    whole = {"message": {"content": output}, "finish_reason": fields.get("status")}
    return [whole] if isinstance(output, list) else None


def unwrap(body: object) -> object:
    """Return the error object of a body: its ``error``, which Google wraps in a list."""
    if isinstance(body, list) and body:
        body = body[0]
    return as_dict(body).get("error") or body


def number_of(choice: Fields) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def reason_of(choice: Fields) -> str:
    """Return why a choice ended, "" if it does not say; SGLang's own form is an object."""
    reason = choice.get("finish_reason") or choice.get("done_reason")
    return as_text(reason.get("type") if isinstance(reason, dict) else reason)


def join_content(content: object) -> str:
    """Return text unchanged, a list's text parts joined, and "" for anything else."""
    if not isinstance(content, list):
        return as_text(content)
    parts = [part for part in objects_in(content) if part.get("type", "text") in TEXT_PART_TYPES]
    return "".join(as_text(part.get("text")) or join_content(part.get("content")) for part in parts)


def call_parts(choice: int, message: Fields) -> list[ToolCallChunk]:
    entries = objects_in(message.get("tool_calls")) or objects_in(message.get("tool_call"))
    if not entries and (older := message.get("function_call")):
        entries = [{"function": older}]
    if isinstance(content := message.get("content"), list):
        wraps, parts = {*CALL_WRAPS}, objects_in(content)
        entries += [part for part in parts if part.get("type") in CALL_TYPES or wraps & part.keys()]
    calls = []
    for entry in entries:
        call: Fields = next(filter(None, (as_dict(entry.get(key)) for key in CALL_WRAPS)), entry)
        index, name = entry.get("index"), as_text(call.get("name") or entry.get("function"))
        given = (call.get(key) for key in ARGUMENT_KEYS)
        arguments = next((value for value in given if value is not None), "")
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if name or arguments or "id" in entry:
            index = index if isinstance(index, int | float | str) else None
            beside = {key: entry[key] for key in entry.keys() - CALL_FIELDS if entry[key]}
            call_id = as_text(entry.get("id"))
            calls.append(ToolCallChunk(choice, index, call_id, name, arguments, beside))
    return calls
