"""The one sanitizer for text from models or strangers.

All such text passes through it on its way to a client, a prompt, a log or a page. Evennia turns
``|lc…|lt…|le`` into a link that runs a command with the rights of whoever clicks it, strips markup
in a single pass only, formats ``{…}`` and runs ``$func()`` in room messages (measured). Stripping
markup could therefore leave new markup behind. This module instead replaces the characters that
start markup one by one, and drops invisible characters.
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
    r"<(think|thinking|reasoning|thought)\b[^<>]*>.*?(?:</\1\s*>|\Z)"
    r"|\[THINK\].*?(?:\[/THINK\]|\Z)"
    r"|<\|channel\|>\s?analysis\s?<\|message\|>.*?(?=<\|end\|>|<\|start\|>|<\|channel\|>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
DANGLING_REASONING = re.compile(
    r"\A.*</(?:think|thinking|reasoning|thought)\s*>", re.IGNORECASE | re.DOTALL
)
SPECIAL_TOKEN = re.compile(
    r"(?:<\|start\|>\s?assistant\s?)?<\|channel\|>\s?\w{1,20}\s?<\|message\|>"
    r"|<[|｜][\w▁]{1,40}[|｜]>"
)
CALL_MARKUP = re.compile(r"<(tool_call|function_call)\b.*?(?:</\1\s*>|\Z)", re.DOTALL)
QUOTES = {'"': '"', "“": "”", "«": "»", "„": "“"}
SENTENCE_END = re.compile(r"[.!?…](?=\s|$)")


def one_line(text: str) -> str:
    """Return text as one line of visible characters, with spaces for line breaks."""
    kept = []
    for char in text:
        category = unicodedata.category(char)
        if category in SPACES or char in "\n\r\t\v\f\x85":
            kept.append(" ")
        elif category not in INVISIBLE:
            kept.append(char)
    return " ".join("".join(kept).split())


def storable(text: str) -> str:
    """Return text that every database and encoder accepts: no lone surrogate, no NUL."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")


def cut_text(text: str, limit: int) -> str:
    """Return text cut to a limit after a sentence, or after a word or anywhere with an ellipsis."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    ends = [match.end() for match in SENTENCE_END.finditer(head)]
    if ends and ends[-1] >= limit // 2:
        return head[: ends[-1]]
    space = head.rfind(" ")
    return (head[:space] if space >= limit // 2 else head).rstrip() + "…"


def neutralize(text: str) -> str:
    """Break markup, format fields, inline functions and MXP tags, which Evennia 6.1 sends on."""
    return TAG_START.sub("< ", FUNCTION_START.sub("$ ", text.translate(REPLACED)))


def clean_output(text: str, limit: int = 6_000) -> str:
    """Return text that is safe in a client, room message, log line or table cell. Idempotent."""
    return cut_text(neutralize(one_line(text)), limit)


def clean_heard(text: str, limit: int = 2_000) -> str:
    """Return a player's words as one line for a prompt, without invisible characters."""
    return cut_text(one_line(text), limit)


def drop_reasoning(text: str) -> str:
    """Remove reasoning from a reply.

    Unclosed ``<think>`` blocks go up to the end of the text; so does everything before a closing
    tag whose opening tag the chat template swallowed.
    """
    return DANGLING_REASONING.sub("", REASONING.sub("", text))


def strip_reasoning(text: str) -> str:
    """Remove reasoning, text calls and special tokens such as ``<|im_end|>`` from a reply.

    `replies.text_calls` reads the calls before; those left here are none.
    """
    return CALL_MARKUP.sub("", SPECIAL_TOKEN.sub("", drop_reasoning(text))).strip()


def spoken_words(text: str, name: str, limit: int) -> str:
    """Return a reply as spoken words, without reasoning, own name and quotes; may be empty."""
    words = one_line(strip_reasoning(text))
    words = re.sub(rf"\A{re.escape(name)}(?: says)?\s*[:,]\s*", "", words, flags=re.IGNORECASE)
    closing = QUOTES.get(words[:1])
    if closing and len(words) > 1 and words.endswith(closing) and words.count(words[0]) <= 2:
        words = words[1:-1].strip()
    return cut_text(neutralize(words), limit)
