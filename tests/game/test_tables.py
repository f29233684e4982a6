"""Tables fit a telnet client, count what is counted, and tell those of one name apart."""

import unicodedata

import pytest

from evennia_ai.models import DailyUse, Event, ModelCall, SpeakerUse
from tests.game.screens import on_telnet

LONG = "Berengaria von und zu Hohenschwangau-Neuenstein"
WIDE = "酒場の女主人とその優しい妹たちと、そして古い番犬のシロ"
ACCENTS = "Zo\u0308e\u0301 the Te\u0301me\u0301raire of Saint-E\u0301tienne-du-Gre\u0300s"
BIG = 9_876_543_210


def shown_columns(line):
    """Return how many columns of a terminal a line takes, by Unicode's own tables."""
    marks = ("Mn", "Me", "Cf")
    seen = [char for char in line if unicodedata.category(char) not in marks]
    return sum(1 + (unicodedata.east_asian_width(char) in "WF") for char in seen)


def columns_of(player, command):
    """Type a command; return the width of each line on a telnet client."""
    player.forget()
    player.do(command)
    sent = "\n".join(map(on_telnet, player.session.sent))
    return [shown_columns(line) for line in sent.splitlines()], sent


@pytest.mark.parametrize("name", [LONG, WIDE, ACCENTS, "red|green|blue {x} |r" * 3])
def test_the_table_of_assistants_fits_whatever_the_names_and_figures(game, admin, mira, name):
    one = game.assistant(name, game.room(name))
    one.assistant.db.llm_model = WIDE
    today = game.service.now().date()
    DailyUse.objects.create(
        assistant=one.assistant, day=today, calls=4_000_000, prompt_tokens=BIG, completion_tokens=1
    )
    ModelCall.objects.create(
        assistant=one.assistant, at=game.service.now(), profile="p", prompt_tokens=2_000_000_000
    )
    widths, sent = columns_of(admin, "aistatus")
    assert max(widths[:3]) <= 78
    assert "9,876,543,211" in sent
    assert "4,000,000" in sent


def test_the_offline_brain_reads_no_tokens(offline_game, tavern_talk):
    admin, _mira = tavern_talk
    assert ModelCall.objects.exists()
    assert not DailyUse.objects.exists()
    assert not SpeakerUse.objects.exists()
    row = next(line for line in admin.told("aistatus").splitlines() if line.startswith("Mira"))
    assert row.split()[-2:] == ["0", "0"]
    turns = admin.told("aihistory/turns Mira")
    assert ", no tokens" in turns
    assert "tokens in" not in turns


@pytest.fixture
def tavern_talk(offline_game):
    """Return an admin and Mira, who answered them with the stand-in."""
    tavern = offline_game.room()
    mira = offline_game.assistant("Mira", tavern)
    admin = offline_game.player("Ada", tavern, permissions=["Admin"])
    admin.do("say Mira, good evening!")
    offline_game.run(3)
    assert Event.objects.get().state == "answered"
    return admin, mira
