"""Show what a character would find if somebody asked, and what it would withhold."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands.memory_rendering import count_shown, hidden_line, may_read, names_in
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.script_ports import GameScript
from evennia_ai.messages import Audience
from evennia_ai.policy.disclosure import PRIVATE_MEMORIES, Reader
from evennia_ai.policy.records.memory_listing import named, why_found, why_withheld
from evennia_ai.policy.records.provenance import Record, is_known_to
from evennia_ai.ports import Found
from evennia_ai.scheduling import pause
from evennia_ai.tools.memory import FOUND, find_memories
from evennia_ai.turn.recall import LINE_CHARS, memory_line, text_of


@inlineCallbacks
def search_as(
    script: GameScript, words: str, audience: Audience, reader: Reader
) -> Generator[Deferred[Any], Any, list[str]]:
    """Search as the tool `search_memory` would for an audience, without counting as a recall.

    Fires with lines: what the audience may be told, with scores, and what is withheld, with the
    rule. A reader who may not see private records is told how many there are, but not whether any
    match. Fails with StoreUnavailable and TurnAborted.
    """
    found: list[Found] = yield find_memories(script, words, audience)
    yield pause(script.services.slices.put)
    reads_private = reader.may(PRIVATE_MEMORIES)
    withheld = find_withheld(script, words, audience) if reads_private else []
    found = [hit for hit in found if may_read(reader, hit.record)]
    count_shown(reader, *withheld, *(hit.record for hit in found))
    names = names_in(*withheld, besides=audience)
    who = f"If {named(sorted(audience), names)} asked" if audience else "What anybody may be told"
    lines = [f"{clean_output(who, 200)}:"]
    lines += [hit_line(script, words, hit) for hit in found]
    if not found:
        lines.append("Nothing.")
    if withheld:
        rules = "; ".join(why_withheld(record, audience, names) for record in withheld)
        lines.append(f"|yWithheld|n (with its audience): {clean_output(rules, 600)}.")
    hidden = 0 if reads_private else count_hidden(script, reader)
    if hidden:
        lines.append(hidden_line(hidden, reader))
    return lines


def count_hidden(script: GameScript, reader: Reader) -> int:
    """Return how many memories the reader may not see, whether or not they match any words."""
    character = script.character
    records = [*character.journal.held(), *character.ai_profiles.held()]
    return sum(not may_read(reader, record) for record in records)


def find_withheld(script: GameScript, words: str, audience: Audience) -> list[Record]:
    """Return the nearest memories that may not be told to this audience."""
    now = script.services.now()
    nearest = script.memories.search(words, FOUND, audience, now, everything=True)
    return [hit.record for hit in nearest if not is_known_to(hit.record, audience)]


def hit_line(script: GameScript, words: str, hit: Found) -> str:
    """Return a memory that was found, with its score and the reasons."""
    line = memory_line(script, hit.record, words)
    reasons = why_found(words, text_of(hit.record), hit.score)
    private = " |r(private)|n" if hit.record["audience"] is not None else ""
    return (
        f"|w{clean_output(hit.record['id'], 60)}|n {clean_output(line, LINE_CHARS)}{private}\n"
        f"    |x{clean_output(reasons, 200)}|n"
    )
