"""What one character learns, others of its group tell with its source."""

import pytest

from evennia_ai.contrib.shared_memory.telling import MOST_TOLD
from evennia_ai.models import SharedEntry
from tests.contrib.shared_memory import guards as scene
from tests.contrib.shared_memory.guards import BRIDGE, asked_for, learn
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

guard, bruno, vera, sleep = scene.guard, scene.bruno, scene.vera, scene.sleep
knows = scene.knows


def test_what_one_guard_learnt_another_tells_with_its_source(game, bruno, vera, sleep, ann):
    learn(bruno)
    assert sleep(bruno) == {"success": True, "told": 1, "taken_back": 0}
    ann.character.location = vera.location
    shown = asked_for(game, ann, "Vera", "can one cross the bridge at the mill?")
    assert f"Bruno told you: {BRIDGE}" in shown


def test_a_search_finds_it_too_and_writes_nothing_into_the_own_journal(
    game, bruno, vera, sleep, ann
):
    learn(bruno)
    sleep(bruno)
    ann.character.location = vera.location
    game.model.add(call("search_memory", query="bridge at the mill"), call("say", text="Down."))
    ann.do("say Vera, what of it?")
    game.run(2)
    results = [m for m in vera.assistant.conversation_history if m["role"] == "tool"]
    assert f"Bruno told you: {BRIDGE}" in results[0]["content"]
    assert "consulted" not in results[0]["metadata"]
    assert vera.journal.all() == [] and not vera.journal.recalls


def test_by_default_nothing_is_shared(game, mira, bruno, sleep, knows):
    mira.tags.add("guards", category="faction")
    learn(mira)
    assert sleep(mira) == {"skipped": True, "reason": "nothing is shared"}
    learn(bruno, "The postern is open.")
    sleep(bruno)
    assert knows(mira, "the postern") == [BRIDGE]
    assert not SharedEntry.objects.filter(teller=mira.dbref).exists()


def test_a_pass_of_sleep_tells_it(game, bruno, vera, knows):
    learn(bruno)
    mind = bruno.ai_mind
    told = game.result(mind.sleep.sleep_through(mind.sleep_pass.run))
    assert told["shared_memory"]["told"] == 1
    assert knows(vera) == [BRIDGE]


def test_news_takes_its_time(game, guard, sleep, knows):
    bruno, vera = guard("Bruno", delay=3_600.0), guard("Vera")
    learn(bruno)
    sleep(bruno)
    assert knows(vera) == []
    game.clock.advance(3_500)
    assert knows(vera) == []
    game.clock.advance(101)
    assert knows(vera) == [BRIDGE]


def test_the_talk_of_a_place_is_known_to_those_who_are_there(game, guard, sleep, knows):
    square, harbour = game.room("Square"), game.room("Harbour")
    here, there = guard("Bruno", square, share="room"), guard("Vera", harbour, share="room")
    learn(here)
    sleep(here)
    assert knows(there) == []
    there.location = square
    assert knows(there) == [BRIDGE]
    here.location = harbour  # what it told on the square stays there
    assert sleep(here)["skipped"]
    there.location = harbour
    assert knows(there) == []


def test_only_what_matters_most_is_told(bruno, sleep):
    for number in range(MOST_TOLD + 20):
        learn(bruno, f"Cart {number} went through.", importance=6)
    great = learn(bruno, "The king is dead.", importance=10)
    learn(bruno, "It rains.", importance=2)
    assert sleep(bruno)["told"] == MOST_TOLD
    assert SharedEntry.objects.filter(entry=great).exists()
    assert not SharedEntry.objects.filter(text="It rains.").exists()
    assert sleep(bruno)["skipped"]


def test_a_rumour_is_told_once_and_not_told_on(game, bruno, guard, sleep, knows):
    vera = guard("Vera", share="faction, world")
    beggar = guard("Tim", faction="beggars", share="world")
    learn(bruno)
    sleep(bruno)
    game.clock.advance(10)
    learn(vera, "Bruno told me that the mill bridge is down.")
    assert sleep(vera)["skipped"]
    assert knows(beggar) == []
    learn(vera, "I saw smoke over the harbour.")
    assert sleep(vera)["told"] == 1
    assert knows(beggar, "smoke") == ["I saw smoke over the harbour."]
