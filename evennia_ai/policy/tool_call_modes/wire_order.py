"""Wire messages in an order that every chat template accepts.

Strict templates (Gemma, Mistral) raise an error unless user and assistant messages alternate. They
count neither assistant messages with tool calls nor tool results. Some templates support no system
message, some support no tool calls, and Mistral's own servers refuse a user message after a tool
result.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any

from evennia_ai.messages import (
    EMOTE,
    EMOTED,
    LOST_RESULT,
    MARK,
    NOOP,
    NOTHING_SENT,
    OWN_RESULTS,
    SPEECH,
    Sent,
    WireMessage,
    quoted,
    unmarked,
)
from evennia_ai.policy.sanitize import cut_text
from evennia_ai.policy.texts import read_object
from evennia_ai.policy.tokens import MESSAGE_OVERHEAD, CountText, count_tools, estimate_tokens

SYSTEM, USER, ASSISTANT, TOOL = "system", "user", "assistant", "tool"
CALLS = "calls"  # the past ones, which an endpoint may refuse as it may a system message
RULES_ROLES = (SYSTEM, "developer")
JOINTS = {SYSTEM: "\n\n", USER: "\n", ASSISTANT: " "}
OPENING, CLOSING = "(Earlier talk is left out.)", "(What do you do now?)"
ACTS_SO_FAR = "Your acts so far:"

SPOKEN = ("You said", "You whispered", LOST_RESULT)  # how a result of speech that was heard begins
# The results of these tools are whole sentences in our words: "You gave nails to Ann."
TELLING = frozenset({"get", "give", "drop", "put", "follow"})
RESULT_CHARS, ARGUMENT_CHARS = 600, 120


@dataclass(frozen=True)
class WireStyle:
    """What a chat template supports: a system message, and native tool calls.

    ``by`` is the key of the profile, which gets back what it sent beside its calls.
    """

    system: bool = True
    calls: bool = True
    by: str = ""


@dataclass(frozen=True)
class WireToolCall:
    """A tool call and its result."""

    call: dict[str, Any]
    result: str

    @property
    def step(self) -> str:
        """Return what the ids of the calls of one reply have in common (`own_call_id`)."""
        return str(self.call["id"])[:-2]

    @property
    def sent(self) -> Sent:
        """Return what the server sent beside the call."""
        sent: Sent = self.call.get("sent", NOTHING_SENT)
        return sent

    @property
    def name(self) -> str:
        return str(self.call["function"]["name"])

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """Return the call's arguments, empty if they are not valid JSON."""
        return read_object(self.call["function"]["arguments"]) or {}

    @property
    def text(self) -> str:
        """Return the argument ``text``, the words of a speech tool."""
        return str(self.arguments.get("text", "")).strip()

    @property
    def was_spoken(self) -> bool:
        """Return True for speech that was heard, or that may have been."""
        return self.name in SPEECH and bool(self.text) and self.result.startswith(SPOKEN)


Item = WireMessage | WireToolCall  # a message is one of text alone


def words(role: str, text: str) -> WireMessage:
    return {"role": role, "content": text}


def arrange(messages: Sequence[WireMessage], style: WireStyle = WireStyle()) -> list[WireMessage]:
    """Return the messages in an order that a template of this style accepts.

    At most one system message comes first, then user and assistant messages alternate, beginning
    with a user message; a user message or tool results come last. Past speech is plain assistant
    text. The acts after the last words stay native calls, one in each message. A past act stays
    native if it stands between a user message and the character's words; else it is an event line
    in a user message. Without ``style.calls`` every act is an event line. Arranging twice changes
    nothing.

    A server that sends something beside its calls, such as signatures of its reasoning, gets it
    back with them, and those of one reply in one message; it may refuse calls without. So these
    are event lines then.
    """
    rules, items = read_items(messages)
    if not items or not is_words(items[0], USER):
        items.insert(0, words(USER, OPENING))
    bearing = bearing_steps(items, style)
    after_words = next(
        (n for n in range(len(items), 0, -1) if not isinstance(items[n - 1], WireToolCall)), 0
    )
    current = [item for item in items[after_words:] if isinstance(item, WireToolCall)]
    is_native = style.calls and all(not bearing or act.step in bearing for act in current)
    now = current if is_native else current_in_text(current)
    ordered = [*past_items(items[:after_words], style, bearing), *now]
    if is_words(ordered[-1], ASSISTANT):
        ordered.append(words(USER, CLOSING))
    if rules:
        ordered.insert(0, words(SYSTEM, rules) if style.system else words(USER, f"{rules}\n"))
    return write_items(ordered, bearing)


def bearing_steps(items: Iterable[Item], style: WireStyle) -> frozenset[str]:
    """Return the steps of calls beside which the server that is asked sent something."""
    calls = (item for item in items if isinstance(item, WireToolCall) and style.calls)
    return frozenset(
        act.step
        for act in calls
        if act.sent.get("by") == style.by and (act.sent["call"] or act.sent["message"])
    )


def is_words(item: Item, role: str) -> bool:
    return not isinstance(item, WireToolCall) and item["role"] == role


def read_items(messages: Iterable[WireMessage]) -> tuple[str, list[Item]]:
    """Return the rules that come first, and the rest with each call beside its result."""
    # Later system messages are user text. Empty messages and results without a call are dropped.
    rules: list[str] = []
    items: list[Item] = []
    pending: dict[str, tuple[int, dict[str, Any]]] = {}
    for message in messages:
        role, text = message["role"], message.get("content") or ""
        if role == TOOL:
            place, call = pending.pop(message.get("tool_call_id", ""), (None, {}))
            if place is not None:
                items[place] = WireToolCall(call, text)
        elif not items and role in RULES_ROLES:
            rules += [text] if text.strip() else []
        elif text and not text.isspace():
            told_by = ASSISTANT if role == ASSISTANT else USER
            bare = role == told_by and len(message) == 2
            items.append(message if bare else words(told_by, text))
        if calls := message.get("tool_calls"):
            for call in calls:
                pending[call["id"]] = len(items), call
                items.append(WireToolCall(call, LOST_RESULT))
    return JOINTS[SYSTEM].join(rules), items


def past_items(items: Sequence[Item], style: WireStyle, bearing: Collection[str]) -> list[Item]:
    """Return finished turns: speech as words, and acts native only where templates allow it."""
    ordered: list[Item] = []
    waiting: list[WireToolCall] = []  # acts right after a user message
    for item in settled_speech(items):
        if not isinstance(item, WireToolCall):
            if waiting:
                ordered += waiting if item["role"] == ASSISTANT else event_lines(waiting)
                waiting = []
            ordered.append(item)
        elif style.calls and is_words(ordered[-1], USER) and (not bearing or item.step in bearing):
            waiting.append(item)
        else:
            ordered += event_lines([item])
    return [*ordered, *event_lines(waiting)]


def current_in_text(acts: Sequence[WireToolCall]) -> list[WireMessage]:
    """Return the acts of the current turn as words; event lines begin with a heading."""
    ordered: list[WireMessage] = []
    for act in acts:
        ordered += [words(ASSISTANT, act.text)] if act.was_spoken else event_lines([act])
    first = next((at for at, message in enumerate(ordered) if message["role"] == USER), None)
    if first is not None:
        ordered.insert(first, words(USER, ACTS_SO_FAR))
    return ordered


def settled_speech(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items with speech that was heard as words, and without speech that was not."""
    for item in items:
        if not isinstance(item, WireToolCall) or item.name not in SPEECH:
            yield item
        elif item.was_spoken:
            yield words(ASSISTANT, item.text)


def event_lines(acts: Iterable[WireToolCall]) -> list[WireMessage]:
    """Return acts as user text; silence leaves none."""
    return [words(USER, event_line(act)) for act in acts if act.name != NOOP]


def event_line(act: WireToolCall) -> str:
    """Return an act as a line of what happened: "◆ You gave nails to Ann.".

    What people or models may have written is quoted: descriptions, arguments, gestures.
    """
    result = cut_text(" ".join(act.result.split()), RESULT_CHARS)
    if result == OWN_RESULTS.get(act.name):
        sentence = f"You did this: {quoted(unmarked(act.text))}"
    elif act.name in TELLING and result.startswith("You "):
        sentence = result
    else:
        sentence = f"You used {used_tool(act)}: {quoted(result)}"
    return f"{MARK} {' '.join(sentence.split())}"


def past_text(message: Mapping[str, Any]) -> str:
    """Return what a stored message adds to later prompts: its words, or its part of an event line.

    A call that its result tells of adds nothing, nor does the result of speech.
    """
    content = str(message.get("content") or "")
    if message["role"] == TOOL:
        return "" if content == EMOTED or content.startswith(SPOKEN) else content
    texts = [content]
    for call in message.get("tool_calls") or ():
        act = WireToolCall(call, EMOTED if call["function"]["name"] == EMOTE else "")
        if act.name in SPEECH:
            texts.append(act.text)
        elif act.name not in TELLING and act.name != NOOP:
            texts.append(event_line(act))
    return "\n".join(filter(None, texts))


def used_tool(act: WireToolCall) -> str:
    """Return a call in short, without words that were not said: a model would repeat them."""
    values = () if act.name in SPEECH else act.arguments.values()
    shown = ", ".join(str(value) for value in values if value not in ("", None))
    return f"{act.name} {quoted(cut_text(unmarked(shown), ARGUMENT_CHARS))}" if shown else act.name


def write_items(items: Iterable[Item], bearing: Collection[str]) -> list[WireMessage]:
    """Return items as wire messages, texts of equal roles in a row as one.

    So are calls of one of the ``bearing`` steps.
    """

    def message_of(numbered: tuple[int, Item]) -> tuple[str, str | int]:
        number, item = numbered
        if isinstance(item, WireToolCall):
            return TOOL, item.step if item.step in bearing else number
        return item["role"], ""

    wire: list[WireMessage] = []
    for (role, step), numbered in groupby(enumerate(items), message_of):
        run = [item for _number, item in numbered]
        texts = [item for item in run if not isinstance(item, WireToolCall)]
        if len(texts) > 1:
            wire.append(words(role, JOINTS[role].join(item["content"] for item in texts)))
        elif texts:
            wire += texts
        else:
            acts = [item for item in run if isinstance(item, WireToolCall)]
            wire += with_sent(acts, step in bearing)
    return wire


def with_sent(acts: Sequence[WireToolCall], is_bearing: bool) -> list[WireMessage]:
    """Return the calls of one reply as a message, and results.

    What was sent beside them goes along, if they are ``bearing``.
    """
    calls: dict[str, dict[str, Any]] = {}
    for act in acts:
        own = {name: act.call[name] for name in ("id", "type", "function")}
        sent = act.sent if is_bearing else NOTHING_SENT
        sent_id = sent.get("id", "")
        call_id = sent_id if sent_id and sent_id not in calls else own["id"]
        calls[call_id] = {**own, **sent.get("call", {}), "id": call_id}
    fields = (act.sent["message"] for act in acts if is_bearing and act.sent.get("message"))
    results = zip(calls, acts, strict=True)
    return [
        {"role": ASSISTANT, "content": "", **next(fields, {}), "tool_calls": [*calls.values()]},
        *({"role": TOOL, "tool_call_id": id_, "content": act.result} for id_, act in results),
    ]


# Of the usual chat templates: a message takes 5 tokens in ChatML and 3 with OpenAI.
LINE_OVERHEAD = 1  # of a line that joins others in one message
REPLY_OVERHEAD = 3  # the beginning of the reply
CALL_OVERHEAD = 16  # the delimiters of a native call and of its result
TEXTS_REMEMBERED = 2_048


def count_request(
    messages: Sequence[WireMessage],
    style: WireStyle,
    tools: Iterable[Mapping[str, object]] = (),
    count_text: CountText = estimate_tokens,
) -> int:
    """Return the tokens of a request as it is sent: its messages for a chat template, its tools.

    ``tools`` are the schemas that are sent beside the messages.
    """
    tokens = REPLY_OVERHEAD + count_tools(tools, count_text)
    for message in arrange(messages, style):
        tokens += MESSAGE_OVERHEAD
        for name, text in message.items():
            if name not in ("role", "tool_call_id") and isinstance(text, str):
                tokens += _remembered(text, count_text)
        for call in message.get("tool_calls", ()):
            function = call["function"]
            tokens += CALL_OVERHEAD + count_text(f"{function['name']} {function['arguments']}")
    return tokens


# All but the end of a prompt was counted for the prompt before it.
@lru_cache(TEXTS_REMEMBERED)
def _remembered(text: str, count_text: CountText) -> int:
    return count_text(text)


def count_stored(message: Mapping[str, Any], count_text: CountText = estimate_tokens) -> int:
    """Return the tokens that a stored message adds to each later prompt, in any request form.

    Speech counts as words, a past act as a line of what happened: so `arrange` sends them, but for
    the few acts that stay native calls.
    """
    text = past_text(message)
    if not text:
        return 1  # 0 would mean that nobody has counted it
    is_event = message["role"] == "tool" or text.startswith(MARK)
    beside = (call.get("sent", {}).get("message", {}) for call in message.get("tool_calls") or ())
    thoughts = (value for fields in beside for value in fields.values() if isinstance(value, str))
    tokens = count_text(text) + sum(map(count_text, thoughts))
    return (LINE_OVERHEAD if is_event else MESSAGE_OVERHEAD) + tokens
