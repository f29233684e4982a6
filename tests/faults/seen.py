"""What a fault may look like to players and to admins."""

from __future__ import annotations

import re

from evennia_ai.models import Event

NOT_FOR_PLAYERS = re.compile(
    r"Traceback|Error\b|Exception|untrapped|\{\s*\"|tool_call|database|sqlite|None\b", re.IGNORECASE
)


def spoken_by(name, player):
    """What a player heard somebody say, or was told of them, each as one line."""
    return [line for line in player.heard() if line.lstrip("(").startswith(name)]


def seems_sane(player):
    """True where nothing a player was sent speaks of the machine behind the world."""
    strange = [line for line in player.heard() if NOT_FOR_PLAYERS.search(line)]
    assert not strange, strange
    return True


def tracebacks(lines):
    """The lines of a log that hold a traceback through our code."""
    return [line for line in lines if "Traceback" in line and "evennia_ai" in line]


def ends():
    """The state of each line that called for an answer, by its words."""
    spoken = Event.objects.exclude(kind__in=("arrive", "leave"))
    return dict(spoken.values_list("text", "state"))
