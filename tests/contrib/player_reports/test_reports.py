"""A player reports a character, and admins read what that player heard, and nothing else."""

import pytest
from evennia.contrib.base_systems.ingame_reports import ReportsCmdSet
from evennia.utils import logger

from evennia_ai.models import Report
from evennia_ai.policy.read_permissions import DEFAULTS, Reader
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


def test_admins_hear_of_a_report_until_it_is_closed(talk, ann, bob, admin, game, service):
    game.player("Bea", ann.character.location, permissions=["Builder"])
    admin.forget()
    bob.forget()
    ann.do("aireport Mira = rude")
    number = Report.objects.get().id
    assert f"A player has reported Mira: aireport/show {number}" in "\n".join(admin.heard())
    assert "reported" not in "\n".join(bob.heard())
    assert "1 open report: aireport/list" in admin.told("aistatus")
    for has, seen in ((lambda _: True, True), (lambda _: False, False)):
        problems = list(service.problems_told(Reader(DEFAULTS, has)))
        assert ("1 open report" in str(problems)) is seen, problems
    assert f"aireport/close {number}" in admin.told(f"aireport/show {number}")
    admin.do(f"aireport/close {number}")
    assert "open report" not in admin.told("aistatus")
    assert "aireport/close" not in admin.told(f"aireport/show {number}")


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
