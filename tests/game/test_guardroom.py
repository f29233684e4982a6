"""Many guards in a room: who answers, how many model calls a line costs, and what is stored."""

import pytest

from evennia_ai.models import Event, ModelCall
from tests.scripted import call

pytestmark = pytest.mark.engine

GUARDS = 10
PERSONA = "You guard the gate of the castle by day and night."


class Talkative(list):
    """A script for all guards; it never ends, and each answer is made from the request."""

    def __init__(self, words):
        self.words = words

    def __bool__(self):
        return True

    def pop(self, index=0):
        return lambda request: call("say", text=self.words(request))


@pytest.fixture
def guardroom(game, tavern):
    """Return the guards by their number, who say their name to whoever asks."""
    game.model.script = Talkative(lambda request: f"I am {request.source.mind.who.name}.")
    return [game.assistant(f"Guard {n:02}", tavern, PERSONA) for n in range(1, GUARDS + 1)]


@pytest.fixture
def ann(game, tavern, guardroom):
    return game.player("Ann", tavern)


def answers(game, player, line, seconds=5):
    """Let a player say a line; return who says something then, and count the model calls."""
    player.forget()
    before = ModelCall.objects.count()
    player.do(f"say {line}")
    for _ in range(seconds):
        game.run(1)
    spoken = [text.split(" says, ")[0] for text in player.heard() if " says, " in text]
    assert ModelCall.objects.count() - before == len(spoken)
    return spoken


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Guard 07, what is your name?", ["Guard 07"]),
        ("What is your name, guard 7?", ["Guard 07"]),
        ("Guard 03 and Guard 05, come here!", ["Guard 03", "Guard 05"]),
        ("Guard, what is your name?", ["Guard 01"]),
        ("guards, open the gate", ["Guard 01"]),
        ("Hello everybody", ["Guard 01"]),
        ("nice weather", ["Guard 01"]),
    ],
)
def test_one_line_gets_one_answer_unless_several_are_named(game, ann, line, expected):
    assert sorted(answers(game, ann, line)) == expected


def test_no_guard_misses_a_word(game, ann, guardroom):
    answers(game, ann, "Guard 07, what is your name?")
    answers(game, ann, "nice weather")
    for guard in guardroom:
        heard = Event.objects.filter(assistant_id=guard.assistant.id, speaker=ann.dbref)
        assert [row.text for row in heard.order_by("id")] == [
            "Guard 07, what is your name?",
            "nice weather",
        ]
        assert all(set(row.audience) == others(ann, guardroom, guard) for row in heard)
    waiting = Event.objects.filter(speaker=ann.dbref, state="answered")
    assert {row.assistant_id for row in waiting} == {guardroom[6].assistant.id}


def others(player, guards, guard):
    return {player.dbref, *(other.dbref for other in guards)} - {guard.dbref}


def test_what_a_guard_says_is_heard_by_all_others_and_answered_by_none(game, ann, guardroom):
    answers(game, ann, "Guard 07, what is your name?")
    seventh = guardroom[6]
    heard = Event.objects.filter(speaker=seventh.dbref, text="I am Guard 07.")
    assert heard.count() == GUARDS - 1
    assert set(heard.values_list("state", flat=True)) == {"overheard"}


def test_a_guard_who_calls_all_others_is_answered_by_one(game, ann, guardroom):
    names = " and ".join(guard.key for guard in guardroom)
    game.model.script = Talkative(lambda request: f"{names}, who knows?")
    spoken = answers(game, ann, "Guard 07, who knows?", 30)
    assert len(spoken) == 1 + guardroom[0].assistant.config.max_bot_replies


def test_a_guard_who_is_stopped_leaves_the_answer_to_another_unless_called(game, ann, guardroom):
    guardroom[6].assistant.mind.stop_thinking()
    assert answers(game, ann, "Guard 07, hello") == []
    assert answers(game, ann, "Guard, hello") == ["Guard 01"]


def test_a_guard_who_sleeps_leaves_the_answer_to_another_unless_called(game, ann, guardroom):
    first = guardroom[0].assistant
    first.db.operating_mode = "sleep"
    first.db.sleep_phase = "dreaming"
    assert answers(game, ann, "Guard, hello") == ["Guard 02"]
    assert "Guard 01" in answers(game, ann, "Guard 01, hello")


def test_a_guard_whom_a_player_muted_does_not_take_the_answer(game, ann, guardroom):
    ann.character.toggle_mute(guardroom[0].dbref)
    assert answers(game, ann, "Guard, hello") == ["Guard 02"]


def test_a_line_that_calls_somebody_elsewhere_is_for_nobody_here(game, ann, guardroom):
    game.assistant("Otto", game.room("Yard"), PERSONA)
    assert answers(game, ann, "Otto, where are you?") == []
    assert answers(game, ann, "Have you seen Otto today?") == ["Guard 01"]


def test_the_same_words_again_are_another_line(game, ann, guardroom):
    for _ in range(2):
        ann.do("say Guard 07, hello")
        ann.do("emote waves at Guard 08.")
    game.run()
    for guard in guardroom:
        heard = Event.objects.filter(assistant_id=guard.assistant.id, speaker=ann.dbref)
        kinds = list(heard.order_by("id").values_list("kind", flat=True))
        assert sorted(kinds) == ["emote", "emote", "say", "say"]


def test_a_reload_in_that_moment_loses_no_word(game, ann, guardroom):
    ann.do("say Guard 02, hello")
    game.service.quiesce()
    assert Event.objects.filter(text="Guard 02, hello").count() == GUARDS
