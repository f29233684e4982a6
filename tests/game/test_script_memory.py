"""What an assistant has in memory only."""

import gc

import pytest

from evennia_ai.models import Turn
from tests.scripted import call

pytestmark = [pytest.mark.game]


def test_what_nobody_set_is_none_and_a_value_stays(mira):
    memory = mira.assistant.ndb
    assert memory.errand is None
    memory.errand = "bread"
    assert mira.assistant.ndb.errand == "bread"
    memory.errand = None
    assert mira.assistant.ndb.errand is None


def test_memory_outlives_a_flush_of_evennias_cache(mira):
    from evennia.utils.idmapper.models import conditional_flush, flush_cache

    number, key = mira.assistant.pk, "errand"
    setattr(mira.assistant.ndb, key, "bread")
    flush_cache()
    conditional_flush(0, force=True)
    gc.collect()
    found = type(mira.assistant).objects.get(pk=number)
    assert found is mira.assistant and getattr(found.ndb, key) == "bread"


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


def test_each_assistant_has_its_own_and_a_default_is_not_stored(game, tavern, mira):
    other = game.assistant("Tom", tavern).assistant
    assert mira.assistant.mind.compactor._strikes == other.compaction_strikes == 0
    mira.assistant.mind.compactor._strikes += 1
    assert (mira.assistant.mind.compactor._strikes, other.compaction_strikes) == (1, 0)
    assert "compaction_strikes" not in vars(other.ndb)
