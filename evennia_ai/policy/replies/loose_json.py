"""JSON as models write it: Python's spellings, needless commas, doubled or rounded braces.

Some models write ``(`` for ``{``.
"""

from __future__ import annotations

import re
from typing import Any

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
