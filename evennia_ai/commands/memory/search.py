"""Show what a character would find if somebody asked, and what it would withhold."""

from __future__ import annotations

from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.memory_rendering import hidden_line
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.memory_reading import SearchReport, search_for_staff
from evennia_ai.game.script_ports import GameScript
from evennia_ai.messages import Audience
from evennia_ai.policy.disclosure import Reader
from evennia_ai.policy.records.memory_listing import named, why_found, why_withheld
from evennia_ai.ports import Found
from evennia_ai.scheduling import Steps
from evennia_ai.store.names import names_in
from evennia_ai.turn.recall import LINE_CHARS, memory_line, text_of


@inlineCallbacks
def search_as(
    script: GameScript, words: str, audience: Audience, reader: Reader
) -> Steps[list[str]]:
    """Search as the tool `search_memory` would for an audience, without counting as a recall.

    Fires with lines: what the audience may be told, with scores, and what is withheld, with the
    rule. A reader who may not see private records is told how many there are, but not whether any
    match. Fails with StoreUnavailable and TurnAborted.
    """
    report: SearchReport = yield search_for_staff(script, words, audience, reader)
    withheld = report.withheld
    names = names_in(*withheld, besides=audience)
    who = f"If {named(sorted(audience), names)} asked" if audience else "What anybody may be told"
    lines = [f"{clean_output(who, 200)}:"]
    lines += [hit_line(script, words, hit) for hit in report.found]
    if not report.found:
        lines.append("Nothing.")
    if withheld:
        rules = "; ".join(why_withheld(record, audience, names) for record in withheld)
        lines.append(f"|yWithheld|n (with its audience): {clean_output(rules, 600)}.")
    if report.hidden:
        lines.append(hidden_line(report.hidden, reader))
    return lines


def hit_line(script: GameScript, words: str, hit: Found) -> str:
    """Return a memory that was found, with its score and the reasons."""
    line = memory_line(script, hit.record, words)
    reasons = why_found(words, text_of(hit.record), hit.score)
    private = " |r(private)|n" if hit.record["audience"] is not None else ""
    return (
        f"|w{clean_output(hit.record['id'], 60)}|n {clean_output(line, LINE_CHARS)}{private}\n"
        f"    |x{clean_output(reasons, 200)}|n"
    )
