"""How many columns of a terminal a text takes."""

from __future__ import annotations

import unicodedata

WIDE, UNSEEN = frozenset("WF"), frozenset({"Mn", "Me", "Cf"})


def shown_width(text: str) -> int:
    """Return the columns that a text takes: two for a wide letter, none for an accent."""
    return sum(
        2
        if unicodedata.east_asian_width(char) in WIDE
        else unicodedata.category(char) not in UNSEEN
        for char in text
    )


def fitting(text: str, columns: int) -> str:
    """Return a text cut to some columns, with an ellipsis if anything is cut."""
    shown = text
    while shown_width(shown) > columns:
        shown = f"{shown.removesuffix('…')[:-1]}…"
    return shown


def filled(text: str, columns: int) -> str:
    """Return a text cut and filled up to some columns."""
    shown = fitting(text, columns)
    return shown + " " * (columns - shown_width(shown))
