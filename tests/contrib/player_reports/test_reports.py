"""A player reports a character, and admins read what that player heard, and nothing else."""

import pytest
from evennia.contrib.base_systems.ingame_reports import ReportsCmdSet
from evennia.utils import logger

from evennia_ai.models import Report
from tests.game import conftest as scene
from tests.game.test_interoperability import Place
from tests.scripted import call

offline_game = scene.offline_game

pytestmark = pytest.mark.game


@pytest.fixture
def talk(game, ann, bob, mira):
    """Let Ann and Bob talk with Mira, aloud and in whispers."""
    game.model.add(
        call("say", text="You smell, Ann."), call("whisper", text="Ann is a fool, Bob."),
        call("whisper", text="I only jest, Ann."),
    )  # fmt: skip
    for player, line in (
        (ann, "say Mira, good evening."),
        (bob, "whisper Mira = what do you think of Ann?"),
        (ann, "whisper Mira = why so rude?"),
    ):
        player.do(line)
        game.run(1)


def test_reading_the_whispers_of_a_report_is_logged(talk, ann, mira, admin, monkeypatch):
    lines = []
    monkeypatch.setattr(logger, "log_sec", lambda text, **kwargs: lines.append(text))
    ann.do("aireport Mira = rude")
    admin.do(f"aireport/show {Report.objects.get().id}")
    whose = f"private items of Mira ({mira.dbref})"
    assert lines[-1].startswith("aireport/show: Ada") and lines[-1].endswith(whose)


def test_staff_reads_the_lines_that_the_reporter_heard(talk, ann, bob, mira, admin):
    assert "Thank you" in ann.told("aireport Mira = she insults |lcquit|ltme|le")
    listed = admin.told("aireport/list")
    assert "Ann of Mira: she insults |lcquit|ltme|le" in listed
    number = Report.objects.get().id
    shown = admin.told(f"aireport/show {number}")
    for line in ("good evening", "You smell, Ann.", "why so rude?", "I only jest, Ann."):
        assert line in shown
    assert shown.count("she insults") == 1
    assert shown.index("I only jest") < shown.index("^ This is the character's last line")
    ann.do("aireport Mira = She says that I smell!")
    named = admin.told(f"aireport/show {number + 1}")
    assert named.index("You smell") < named.index("^ The report has words") < named.index("jest")
    admin.do(f"aireport/close {number + 1}")
    assert "fool" not in shown and "what do you think" not in shown
    assert "is closed." in admin.told(f"aireport/close {number}")
    assert "closed already" in admin.told(f"aireport/close {number}")
    assert "no open reports" in admin.told("aireport/list")
    assert "she insults" in admin.told("aireport/list closed")
    assert "Page 1 of 1" in admin.told("aireport/list closed 2")
    assert "(closed by Ada)" in admin.told(f"aireport/show {number}")


@pytest.mark.parametrize("line", ["aireport/list", "aireport/show 1", "aireport/close 1"])
def test_players_cannot_read_reports(talk, bob, ann, line):
    ann.do("aireport Mira = rude")
    assert "There is no switch" in bob.told(line)


def test_a_report_of_nobody_asks_whom(ann):
    assert ann.told("aireport") == "Whom? aireport <name> = <reason>"


def test_one_player_cannot_flood_the_staff(talk, ann):
    for _ in range(5):
        ann.do("aireport Mira = rude")
    assert "has 5 reports of yours to read" in ann.told("aireport Mira = rude")
    assert Report.objects.count() == 5


def test_the_command_report_finds_accounts_and_aireport_characters(offline_game):
    place = Place(offline_game)
    place.ann.account.cmdset.add(ReportsCmdSet)
    assert place.answer("say Otto, what do you sell?")
    assert place.ann.told("report Otto = It lied.") == "Could not find 'Otto'."
    assert "The staff will read your report" in place.ann.told("aireport Otto = It lied.")
