"""Messages: the chat-completion dict plus metadata, and the way to the wire.

A stored message is a plain dict with ``role``, ``content``, optionally ``tool_calls`` or
``tool_call_id``, and ``metadata``. Nothing here mutates its input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NotRequired, TypedDict, cast

# The tools for words, gestures and silence; the first three are kinds of events, too.
SAY, WHISPER, EMOTE, NOOP = "say", "whisper", "emote", "noop"
SPEECH = frozenset({SAY, WHISPER})
EXCUSE = "excuse"
LOST_RESULT = "Outcome unknown: it may or may not have happened. Do not do it again."


class Metadata(TypedDict, total=False):
    """What is known about a message beside its words.

    ``seq`` is monotonic in each log; ``at`` is ISO-8601 UTC; ``speaker`` is a dbref; ``audience``
    lists the dbrefs of those who heard it; ``private`` is True if nobody else may ever know it;
    ``tokens`` is estimated once, when the message is stored; ``consulted`` names what a tool read
    and changed (`policy.compaction.consulted`); ``authors`` lists the dbrefs of everybody whose
    words may be in it. ``type`` is ``compaction`` for a compaction's
    marker, to which ``id`` and the fields after it belong, and ``excuse`` for a line that the
    character said because no model answered. ``original_tool`` belongs to a masked tool result.
    """

    seq: int
    at: str
    speaker: str
    speaker_name: str
    audience: list[str]
    private: bool
    tokens: int
    event_id: int | None
    turn_id: int | None
    type: str
    original_tool: str
    consulted: Mapping[str, Sequence[str]]
    authors: list[str]
    id: int
    parts: Mapping[str, str]
    compacted_count: int
    compacted_at: str
    original_token_count: int
    summary_token_count: int


class Message(TypedDict):
    """One stored message."""

    role: str
    content: str
    tool_calls: NotRequired[list[dict[str, Any]]]
    tool_call_id: NotRequired[str]
    metadata: Metadata


WireMessage = dict[str, Any]


@dataclass(frozen=True)
class ToolCallRequest:
    """A tool call of a model; ``arguments`` is the raw JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Usage:
    """Token counts as the endpoint reported them.

    ``cached_tokens`` are those of the prompt that the endpoint took from its cache, None if it
    does not report them. They are part of ``prompt_tokens``.
    """

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None = None


@dataclass(frozen=True)
class Timings:
    """Tokens that the endpoint read anew and wrote, and its tokens a second for each."""

    read: int
    read_per_s: float
    written: int
    written_per_s: float


@dataclass(frozen=True)
class LLMReply:
    """A model's reply; ``content`` is raw and may contain reasoning marks.

    Tool calls with the same id are the sentences of one speech. If ``tied``, each call needs those
    before it to succeed, and all together are the whole turn.
    """

    content: str
    tool_calls: tuple[ToolCallRequest, ...] = ()
    finish_reason: str = "stop"
    usage: Usage | None = None
    model: str = ""
    tied: bool = False
    timings: Timings | None = None


def make_message(
    role: str,
    content: str,
    *,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    tool_call_id: str = "",
    **metadata: Any,
) -> Message:
    """Return a message; all other keyword arguments become its metadata."""
    fields = cast("Metadata", metadata)
    message: Message = {"role": role, "content": content, "metadata": fields}
    if tool_calls:
        message["tool_calls"] = [dict(call) for call in tool_calls]
    if tool_call_id:
        message["tool_call_id"] = tool_call_id
    return message


def with_content(message: Message, content: str, **changes: Any) -> Message:
    """Return the message with another content and changed metadata."""
    metadata = cast("Metadata", {**message["metadata"], **changes})
    return {**message, "content": content, "metadata": metadata}


def wire_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """Return one entry of a message's ``tool_calls``; ``arguments`` is JSON text."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def is_excuse(message: Message) -> bool:
    """Return True for a line that replaced a model's answer; no prompt or summary holds it."""
    return message["metadata"].get("type") == EXCUSE


def is_private(message: Message) -> bool:
    """Return True if only the message's audience may ever see it."""
    return bool(message["metadata"].get("private"))


def to_wire(messages: Iterable[Message]) -> list[WireMessage]:
    """Return messages for a provider: without metadata, and with complete tool calls.

    Only this function's output may reach a provider. Each call is followed by exactly one result:
    `LOST_RESULT` replaces a missing one, a result without its call is dropped, and messages that
    arrived between the two come after the result.
    """
    items = list(messages)
    results = {m["tool_call_id"]: m["content"] for m in reversed(items) if m.get("tool_call_id")}
    wire: list[WireMessage] = []
    for message in items:
        if message["role"] == "tool":
            continue
        out: WireMessage = {"role": message["role"], "content": message["content"]}
        calls = message.get("tool_calls")
        if calls:
            out["tool_calls"] = calls
        wire.append(out)
        for call in calls or ():
            content = results.get(call["id"], LOST_RESULT)
            wire.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    return wire


Audience = frozenset[str]


@dataclass(frozen=True)
class Heard:
    """Something that the character heard, before it is stored."""

    kind: str
    speaker: str
    speaker_name: str
    text: str
    audience: Audience  # dbrefs of everybody else who heard it, the speaker among them
    private: bool = False  # True for a whisper
    addressed: bool = False  # True if the character must answer it
    hops: int = 0  # the number of assistants' answers in a row that led to it
    reason: str = ""  # why it must be answered, or why not

    @property
    def confidants(self) -> Audience | None:
        """Return who may know it, None for room talk; see `policy.audience.visible`."""
        return self.audience if self.private else None

    @property
    def line(self) -> str:
        """Return it as a line of the prompt."""
        return heard_line(self.kind, self.speaker_name, self.text)


@dataclass(frozen=True)
class InboxEvent:
    """A stored event."""

    id: int
    at: datetime
    heard: Heard
    attempts: int = 0


@dataclass(frozen=True)
class Situation:
    """What the character sees now, in plain words."""

    place: str = ""
    description: str = ""
    people: tuple[str, ...] = ()
    exits: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    carrying: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # from the game: weather, hunger, what the character is doing


def heard_line(kind: str, speaker: str, text: str) -> str:
    """Return something heard as a line of the prompt; both texts are single lines."""
    forms = {
        SAY: "{speaker} says: {text}",
        WHISPER: "{speaker} whispers to you: {text}",
        "give": "({speaker} gives you {text}.)",
        "arrive": "({speaker} arrives.)",
        "leave": "({speaker} leaves.)",
    }
    return forms.get(kind, "({text})").format(speaker=speaker, text=text)


def heard_message(event: InboxEvent, turn_id: int) -> Message:
    """Return an event as a message of the conversation."""
    heard = event.heard
    return make_message(
        "user",
        heard.line,
        speaker=heard.speaker,
        speaker_name=heard.speaker_name,
        audience=sorted(heard.audience),
        private=heard.private,
        event_id=event.id,
        turn_id=turn_id,
    )
