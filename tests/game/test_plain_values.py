"""Whatever a game does, what is stored is plain data."""

import pytest
from django.db import connection

from tests.scripted import call
from tests.upgrade.stored import names_in, names_in_pickles

BY_STAFF = (
    "aisetup/set Mira/tick_rate = 7",
    "aisetup/set Mira/whisper_policy = trusting",
    "aisetup/set Mira/sleep_schedule = 23:00-06:30",
    "aisetup/set Mira/persona.wants = a new roof; a quiet night",
    "aisetup/persona guard = You are a guard.",
    "aisetup/new Hob = @guard",
    "ailore/set The tower = Hanno built it.",
    "aimemory/add Mira = The cellar key hangs behind the bar.",
    "aimemory/pin Mira = j1",
    "ainote Mira = Keep to the harbour.",
    "aistop Hob",
    "aisleep Mira",
)
ACTS = (
    call("add_journal_entry", content="Ann owes Ben nine crowns."),
    call("update_entity_observation", entity="Ann", observation="Ann limps."),
    call("pin_fact", content="Ann's boat is called Petrel."),
    call("say", text="So be it."),
)


def rows_of(table):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@pytest.fixture
def played(game, mira, ann, bob, admin):
    """A game in which everything that is stored on objects was stored."""
    for act in ACTS:
        game.model.add(act)
    ann.do("say Mira, please remember that I owe Ben nine crowns, and find out who waters the ale")
    game.run(5)
    game.model.add(call("whisper", target="Ann", text="I keep that."))
    ann.do("whisper Mira = remember: the silver lies in the well")
    ann.do("mute Hob")
    game.run(5)
    mira.ai_profiles.observe(ann.dbref, "She limps.")
    mira.ai_profiles.note_contact(bob.dbref)
    mira.ai_goals.add("Find out who waters the ale.")
    mira.ai_plan.replace([{"begin": 8, "end": 9, "content": "Mend nets.", "where": ""}], [])
    mira.journal.archive.put_away(mira.journal, mira.journal.ids()[-1])
    for line in BY_STAFF:
        admin.do(line)
        game.run(1)
    game.run(60)


def test_all_that_a_played_game_stores_is_plain_data(played):
    kinds = {row["db_attrtype"] for row in rows_of("typeclasses_attribute")}
    assert {"ai_journal", "ai_archive", "ai_profiles", "ai_goals", "ai_plan"} <= kinds
    assert names_in_pickles(rows_of) == {}


def test_a_stored_class_is_seen(played, mira):
    class Named:
        pass

    mira.attributes.add("of_a_builder", (Named.__mro__[1], 1))
    found = names_in_pickles(rows_of)
    assert found == {"typeclasses_attribute None of_a_builder": {"builtins.object"}}
    assert list(names_in("gASMAm9zlIwGc3lzdGVtlJMu")) == ["os.system"]
