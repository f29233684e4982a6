"""A hook of MkDocs that removes what only the tests read from fenced blocks."""

from __future__ import annotations

import re
from typing import Any

MARKS = re.compile(r"^(```\w+) .*$", re.M)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page without the marks after a block's language, such as ``text game``."""
    return MARKS.sub(r"\1", markdown)
