"""Messages: the chat-completion dict plus metadata, and the way to the wire.

A stored message is a plain dict with ``role``, ``content``, optionally ``tool_calls`` or
``tool_call_id``, and ``metadata``. Nothing here mutates its input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, NotRequired, TypedDict, cast

# The tools for words, gestures and silence; the first three are kinds of events, too.
SAY, WHISPER, EMOTE, NOOP = "say", "whisper", "emote", "noop"
GIVE, ARRIVE, LEAVE, NOTICE = "give", "arrive", "leave", "notice"  # kinds of events
SPEECH = frozenset({SAY, WHISPER})
# The evidence of an event: the game itself observed it, somebody acted it out, somebody said it.
PERCEIVED, PERFORMED, CLAIMED = "perceived", "performed", "claimed"
# The evidence of the character's own words if the stand-in chose them; they state no facts.
OFFLINE = "offline"
# That of its own words without its mind: of a player who controls it, staff's, or the game's code.
PUPPETED = "puppeted"
EVIDENCE_BY_KIND = {EMOTE: PERFORMED, **dict.fromkeys((GIVE, ARRIVE, LEAVE, NOTICE), PERCEIVED)}
# The first character of a perceived line in a prompt. No other text in a prompt may hold it.
MARK, SEEMING_MARK = "◆", "◇"
SAYS, WHISPERS, ACTS_OUT = "says: ", "whispers to you: ", "acts out: "
# A name that a perceived line shows without quotes: nothing in it can read as a sentence.
PLAIN_NAME = re.compile(r"[^\W_][\w'’-]*(?: [\w'’-]+){0,2}")
FORM_WORDS = frozenset("gives you arrives leaves says whispers acts".split())
EXCUSE = "excuse"
SCENE = "scene"
LOST_RESULT = "Outcome unknown: it may or may not have happened. Do not do it again."


class Metadata(TypedDict, total=False):
    """What is known about a message beside its words.

    ``seq`` is monotonic in each log; ``at`` is ISO-8601 UTC; ``speaker`` is a dbref; ``audience``
    lists the dbrefs of those who heard it; ``authors`` lists everybody whose words may be in it
    (`policy.audience`); ``private`` is True if nobody else may ever know it; ``tokens`` is
    estimated once, when the message is stored; ``consulted`` names what a tool read and changed
    (`policy.compaction.restored_context`). ``type`` is ``compaction`` for a compaction's marker, to
    which ``id`` and the fields after it belong (``part_authors`` as ``parts``, by audience), and
    ``excuse`` for a line that the character said because no model answered. ``original_tool``
    belongs to a masked tool result; ``shortened`` is True if the middle of a long text is left out.
    ``evidence`` is `PERCEIVED`, `PERFORMED` or `CLAIMED` for heard lines, `PERCEIVED` for tool
    results, and `OFFLINE`, `PUPPETED` or empty for own words. ``amendment`` is the id of the
    amendment that gave a message other words (`policy.recallable_lines`). ``rows`` and ``after``
    belong to the type ``scene`` (`policy.context.situation_updates`).
    """

    seq: int
    at: str
    speaker: str
    speaker_name: str
    audience: list[str]
    authors: list[str]
    private: bool
    tokens: int
    event_id: int | None
    turn_id: int | None
    evidence: str
    amendment: int
    type: str
    original_tool: str
    shortened: bool
    consulted: Mapping[str, Sequence[str]]
    rows: Sequence[tuple[str, Any]]
    after: int
    id: int
    parts: Mapping[str, str]
    part_authors: Mapping[str, Sequence[str]]
    compacted_count: int
    compacted_at: str
    original_token_count: int
    summary_token_count: int


class ChatMessage(TypedDict):
    """One stored message."""

    role: str
    content: str
    tool_calls: NotRequired[list[dict[str, Any]]]
    tool_call_id: NotRequired[str]
    metadata: Metadata


WireMessage = dict[str, Any]
# What a server sent beside a call, to get it back with it: ``id``, its id of the call; ``call`` and
# ``message``, the other fields of the call and of its message; ``by``, the key of the profile.
Sent = Mapping[str, Any]
NOTHING_SENT: Sent = MappingProxyType({})
Audience = frozenset[str]
Authors = frozenset[str]


@dataclass(frozen=True)
class ToolCallRequest:
    """A tool call of a model; ``arguments`` is the raw JSON text."""

    id: str
    name: str
    arguments: str
    sent: Sent = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Usage:
    """Token counts as the endpoint reported them."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None = None  # of the prompt, from the endpoint's cache; None if unknown


NO_USAGE = Usage(0, 0)  # of the stand-in, which reads no tokens


def turn_label(turn_id: int | None) -> str:
    """Return how log lines and errors name a turn."""
    return "no turn" if turn_id is None else f"turn {turn_id}"


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

    Tool calls with the same id are the sentences of one speech.
    """

    content: str
    tool_calls: tuple[ToolCallRequest, ...] = ()
    finish_reason: str = "stop"
    usage: Usage | None = None
    model: str = ""
    timings: Timings | None = None
    # what the endpoint refused of the request, with its words: it was asked again without
    refused: Mapping[str, str] = field(default_factory=dict, compare=False)
    from_fallback: bool = False  # True if the fallback of the asked profile sent it
    sent: Sent = field(default_factory=dict, compare=False)  # beside its calls, if any
    raw: LLMReply | None = None  # as the endpoint sent it, None if it is this reply


@dataclass(frozen=True)
class Delta:
    """What one chunk of a streamed reply adds: to the content, or to one tool call."""

    content: str = ""
    tool_index: int | None = None  # the call's position in the reply's ``tool_calls``
    tool_name: str = ""  # in every delta of the call
    arguments: str = ""  # continues its JSON text
    # returns what came beside the call so far
    sent: Callable[[], Sent] = field(default=dict, compare=False, repr=False)


def make_message(
    role: str,
    content: str,
    *,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    tool_call_id: str = "",
    **metadata: Any,
) -> ChatMessage:
    """Return a message; all other keyword arguments become its metadata."""
    fields = cast("Metadata", metadata)
    message: ChatMessage = {"role": role, "content": content, "metadata": fields}
    if tool_calls:
        message["tool_calls"] = [dict(call) for call in tool_calls]
    if tool_call_id:
        message["tool_call_id"] = tool_call_id
    return message


def with_content(message: ChatMessage, content: str, **changes: Any) -> ChatMessage:
    """Return the message with another content and changed metadata."""
    metadata = cast("Metadata", {**message["metadata"], **changes})
    return {**message, "content": content, "metadata": metadata}


def wire_call(call_id: str, name: str, arguments: str, sent: Sent = NOTHING_SENT) -> dict[str, Any]:
    """Return one entry of a message's ``tool_calls``; ``arguments`` is JSON text."""
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {**call, "sent": dict(sent)} if sent else call


def is_offline(message: ChatMessage) -> bool:
    """Return True for words of the character that the stand-in chose; they state no facts."""
    return message["metadata"].get("evidence") == OFFLINE


def is_puppeted(message: ChatMessage) -> bool:
    """Return True for what the character said or did without its mind."""
    return message["metadata"].get("evidence") == PUPPETED


def is_excuse(message: ChatMessage) -> bool:
    """Return True for a line that replaced a model's answer; no prompt or summary holds it."""
    return message["metadata"].get("type") == EXCUSE


def is_scene(message: ChatMessage) -> bool:
    """Return True for what a prompt told of the moment; the log does not hold it."""
    return message["metadata"].get("type") == SCENE


def is_private(message: ChatMessage) -> bool:
    """Return True if only the message's audience may ever see it."""
    return bool(message["metadata"].get("private"))


def unmarked(text: str) -> str:
    """Return text that cannot pass for something perceived."""
    return text.replace(MARK, SEEMING_MARK)


def perceived_line(text: str) -> str:
    return f"{MARK} {unmarked(text.removeprefix(MARK).strip())}"


def is_perceived(message: ChatMessage) -> bool:
    """Return True if the game itself observed what the message tells."""
    return message["metadata"].get("evidence") == PERCEIVED


def prompt_text(message: ChatMessage) -> str:
    """Return a message's content as a prompt shows it: only perceived lines have the mark.

    Tool results keep the marks of the perceived lines that they quote.
    """
    content = message["content"]
    if is_scene(message):
        return content  # its rows are unmarked, except for what quotes perceived lines
    if not is_perceived(message):
        return unmarked(content)
    return perceived_line(content) if message["role"] == "user" else content


def to_wire(messages: Iterable[ChatMessage]) -> list[WireMessage]:
    """Return messages for a provider: without metadata, and with complete tool calls.

    Only this function's output may reach a provider. Each call is followed by exactly one result:
    `LOST_RESULT` replaces a missing one, a result without its call is dropped, and messages that
    arrived between the two come after the result.
    """
    items = list(messages)
    results = {m["tool_call_id"]: prompt_text(m) for m in reversed(items) if m.get("tool_call_id")}
    wire: list[WireMessage] = []
    for message in items:
        if message["role"] == "tool":
            continue
        out: WireMessage = {"role": message["role"], "content": prompt_text(message)}
        calls = message.get("tool_calls")
        if calls:
            functions = [(call, call["function"]) for call in calls]
            out["tool_calls"] = [  # none may pass for something perceived
                {**call, "function": {**function, "arguments": unmarked(function["arguments"])}}
                for call, function in functions
            ]
        wire.append(out)
        for call in calls or ():
            content = results.get(call["id"], LOST_RESULT)
            wire.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    return wire


@dataclass(frozen=True)
class IncomingEvent:
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
    repeatable: bool = False  # True for a whisper heard while `whisper_policy` was "trusting"
    evidence: str = ""  # one of those above, `PUPPETED` if it is its own; empty: by the kind
    item: str = ""  # dbref of the thing that it is about, if any
    authors: Authors = frozenset()  # those whose words it holds, if not only the speaker's
    token: str = ""  # the same at each try to store it, so that it is stored once

    def __post_init__(self) -> None:
        object.__setattr__(self, "evidence", self.evidence or evidence_of(self.kind))

    @property
    def secret(self) -> bool:
        """Return True if only its audience may ever know it."""
        return self.private and not self.repeatable

    @property
    def written_by(self) -> Authors:
        """Return its authors (`policy.audience`), none if they are unknown."""
        return self.authors or frozenset({self.speaker} - {""})

    @property
    def confidants(self) -> Audience | None:
        """Return who may know it, None for everybody; see `policy.audience.visible`."""
        return self.audience if self.secret else None

    @property
    def line(self) -> str:
        return heard_line(self.kind, self.speaker_name, self.text, self.evidence)


@dataclass(frozen=True)
class InboxEvent:
    """A stored event."""

    id: int
    at: datetime
    heard: IncomingEvent
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
    authors: Authors = frozenset()  # of all names and descriptions; none: unknown
    state: str = ""  # of the character itself, in the words of its hook at_ai_describe_self


def evidence_of(kind: str) -> str:
    """Return the evidence of events of a kind; an unknown kind is only a claim."""
    return EVIDENCE_BY_KIND.get(kind, CLAIMED)


def heard_line(kind: str, speaker: str, text: str, evidence: str = "") -> str:
    """Return something heard as a line of the prompt; both texts are single lines.

    No name and no words can make a claim or a performance read like something perceived, nor one
    perceived event like another.
    """
    evidence = evidence or evidence_of(kind)
    if evidence == PERCEIVED:
        who = as_name(speaker)
        forms = {
            GIVE: f"{who} gives you {as_name(text)}.",
            ARRIVE: f"{who} arrives.",
            LEAVE: f"{who} leaves.",
        }
        return perceived_line(forms.get(kind, text))
    if evidence == PERFORMED:
        return unmarked(f"{speaker} {ACTS_OUT}{deed_of(speaker, text)}")
    return unmarked(f"{speaker} {WHISPERS if kind == WHISPER else SAYS}{text}")


def as_name(name: str) -> str:
    """Return a name for a perceived line: in quotes, unless it is short and plain."""
    if PLAIN_NAME.fullmatch(name) and FORM_WORDS.isdisjoint(name.lower().split()):
        return name
    return quoted(name)


def quoted(text: str) -> str:
    """Return what somebody else may have written as a quotation, with no end of it inside."""
    return f'"{text.replace(chr(34), chr(39))}"'


def deed_of(speaker: str, text: str) -> str:
    """Return an emote without the name that it begins with, in any case."""
    name = f"{speaker} "
    begins = bool(speaker) and text[: len(name)].lower() == name.lower()
    return text[len(name) :] if begins else text


# What the results of own words and gestures say.
SAID, WHISPERED, EMOTED = "You said it.", "You whispered it.", "You did it."
OWN_RESULTS = {SAY: SAID, WHISPER: WHISPERED, EMOTE: EMOTED}
