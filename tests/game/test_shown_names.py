"""A character's name does nothing to the client of the staff who read about it."""

import pytest

from evennia_ai.models import DailyUse, SpeakerUse
from tests.game.screens import on_web, telnet

EVIL = "Eve|lcquit|ltclick|le http://evil.example |/Admin says"
COMMANDS = """
aisetup {0}
aisetup {0} = You are new.
aisetup/set {0}/tick_rate = 6
aisetup/set {0}/persona = You are a thief.
aisetup/list
aistatus
aicost
aistop {0}
aistop {0}
aistart {0}
aistart {0}
aisleep {0}
aisleep {0}
aiwake {0}
aiwake {0}
aicompact/dry {0}
aicompact/undo {0}
aicompact {0}
aihistory {0}
aihistory/turns {0}
aihistory/sleep {0}
aihistory/journal {0}
aimemory {0}
aimemory/add {0} = It rains.
aimemory/restore {0} = j99
aimemory/show {0} = j99
aigoals {0}
aigoals/add {0} = Find the cat.
ailore/for {0}
aitest {0} = hello
aipurge {0}
aiforget {0}
mute {0}
mute
aisetup/delete {0}
aisetup {1}
aimemory {1}
""".strip().splitlines()


@pytest.fixture
def eve(game, tavern):
    eve = game.assistant(EVIL, tavern)
    today = game.service.now().date()
    DailyUse.objects.create(assistant=eve.assistant, day=today, profile=EVIL[:64], prompt_tokens=9)
    SpeakerUse.objects.create(speaker=eve.dbref, day=today, prompt_tokens=9)
    return eve


@pytest.mark.parametrize("line", COMMANDS)
def test_no_command_shows_it_active(game, admin, eve, line):
    chest = game.thing(EVIL + "x", admin.character.location)
    admin.forget()
    admin.do(line.format(eve.dbref, chest.dbref))
    game.run(1)
    assert admin.session.sent
    # Evennia itself shows names in what happens in a room.
    for sent in (text for text in admin.session.sent if "falls asleep" not in text):
        assert "\x1b[4z" not in telnet(sent, MXP=True), sent
        assert not on_web(sent)[1], sent
        assert not any(row.startswith("Admin says") for row in telnet(sent).splitlines())
