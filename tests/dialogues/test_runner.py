"""The runner plays through the real path and sees what the players' clients see."""

import pytest

from evennia_ai.models import Event
from tests.dialogues.runner import Stage, load_cast, play_all
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


def test_gifts_arrivals_and_emotes_reach_the_assistant(game):
    game.model.add("Thank you.", "Sit down.")
    bell = {"name": "brass pin", "desc": "Bent."}
    players = [{"name": "Ann", "carries": [bell]}, {"name": "Rolf", "starts": "Ferry Road"}]
    lines = [line("Ann", "give", "brass pin"), line("Rolf", "go", "inn door")]
    lines += [line("Ann", "emote", "waves at Odile.")]
    assert failed(play_all(game, [dialogue(*lines, players=players)])) == [
        (2, "answered"),
        (2, "in_persona"),
    ]


def test_the_fallback_line_is_no_answer(game, play):
    from evennia_ai.errors import ProviderUnavailable

    game.model.add(ProviderUnavailable("down"))
    assert play(line("Ann", "say", "hello Odile"), players=[{"name": "Ann"}]) == [(1, "answered")]


def test_the_scene_is_as_the_data_say(game):
    cast = load_cast("odile")
    stage = Stage(game, dialogue(), cast)
    situation = game.service.world.situation(stage.assistant)
    assert (situation.place, situation.people) == (INN, ("Ann", "Rolf"))
    assert set(situation.exits) == {"cellar stairs (to The Cellar)", "front door (to Ferry Road)"}
    assert set(situation.things) == {"oak table", "notice board", "guest book", "brass bell"}
    assert set(situation.carrying) == {"mug of ale", "loaf of bread", "brass key"}
    assert stage.assistant.assistant.persona.wants == tuple(cast["persona"]["wants"])


def test_nothing_is_left_for_the_next_dialogue(game):
    play_all(game, [dialogue(), dialogue()])
    import evennia

    assert not evennia.SESSION_HANDLER
    assert not Event.objects.exists()
