"""Read logged turns of a character as a scene."""

from __future__ import annotations

import json
import re
from typing import Any

from evennia_ai.errors import ConfigError
from evennia_ai.messages import WHISPER
from evennia_ai.models import Event, ToolCall, Turn
from evennia_ai.policy.request_forms.wire_order import WHISPERED
from evennia_ai.policy.scenes.checks import Act, Spoken
from evennia_ai.policy.scenes.recorded import LoggedLine, LoggedTurn, scene_text
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.testing.scenes.casting import find_character
from evennia_ai.testing.scenes.stage import SPOKEN

TURNS_BEFORE = 3
MOST_TURNS = 100
RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def record_scene(name: str, turns: str, whispers: bool) -> str:
    """Return turns of a character's log as a scene file; ``turns`` is as "12" or "12-15".

    Without ``whispers``, whispered lines and the turns that answer them are left out. Raises
    ConfigError if there is nothing to record.
    """
    first, last = turn_range(turns)
    character = find_character(name)
    script_id = character.scripts.get(SCRIPT_KEY)[0].id
    logged = Turn.objects.filter(assistant_id=script_id, context="tick_event").order_by("id")
    if not whispers:
        logged = logged.filter(private=False)
    rows = list(logged.filter(id__range=(first, last))[:MOST_TURNS])
    found = [read_turn(row, whispers) for row in rows]
    found = [turn for turn in found if turn.heard]
    if not found:
        aside = "" if whispers else " Whispers are left out; --whispers records them, too."
        raise ConfigError(
            f"{character.key} answered nobody in the turns {turns}. `aihistory/turns` shows their "
            f"numbers.{aside}"
        )
    before = list(logged.filter(id__lt=found[0].number).order_by("-id")[:TURNS_BEFORE])[::-1]
    return scene_text(str(character.key), [read_turn(row, whispers) for row in before], found)


def turn_range(text: str) -> tuple[int, int]:
    """Return the first and the last number of a range; raises ConfigError."""
    found = RANGE.fullmatch(text.strip())
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if first > last:
        raise ConfigError(f"--turns {text!r} names no turns. Write a number or a range: 12-15.")
    return first, last


def read_turn(row: Any, whispers: bool) -> LoggedTurn:
    """Return a turn with what was heard and done; private lines only with ``whispers``."""
    events = Event.objects.filter(turn=row).order_by("id")
    calls = ToolCall.objects.filter(turn=row, state="done", world=True).order_by("id")
    spoken = (as_spoken(call) for call in calls if call.name in SPOKEN)
    others = (call for call in calls if call.name not in SPOKEN)
    return LoggedTurn(
        row.id,
        tuple(
            LoggedLine(event.speaker_name, event.kind, event.text, event.private)
            for event in events
            if whispers or not event.private
        ),
        tuple(item for item in spoken if whispers or not item.private),
        tuple(Act(call.name, json.loads(call.arguments or "{}"), call.state) for call in others),
    )


def as_spoken(call: Any) -> Spoken:
    """Return a logged speech; words of a private turn are whispered, whatever the tool."""
    private = call.name == WHISPER or call.result.startswith(WHISPERED)
    return Spoken(call.name, str(json.loads(call.arguments or "{}").get("text", "")), private)
