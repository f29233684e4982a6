"""Tables of plain text that fit the width of a telnet client."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evennia_ai.game.client_text import clean_output
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.text_width import fitting, shown_width

TABLE_WIDTH = 78
NARROWEST = 4
CELL_CHARS = 60
FIGURE = re.compile(r"[\d,.%-]*")


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
    lines = [" ".join(map(fitted, row, widths)).rstrip() for row in (titles, *cells)]
    return "\n".join([f"|w{lines[0]}|n", *lines[1:]])


def fitted(cell: str, width: int) -> str:
    """Return a cell cut and filled up to a width, escaped for a client."""
    shown = fitting(cell, width)
    return clean_output(shown) + " " * (width - shown_width(shown))
