"""The demo world: built once, whole, and not built twice."""

import pytest
from evennia.objects.models import ObjectDB

from world import build
from world.accounts import ensure_player
from world.prototypes import PROTOTYPE_LIST, ROOMS

KEYS = [item["prototype_key"] for item in PROTOTYPE_LIST]


@pytest.fixture
def quarter(service):
    build.build_world()


def snapshot():
    """Everything there is, with where it is."""
    return set(ObjectDB.objects.values_list("id", "db_key", "db_location", "db_destination"))


def test_every_prototype_is_somewhere(quarter):
    assert all(build.find(key) for key in KEYS)
    rooms = {item["prototype_key"] for item in ROOMS}
    assert set(build.PLACES) | rooms == set(KEYS)
    for key, room in build.PLACES.items():
        assert build.find(key).location == build.find(room)


def test_building_again_changes_nothing(quarter):
    before = snapshot()
    assert build.build_world() == 0
    assert snapshot() == before


def test_limbo_becomes_the_common_room(service):
    ObjectDB.objects.filter(id=build.LIMBO_ID).delete()  # one of the spare players has its number
    limbo = ObjectDB(id=build.LIMBO_ID, db_key="Limbo")
    limbo.db_typeclass_path = "evennia.objects.objects.DefaultRoom"
    limbo.save()
    build.build_world()
    common = build.find(build.COMMON_ROOM)
    assert (common.id, common.key) == (build.LIMBO_ID, "The Gilded Gull")
    assert "worn down to one bright eye" in common.db.desc


def test_every_way_leads_back(quarter):
    ways = {(start, end) for start, end, _, _ in build.WAYS}
    assert ways == {(end, start) for start, end in ways}
    for start, end in ways:
        exit_ = build.find(f"{start}_to_{end}")
        assert (exit_.location, exit_.destination) == (build.find(start), build.find(end))


def test_the_player_of_the_environment_is_made_once_and_waits_outside(quarter, settings):
    settings.START_LOCATION = build.find(build.COMMON_ROOM).dbref
    environ = {"EVENNIA_PLAYER_USERNAME": "Wanderer", "EVENNIA_PLAYER_PASSWORD": "tern-cask-4711"}
    ensure_player(environ)
    ensure_player(environ | {"EVENNIA_PLAYER_PASSWORD": "another-4711"})
    wanderer = ObjectDB.objects.get(db_key="Wanderer")
    assert wanderer.account is None
    assert wanderer.location is None
    assert wanderer.db.prelogout_location == build.find(build.COMMON_ROOM)
