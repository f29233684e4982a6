"""Characters that come from another server of `evennia-shards`; `tests/e2e` has real ones."""

import pytest
from evennia.objects.models import ObjectDB

from evennia_ai.game import tick_scheduler
from evennia_ai.services import startup
from evennia_ai.store.server_lock import note_home
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

HERE, THERE = "one", "two"


@pytest.fixture
def look_round(game, mira, monkeypatch):
    """Return what this shard does every 2 s, with the shard on which Mira's row is then."""
    home = []
    monkeypatch.setattr(ObjectDB, "shard_id", HERE, raising=False)
    for module in (startup, tick_scheduler):
        monkeypatch.setattr(module, "is_here", lambda character: character.shard_id == HERE)
    monkeypatch.setattr(
        startup, "of_this_shard", lambda rows, _name: rows if home[-1] == HERE else rows.none()
    )

    def look_round(shard):
        home.append(shard)
        game.service.startup.shards.look_round()
        game.run()

    look_round(HERE)
    return look_round


def hears(game, ann):
    """Return True if Mira answers Ann."""
    game.model.add(call("say", text="Good day."))
    ann.do("say Mira, hello!")
    game.run(1)
    return ann.last() == 'Mira says, "Good day."'


def test_who_comes_and_a_player_whom_the_router_took_away_hear_each_other(
    game, ann, tavern, look_round
):
    look_round(THERE)
    # As evennia-shards: its router takes connected players for gone, a move drops the place.
    ObjectDB.objects.filter(id=ann.character.id).update(db_location=None)
    tavern.flush_from_cache(force=True)
    look_round(HERE)
    assert hears(game, ann)


def test_who_left_and_came_back_between_two_looks_thinks_again(game, ann, mira, look_round):
    note_home(mira, THERE)  # as its move does, or a write meanwhile
    look_round(HERE)
    assert hears(game, ann)
