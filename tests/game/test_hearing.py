"""What is said in a room reaches the inbox whole, with speaker, audience and kind."""

import pytest

from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.room_lines import split_message
from evennia_ai.models import Event
from evennia_ai.store import inbox
from tests.scripted import call


def events(character):
    rows = Event.objects.filter(assistant_id=character.assistant.id).order_by("id")
    return [(row.kind, row.text, row.speaker_name, row.private) for row in rows]


def stopped(game):
    game.service.accepting = False


def test_say_whisper_and_emote_are_heard_with_their_raw_words(game, ann, mira):
    stopped(game)
    ann.do('say A "quoted" |rword|n and {braces}')
    ann.do("whisper Mira = psst")
    ann.do("emote waves at Mira.")
    assert events(mira) == [
        ("say", 'A "quoted" word and {braces}', "Ann", False),
        ("whisper", "psst", "Ann", True),
        ("emote", "Ann waves at Mira.", "Ann", False),
    ]


def test_a_speaker_without_the_mixin_is_understood_from_the_finished_sentence(game, tavern, mira):
    from evennia.objects.objects import DefaultCharacter

    stopped(game)
    old = game.player("Old", tavern, typeclass=DefaultCharacter)
    old.do("say hello there")
    old.do("whisper Mira = my secret")
    assert events(mira) == [
        ("say", "hello there", "Old", False),
        ("whisper", "my secret", "Old", True),
    ]


def test_the_audience_is_everybody_who_was_there(game, ann, bob, mira):
    stopped(game)
    ann.do("say hello")
    ann.do("whisper Mira = psst")
    ann.do("whisper Mira, Bob = for you two")
    rows = Event.objects.order_by("id")
    assert [set(row.audience) for row in rows] == [
        {ann.dbref, bob.dbref},
        {ann.dbref},
        {ann.dbref, bob.dbref},
    ]


def test_bystanders_hear_nothing_of_a_whisper(game, ann, mira, tavern):
    other = game.assistant("Otto", tavern)
    stopped(game)
    ann.do("whisper Mira = psst")
    assert events(other) == []


def test_who_comes_and_who_goes_is_told_apart(game, tavern, mira):
    yard = game.room("Yard")
    game.exit("out", tavern, yard)
    game.exit("in", yard, tavern)
    ann = game.player("Ann", yard)
    ann.do("in")
    game.run()
    ann.do("out")
    game.run()
    assert [(kind, name) for kind, _, name, _ in events(mira)] == [
        ("arrive", "Ann"),
        ("leave", "Ann"),
    ]


def test_things_and_animals_that_move_are_no_visitors(game, tavern, mira):
    from evennia.utils.create import create_object

    yard = game.room("Yard")
    dog = create_object("evennia.objects.objects.DefaultCharacter", key="Dog", location=yard)
    for place in (tavern, yard):
        dog.move_to(place)
        game.run()
    assert events(mira) == []


def test_a_character_without_an_assistant_hears_nothing_and_asks_the_database_once(
    game, tavern, ann, django_assert_num_queries
):
    from evennia.utils.create import create_object

    from evennia_ai.assistant_character import AssistantCharacter

    deaf = create_object(AssistantCharacter, key="Deaf", location=tavern)
    deaf.msg(('Ann says, "x"', {"type": "say"}), from_obj=ann.character)
    with django_assert_num_queries(0):
        deaf.msg(('Ann says, "x"', {"type": "say"}), from_obj=ann.character)
    assert not Event.objects.exists()


def test_a_builder_may_make_a_character_deaf_to_something(game, ann, mira, monkeypatch):
    from evennia_ai.assistant_character import AssistantMixin

    stopped(game)
    monkeypatch.setattr(
        AssistantMixin, "at_ai_hear", lambda self, event: None if "x" in event.text else event
    )
    ann.do("say x")
    ann.do("say y")
    assert [text for _, text, _, _ in events(mira)] == ["y"]


@pytest.mark.parametrize(
    ("line", "answered"),
    [
        ("say nice weather", False),
        ("say Mira, a beer", True),
        ("say Bob, a beer?", False),
        ("whisper Mira = hi", True),
        ("emote winks at Mira.", True),
        ("emote yawns.", False),
    ],
)
def test_in_company_only_what_is_meant_for_it_calls_for_an_answer(
    game, ann, bob, mira, line, answered
):
    game.model.add(call("noop"))
    ann.do(line)
    game.run()
    assert bool(game.model.requests) is answered


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (("hello", {"type": "say"}), ("hello", "say")),
        (["hello", {"type": "say"}], ("hello", "say")),
        (("hello", {"type": None}), ("hello", "")),
        (("hello", None), ("hello", "")),
        (("hello",), ("hello", "")),
        ((), ("", "")),
        ("hello", ("hello", "")),
        (None, ("", "")),
    ],
)
def test_a_line_is_understood_in_every_form_that_a_game_may_send(sent, expected):
    assert split_message(sent) == expected


@pytest.fixture
def otto(game, tavern, mira):
    return game.assistant("Otto", tavern)


@pytest.fixture
def busy(monkeypatch):
    """Let the database take no events; returns the patch, to be undone."""

    def refuse(*args):
        raise StoreUnavailable("locked")

    with monkeypatch.context() as patch:
        patch.setattr(inbox, "insert_rows", refuse)
        yield patch


@pytest.fixture
def unreadable(service, monkeypatch):
    """Let the database answer no question about who hears a line."""

    def refuse(*args):
        raise StoreUnavailable("locked")

    monkeypatch.setattr(service.lines, "hear", refuse)


def test_what_was_overheard_at_the_last_moment_is_stored_as_the_server_stops(
    game, ann, bob, mira, otto
):
    ann.do("say Bob, it rains")
    assert not Event.objects.exists()
    game.service.quiesce()
    assert Event.objects.count() == 2


def test_who_spoke_is_told_if_nothing_can_be_read(game, ann, mira, unreadable):
    ann.do("say Mira, hello")
    ann.forget()
    game.run(1)
    game.service.quiesce()
    assert "did not catch that" in ann.last()


def test_who_spoke_to_it_is_told_as_the_server_stops_if_it_could_not_be_stored(
    game, ann, mira, busy
):
    ann.do("say Mira, hello")
    ann.forget()
    game.service.quiesce()
    assert "did not catch that" in ann.last()
