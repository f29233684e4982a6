"""Read JSON that a model wrote: wrong in small ways, or still arriving."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Generator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

DEPTH = 8
SPACE = re.compile(r"\s*+")
# A quotation mark inside a string need not be escaped, if nothing behind it looks like an end.
STRINGS = {
    '"': re.compile(r'"((?:[^"\\]++|\\[\s\S]|"(?!\s*+(?:[,:=}\])<]|\Z)))*+)"'),
    "'": re.compile(r"'((?:[^'\\]++|\\[\s\S]|'(?!\s*+(?:[,:=}\])<]|\Z)))*+)'"),
    "“": re.compile(r"“([^”]*+)”"),
}
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[\s\S])")
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
KEY = re.compile(r"[^\W\d]\w{0,63}")
SEPARATOR = re.compile(r"\s*+[:=]\s*+")
NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?(?![\w.])")
LITERAL = re.compile(r"(true|false|null|True|False|None)\b")
LITERALS = {"true": True, "True": True, "false": False, "False": False}
CLOSING = {"{": "}", "(": ")", "[": "]"}
END_MARK = re.compile(r"</\w|```")  # stands for the closing brackets a model forgot before it


class Unreadable(Exception):
    """Raised inside this module: there is no whole value here."""


class LooseReader:
    """A reader of values in one text, within a number of steps, so that its time is bounded."""

    def __init__(self, text: str, steps: int) -> None:
        self.text = text
        self.steps_left = steps

    def read(self, at: int) -> tuple[Any, int] | None:
        """Return the value that begins at a position and its end, None if there is none whole."""
        try:
            return self._value(at, 0)
        except Unreadable:
            return None

    def charge(self, steps: int) -> None:
        """Use up steps; raises Unreadable if there are none left."""
        self.steps_left -= steps
        if self.steps_left < 0:
            raise Unreadable

    def _space(self, at: int) -> int:
        found = SPACE.match(self.text, at)
        return found.end() if found else at

    def _value(self, at: int, depth: int) -> tuple[Any, int]:
        self.charge(1)
        char = self.text[at : at + 1]
        if depth > DEPTH or not char:
            raise Unreadable
        if char in STRINGS:
            return self._string(at)
        if char in "{(":
            return self._object(at, depth)
        if char == "[":
            return self._list(at, depth)
        return self._scalar(at)

    def _string(self, at: int) -> tuple[str, int]:
        found = STRINGS[self.text[at]].match(self.text, at)
        if found is None:
            self.charge(1 + (len(self.text) - at) // 16)
            raise Unreadable
        self.charge(len(found[0]) // 64)
        return unescaped(found[1]), found.end()

    def _scalar(self, at: int) -> tuple[Any, int]:
        if literal := LITERAL.match(self.text, at):
            return LITERALS.get(literal[0]), literal.end()
        if number := NUMBER.match(self.text, at):
            digits = number[0]
            return (int(digits) if digits.lstrip("-").isdigit() else float(digits)), number.end()
        raise Unreadable

    def _list(self, at: int, depth: int) -> tuple[list[Any], int]:
        values: list[Any] = []
        at = self._space(at + 1)
        while (end := self._closed(at, "]")) is None:
            value, at = self._value(at, depth + 1)
            values.append(value)
            at = self._comma(at, "]")
        return values, end

    def _object(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        opening, fields = self.text[at], {}
        closing = CLOSING[opening]
        at = self._space(at + 1)
        doubled = self.text[at : at + 1] == opening
        at = self._space(at + 1) if doubled else at
        while (end := self._closed(at, closing)) is None:
            key, at = self._key(at)
            fields[key], at = self._value(at, depth + 1)
            at = self._comma(at, closing)
        return fields, end + (doubled and self.text[end : end + 1] == closing)

    def _key(self, at: int) -> tuple[str, int]:
        self.charge(1)
        if self.text[at : at + 1] in STRINGS:
            key, at = self._string(at)
        elif name := KEY.match(self.text, at):
            key, at = name[0], name.end()
        else:
            raise Unreadable
        separator = SEPARATOR.match(self.text, at)
        if separator is None:
            raise Unreadable
        return key, separator.end()

    def _comma(self, at: int, closing: str) -> int:
        """Return the position behind a comma, which may only be missing before the end."""
        at = self._space(at)
        if self.text[at : at + 1] == ",":
            return self._space(at + 1)
        if self._closed(at, closing) is None:
            raise Unreadable
        return at

    def _closed(self, at: int, closing: str) -> int | None:
        if self.text[at : at + 1] == closing:
            return at + 1
        return at if END_MARK.match(self.text, at) else None


def unescaped(text: str) -> str:
    """Return a string's text without escapes; a lone half of a character becomes U+FFFD."""
    if "\\" not in text:
        return text
    plain = ESCAPE.sub(
        lambda found: (
            chr(int(found[1][1:], 16)) if len(found[1]) > 1 else ESCAPED.get(found[1], found[1])
        ),
        text,
    )
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


STRING_END = re.compile(r'[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"')  # from behind the opening quote
HEX, HIGH, LOW = "[0-9a-fA-F]{4}", "[dD][89abAB][0-9a-fA-F]{2}", "[dD][c-fC-F][0-9a-fA-F]{2}"
# A high surrogate waits for what follows it, since the two may be one character.
WHOLE_ESCAPES = re.compile(
    rf"(?:[^\\]++|\\[^u]|\\u(?!{HIGH}){HEX}|\\u{HIGH}\\u{LOW}"
    rf"|\\u{HIGH}(?=[^\\]|\\[^u]|\\u(?!{LOW}){HEX}))*+"
)
SCALAR = re.compile(r"[^\s,\]}]+")
NESTED_TOKEN = re.compile(r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"|[\[\]{}"]')
PARTIAL_DEPTH = {"[": 1, "{": 1, "]": -1, "}": -1}

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
                depth += PARTIAL_DEPTH.get(token[0], 0)
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
