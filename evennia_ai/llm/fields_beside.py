"""What a server sends beside words and calls: reasoning and its signatures, to get them back.

Nothing here knows a server: each field counts that is none of the words and calls.
"""

import json
from contextlib import suppress
from itertools import chain
from typing import Any

from evennia_ai.messages import Sent
from evennia_ai.policy.replies.text_tool_calls import ARGUMENT_KEYS
from evennia_ai.policy.sanitize import storable
from evennia_ai.policy.texts import Fields, as_dict

BESIDE_CHARS = 100_000  # kept of what stands beside words and calls
MESSAGE_FIELDS = frozenset(
    "role content tool_calls tool_call function_call refusal annotations audio usage name".split()
)
WHOLE_FIELDS = frozenset({"type", "id", "format", "index"})  # a stream repeats them
TEXT_PART_TYPES = ("text", "output_text", "message")
# What wraps a call: OpenAI, its custom tools, Gemini, Bedrock. Without one, its type tells.
CALL_WRAPS = ("function", "custom", "functionCall", "toolUse")
CALL_TYPES = ("tool_use", "function_call")
CALL_FIELDS = frozenset(
    {"index", "id", "type", "function", "custom", "functionCall", "toolUse", "name", "call_id"}
).union(ARGUMENT_KEYS)


class FieldsBeside:
    """What stands beside the words and calls of one reply.

    Nothing is kept of too much, nor where a part of it cannot be stored.

    ``by`` is the key of the profile that was asked.
    """

    def __init__(self, by: str) -> None:
        self._by, self._chars = by, 0.0
        self._message: Fields = {}

    def add_message(self, message: Fields) -> None:
        self._message = self.kept(self._message, beside_words(message))

    def kept(self, old: Fields, new: Fields) -> Fields:
        """Return fields with those that a part of the reply adds."""
        self._chars += size_of(new) if new else 0
        return merged(old, new) if new and self._chars <= BESIDE_CHARS else old

    def sent_with(self, call_id: str, call: Fields) -> Sent:
        """Return what came beside a call so far, empty if there is nothing."""
        if self._chars > BESIDE_CHARS or not (self._message or call):
            return {}
        return {"by": self._by, "id": call_id, "call": call, "message": self._message}


def size_of(fields: Fields) -> float:
    """Return the characters of fields as JSON, infinity if no database would store them."""
    try:
        text = json.dumps(fields, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return float("inf")
    return len(text) if storable(text) == text and "\\u0000" not in text else float("inf")


def beside_words(message: Fields) -> Fields:
    """Return what a message holds beside words and calls: reasoning, and the signatures of it."""
    beside = {name: message[name] for name in message.keys() - MESSAGE_FIELDS if message[name]}
    if isinstance(content := message.get("content"), list):
        named = {*TEXT_PART_TYPES, *CALL_TYPES}  # words and calls
        others = [part for part in objects_in(content) if part.get("type", "text") not in named]
        parts = [part for part in others if part.keys().isdisjoint(CALL_WRAPS)]
        beside |= {"content": parts} if parts else {}
    return beside


def merged(old: Any, new: Any, name: str = "") -> Any:
    """Return a value of JSON with what the next part of a stream adds to it; changes neither."""
    if old is None or new is None:
        return old if new is None else new
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: merged(old.get(key), value, key) for key, value in new.items()}
    if isinstance(old, list) and isinstance(new, list):
        last = old[-1:]
        if last and new and continues(last[0], new[0]):
            return [*old[:-1], merged(last[0], new[0]), *new[1:]]
        return [*old, *new]
    is_text = isinstance(old, str) and isinstance(new, str) and name not in WHOLE_FIELDS
    return old + new if is_text else new


def continues(last: object, item: object) -> bool:
    """Return True if an item of a list is the next part of the last one, by its index and type."""
    place, of_next = (
        (as_dict(value).get("index"), as_dict(value).get("type")) for value in (last, item)
    )
    return place == of_next and place[0] is not None


def parse_body(content: bytes) -> object:
    """Return a body's JSON, or its text if it is not JSON."""
    text = content.decode("utf-8-sig", "replace")
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return text


def objects_in(value: object) -> list[Fields]:
    """Return the objects of a list that are not empty.

    It may be written as text, hold lists, have its numbers as keys (PHP), or be one object alone.
    """
    if not value:
        return []
    if isinstance(value, str):
        value = parse_body(value.encode("utf-8", "replace"))
    if isinstance(value, dict):
        value = [*value.values()] if all(map(str.isdigit, value)) else [value]
    items = value if isinstance(value, list) else ()
    entries = chain.from_iterable(item if isinstance(item, list) else [item] for item in items)
    return [entry for entry in entries if isinstance(entry, dict) and entry]
