"""Read JSON that a model wrote: wrong in small ways, or still arriving."""

import re
from typing import Any

from evennia_ai.policy.texts import BoundedPattern, read_object

DEPTH = 8
SPACE = re.compile(r"\s*+")
# What ends a string or stands before an escaped character, by the mark that opens it. The mark
# itself need not be escaped inside, if nothing behind it looks like an end.
IN_STRING = {'"': re.compile(r'["\\]'), "'": re.compile(r"['\\]"), "“": re.compile("”")}
BEHIND_STRING = frozenset(",:=}])<") | {""}
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[\s\S])")
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
KEY = re.compile(r"[^\W\d]\w{0,63}")
NUMBER = re.compile(r"-?\d{1,30}+(?:\.\d{1,30}+)?+(?:[eE][+-]?\d{1,2}+)?+(?![\w.])")
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
        match = SPACE.match(self.text, at)
        return match.end() if match else at

    def _value(self, at: int, depth: int) -> tuple[Any, int]:
        self.charge(1)
        char = self.text[at : at + 1]
        if depth > DEPTH or not char:
            raise Unreadable
        if char in IN_STRING:
            return self._string(at)
        if char in "{(":
            return self._object(at, depth)
        if char == "[":
            return self._list(at, depth)
        return self._scalar(at)

    def _string(self, at: int) -> tuple[str, int]:
        mark, text, end = IN_STRING[self.text[at]], self.text, at + 1
        while match := mark.search(text, end):
            end = match.end() + (match[0] == "\\")
            if match[0] == "\\":
                continue
            behind = self._space(end)
            if match[0] == "”" or text[behind : behind + 1] in BEHIND_STRING:
                self.charge((end - at) // 64)
                return unescaped(text[at + 1 : match.start()]), end
        self.charge(1 + (len(text) - at) // 16)
        raise Unreadable

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
        if self.text[at : at + 1] in IN_STRING:
            key, at = self._string(at)
        elif name := KEY.match(self.text, at):
            key, at = name[0], name.end()
        else:
            raise Unreadable
        at = self._space(at)
        if self.text[at : at + 1] not in (":", "="):
            raise Unreadable
        return key, self._space(at + 1)

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
        lambda match: (
            chr(int(match[1][1:], 16)) if len(match[1]) > 1 else ESCAPED.get(match[1], match[1])
        ),
        text,
    )
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


STRING_END = re.compile(r'\A[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"')  # from behind the opening quote
HEX, HIGH, LOW = "[0-9a-fA-F]{4}", "[dD][89abAB][0-9a-fA-F]{2}", "[dD][c-fC-F][0-9a-fA-F]{2}"
# A high surrogate waits for what follows it, since the two may be one character.
WHOLE_ESCAPES = re.compile(
    rf"(?:[^\\]++|\\[^u]|\\u(?!{HIGH}){HEX}|\\u{HIGH}\\u{LOW}"
    rf"|\\u{HIGH}(?=[^\\]|\\[^u]|\\u(?!{LOW}){HEX}))*+"
)
LONGEST = 1_000  # characters before a text that is read early: each part reads them anew


class TextFieldReader:
    """A reader of the text of one field, while the JSON object that has it arrives.

    It passes over text before the object, such as a code fence, and over other fields. Of a name
    that comes again the first text counts. Behind brackets there are no early words.
    """

    def __init__(self, name: str) -> None:
        self.done = False  # True once the text is whole
        opening = rf'[^{{}}]*+\{{[^{{}}\[\]]*?(?<!\\)"{name}"\s*+:\s*+"'
        self._opening = BoundedPattern(opening, LONGEST)
        self._unread, self._in_text = "", False

    def feed(self, part: str) -> str:
        """Add a part of the object; return what it adds to the text."""
        if self.done or (len(self._unread) >= LONGEST and not self._in_text):
            return ""
        self._unread += part
        if not self._in_text:
            opening = self._opening.match(self._unread)
            if opening is None:
                return ""
            self._in_text, self._unread = True, self._unread[opening.end() :]
        unread, end = self._unread, STRING_END.match(self._unread)
        part = unread[: end.end() - 1] if end else WHOLE_ESCAPES.match(unread)[0]  # type: ignore[index]
        self.done, self._unread = end is not None, unread[len(part) :]
        return unescaped(part)


class PartialJson:
    """Text that arrives in parts, and may be a JSON object.

    Looking at it reads it from its start, so there are looks at so many characters in all.
    """

    LOOK_CHARS, LEAST_LOOK = 300_000, 500  # in all, and what a look counts at least

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._chars = self._looked = 0

    def __bool__(self) -> bool:
        return self._chars > 0

    def __str__(self) -> str:
        return "".join(self._parts)

    def add(self, part: str) -> None:
        if part:
            self._parts.append(part)
            self._chars += len(part)

    def look(self) -> str:
        """Return the text, "" once too much was looked at."""
        self._looked += max(self.LEAST_LOOK, self._chars)
        return str(self) if self._looked <= self.LOOK_CHARS else ""

    def read(self) -> dict[str, Any] | None:
        """Return the object; None if the text is none, or too much was looked at."""
        end = self._parts[-1].rstrip()[-1:] if self else "{"
        text = self.look() if end in ("}", "") else ""
        return read_object(text) if text else None
