"""What an assistant has in memory only."""

import gc

import pytest

from evennia_ai.models import Turn
from tests.scripted import call

pytestmark = [pytest.mark.game]


def test_memory_outlives_a_flush_of_evennias_cache(mira):
    from evennia.utils.idmapper.models import conditional_flush, flush_cache

    number, mind = mira.assistant.pk, mira.ai_mind
    flush_cache()
    conditional_flush(0, force=True)
    gc.collect()
    found = type(mira.assistant).objects.get(pk=number)
    assert found is mira.assistant and found.mind is mind


def test_a_line_is_answered_once_where_a_flush_left_an_old_copy_in_the_room(game, mira, ann, bob):
    from evennia.objects.models import ObjectDB
    from evennia.utils.idmapper.models import flush_cache

    assert mira in ann.character.location.contents  # the room keeps the cache of before the flush
    for thing in (mira, mira.assistant):
        thing.nattributes.clear()
    flush_cache()
    gc.collect()
    copy = ObjectDB.objects.get(pk=mira.pk)
    assert copy is not mira and mira in ann.character.location.contents
    assert copy.assistant is mira.assistant
    game.model.add(call("say", text="Aye!"))
    ann.do("say hello, Mira")
    game.run(10)
    assert bob.heard().count('Mira says, "Aye!"') == 1
    assert (len(game.model.requests), Turn.objects.count()) == (1, 1)
