"""Whom a character knows, how well and how gladly: a graph, and the same as a table."""

from __future__ import annotations

import math
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.game.memory_reading import count_shown, may_read
from evennia_ai.policy.disclosure import Reader
from evennia_ai.policy.records.entity_profiles import RELATIONSHIP, familiarity_at
from evennia_ai.policy.records.provenance import Record, copy_of
from evennia_ai.scheduling import Steps
from evennia_ai.store.names import names_of
from evennia_ai.store.page_rows import Row
from evennia_ai.web.staff.access import staff_page
from evennia_ai.web.staff.game_thread import find_script, game
from evennia_ai.web.staff.memory_browser import ensure_may_read
from evennia_ai.web.staff.rendering import page_text

SHOWN, DRAWN = 200, 16
WIDTH, HEIGHT = 640, 460
RADIUS_X, RADIUS_Y = 235, 180
FOND = 0.1  # sentiment from which a line is drawn as fond, or below minus that as hostile


@staff_page("relations.html")
def relations(request: Any, reader: Reader, who: Row) -> dict[str, Any]:
    """Show the relationships, best known first."""
    found = game.ask(read_relations, who["id"], reader, request.user.pk)
    best = sorted(found, key=lambda one: -one[1])[:SHOWN]
    names = names_of(record["entity"] for record, _ in best)
    rows = [shown_relation(record, familiar, names) for record, familiar in best]
    nodes = [placed(row, place / len(rows[:DRAWN])) for place, row in enumerate(rows[:DRAWN])]
    return {"rows": rows, "nodes": nodes, "left_out": len(found) - len(rows)}


@inlineCallbacks
def read_relations(
    assistant: int, reader: Reader, account: int
) -> Steps[list[tuple[Record, float]]]:
    """Read the relationships with how familiar each still is, on the reactor's thread."""
    script = find_script(assistant)
    ensure_may_read(script, reader, account)
    profiles, now = script.character.ai_profiles, script.services.now()
    yield profiles.load(script.services.slices.put)
    known = [one for one in profiles.held() if one["kind"] == RELATIONSHIP]
    seen = [copy_of(one) for one in known if may_read(reader, one)]
    count_shown(reader, *seen)
    return [(one, familiarity_at(one, now)) for one in seen]


def shown_relation(record: Record, familiar: float, names: dict[str, str]) -> Row:
    """Return a relationship as the template takes it."""
    felt, dbref = record["sentiment"], record["entity"]
    return {
        "name": page_text(names.get(dbref, f"somebody deleted ({dbref})"), 60),
        "dbref": dbref,
        "familiar": familiar,
        "sentiment": felt,
        "feeling": "fond" if felt >= FOND else "hostile" if felt <= -FOND else "neutral",
        "contacts": record["contacts"],
        "last": (record["last_contact"] or "")[:10] or "never",
    }


def placed(row: Row, part: float) -> Row:
    """Return a relationship with its place on an ellipse, a ``part`` of it from the top."""
    angle = 2 * math.pi * part
    x = round(WIDTH // 2 + RADIUS_X * math.sin(angle))
    y = round(HEIGHT // 2 - RADIUS_Y * math.cos(angle))
    return {**row, "x": x, "y": y, "stroke": f"{1 + 7 * row['familiar']:.1f}"}
