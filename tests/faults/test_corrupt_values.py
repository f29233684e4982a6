"""Fault 38: Attributes with corrupt values. Each is set aside, and the assistant runs."""

from typing import get_args

import pytest
from django.db import connection
from evennia.server.models import ServerConfig
from twisted.internet.defer import Deferred

from evennia_ai.config import FIELDS, HINTS
from evennia_ai.store.server_settings import FACTS, MARKS, WISHES
from evennia_ai.store.server_settings import GAME as GAME_NAME
from tests.faults.process_scene import pass_time
from tests.faults.seen import ends, seems_sane, tracebacks
from tests.scripted import call
from tests.short_form import short_form

pytestmark = pytest.mark.game


ON_CHARACTER = {
    "ai_persona": [7, ["x"], b"x", {"mood": "grim"}, {"knows": 7}, {1: 2, "x": 3}, "@nobody"],
    "ai_lore": [7, "text", {"a": 1}, [7], [{"title": "x"}], [{"text": "x", "scopes": 7}],
                [{"text": "x", "scopes": ["moon:x"]}], [None]],
    "ai_fillers": [7, {"a": 1}, 2.5],
    "ai_following": [7, ["#1"], {}],
}  # fmt: skip
CASES = [(name, value) for name, values in ON_CHARACTER.items() for value in values]
STRANGE = [[], {"a": 1}, b"x", "many", -1, -(10**400), 10**5_000, float("nan"), True, ("x",)]
GAME = {"autonomous_calls_per_hour": 0}  # of the game of these tests
# Texts that are free: what Evennia hands out for bytes it cannot read is a text too.
NAMES = {name for name, hint in HINTS.items() if str in (get_args(hint) or (hint,))}
GARBAGE = ["%%%", "gASV", "gASVDAAAAAAAAACMBm5vd2hlcmWUjAF4lJOULg==", "\x00\ufffd", ""]


def scribble(obj, name, raw):
    """Write a value into an Attribute's column that Evennia never writes."""
    obj.attributes.add(name, "x")
    attribute = obj.attributes.get(name, return_obj=True)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE typeclasses_attribute SET db_value = %s WHERE id = %s", [raw, attribute.pk]
        )
    attribute.flush_from_cache(force=True)
    obj.attributes.reset_cache()


def raw_value(obj, name):
    attribute = obj.attributes.get(name, return_obj=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT db_value FROM typeclasses_attribute WHERE id = %s", [attribute.pk])
        return cursor.fetchone()[0]


def runs(game, player, mira):
    """Check that the assistant hears, acts and answers."""
    late = Deferred()
    game.model.add(late, call("say", text="Well met."))
    player.do("say Mira, hello")
    game.run(3)
    late.callback(call("look"))
    game.run(1)
    assert player.last() == 'Mira says, "Well met."'
    assert ends() == {"Mira, hello": "answered"}
    assert seems_sane(player)
    return True


def complaints_of(logged):
    return [line for line in logged if ": a stored value is ignored: " in line]


@pytest.mark.parametrize(("name", "value"), short_form(CASES, 6))
def test_38_what_stands_on_a_character_and_is_of_no_use_is_set_aside(
    game, ann, mira, logged, name, value
):
    mira.attributes.add(name, value)
    stored = raw_value(mira, name)
    assert runs(game, ann, mira)
    runs_again(game, ann)
    assert raw_value(mira, name) == stored
    assert not tracebacks(logged)
    told = complaints_of(logged)
    assert len(told) == 1
    shown = mira.assistant.mind.settings.complaints
    assert len(shown) == 1
    assert shown[0].lower().startswith((name, "a persona", "the persona", "there is no shared"))


def runs_again(game, player):
    game.model.add(call("say", text="Once more."))
    player.do("say Mira, again")
    game.run(1)
    assert player.last() == 'Mira says, "Once more."'


@pytest.mark.parametrize("raw", GARBAGE)
def test_38_bytes_that_are_no_value_keep_nobody_from_talking(game, ann, mira, logged, raw):
    if "\0" in raw and connection.vendor == "postgresql":
        pytest.skip("PostgreSQL holds no NUL")
    owners = dict.fromkeys(ON_CHARACTER, mira) | {
        name: mira.assistant for name in [*FIELDS, "stopped"] if name not in NAMES
    }
    for name, owner in owners.items():
        scribble(owner, name, raw)
    assert runs(game, ann, mira)
    for name, owner in owners.items():
        assert raw_value(owner, name) == raw
    told = complaints_of(logged)
    assert len(set(told)) == len(told) >= len(FIELDS) - len(NAMES)
    assert not tracebacks(logged)


@pytest.mark.parametrize(
    "value", short_form(((one,) for one in STRANGE), 4), ids=range(len(STRANGE))
)
def test_38_settings_of_the_wrong_kind_are_passed_over(game, ann, mira, logged, value):
    script = mira.assistant
    for name in FIELDS:
        script.attributes.add(name, value)
    found = script.mind.settings.complaints
    complaints = [one for one in found if " limits nothing" not in one]  # that is of a good value
    passed_over = {sentence.split()[0] for sentence in complaints}
    assert passed_over
    for name in FIELDS:
        inherited = GAME.get(name, FIELDS[name].default)
        expected = inherited if name in passed_over else value
        assert getattr(script.config, name) == expected, name
    assert runs(game, ann, mira)
    assert not tracebacks(logged)
    assert len(complaints_of(logged)) == len(complaints)


@pytest.mark.parametrize(
    "value", short_form(["", "no", 7, [], [True], {"a": 1}], 3, pytest.mark.soak)
)
def test_38_a_switch_of_the_wrong_kind_stops_nobody(game, ann, mira, logged, value):
    mira.assistant.attributes.add("stopped", value)
    assert runs(game, ann, mira)
    assert len(complaints_of(logged)) == 1


@pytest.mark.parametrize(
    "value", short_form([7, 2.5, "Mira", {"Mira": 1}, [7, None, "Mira"], True], 2, pytest.mark.soak)
)
def test_38_a_list_of_the_muted_that_is_none_deafens_no_player(game, ann, mira, logged, value):
    ann.character.attributes.add("ai_muted", value)
    assert runs(game, ann, mira)
    ann.do("mute Mira")
    ann.do("say Mira, hello")
    game.run(1)
    assert ann.last() == 'You say, "Mira, hello"'
    assert not tracebacks(logged)


@pytest.mark.parametrize("value", ["garbage", 7, []])
def test_38_a_strange_mark_keeps_no_player_from_being_told(game, ann, mira, settings, value):
    settings.AI_ASSISTANT = {"autonomous_calls_per_hour": 0}
    ann.character.attributes.add("ai_introduced", value)
    assert runs(game, ann, mira)
    runs_again(game, ann)
    assert len([line for line in ann.heard() if "played by a computer program" in line]) == 1


STATE = (
    "author_note", "context_signals", "operating_mode", "sleep_phase", "sleep_cause",
    "asleep_since",
)  # fmt: skip
WISH_LOST = "a damaged wish to be forgotten is left out"
KEPT = (MARKS, WISHES, FACTS, GAME_NAME)


@pytest.mark.parametrize(
    "value",
    short_form(
        [7, "text", b"x", [7], [None], {"a": 1}, float("nan"), 10**400], 2, pytest.mark.soak
    ),
    ids=range(8),
)
def test_38_state_and_what_the_server_keeps_of_any_kind_stop_nobody(
    game, ann, admin, mira, logged, value
):
    for name in STATE:
        mira.assistant.attributes.add(name, value)
    for name in ("ai_persona_authors", "ai_quests"):
        mira.attributes.add(name, value)
    for key in KEPT:
        ServerConfig.objects.conf(key, value)
    game.next_process(mira.assistant).resume()
    assert runs(game, ann, mira)
    admin.do("aisleep Mira")
    pass_time(game, 30)
    runs_again(game, ann)
    assert "Mira" in admin.told("aistatus") and not tracebacks(logged)
    assert WISH_LOST in "".join(logged)
