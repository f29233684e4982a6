"""The fields of one JSON object that still arrives, such as the schema form's act, target, say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal

STRING_END = re.compile(r'[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"')  # from behind the opening quote
HEX, HIGH, LOW = "[0-9a-fA-F]{4}", "[dD][89abAB][0-9a-fA-F]{2}", "[dD][c-fC-F][0-9a-fA-F]{2}"
# A high surrogate waits for what follows it, since the two may be one character.
WHOLE_ESCAPES = re.compile(
    rf"(?:[^\\]++|\\[^u]|\\u(?!{HIGH}){HEX}|\\u{HIGH}\\u{LOW}"
    rf"|\\u{HIGH}(?=[^\\]|\\[^u]|\\u(?!{LOW}){HEX}))*+"
)
SCALAR = re.compile(r"[^\s,\]}]+")
NESTED_TOKEN = re.compile(r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"|[\[\]{}"]')
DEPTH = {"[": 1, "{": 1, "]": -1, "}": -1}
NOTHING = object()


@dataclass(frozen=True)
class FieldEvent:
    """News of one field; ``value`` is the new part of a string, or the finished field's value."""

    kind: Literal["started", "text", "finished"]
    name: str
    value: Any = None


class ObjectReader:
    """An incremental reader of the first JSON object in a text.

    It passes over text before the object, such as a code fence, and ignores all text after it.
    """

    def __init__(self, streamed: Collection[str] = ()) -> None:
        self.values: dict[str, Any] = {}  # of the finished fields
        self.done = False
        self.broken = False  # True at invalid JSON: no event follows, and nothing raises
        self._streamed = frozenset(streamed)
        self._text = ""  # not yet read
        self._name = ""
        self._raw: list[str] = []  # the value's parts: a string's, or a nested value's
        self._depth = 0
        self._events: list[FieldEvent] = []
        self._step: Callable[[], bool] = self._before_object

    def feed(self, text: str) -> list[FieldEvent]:
        """Add a part of the text; return what it tells about the streamed and other fields."""
        if self.done or self.broken:
            return []
        self._text += text
        while not (self.done or self.broken) and self._step():
            pass
        events, self._events = self._events, []
        return events

    def _take(self, length: int) -> str:
        taken, self._text = self._text[:length], self._text[length:]
        return taken

    def _skip_space(self) -> str:
        """Return the next character that is no white space, "" if it has not arrived."""
        self._text = self._text.lstrip()
        return self._text[:1]

    def _before_object(self) -> bool:
        _, brace, self._text = self._text.partition("{")
        self._step = self._before_key if brace else self._before_object
        return bool(brace)

    def _before_key(self) -> bool:
        char = self._skip_space()
        if char == '"':
            return self._read_key()
        if char in ("{", ","):  # a doubled brace; a needless comma
            self._take(1)
        elif char == "}":
            self.done = True
        else:
            self.broken = bool(char)
        return bool(char)

    def _read_key(self) -> bool:
        end = STRING_END.match(self._text, 1)
        if end is None:
            return False
        name = decoded(self._take(end.end()))
        self._name, self._step = str(name), self._before_value
        self.broken = name is NOTHING
        return True

    def _before_value(self) -> bool:
        char = self._skip_space()
        if char == ":":
            self._take(1)
            self._step = self._at_value
        else:
            self.broken = bool(char)
        return bool(char)

    def _at_value(self) -> bool:
        char = self._skip_space()
        if not char:
            return False
        self._events.append(FieldEvent("started", self._name))
        self._raw, self._depth = [], 0
        if char == '"':
            self._take(1)
            self._step = self._in_string
        else:
            self._step = self._in_nested if char in "[{" else self._in_scalar
        return True

    def _in_string(self) -> bool:
        end = STRING_END.match(self._text)
        string = self._text[: end.end() - 1] if end else self._text
        whole = WHOLE_ESCAPES.match(string)
        self._add_string_part(self._take(whole.end() if whole else 0))
        if end is not None:
            self._add_string_part(self._take(end.end() - (whole.end() if whole else 0))[:-1])
            self._finish(decoded(f'"{"".join(self._raw)}"'))
        return end is not None

    def _add_string_part(self, part: str) -> None:
        self._raw.append(part)
        if not part or self._name not in self._streamed:
            return
        text = decoded(f'"{part}"')
        if text is NOTHING:
            self.broken = True
        else:
            self._events.append(FieldEvent("text", self._name, text))

    def _in_nested(self) -> bool:
        for token in NESTED_TOKEN.finditer(self._text):
            if token[0] == '"':  # a string without its end
                self._raw.append(self._take(token.start()))
                return False
            self._depth += DEPTH.get(token[0], 0)
            if self._depth == 0:
                self._raw.append(self._take(token.end()))
                self._finish(decoded("".join(self._raw)))
                return True
        self._raw.append(self._take(len(self._text)))
        return False

    def _in_scalar(self) -> bool:
        found = SCALAR.match(self._text)
        if found is None:
            self.broken = True
        elif found.end() < len(self._text):
            self._finish(decoded(self._take(found.end())))
        else:
            return False
        return True

    def _finish(self, value: Any) -> None:
        if self.broken or value is NOTHING:
            self.broken = True
            return
        self.values[self._name] = value
        self._events.append(FieldEvent("finished", self._name, value))
        self._step = self._after_value

    def _after_value(self) -> bool:
        char = self._skip_space()
        if char == ",":
            self._take(1)
            self._step = self._before_key
        elif char == "}":
            self.done = True
        else:
            self.broken = bool(char)
        return bool(char)


def decoded(raw: str) -> Any:
    """Return the JSON value, `NOTHING` if it is invalid; line breaks in strings are allowed."""
    try:
        return json.loads(raw, strict=False)
    except (ValueError, RecursionError):
        return NOTHING
