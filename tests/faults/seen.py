"""What players and admins see of a fault."""

import re
from collections.abc import Generator
from contextlib import contextmanager

from django.db import DatabaseError, connection

from evennia_ai.models import Event

NOT_FOR_PLAYERS = re.compile(
    r"Traceback|Error\b|Exception|untrapped|\{\s*\"|tool_call|database|sqlite|None\b", re.IGNORECASE
)


def spoken_by(name, player):
    """Return what a player heard of somebody, one line each."""
    return [line for line in player.heard() if line.lstrip("(").startswith(name)]


def seems_sane(player):
    """Return True if no text for a player mentions the machine behind the world."""
    strange = [line for line in player.heard() if NOT_FOR_PLAYERS.search(line)]
    assert not strange, strange
    return True


def tracebacks(lines):
    """Return the log lines with a traceback through our code."""
    return [line for line in lines if "Traceback" in line and "evennia_ai" in line]


def ends():
    """Return the state of each line by its text, for whom it was said to if several heard it."""
    spoken = Event.objects.exclude(kind__in=("arrive", "leave")).values_list("text", "state")
    return dict(sorted(spoken, key=lambda line: line[1] not in ("overheard", "noted")))


@contextmanager
def refusals() -> Generator[list[str]]:
    """Give the errors of the statements that the database refuses meanwhile."""
    errors: list[str] = []

    def note(execute, *statement):
        try:
            return execute(*statement)
        except DatabaseError as error:
            errors.append(str(error))
            raise

    with connection.execute_wrapper(note):
        yield errors
