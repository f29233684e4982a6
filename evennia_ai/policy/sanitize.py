"""The one way for a model's or a stranger's text to a client, a prompt, a log or a page.

Evennia turns ``|lc…|lt…|le`` into a link that runs a command with the clicker's rights, strips
markup in a single pass only, formats ``{…}`` and runs ``$func()`` in room messages (measured). So
nothing is stripped that could leave something behind: the characters that start any of it are
replaced one by one, and what cannot be seen is dropped.
"""

from __future__ import annotations

import re
import unicodedata

INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
SPACES = frozenset({"Zs", "Zl", "Zp"})
REPLACED = str.maketrans({"|": "¦", "{": "(", "}": ")"})
FUNCTION_START = re.compile(r"\$(?=[^\W\d])")
TAG_START = re.compile(r"<(?=[^\W\d]|[/!])")
REASONING = re.compile(
    r"<(think|thinking|reasoning|thought)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
DANGLING_REASONING = re.compile(
    r"\A.*</(?:think|thinking|reasoning|thought)\s*>", re.IGNORECASE | re.DOTALL
)
SPECIAL_TOKEN = re.compile(r"<\|[A-Za-z0-9_]{1,40}\|>")
CALL_MARKUP = re.compile(r"<(tool_call|function_call)\b.*?(?:</\1\s*>|\Z)", re.DOTALL)
QUOTES = {'"': '"', "“": "”", "«": "»", "„": "“"}
SENTENCE_END = re.compile(r"[.!?…](?=\s|$)")


def one_line(text: str) -> str:
    """Make text a single line of visible characters; newlines and tabs become spaces."""
    kept = []
    for char in text:
        category = unicodedata.category(char)
        if category in SPACES or char in "\n\r\t\v\f\x85":
            kept.append(" ")
        elif category not in INVISIBLE:
            kept.append(char)
    return " ".join("".join(kept).split())


def storable(text: str) -> str:
    """Text that any database and any encoder takes: no lone surrogate, no NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")


def cut_text(text: str, limit: int) -> str:
    """Shorten to at most ``limit`` characters, at the end of a sentence or a word where one is
    near, with an ellipsis where it is not a sentence's end."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    ends = [match.end() for match in SENTENCE_END.finditer(head)]
    if ends and ends[-1] >= limit // 2:
        return head[: ends[-1]]
    space = head.rfind(" ")
    return (head[:space] if space >= limit // 2 else head).rstrip() + "…"


def neutralize(text: str) -> str:
    """Break whatever starts markup, a format field, an inline function or an MXP tag (which
    Evennia 6.1 sends to an MXP client as it is)."""
    return TAG_START.sub("< ", FUNCTION_START.sub("$ ", text.translate(REPLACED)))


def clean_output(text: str, limit: int = 6_000) -> str:
    """Text that is safe in a client, a room message, a log line or a table cell.

    Idempotent; never longer than ``limit`` characters.
    """
    return cut_text(neutralize(one_line(text)), limit)


def clean_heard(text: str, limit: int = 2_000) -> str:
    """A player's words as one line for a prompt, as they were but for what cannot be seen."""
    return cut_text(one_line(text), limit)


def strip_reasoning(text: str) -> str:
    """Take out what a model thought to itself: ``<think>`` blocks, unclosed ones to the end, and
    everything before a closing mark whose opening the template swallowed; and marks of its own
    that are no words, such as ``<|im_end|>``."""
    text = REASONING.sub("", SPECIAL_TOKEN.sub("", text))
    text = DANGLING_REASONING.sub("", text)
    return CALL_MARKUP.sub("", text).strip()


def spoken_words(text: str, name: str, limit: int) -> str:
    """What a model wrote, as the words the character says: no thoughts, no own name before it, no
    quotation marks around it. Empty where nothing is left."""
    words = one_line(strip_reasoning(text))
    words = re.sub(rf"\A{re.escape(name)}(?: says)?\s*[:,]\s*", "", words, flags=re.IGNORECASE)
    closing = QUOTES.get(words[:1])
    if closing and len(words) > 1 and words.endswith(closing) and words.count(words[0]) <= 2:
        words = words[1:-1].strip()
    return cut_text(neutralize(words), limit)
