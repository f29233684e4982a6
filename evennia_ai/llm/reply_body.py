"""What a chat-completions endpoint answers, whole or in chunks, put together into one reply.

Servers that call themselves compatible differ in every part of it, so this reads plain JSON
leniently instead of using the SDK's types. To support one that differs, extend a constant here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evennia_ai.messages import Delta, LLMReply, Timings, ToolCallRequest, Usage
from evennia_ai.policy.replies.reply_reader import CUT_OFF
from evennia_ai.policy.replies.text_calls import ARGUMENT_KEYS, MOST_CALLS
from evennia_ai.policy.texts import read_object

FIELD = re.compile(r"\A(?:\s*data:)+")  # again, from a proxy that wraps events
LAST_EVENT = "[DONE]"
LOOKS = MOST_CALLS  # at whether arguments are whole: each reads them from the start
MAX_TOKEN_COUNT = 2**31 - 1
TEXT_PART_TYPES = ("text", "output_text")
# ``length`` is OpenAI's word; others are Anthropic's, Gemini's (also with the name of its enum),
# Mistral's, the Responses API's and watsonx'.
CUT_OFF_REASONS = re.compile(
    r"(?:finish_?reason[._])?(?:max_?(?:new_|output_|completion_)?tokens|(?:model_|max_)?length"
    r"|(?:token|time)_limit|incomplete)",
    re.IGNORECASE,
)
# The reply failed in its middle: OpenRouter, z.ai (also for a full window), vLLM, DeepSeek, Cohere,
# watsonx.
FAILED_REASONS = frozenset(
    "error network_error abort cancelled timeout error_toxic insufficient_system_resource "
    "model_context_window_exceeded".split()
)
# Names of the prompt's count, of the reply's count, and of counts to add to the prompt's. The first
# form that a reply has is read.
USAGE_FORMS: tuple[tuple[str, ...], ...] = (
    ("prompt_tokens", "completion_tokens"),
    # OpenAI's Responses API has only the first two; Anthropic counts cached tokens apart.
    ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
)
# Where a reply tells how much of the prompt came from a cache; the first that does counts.
CACHED_TOKENS = (
    ("usage", "prompt_tokens_details", "cached_tokens"),
    ("usage", "prompt_cache_hit_tokens"),  # DeepSeek
    ("usage", "cache_read_input_tokens"),  # proxies to Anthropic
    ("usage", "input_tokens_details", "cached_tokens"),
    ("usage", "cached_tokens"),  # Moonshot
    ("timings", "cache_n"),  # llama.cpp
)

Fields = Mapping[str, object]


class BrokenStream(Exception):
    """A stream that ended early or is not readable. The text says which."""


@dataclass
class CallParts:
    """A tool call as far as it was received."""

    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class CallPart:
    """A tool call of a message, or a part of one that a chunk adds.

    ``index`` is the server's number for it, None without one.
    """

    index: int | str | None
    id: str
    name: str
    arguments: str


class ReplyBody:
    """One reply, collected from a whole body or from the events of a stream."""

    def __init__(self) -> None:
        self.begun = False  # True once `hear` returned a delta
        self.done = False  # True after the last event or a failure: the rest is not needed
        self.failure: object = None  # the error object that came in place of a reply
        self._told: dict[str, object] = {}  # beside the choices
        self._contents: dict[int, list[str]] = {}  # by the number of the choice
        self._finish_reasons: dict[int, str] = {}
        self._calls: list[CallParts] = []
        self._by_index: dict[int | str, int] = {}
        self._by_id: dict[str, int] = {}
        self._last: int | None = None  # the call that was continued last
        self._looks = 0
        self._is_whole = False

    def add_whole(self, data: bytes) -> None:
        """Add a body that came whole; one that is no chat completion is a failure."""
        body = parse_body(data)
        self.done = self._is_whole = True
        self.failure = find_failure(body)
        if self.failure is None and isinstance(body, dict) and "choices" in body:
            self._add(body)
        elif self.failure is None:
            self.failure = {}

    def hear(self, event: str | None, data: str) -> list[Delta]:
        """Add an event and return what it adds to the reply; events without a chunk add nothing.

        Several events between which a server left out the empty line come as one. Raises
        BrokenStream if a chunk is cut.
        """
        text = data if data.startswith("{") else FIELD.sub("", data).strip()
        if self.done or text == LAST_EVENT:
            self.done = True
            return []
        try:
            chunk = as_dict(json.loads(text))
        except (ValueError, RecursionError):
            lines = text.splitlines()
            if len(lines) > 1:
                return [delta for line in lines for delta in self.hear(event, line)]
            if text.startswith("{"):
                raise BrokenStream("an event of the stream is not readable") from None
            chunk = {}  # such as "[PING]" or a comment of a proxy
        self.failure = find_failure(chunk, event == "error")
        self.done = self.failure is not None
        return [] if self.done else self._add(chunk)

    def reply(self, new_id: Callable[[], str]) -> LLMReply:
        """Return the reply; without choices or content it is empty.

        What some servers spread over several choices is one. ``new_id`` makes the id of a tool call
        that has no id, or the id of another call. Raises BrokenStream if the reply is not complete.
        """
        # Some servers omit the last event, so a finish reason is enough.
        if not (self.done or self._finish_reasons):
            raise BrokenStream("the stream ended before the reply was complete")
        contents = ["".join(self._contents[number]) for number in sorted(self._contents)]
        calls: dict[str, ToolCallRequest] = {}
        for call in self._calls:
            call_id = call.id if call.id and call.id not in calls else new_id()
            calls[call_id] = ToolCallRequest(call_id, call.name, "".join(call.arguments) or "{}")
        reasons = [self._finish_reasons[number] for number in sorted(self._finish_reasons)]
        is_cut_off = any(map(CUT_OFF_REASONS.fullmatch, reasons))
        return LLMReply(
            content=contents[0] if contents else "",
            tool_calls=tuple(calls.values()),
            finish_reason=CUT_OFF if is_cut_off else next(iter(reasons), "stop"),
            usage=read_usage(self._told),
            model=as_text(self._told.get("model")),
            timings=read_timings(as_dict(self._told.get("timings"))),
        )

    def _add(self, chunk: Fields) -> list[Delta]:
        told = {name: value for name, value in chunk.items() if value and name != "choices"}
        if "usage" in told and not read_usage(told):  # zeros after a good one
            del told["usage"]
        self._told |= told
        choices = sorted(map(as_dict, as_list(chunk.get("choices"))), key=number_of)
        deltas = [delta for choice in choices for delta in self._read_choice(choice)]
        self.begun = self.begun or bool(deltas)
        return deltas

    def _read_choice(self, choice: Fields) -> list[Delta]:
        number = number_of(choice)
        if reason := reason_of(choice):
            self._finish_reasons[number] = reason
        if "usage" in choice and read_usage({**self._told, "usage": choice["usage"]}):
            self._told["usage"] = choice["usage"]
        added = as_dict(choice.get("delta")) or as_dict(choice.get("message"))
        deltas = []
        if content := join_content(added.get("content")):
            self._contents.setdefault(number, []).append(content)
            deltas = [Delta(content)] if number == min(self._contents) else []
        calls = map(self._read_call, call_parts(added))
        return deltas + [delta for delta in calls if delta is not None]

    def _read_call(self, part: CallPart) -> Delta | None:
        number = len(self._calls) if self._is_whole else self._find_call(part)
        if number >= MOST_CALLS:
            return None
        if number == len(self._calls):
            self._calls.append(CallParts(part.id))
        call = self._calls[number]
        call.name = call.name or part.name
        call.arguments.append(part.arguments)
        return Delta(tool_index=number, tool_name=call.name, arguments=part.arguments)

    def _find_call(self, part: CallPart) -> int:
        """Return the position of the call that a part continues or begins."""
        number = None if part.index is None else self._by_index.get(part.index)
        is_new = number is None and part.index is not None
        if number is None and part.id:
            number = self._by_id.get(part.id)
        if number is None and not (part.name or part.id):
            number = self._last
        if number is None or self._is_another(number, part, is_new):
            number = len(self._calls)
            self._by_id.setdefault(part.id, number)
        if part.index is not None:
            self._by_index[part.index] = number
        self._last = number
        return number

    def _is_another(self, number: int, part: CallPart, is_new: bool) -> bool:
        """Return True if another call begins, though the server repeats the index or the id.

        ``is_new`` says that the index was not used before.
        """
        # Some servers number every call 0, some repeat the name in each chunk.
        call = self._calls[min(number, MOST_CALLS - 1)]
        if not (part.name and call.name):
            return False
        if part.id and call.id and not (is_new and part.id == call.id):
            return part.id != call.id
        if part.name == call.name and not (part.arguments or is_new):
            return False
        self._looks += 1
        return self._looks <= LOOKS and read_object("".join(call.arguments)) is not None


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
    if "choices" not in body:
        is_sign_of_life = body.get("type") in ("heartbeat", "ping")
        told = not is_sign_of_life and body.get("message")
        return body if told or body.get("detail") or body.get("errors") else None
    for choice in map(as_dict, as_list(body["choices"])):
        if choice.get("error"):
            return choice["error"]
        if (reason := reason_of(choice)).lower() in FAILED_REASONS:
            return {"code": reason, "message": "the reply ended with an error"}
    return None


def parse_body(content: bytes) -> object:
    """Return a body's JSON, or its text if it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


def unwrap(body: object) -> object:
    """Return the error object of a body: its ``error``, which Google wraps in a list."""
    if isinstance(body, list) and body:
        body = body[0]
    return as_dict(body).get("error") or body


def number_of(choice: Fields) -> int:
    """Return the number of a choice, 0 without one."""
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def reason_of(choice: Fields) -> str:
    """Return why a choice ended, "" if it does not say; SGLang's own form is an object."""
    reason = choice.get("finish_reason")
    return as_text(reason.get("type") if isinstance(reason, dict) else reason)


def join_content(content: object) -> str:
    """Return text unchanged, a list's text parts joined, and "" for anything else."""
    if not isinstance(content, list):
        return as_text(content)
    parts = (
        as_text(part.get("text"))
        for part in content
        if isinstance(part, dict) and part.get("type", "text") in TEXT_PART_TYPES
    )
    return "".join(parts)


def call_parts(message: Fields) -> list[CallPart]:
    """Return the tool calls in a message or in a chunk's delta, wherever servers put them."""
    raw, older = message.get("tool_calls"), message.get("function_call")
    entries = raw if isinstance(raw, list) else [raw or {"function": older}] if raw or older else []
    parts = []
    for entry in filter(None, map(as_dict, entries)):
        function = as_dict(entry.get("function")) or entry
        index, name = entry.get("index"), as_text(function.get("name") or entry.get("function"))
        given = (function.get(key) for key in ARGUMENT_KEYS)
        arguments = next((value for value in given if value is not None), None)
        if name or arguments or "id" in entry:
            parts.append(
                CallPart(
                    index if isinstance(index, int | str) else None,
                    as_text(entry.get("id")),
                    name,
                    arguments if isinstance(arguments, str) else written(arguments),
                )
            )
    return parts


def written(arguments: object) -> str:
    """Return a call's arguments, which some servers send as an object, as JSON; "" for none."""
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def read_usage(told: Fields) -> Usage | None:
    """Return the first plausible token counts of a body, None without any.

    More cached tokens than tokens of the prompt are not plausible: such a server counts only what
    it read anew.
    """
    for place in (told, as_dict(told.get("x_groq"))):
        usage = as_dict(place.get("usage"))
        for prompt_name, completion_name, *besides in USAGE_FORMS:
            prompt = token_count(usage.get(prompt_name), least=0)
            completion = token_count(usage.get(completion_name), least=0)
            if prompt is None or completion is None:
                continue
            prompt += sum(token_count(usage.get(name), least=0) or 0 for name in besides)
            cached = read_cached_tokens({**told, "usage": usage})
            if token_count(prompt, least=1) and (cached or 0) <= prompt:
                return Usage(prompt, completion, cached)
    return None


def read_cached_tokens(told: Fields) -> int | None:
    """Return how many of the prompt's tokens came from a cache, None if not reported."""
    for path in CACHED_TOKENS:
        value: object = told
        for name in path:
            value = as_dict(value).get(name)
        cached = token_count(value, least=0)
        if cached is not None:
            return cached
    return None


def read_timings(timings: Fields) -> Timings | None:
    """Return the speed that llama.cpp's server reports, or None."""
    read, predicted = (
        token_count(timings.get(name), least=0) or 0 for name in ("prompt_n", "predicted_n")
    )
    speeds = (timings.get("prompt_per_second"), timings.get("predicted_per_second"))
    read_per_s, written_per_s = (
        float(speed) if isinstance(speed, int | float) and 0 < speed <= MAX_TOKEN_COUNT else None
        for speed in speeds
    )
    if read_per_s is None or written_per_s is None:
        return None
    return Timings(read, read_per_s, predicted, written_per_s)


def token_count(value: object, least: int) -> int | None:
    """Return a plausible token count, or None; True and False are not counts."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and least <= value <= MAX_TOKEN_COUNT else None


def as_dict(value: object) -> dict[str, Any]:
    """Return ``value`` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Return ``value`` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Return ``value`` if it is text, else ""."""
    return value if isinstance(value, str) else ""
