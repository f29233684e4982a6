"""Rumours travel where characters meet, and are taken back from all who heard them."""

import pytest

from evennia_ai.models import Message, SharedEntry
from evennia_ai.store.forget import erase_chunk
from evennia_ai.store.memory_editor import MemoryEditor
from tests.contrib.who_knows import town_scene as scene
from tests.contrib.who_knows.town_scene import seed
from tests.forgetting import forget_chunk

pytestmark = [pytest.mark.game, pytest.mark.engine]

asked_for, who_knows, meet, recalls = (
    scene.asked_for, scene.who_knows, scene.meet, scene.recalls,
)  # fmt: skip
admin, bea, ask = scene.admin, scene.bea, scene.ask
MILL = "The mill by the river is haunted."


@pytest.fixture
def bruno(game, tavern, mira):
    return game.assistant("Bruno", tavern)


@pytest.fixture
def vera(game, bruno):
    """A character far away, whom Bruno knows."""
    vera = game.assistant("Vera", game.room("Gate"))
    bruno.ai_profiles.observe(vera.dbref, "She stands at the gate.")
    return vera


def visit(who_knows):
    """Let those who know each other meet at the next step."""
    who_knows.rng.random = lambda: 0.0


def test_a_builder_seeds_a_rumour_and_sees_it_travel(
    game, admin, mira, bruno, vera, who_knows, ask, recalls
):
    told = ask(admin, f"airumour Mira = {MILL}")
    number = min(who_knows.rumours.by_id)
    assert f"airumour/retract {number}" in told
    assert "1 heard something new" in ask(admin, "airumour/meet")
    assert recalls(vera, "haunted mill") == []
    visit(who_knows)
    assert "1 heard something new" in ask(admin, "airumour/meet")
    (line,) = recalls(vera, "haunted mill")
    assert "Bruno told you" in line and MILL in line
    (line,) = recalls(bruno, "haunted mill")
    assert "Mira told you" in line
    assert "known to 3: Mira, Bruno from Mira, Vera from Bruno" in ask(admin, "airumour")
    told = ask(admin, "aiknows haunted mill")
    assert "3 know of" in told and "told, from Bruno" in told
    assert "Taken back from 3 characters." in ask(admin, f"airumour/retract {number}")
    assert recalls(vera, "haunted mill") == [] == recalls(mira, "haunted mill")
    assert "Nobody knows" in ask(admin, "aiknows haunted mill")
    assert not SharedEntry.objects.exists()


def test_a_rumour_waits_goes_astray_and_ends(game, mira, bruno, who_knows, meet, recalls):
    seed(who_knows, mira, MILL)
    mira.assistant.attributes.add("rumour_loss", 1.0)
    assert meet() == 0
    mira.assistant.attributes.add("rumour_loss", 0.0)
    mira.assistant.attributes.add("rumour_delay", 600.0)
    mira.assistant.mind.settings.resolve()
    assert meet() == 1 and recalls(bruno, "haunted mill") == []
    tim = game.assistant("Tim", bruno.location)
    mira.location = None
    assert meet() == 0  # Bruno does not know it yet
    game.clock.advance(601)
    assert len(recalls(bruno, "haunted mill")) == 1
    assert meet() == 1 and tim.dbref in who_knows.rumours.known_by


def test_who_walks_in_hears_it_at_once(game, mira, bruno, vera, who_knows, recalls):
    seed(who_knows, bruno, MILL)
    mira.location = None
    game.run(1)
    assert recalls(vera, "haunted mill") == []
    vera.move_to(bruno.location)
    game.run(1)
    assert len(recalls(vera, "haunted mill")) == 1
    vera.move_to(mira.home)
    game.run(1)
    assert who_knows.rumours.known_by.keys() == {bruno.dbref, vera.dbref}


@pytest.mark.parametrize("loaded", [True, False])
def test_who_takes_it_back_takes_it_from_all(
    game, mira, bruno, vera, who_knows, meet, recalls, loaded
):
    changes = {
        "removed": mira.journal.remove,
        "changed": lambda kept: mira.journal.update(kept, content="It is not."),
        "private": lambda kept: mira.journal.update(kept, audience=["#1"]),
        "faded": lambda kept: mira.journal.archive.put_away(mira.journal, kept),
        "edited": lambda kept: MemoryEditor(mira).edit(kept, "It is not."),
        "deleted": lambda kept: MemoryEditor(mira).delete(kept),
    }
    for number, (name, change) in enumerate(changes.items()):
        rumour = seed(who_knows, mira, f"{MILL} {number}")
        visit(who_knows)
        for character in (mira, bruno):
            character.assistant.attributes.add("rumour_loss", 0.0)
        meet(3)
        assert len(rumour.hearers) == 3, name
        if not loaded:
            who_knows.rumours.__init__()
        change(rumour.entry)
        assert recalls(vera, "haunted mill") == [] == recalls(bruno, "haunted mill"), name
        game.result(who_knows.rumours.load(game.service.slices.put), 0.01)
        assert not SharedEntry.objects.exists(), name


def test_forget_me_reaches_what_others_were_told(
    game, mira, bruno, ann, bob, who_knows, meet, recalls
):
    by_ann = mira.journal.add(MILL, speakers=[ann.dbref])
    by_bob = mira.journal.add("The bridge is down.", speakers=[bob.dbref])
    for kept in (by_ann, by_bob):
        entry = mira.journal.get(kept)
        who_knows.rumours.seed(mira.assistant.id, mira.dbref, entry, game.service.now())
    assert meet() == 2
    while forget_chunk(ann.dbref):
        pass
    assert recalls(bruno, "haunted mill or bridge") == [
        line for line in recalls(bruno, "bridge") if "bridge is down" in line
    ]
    assert {row.entry for row in SharedEntry.objects.all()} == {by_bob}
    while erase_chunk(mira.assistant.id):
        pass
    assert not SharedEntry.objects.exists() and not who_knows.rumours.by_id


def test_what_is_private_or_secret_is_never_seeded(
    game, admin, bea, mira, ann, bob, who_knows, ask
):
    ann.do("whisper Mira = my gold is under the oak")
    ann.do("say Mira, hello there")
    game.run(2)
    whispered = Message.objects.filter(content__contains="gold").values_list("id", flat=True)[0]
    entries = {
        "private": mira.journal.add("Gold is under the oak.", audience=[ann.dbref]),
        "secret": mira.journal.add("The oak is hollow.", tags=["secret"]),
        "whispered": mira.journal.add("There is gold somewhere.", source_seqs=[whispered]),
    }
    for name, kept in entries.items():
        assert "cannot become a rumour" in ask(admin, f"airumour Mira = {kept}"), name
    assert not SharedEntry.objects.exists()
    assert "may not change Mira" in ask(bea, f"airumour Mira = {MILL}")
    assert (
        "could not be found" in ask(bob, f"airumour Mira = {MILL}").lower()
        or not who_knows.rumours.by_id
    )


def test_the_game_steps_while_a_rumour_is_news(game, mira, bruno, who_knows, ask, admin):
    timer = who_knows.travel._services.timer
    assert "rumours" not in timer.entries
    ask(admin, f"airumour Mira = {MILL}")
    assert "rumours" in timer.entries
    mira.assistant.attributes.add("rumour_loss", 0.0)
    mira.assistant.mind.settings.resolve()
    for _ in range(3):
        game.clock.advance(3_600)
        game.run(5)
    assert bruno.dbref in who_knows.rumours.known_by
    game.clock.advance(31 * 86_400)
    game.run(5)
    assert "rumours" not in timer.entries
    assert who_knows.rumours.by_id  # they keep what they heard


def test_what_was_told_to_one_is_nothing_that_sleep_takes_back(game, mira, bruno, who_knows, meet):
    pytest.importorskip("evennia_ai.contrib.shared_memory")
    from evennia_ai.contrib.shared_memory.entries import told_by

    seed(who_knows, mira, MILL)
    assert meet() == 1
    assert told_by(mira.assistant.id) == []
