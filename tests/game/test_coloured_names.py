"""Colours in names are for clients: no prompt, log, label or address holds their codes."""

import pytest

from evennia_ai.models import Event
from tests.llm.endpoint_neighbours import SPELLED as NEIGHBOURS
from tests.scripted import call

CODED = ("|r", "|n", "|g", "|5", "|l", "||")
SPELLED = {
    "Quill |rRed|n": "Quill Red",
    "Qu|rill R|ned": "Quill Red",
    "|500Quill |#00ff00Red|n": "Quill Red",
    "|lclook|ltQuill Red|le": "Quill Red",
    "|rQuill||Red|n": "Quill|Red",
    **dict(NEIGHBOURS.values()),
}


@pytest.mark.parametrize("key", SPELLED)
def test_a_character_is_called_what_people_read(game, tavern, ann, bob, key):
    quill, name = game.assistant(key, tavern, persona="You are a scribe."), SPELLED[key]
    game.model.add(call("say", text=f"{name}: Good evening."))
    ann.do(f"say {name}, good evening.")
    game.run()
    assert bob.last() == f'{name} says, "Good evening."'
    texts = "\n".join(str(m["content"]) for m in game.model.requests[0].messages)
    assert f"You are {name}.\n" in texts
    assert not any(code in texts for code in CODED)
    assert Event.objects.get(assistant_id=quill.assistant.id).reason == "named"


def test_the_names_of_others_places_ways_and_things_are_read_without_codes(game):
    inn, yard = game.room("The |gGreen|n Inn"), game.room("Y|ya|nrd")
    game.exit("|wout|n", inn, yard)
    game.thing("r|re|nd mug", inn)
    mira, eve = game.assistant("Mira", inn), game.player("|gEve|n", inn)
    game.model.add(call("get", item="red mug"), call("say", text="Here you are."))
    game.model.add(call("move", to="out"), call("say", text="Farewell."))
    eve.do("say Mira, the mug?")
    game.run()
    eve.do("pose nods to Mira.")
    game.run()
    shown = game.tail(0)
    for told in ("The Green Inn", "out (to Yard)", "red mug", "Eve says: Mira, the mug?"):
        assert told in shown
    assert "Eve acts out: nods to Mira." in game.tail(2)
    assert (mira.location, [one.key for one in mira.contents]) == (yard, ["r|re|nd mug"])
    assert set(Event.objects.values_list("speaker_name", flat=True)) == {"Eve"}
    assert "Eve nods to Mira." in Event.objects.values_list("text", flat=True)


def test_staff_read_the_name_without_codes_and_find_it_by_it(game, tavern, admin):
    game.assistant("Quill |rRed|n", tavern)
    eve = game.player("|gEve|n", tavern)
    game.model.add(call("say", text="Good evening."))
    eve.do("say Quill, good evening.")
    game.run()
    for line in ("aihistory Quill Red", "aihistory/turns Quill Red"):
        told = admin.told(line)
        assert "Eve" in told
        assert not any(code in told for code in CODED), told
    for line in ("aihistory Quill Red", "aistatus"):
        assert "Quill Red" in admin.told(line)
