"""Read JSON that a model wrote: wrong in small ways, or still arriving."""

import json
import re
from typing import Any

from pydantic_core import from_json

from evennia_ai.policy.texts import BoundedPattern, as_dict, as_text, read_object

DEPTH = 8
# A mark inside a string need not be escaped, if nothing behind it looks like an end.
STRING = r"{0}(?:[^{0}\\]|\\[\s\S]|{0}(?!\s*+(?:[,:=}}\])<]|\Z)))*+{0}"
LONGEST = 3_000  # characters of a string
TOKEN = BoundedPattern(
    r"(?P<string>" + "|".join(STRING.format(mark) for mark in "\"'") + r"|“[^”]*+”)"
    r"|(?P<opening>\{\{?|\(\(?|\[)|(?P<closing>[})\]])|(?P<joint>[,:=])"
    r"|(?P<number>-?\d{1,30}+(?:\.\d{1,30}+)?+(?:[eE][+-]?\d{1,2}+)?+)(?![\w.])"
    r"|(?P<literal>true|false|null|True|False|None)\b"
    r"|(?P<key>[^\W\d]\w{0,63})(?=\s*+[:=])",
    LONGEST,
)
SPACE = re.compile(r"\s*+")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[\s\S])")
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
IN_JSON = {"None": "null", "True": "true", "False": "false", "=": ":", "(": "{", ")": "}"}
CLOSING = {"{": "}", "(": ")", "[": "]", "{{": "}}", "((": "))"}
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
            written, end = self._written(at)
            return json.loads(written), end
        except (Unreadable, ValueError):
            return None

    def charge(self, steps: int) -> None:
        """Use up steps; raises Unreadable if there are none left."""
        self.steps_left -= steps
        if self.steps_left < 0:
            raise Unreadable

    def _written(self, end: int) -> tuple[str, int]:
        """Return the value at a position as JSON, if it is one, and its end; raises Unreadable."""
        parts, closings = list[str](), list[str]()
        while not parts or closings:
            at = SPACE.match(self.text, end).end() if parts else end  # type: ignore[union-attr]
            token = TOKEN.match(self.text[at : at + LONGEST])
            if token is None and closings and END_MARK.match(self.text, at):
                return without_comma(parts) + "".join(map(as_json, closings[::-1])), at
            end = at + token.end() if token else len(self.text)
            self.charge(1 + (end - at) // 32)
            if token is None or len(closings) > DEPTH:
                raise Unreadable
            text, kind = token[0], token.lastgroup
            if kind == "opening":
                closings.append(CLOSING[text])
            elif kind == "closing":
                closing = closings.pop() if closings else ""
                if closing[:1] != text:
                    raise Unreadable
                end += closing != text and self.text[end : end + 1] == text
                parts = [without_comma(parts)]
            parts.append(as_json(text, kind))
        return "".join(parts), end


def without_comma(parts: list[str]) -> str:
    """Return tokens as one text, without a comma at its end."""
    return "".join(parts).removesuffix(",")


def as_json(text: str, kind: str | None = "closing") -> str:
    """Return a token as JSON spells it."""
    if kind == "number":
        return repr(int(text) if text.lstrip("-").isdigit() else float(text))
    if kind in ("string", "key"):
        return json.dumps(unescaped(text if kind == "key" else text[1:-1]))
    return IN_JSON.get(text, text if kind == "literal" else IN_JSON.get(text[0], text[0]))


def unescaped(text: str) -> str:
    """Return a string's text without escapes; a lone half of a character becomes U+FFFD."""
    plain = ESCAPE.sub(
        lambda match: (
            chr(int(match[1][1:], 16)) if len(match[1]) > 1 else ESCAPED.get(match[1], match[1])
        ),
        text,
    )
    return whole_characters(plain)


def whole_characters(text: str) -> str:
    """Return a text with one character for two halves; a lone half becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def arriving_text(arrived: str, name: str) -> str:
    """Return what has arrived of the text of one field of a JSON object, "" if there is none.

    It passes over text before the object, such as a code fence.
    """
    text = arrived[max(0, arrived.find("{")) :]
    for spelling in (text, text.replace("\n", "\\n")):
        try:
            fields = from_json(spelling, allow_partial="trailing-strings")
        except ValueError:
            continue
        return as_text(as_dict(fields).get(name))
    return ""


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
