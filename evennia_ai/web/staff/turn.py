"""One turn: what was heard, each model call, each tool call, and why each sentence was said."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from evennia_ai.policy.disclosure import Reader, memory_kind, words_kind
from evennia_ai.policy.explanation.attribution import Attribution
from evennia_ai.policy.explanation.prompt_parts import Part
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.store.explanations import Explanation, explain_turn
from evennia_ai.store.page_rows import Row, parts_of
from evennia_ai.web.staff.access import staff_page
from evennia_ai.web.staff.rendering import Shown, page_lines, page_text, row_or_404


@staff_page("turn.html")
def turn(request: Any, reader: Reader, who: Row, number: int) -> dict[str, Any]:
    """Show one turn."""
    row = row_or_404("Turn", who, number)
    shown = Shown(reader, who, [row])
    whys = [why_line(why, reader) for why in explain_turn(number, [who["name"]])]
    return {"turn": shown.turn(row, parts_of([row])), "whys": whys}


def why_line(why: Explanation, reader: Reader) -> dict[str, Any]:
    """Return one line of the turn with its reasons, as far as the reader may see them."""
    kind = words_kind(why.private)
    text = page_text(reader.show(kind, why.text, "words"))
    if not (reader.may(kind) and reader.may(memory_kind(why.private))) or why.stored is None:
        return {"line": text, "state": why.state}
    return {"line": text, "state": why.state, "why": why_values(why.parts, why.sentences)}


def why_values(parts: Sequence[Part], sentences: Sequence[Attribution]) -> dict[str, Any]:
    """Return the values of the template ``why.html``, which the reader must be allowed to read."""
    sizes = [estimate_tokens(part.text) for part in parts]
    total = sum(sizes) or 1
    ends = list(accumulate(round(1_000 * tokens / total) for tokens in sizes))
    return {
        "total": total,
        "parts": [
            {
                "name": page_text(part.name, 40),
                "tokens": tokens,
                "at": start,
                "permille": end - start,
                "percent": round(100 * tokens / total),
                "lines": page_lines(part.text),
            }
            for part, tokens, start, end in zip(parts, sizes, [0, *ends], ends, strict=False)
        ],
        "sentences": [
            {"text": page_text(one.sentence), "tells": one.tells, "source": shown_source(one)}
            for one in sentences
        ],
    }


def shown_source(one: Attribution) -> dict[str, Any] | None:
    """Return where a sentence comes from, None if nothing in the prompt is near it."""
    if one.source is None:
        return None
    texts = {"part": page_text(one.source.part, 40), "text": page_text(one.source.text)}
    return {**texts, "score": one.share}
