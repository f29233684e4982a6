"""Counting tokens. Every part of a message counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

CountText = Callable[[str], int]

MESSAGE_OVERHEAD = 4
ASCII_CHARS_PER_TOKEN = 4.0
CYRILLIC_CHARS_PER_TOKEN = 2.0
WIDE_TOKENS_PER_CHAR = 1.0
ASTRAL_TOKENS_PER_CHAR = 2.0


def estimate_tokens(text: str) -> int:
    """Guess the number of tokens without a tokenizer, weighted by script.

    About 4 characters a token for English, 2 for other alphabets, 1 for Chinese, Japanese and
    Korean, half of one for emoji.
    """
    if text.isascii():
        return math.ceil(len(text) / ASCII_CHARS_PER_TOKEN)
    total = 0.0
    for char in text:
        code = ord(char)
        if code < 0x80:
            total += 1 / ASCII_CHARS_PER_TOKEN
        elif code < 0x2E80:
            total += 1 / CYRILLIC_CHARS_PER_TOKEN
        elif code < 0x10000:
            total += WIDE_TOKENS_PER_CHAR
        else:
            total += ASTRAL_TOKENS_PER_CHAR
    return math.ceil(total)


def count_message(message: Any, count_text: CountText = estimate_tokens) -> int:
    """Tokens of one message: its frame, role, words, calls and their arguments."""
    total = MESSAGE_OVERHEAD + count_text(message.get("content") or "")
    for call in message.get("tool_calls") or ():
        function = call["function"]
        total += MESSAGE_OVERHEAD + count_text(function["name"]) + count_text(function["arguments"])
    if message.get("tool_call_id"):
        total += count_text(message["tool_call_id"])
    return total


def count_conversation_tokens(
    history: Iterable[Any], model: str | None, count_text: CountText | None = None
) -> int:
    """Tokens of a list of messages.

    Args:
        history: messages, stored or on the wire.
        model: the model's name, for a ``count_text`` that depends on it.
        count_text: a tokenizer's count; None is the heuristic.
    """
    return sum(count_message(message, count_text or estimate_tokens) for message in history)
