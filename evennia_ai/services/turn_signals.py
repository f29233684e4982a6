"""Tell the game when an assistant thinks and when it compacts its context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twisted.logger import Logger

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.game.perception import listening_objects
from evennia_ai.game.texts import text
from evennia_ai.game.typing_indicator import send_filler
from evennia_ai.ports import TurnRecord
from evennia_ai.signals import (
    compaction_finished,
    compaction_started,
    thinking_finished,
    thinking_started,
)

log = Logger()


def send_thinking(script: AssistantScript, turn: TurnRecord, begins: bool) -> None:
    """Send the signal that a turn's model calls begin or have ended."""
    if not script.pk:  # a deleted script cannot send a signal
        return
    character = script.character
    listeners = script.services.world.listeners(character) if character else frozenset()
    audience = turn.audience if turn.private else listeners
    if begins:
        thinking_started.send_robust(
            script, character=character, audience=audience, private=turn.private
        )
    else:
        thinking_finished.send_robust(script, character=character, audience=audience)


def send_compacting(script: AssistantScript, reason: str, result: Mapping[str, Any] | None) -> None:
    """Send the signal that a compaction begins (no result yet) or ended; log and show its end."""
    if not script.pk:
        return
    character = script.character
    if result is None:
        compaction_started.send_robust(script, character=character, reason=reason)
        return
    compaction_finished.send_robust(script, character=character, reason=reason, result=result)
    told = ", ".join(f"{key} {value}" for key, value in result.items())
    line = "evennia_ai: {name}: compaction ({reason}): {result}"
    log.info(line, name=script.mind.who.name, reason=reason, result=told)
    waited = (
        character.location and not script.mind.rest.is_asleep and script.mind.company.players_near()
    )
    if result.get("success") and waited:
        send_filler(character, text("compacted"), listening_objects(character))
