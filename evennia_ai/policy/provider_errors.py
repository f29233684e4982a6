"""What an endpoint's failure means, by the rows of ``provider_errors.toml``."""

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

from evennia_ai.messages import LLMReply

MOST_CHARS = 4_000


class ErrorKind(Enum):
    """What is done about a failure."""

    OVERFLOW = "the request is longer than the context window: make room, ask again"
    SPENT = "only payment or a long wait helps"
    BAD_KEY = "the key is missing or wrong"
    NO_MODEL = "there is no such model, or no chat completions at this address"
    MOVED = "the endpoint is elsewhere"
    FILTERED = "the endpoint does not like the content"
    LOADING = "the model is being loaded: ask again until it is there"
    BUSY = "too many requests: ask again after a wait"
    BROKEN = "the endpoint has trouble: ask again after a wait"
    NO_REPLY = "a success without a reply: ask again after a wait"
    UNEXPLAINED = "no cause is named: for a long request, perhaps its length"
    REJECTED = "this request is refused, and would be again"


@dataclass(frozen=True)
class ErrorResponse:
    """What an endpoint said with a failure.

    ``status`` is the HTTP status, 0 if there is none; ``code`` the provider's own name or number
    for the error; ``words`` all its texts, for classification only; ``wait_s`` the wait in seconds
    that it asks for; ``told`` what admins may read of it. ``generation`` is what the model wrote,
    of which the server could make no reply.
    """

    words: str = ""
    status: int = 0
    code: str = ""
    wait_s: float | None = None
    told: str = ""
    generation: str = ""

    @cached_property
    def text(self) -> str:
        """Return the words in one spelling, numbers as ``#``."""
        return NUMBER.sub("#", plain(self.words))

    @cached_property
    def spelled_code(self) -> str:
        return plain(self.code)

    @cached_property
    def sentences(self) -> list[str]:
        """Return the words by sentences, without the name of the parameter that limits a reply.

        Servers complain about that in the same words.
        """
        return SENTENCE_END.split(REPLY_LIMIT.sub("reply limit", self.text))


@dataclass(frozen=True)
class ErrorRule:
    """A row of the table: a meaning and its signs, of which all that are given must hold."""

    means: ErrorKind
    by: str
    statuses: Collection[int] = ()
    code: str = ""
    words: Collection[Collection[str]] = ()
    sentence: Collection[Collection[str]] = ()
    never: Collection[int] = ()
    unless: str = ""
    unless_code: str = ""
    asks_over_s: float = 0.0
    asks_no_wait: bool = False

    def fits(self, response: ErrorResponse) -> bool:
        return (
            (not self.statuses or response.status in self.statuses)
            and response.status not in self.never
            and not (self.asks_over_s and (response.wait_s or 0.0) <= self.asks_over_s)
            and not (self.asks_no_wait and response.wait_s is not None)
            and (not self.code or bool(re.search(self.code, response.spelled_code)))
            and not (self.unless_code and re.search(self.unless_code, response.spelled_code))
            and (not self.words or holds(self.words, response.text))
            and not (self.unless and re.search(self.unless, response.text))
            and (not self.sentence or any(holds(self.sentence, s) for s in response.sentences))
        )


QUOTES = re.compile(r"[`'\"’‘“”*]")
JOINTS = re.compile(r"[_/\s]+|-(?!\d)")
NUMBER = re.compile(r"(?<!-)\b\d+(?:[.,]\d+)*")
SENTENCE_END = re.compile(r"[.;!?。；](?:\s|$)")
REPLY_LIMIT = re.compile(
    r"\bmax(?:imum)? (?:new |completion |output |total )?tokens"
    r"|\b(?:output|completion|generated) tokens"
)

TOLD_WINDOW = re.compile(
    r"(?:context (?:length|window|size)|max(?:imum)?[ _](?:\w{1,24}[ _])?len(?:gth)?)"
    r"[^\d.]{0,24}?(\d{1,3}(?:[,.]\d{3})+|\d{3,9})\b",
    re.IGNORECASE,
)
LEAST_TOLD, MOST_TOLD = 256, 20_000_000
NEARLY_ALL = 0.99


def load_table(data: Mapping[str, Any]) -> tuple[ErrorRule, ...]:
    """Return the rows of a table, with its parts and its groups of statuses in their places."""
    parts: dict[str, str] = {}

    def filled(pattern: str) -> str:
        return PART.sub(lambda part: f"(?:{parts[part[1]]})", pattern)

    for name, alternatives in data["parts"].items():
        parts[name] = "|".join(map(filled, alternatives))

    def sign(name: str, value: Any) -> Any:
        if name in ("statuses", "never"):
            spans = data["statuses"][value] if isinstance(value, str) else value
            ends = (str(span).partition("-") for span in spans)  # of ``500-599``
            return frozenset(n for a, _, b in ends for n in range(int(a), int(b or a) + 1))
        if isinstance(value, list):
            return tuple(sign(name, item) for item in value)
        return filled(value) if isinstance(value, str) and name not in ("means", "by") else value

    rows = ({name: sign(name, value) for name, value in row.items()} for row in data["row"])
    return tuple(ErrorRule(**{**row, "means": ErrorKind[row["means"]]}) for row in rows)


PART = re.compile(r"<(\w+)>")
DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
TABLE = load_table(DATA)
SENTENCES = {ErrorKind[name]: sentence for name, sentence in DATA["sentences"].items()}  # for staff


def meaning_of(response: ErrorResponse) -> ErrorKind:
    """Return what a failure means, by the first row of `TABLE` that fits."""
    return next(row.means for row in TABLE if row.fits(response))


def told_window(words: str) -> int | None:
    """Return the window in tokens that an overflow's text names, None if it names none."""
    match = TOLD_WINDOW.search(words[:MOST_CHARS])
    tokens = int(re.sub(r"[,.]", "", match[1])) if match else 0
    return tokens if LEAST_TOLD <= tokens <= MOST_TOLD else None


def is_silent_overflow(reply: LLMReply, window: int) -> bool:
    """Return True if a reply's form shows that the request filled the context window."""
    # The signs are: a prompt count above the window; a reply that was cut off before its first word
    # while the prompt takes up 99 % of the window.
    prompt = reply.usage.prompt_tokens if reply.usage else 0
    empty = not reply.content and not reply.tool_calls
    cut_off = reply.finish_reason == "length" and empty and prompt >= NEARLY_ALL * window
    return prompt > window or cut_off


def plain(text: str) -> str:
    """Return text in lower case without quotes, ``_`` and ``/`` as spaces."""
    return JOINTS.sub(" ", QUOTES.sub("", text[:MOST_CHARS].lower()))


def holds(lists: Collection[Collection[str]], text: str) -> bool:
    """Return True if every pattern of one of some lists is found in the text, in any order."""
    return any(all(re.search(pattern, text) for pattern in patterns) for patterns in lists)
