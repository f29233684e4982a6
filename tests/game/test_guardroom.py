"""Twenty guards in a room: who answers, how many model calls a line costs, and what is stored."""

import pytest

from evennia_ai.models import Event, ModelCall
from tests.scripted import call

pytestmark = pytest.mark.engine

GUARDS = 20
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
    """Return twenty guards by their number, who say their name to whoever asks."""
    game.model.script = Talkative(lambda request: f"I am {request.scene.name}.")
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


def test_the_guard_who_was_talking_goes_on(game, ann):
    assert answers(game, ann, "Guard 07, hello") == ["Guard 07"]
    assert answers(game, ann, "and how are you?") == ["Guard 07"]
    assert answers(game, ann, "Guard, tell me more") == ["Guard 07"]


def test_among_players_nobody_answers_what_is_for_none_of_them(game, tavern, ann):
    game.player("Bob", tavern)
    assert answers(game, ann, "Bob, nice weather") == []
    assert answers(game, ann, "nice weather") == []


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
    assert len(spoken) == 1 + guardroom[0].assistant.config.max_hops


def test_two_guards_who_ask_others_make_no_more_answers_than_one(game, ann, guardroom):
    names = iter([guard.key for guard in guardroom[10:]] * 100)
    game.model.script = Talkative(lambda request: f"{next(names)}, who knows?")
    most = guardroom[0].assistant.config.max_hops
    assert len(answers(game, ann, "Guard 03 and Guard 05, who knows?", 30)) <= 2 + most


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


def test_a_guard_whom_a_player_controls_does_not_take_the_answer(game, ann, guardroom):
    admin = game.player("Admin", game.room("Office"), superuser=True)
    admin.account.puppet_object(admin.session, guardroom[0])
    assert answers(game, ann, "Guard, hello") == ["Guard 02"]


def test_the_same_words_again_are_another_line(game, ann, guardroom):
    for _ in range(2):
        ann.do("say Guard 07, hello")
        ann.do("emote waves at Guard 08.")
    game.run()
    for guard in guardroom:
        heard = Event.objects.filter(assistant_id=guard.assistant.id, speaker=ann.dbref)
        kinds = list(heard.order_by("id").values_list("kind", flat=True))
        assert sorted(kinds) == ["emote", "emote", "say", "say"]


def test_an_arrival_is_news_for_one_of_them(game, tavern, guardroom):
    yard = game.room("Yard")
    game.exit("in", yard, tavern)
    bob = game.player("Bob", yard)
    bob.do("in")
    game.run()
    assert len([guard for guard in guardroom if guard.assistant.mind.company.news_at]) == 1
    assert Event.objects.filter(kind="arrive", speaker=bob.dbref).count() == GUARDS


def test_from_the_offline_brain_one_guard_answers_too(offline_game):
    room = offline_game.room()
    for number in range(1, GUARDS + 1):
        offline_game.assistant(f"Guard {number:02}", room, PERSONA)
    ann = offline_game.player("Ann", room)
    for line in ("Guard 07, what is your name?", "Hello everybody", "Guard, where am I?"):
        ann.forget()
        ann.do(f"say {line}")
        for _ in range(30):
            offline_game.run(1)
        assert len([text for text in ann.heard() if " says, " in text]) == 1, line


def test_three_players_cost_at_most_a_model_call_a_line(game, tavern, guardroom):
    players = [game.player(name, tavern) for name in ("Ann", "Ben", "Cid")]
    lines = ["Guard 07, hello", "Hello everybody", "Ben, look at that", "who knows?", "guards!"]
    for number in range(30):
        players[number % 3].do(f"say {lines[number % 5]}")
        for _ in range(5):
            game.run(1)
    assert 0 < ModelCall.objects.count() <= 30


def test_what_is_overheard_stays_in_order_with_what_is_answered(game, ann, guardroom):
    said = ["Guard 02, hello", "Guard 01, hello", "Guard 02, and you?", "Guard 01, and you?"]
    for line in said:
        ann.do(f"say {line}")
    game.run()
    for guard in guardroom[:3]:
        heard = Event.objects.filter(assistant_id=guard.assistant.id, speaker=ann.dbref)
        assert list(heard.order_by("id").values_list("text", flat=True)) == said


def test_a_reload_in_that_moment_loses_no_word(game, ann, guardroom):
    ann.do("say Guard 02, hello")
    game.service.quiesce()
    assert Event.objects.filter(text="Guard 02, hello").count() == GUARDS


def test_who_wants_to_be_forgotten_in_that_moment_is(game, ann, guardroom):
    ann.do("say Guard 02, hello")
    game.service.forgetting.begin({ann.dbref})
    assert Event.objects.filter(text="Guard 02, hello").count() == GUARDS
    game.run()
    assert Event.objects.filter(text="Guard 02, hello").count() == GUARDS


def test_a_guard_deleted_in_that_moment_takes_no_word_from_the_others(game, ann, guardroom):
    ann.do("say Guard 02, hello")
    guardroom[4].delete()
    game.run()
    assert Event.objects.filter(text="Guard 02, hello").count() == GUARDS - 1
