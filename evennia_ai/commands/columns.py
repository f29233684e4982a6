"""Tables and pages of plain text that fit the width of a telnet client.

Evennia's EvTable breaks a figure that does not fit ("12,345,/678") and makes rows of several lines.
Here a figure stands whole, a row is a line, and only names and models are cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evennia_ai.game.client_text import clean_output
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.text_width import fitting, shown_width

TABLE_WIDTH = 78
NARROWEST = 4
CELL_CHARS = 60
INDENT = "    "
NO_BREAK = "\u00a0"
WORDS = re.compile(r" *[^ ]+")
MARKUP = re.compile(r"\|\||\|[a-zA-Z]")
CELLS = re.compile(rf"{MARKUP.pattern}|\|?.", re.S)
FIGURE = re.compile(r"[\d,.%-]*M?")


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of at most `TABLE_WIDTH` columns, escaped for a client.

    Long texts are cut, figures never.
    """
    cells = [[clean_heard(cell, CELL_CHARS) for cell in row] for row in rows]
    columns = list(zip(titles, *cells, strict=True))
    widths = [max(map(shown_width, column)) for column in columns]
    texts = [n for n, column in enumerate(columns) if not all(map(FIGURE.fullmatch, column[1:]))]
    while sum(widths) + len(widths) - 1 > TABLE_WIDTH:
        widest = max(texts, key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1
    lines = [" ".join(map(_fitted, row, widths)).rstrip() for row in (titles, *cells)]
    return "\n".join([f"|w{lines[0]}|n", *lines[1:]])


def _fitted(cell: str, width: int) -> str:
    shown = fitting(cell, width)
    return clean_output(shown) + " " * (width - shown_width(shown))


def wrapped(text: str) -> str:
    """Return escaped text with our markup, its lines broken to fit `TABLE_WIDTH` columns."""
    lines = "\n".join(piece for line in text.split("\n") for piece in _broken(line))
    return lines.replace(NO_BREAK, " ")


def unbroken(name: str) -> str:
    """Return a name whose spaces `wrapped` does not break.

    Else the rest of a name could begin a line, and look like the name of somebody else.
    """
    return clean_heard(name, CELL_CHARS).replace(" ", NO_BREAK)


def _broken(line: str) -> list[str]:
    pieces, used = [""], 0
    for word in WORDS.findall(line):
        if used + _width_of(word) > TABLE_WIDTH and pieces[-1].strip():
            pieces, used = [*pieces, INDENT], len(INDENT)
            word = word.lstrip()  # noqa: PLW2901
        for cell in CELLS.findall(word):
            width = _width_of(cell)
            if used + width > TABLE_WIDTH:  # a word longer than a line
                pieces, used = [*pieces, INDENT], len(INDENT)
            pieces[-1] += cell
            used += width
    return pieces


def _width_of(text: str) -> int:
    return shown_width(MARKUP.sub(lambda found: "|" * (found[0] == "||"), text))
