"""Shared memories go when their source is changed, deleted or forgotten."""

import pytest

from evennia_ai.models import SharedEntry
from evennia_ai.ports.extension import memory_sources
from evennia_ai.store.forget import erase_chunk
from evennia_ai.store.memory_editor import MemoryEditor
from tests.contrib.shared_memory import guards as scene
from tests.contrib.shared_memory.guards import BRIDGE, asked_for, learn
from tests.forgetting import forget_chunk

pytestmark = [pytest.mark.game, pytest.mark.engine]

guard, bruno, vera, sleep = scene.guard, scene.bruno, scene.vera, scene.sleep
knows = scene.knows


def held(character):
    """Return what memory holds of what others told a character."""
    (source,) = memory_sources(character.assistant.mind.around)
    return source.held()


@pytest.mark.parametrize("loaded", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        lambda bruno, kept: bruno.journal.remove(kept),
        lambda bruno, kept: bruno.journal.update(kept, content="The bridge at the mill holds."),
        lambda bruno, kept: bruno.journal.update(kept, audience=["#1"]),
        lambda bruno, kept: bruno.journal.update(kept, pinned=True),
        lambda bruno, kept: bruno.journal.archive.put_away(bruno.journal, kept),
        lambda bruno, kept: MemoryEditor(bruno).edit(kept, "The bridge at the mill holds."),
        lambda bruno, kept: MemoryEditor(bruno).delete(kept),
    ],
)
def test_what_its_teller_takes_back_nobody_knows_any_more(
    bruno, vera, sleep, knows, change, loaded
):
    kept = learn(bruno)
    sleep(bruno)
    if loaded:
        assert knows(vera) == [BRIDGE]
    change(bruno, kept)
    assert knows(vera) == [] and not SharedEntry.objects.exists()


def test_a_change_that_fails_takes_nothing_back(bruno, vera, sleep, knows, monkeypatch):
    kept = learn(bruno)
    sleep(bruno)
    knows(vera)

    def fails(*args):
        raise RuntimeError

    monkeypatch.setattr(bruno.journal.segments, "write", fails)
    with pytest.raises(RuntimeError):
        bruno.journal.update(kept, content="It holds.")
    assert knows(vera) == [BRIDGE]


def test_what_memory_still_holds_is_withheld_once_its_row_is_gone(bruno, vera, sleep, knows):
    learn(bruno)
    sleep(bruno)
    assert knows(vera) == [BRIDGE]
    SharedEntry.objects.all().delete()  # by another process
    assert held(vera) and knows(vera) == []


def test_forget_me_reaches_it_and_memory_lets_go_of_the_words(bruno, vera, ann, bob, sleep, knows):
    learn(bruno, speakers=[ann.dbref, bob.dbref])
    learn(bruno, "The mill is shut.", speakers=[bob.dbref])
    sleep(bruno)
    assert len(knows(vera)) == 2
    while forget_chunk(ann.dbref):
        pass
    left = held(vera)
    assert [record["content"] for record in left] == ["The mill is shut."]
    assert knows(vera) == ["The mill is shut."]
    assert [row.text for row in SharedEntry.objects.all()] == ["The mill is shut."]


def test_a_teller_who_is_deleted_takes_it_along(bruno, vera, guard, sleep, knows):
    tim = guard("Tim")
    learn(bruno)
    learn(tim, "The mill is shut.")
    sleep(bruno)
    sleep(tim)
    assert len(knows(vera)) == 2
    while erase_chunk(tim.assistant.id):
        pass
    assert [record["content"] for record in held(vera)] == [BRIDGE]
    assert knows(vera) == [BRIDGE]
    bruno.delete()
    assert knows(vera) == [] and not SharedEntry.objects.exists()


def test_whose_words_it_holds_counts_for_the_locks_of_tools(game, bruno, vera, ann, bob, sleep):
    learn(bruno, speakers=[bob.dbref])
    sleep(bruno)
    ann.character.location = vera.location
    offered = []
    toolbox = game.service.toolbox
    ask = toolbox.permitted
    toolbox.permitted = lambda asked, specs: offered.append(asked.authors) or ask(asked, specs)
    asked_for(game, ann, "Vera", "can one cross the bridge at the mill?")
    assert bob.dbref in frozenset().union(*offered)
