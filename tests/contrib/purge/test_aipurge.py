"""``aipurge``: an admin deletes old rows by hand, or looks what would go."""

from contextlib import suppress

import pytest

from evennia_ai.config.table_retention import RetentionLimit
from evennia_ai.models import Message, ModelCall
from evennia_ai.store import purge
from tests.game import purge_scene as scene
from tests.game.purge_scene import settle

pytestmark = pytest.mark.game

log, keep, purged = scene.log, scene.keep, scene.purged


@pytest.fixture
def ask(game, admin):
    """A function that runs the command, and its dialogue as Evennia would; what the admin is
    told."""

    def run(args="", answer=None):
        from evennia_ai.contrib.purge.aipurge import CmdAIPurge

        admin.forget()
        if answer is None:
            admin.do(f"aipurge{args}")
        else:
            command = CmdAIPurge()
            command.caller, command.session, command.args = admin.character, admin.session, args
            command.switches = []
            dialogue = command.run()
            admin.character.msg(next(dialogue))
            with suppress(StopIteration):
                dialogue.send(answer)
        settle(game, 0.1)
        return "\n".join(admin.heard())

    return run


def test_a_purge_by_hand_asks_first_and_tells_what_went(log, keep, ask):
    keep(ModelCall=RetentionLimit(days=30), Message=RetentionLimit(days=365, rows=100))
    log.call(50, None), log.call(40, None)
    assert "Nothing was deleted." in ask("", "no")
    assert ModelCall.objects.count() == 2
    told = ask("", "yes")
    assert "for ever and without an undo" in told
    assert "ModelCall 30 days, Message 365 days or 100 rows" in told
    assert (
        "Done. Rows deleted: ModelCall 1. Rows over a limit that stay because they are in use: 1."
        in told
    )
    assert ModelCall.objects.count() == 1


def test_dry_shows_a_table_and_why_some_stays(log, keep, ask):
    keep(Message=RetentionLimit(days=30), Event=RetentionLimit(days=30))
    log.summed_up()
    told = ask("/dry")
    rows = [line.split() for line in told.splitlines()]
    assert ["Message", "30", "days", "6", "2", "4"] in rows
    assert f"In use in Message: 4 {purge.IN_VIEW}." in told
    assert Message.objects.count() == 6


def test_one_assistant_may_be_named(log, keep, ask):
    keep(ModelCall=RetentionLimit(days=30))
    log.call(50, None), log.call(40, None)
    assert "from Mira's logs" in ask("Mira", "yes")
    assert ModelCall.objects.count() == 1
    assert "no character called 'Nora'" in ask(" Nora")


def test_a_purge_is_for_admins(log, ann):
    assert "Command 'aipurge' is not available" in ann.told("aipurge")
