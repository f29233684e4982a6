"""The fields of one JSON object that still arrives, such as the schema form's act, target, say."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Generator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

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

T = TypeVar("T")
Reading = Generator[None, None, T]  # yields where the text ends before it can read on


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
        self._events: list[FieldEvent] = []
        self._reading = self._object()

    def feed(self, text: str) -> list[FieldEvent]:
        """Add a part of the text; return what it tells about the streamed and other fields."""
        if self.done or self.broken:
            return []
        self._text += text
        try:
            next(self._reading, None)
        except (ValueError, RecursionError):
            self.broken = True
        events, self._events = self._events, []
        return events

    def _take(self, length: int) -> str:
        taken, self._text = self._text[:length], self._text[length:]
        return taken

    def _next_char(self, allowed: str = "") -> Reading[str]:
        """Return the next character that is no white space; raises ValueError at another one."""
        while not self._text.lstrip():
            self._text = ""
            yield
        self._text = self._text.lstrip()
        if allowed and self._text[0] not in allowed:
            raise ValueError(f"none of {allowed}")
        return self._text[0]

    def _object(self) -> Reading[None]:
        while "{" not in self._text:
            self._text = ""
            yield
        self._take(self._text.index("{") + 1)
        while (char := (yield from self._next_char('"{,}'))) != "}":
            if char == '"':
                yield from self._field()
            else:  # a doubled brace; a needless comma
                self._take(1)
        self.done = True

    def _field(self) -> Reading[None]:
        while (end := STRING_END.match(self._text, 1)) is None:
            yield
        name = decoded(self._take(end.end()))
        yield from self._next_char(":")
        self._take(1)
        char = yield from self._next_char()
        self._events.append(FieldEvent("started", name))
        if char == '"':
            raw = yield from self._string(name)
        else:
            raw = yield from (self._nested() if char in "[{" else self._scalar())
        self.values[name] = decoded(raw)
        self._events.append(FieldEvent("finished", name, self.values[name]))
        yield from self._next_char(",}")

    def _string(self, name: str) -> Reading[str]:
        self._take(1)
        parts: list[str] = []
        while True:
            end = STRING_END.match(self._text)
            string = self._text[: end.end() - 1] if end else self._text
            whole = WHOLE_ESCAPES.match(string)
            length = whole.end() if whole else 0
            for part in (string[:length], string[length:] if end else ""):
                parts.append(part)
                if part and name in self._streamed:
                    self._events.append(FieldEvent("text", name, decoded(f'"{part}"')))
            self._take(end.end() if end else length)
            if end:
                return f'"{"".join(parts)}"'
            yield

    def _nested(self) -> Reading[str]:
        depth, parts = 0, list[str]()
        while True:
            stop = len(self._text)
            for token in NESTED_TOKEN.finditer(self._text):
                if token[0] == '"':  # a string without its end
                    stop = token.start()
                    break
                depth += DEPTH.get(token[0], 0)
                if depth == 0:
                    return "".join([*parts, self._take(token.end())])
            parts.append(self._take(stop))
            yield

    def _scalar(self) -> Reading[str]:
        while (found := SCALAR.match(self._text)) and found.end() == len(self._text):
            yield
        return self._take(found.end() if found else 0)


def decoded(raw: str) -> Any:
    """Return a JSON value, in whose strings line breaks are allowed; raises ValueError."""
    return json.loads(raw, strict=False)
