"""The runner plays through the real path and sees what the players' clients see."""

import pytest

from tests.dialogues.runner import play_all
from tests.scripted import call

pytestmark = pytest.mark.game

INN = "The Copper Kettle"


def line(speaker, kind, text, *checks, **fields):
    return {
        "speaker": speaker, "kind": kind, "text": text, "about": "talk", "checks": list(checks),
        **fields,
    }  # fmt: skip


def dialogue(*lines, players=({"name": "Ann"}, {"name": "Rolf"})):
    return {"id": "test-01", "cast": "odile", "players": list(players), "lines": list(lines)}


def failed(scored):
    return [(item.number, item.verdict.check) for item in scored if not item.verdict.holds]


@pytest.fixture
def play(game):
    """Play some lines with a scripted model; returns what failed."""

    def play(*lines, **fields):
        return failed(play_all(game, [dialogue(*lines, **fields)]))

    return play


def test_words_are_heard_and_answers_scored(game, play):
    game.model.add(call("say", text="Good day, Ann!"), call("say", text="Off with you."))
    assert play(
        line("Ann", "say", "hello Odile", {"contains_any": ["good day"]}),
        line("Ann", "say", "hello Odile", {"contains_any": ["good day"]}),
    ) == [(2, "contains_any")]


def test_a_whisper_is_private_and_what_is_said_is_not(game, play):
    game.model.add(call("whisper", text="Our secret."), call("say", text="So she told me."))
    assert play(
        line("Ann", "whisper", "psst", {"private": True}),
        line("Rolf", "say", "Odile, what did she say?", {"private": True}),
    ) == [(2, "private")]


def test_acts_and_the_world_after_them(game, play):
    game.model.add(
        (call("give", item="mug of ale", to="Ann"), call("say", text="Your ale.")),
        (call("emote", text="nods."), call("noop")),
    )
    mug = {"world": {"thing": "mug of ale", "held_by": "Ann"}}
    assert play(
        line("Ann", "say", "an ale, Odile", {"tool": {"name": "give", "args": ["ale"]}}, mug),
        line("Ann", "emote", "nods to Odile.", {"tool": {"name": "emote"}}, {"tool": {
            "name": "drop"}}),
    ) == [(2, "tool")]  # fmt: skip


def test_an_errand_that_ended_elsewhere_is_seen_and_mended(game, play):
    game.model.add(
        (call("move", to="cellar stairs"), call("noop")),
        call("say", text="Dry, it was."),
    )
    here = {"world": {"assistant_in": INN}}
    assert play(
        line("Ann", "say", "Odile, go and look", here, home=True, wait=10),
        line("Ann", "say", "and, Odile?", here),
    ) == [(1, "world")]
