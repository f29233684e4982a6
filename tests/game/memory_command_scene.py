"""Those who type ``aimemory``, and what the character remembers."""

import pytest

from evennia_ai.ports.journal import Journal, JournalArchive

TOLL = "The bridge toll is five pennies."


RING = "Ann hid the ring in the well."


@pytest.fixture
def told(game):
    """Return a function that types a command, lets time pass and returns the output."""

    def told(player, line):
        player.told(line)
        for _ in range(10):
            game.run(0.1)
        return "\n".join(player.heard())

    return told


@pytest.fixture
def ask(told, admin):
    """Return the same function for the admin."""
    return lambda line: told(admin, line)


@pytest.fixture
def builder(game, tavern, mira):
    """Return a builder who may edit Mira and is not an admin."""
    builder = game.player("Bo", tavern, permissions=["Builder"])
    mira.locks.add(f"edit:id({builder.character.id}) or perm(Admin)")
    return builder


@pytest.fixture
def ring(mira, ann):
    return mira.journal.add(RING, audience=[ann.dbref], speakers=[ann.dbref])


def contents(mira):
    return [entry["content"] for entry in mira.journal.all()]


def restarted(mira):
    """Return the journal as stored; drop journal and archive from memory."""
    Journal.drop(mira)
    JournalArchive.drop(mira)
    return mira.journal
