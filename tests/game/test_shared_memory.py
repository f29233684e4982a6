"""What one guard learns the others know a while later, and from whom; never what was whispered."""

import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from twisted.internet.defer import Deferred, fail

from evennia_ai.assistant_script import sleep_through
from evennia_ai.errors import StoreUnavailable
from evennia_ai.memory.episodic_index import REMOTE_TIME_S
from evennia_ai.models import SharedEntry
from evennia_ai.offline.brain import OfflineBrain
from evennia_ai.policy.records.shared_memory import HEARSAY, MOST_TOLD, UNGUARDED
from evennia_ai.sleep.sharing import share_memories
from evennia_ai.store.erase import erase_chunk
from evennia_ai.store.forget import forget_chunk
from evennia_ai.store.journal import Journal
from evennia_ai.store.memory_editor import MemoryEditor
from evennia_ai.store.shared_entries import MOST_HEARD, SharedEntryStore
from evennia_ai.testing.scripted import call
from tests.game.conftest import gateway_to

BRIDGE = "The bridge at the mill is down."


@pytest.fixture
def guard(game, tavern):
    """A function that makes a guard who shares with its faction, without delay."""

    def guard(name, room=None, faction="guards", share="faction", delay=0.0):
        made = game.assistant(name, room or game.room(f"{name}'s post"))
        made.tags.add(faction, category="faction")
        made.assistant.attributes.add("share_memory", share)
        made.assistant.attributes.add("share_delay", delay)
        return made

    return guard


@pytest.fixture
def bruno(guard):
    return guard("Bruno")


@pytest.fixture
def vera(guard):
    return guard("Vera")


@pytest.fixture
def sleep(game):
    """A function that lets somebody tell what it learnt; returns the step's result."""

    def sleep(character):
        character.assistant.resolve_settings()
        fired = []
        share_memories(character.assistant, character).addBoth(fired.append)
        for _ in range(200):
            if fired:
                break
            game.run(0.01)
        return fired[0]

    return sleep


@pytest.fixture
def knows(game):
    """A function that asks somebody's memory; returns what it finds."""

    def knows(character, words="the bridge at the mill", audience=None, limit=5):
        script = character.assistant
        memories, done = script.memories, []
        memories.prepare(script.services, [words]).addBoth(done.append)
        while not done:
            game.run(0.01)
        assert done == [None]
        found = memories.search(words, limit, audience, script.services.now())
        return [hit.record["content"] for hit in found]

    return knows


def learn(character, content=BRIDGE, **fields):
    return character.journal.add(content, **{"importance": 7, **fields})


def asked_for(game, player, name, words):
    """The last part of the prompt that somebody's words lead to."""
    game.model.add(call("say", text="Well."))
    player.do(f"say {name}, {words}")
    game.run(1)
    return game.model.requests[-1].messages[-1]["content"]


# --- that it works ------------------------------------------------------------------------------


def test_what_one_guard_learnt_another_tells_with_its_source(game, bruno, vera, sleep, ann):
    learn(bruno)
    assert sleep(bruno) == {"success": True, "told": 1, "taken_back": 0}
    ann.character.location = vera.location
    shown = asked_for(game, ann, "Vera", "can one cross the bridge at the mill?")
    assert f"Bruno told you: {BRIDGE}" in shown


def test_whose_word_it_was_is_told_too(game, bruno, vera, sleep, ann):
    learn(bruno, source_entity=ann.dbref)
    sleep(bruno)
    ann.character.location = vera.location
    shown = asked_for(game, ann, "Vera", "can one cross the bridge at the mill?")
    assert f"Bruno told you, from Ann: {BRIDGE}" in shown


def test_the_offline_brain_tells_it(game, bruno, vera, sleep, ann):
    game.service.gateway = gateway_to(OfflineBrain(), game.clock)
    learn(bruno)
    sleep(bruno)
    ann.character.location = vera.location
    ann.forget()
    ann.do("say Vera, what do you know of the bridge at the mill?")
    game.run(3)
    assert "is down" in ann.last()


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
    fired = []
    sleep_through(bruno.assistant).addBoth(fired.append)
    for _ in range(600):
        if fired:
            break
        game.run(0.1)
    assert fired[0]["shared_memory"]["told"] == 1
    assert knows(vera) == [BRIDGE]


def test_nothing_is_told_twice(bruno, sleep):
    learn(bruno)
    sleep(bruno)
    assert sleep(bruno) == {"skipped": True, "reason": "nothing new to tell"}
    assert SharedEntry.objects.count() == 1


def test_who_told_it_is_not_told_it_back_and_what_one_knows_is_not_said_twice(
    bruno, vera, sleep, knows
):
    learn(bruno)
    learn(vera)
    sleep(bruno)
    sleep(vera)
    assert knows(bruno) == knows(vera) == [BRIDGE]


def test_nobody_hears_from_others_what_he_told_himself(game, bruno, sleep, knows):
    learn(bruno)
    sleep(bruno)
    knows(bruno)
    memories, now = bruno.assistant.memories, game.service.now()
    others = memories.search("bridge", 5, None, now, keep=lambda r: r["source_type"] == HEARSAY)
    assert others == [] and memories.records() == []


def test_what_several_scopes_were_told_is_found_once(guard, sleep, knows):
    bruno, vera = (guard(name, share="faction, world") for name in ("Bruno", "Vera"))
    learn(bruno)
    assert sleep(bruno)["told"] == 1 and SharedEntry.objects.count() == 2
    assert knows(vera) == [BRIDGE]


# --- when and to whom -----------------------------------------------------------------------------


def test_news_takes_its_time(game, guard, sleep, knows):
    bruno, vera = guard("Bruno", delay=3_600.0), guard("Vera")
    learn(bruno)
    sleep(bruno)
    assert knows(vera) == []
    game.clock.advance(3_500)
    assert knows(vera) == []
    game.clock.advance(101)
    assert knows(vera) == [BRIDGE]


def test_two_factions_are_apart(guard, bruno, sleep, knows):
    thief = guard("Tim", faction="thieves")
    learn(bruno)
    learn(thief, "The mill bridge can be climbed from below.")
    sleep(bruno)
    sleep(thief)
    assert knows(thief) == ["The mill bridge can be climbed from below."]
    assert knows(bruno) == [BRIDGE]


def test_who_is_no_guard_any_more_knows_it_no_more_and_again_when_he_is(bruno, vera, sleep, knows):
    learn(bruno)
    sleep(bruno)
    assert knows(vera) == [BRIDGE]
    vera.tags.remove("guards", category="faction")
    assert knows(vera) == []
    vera.tags.add("guards", category="faction")
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


def test_turned_off_it_takes_back_what_it_told(bruno, vera, sleep, knows):
    learn(bruno)
    sleep(bruno)
    assert knows(vera) == [BRIDGE]
    bruno.assistant.attributes.add("share_memory", "off")
    assert sleep(bruno)["taken_back"] == 1
    assert knows(vera) == []


def test_only_what_matters_most_is_told(bruno, sleep):
    for number in range(MOST_TOLD + 20):
        learn(bruno, f"Cart {number} went through.", importance=6)
    great = learn(bruno, "The king is dead.", importance=10)
    learn(bruno, "It rains.", importance=2)
    assert sleep(bruno)["told"] == MOST_TOLD
    assert SharedEntry.objects.filter(entry=great).exists()
    assert not SharedEntry.objects.filter(text="It rains.").exists()
    assert sleep(bruno)["skipped"]


# --- what was whispered ---------------------------------------------------------------------------


def test_what_some_may_know_is_told_to_nobody(bruno, vera, ann, sleep, knows):
    learn(bruno, audience=[ann.dbref])
    learn(bruno, "The bridge guard is asleep.", pinned=True)
    learn(bruno, "The bridge has a hidden stair.", tags=["secret"])
    assert sleep(bruno)["skipped"]
    assert knows(vera, audience=frozenset({ann.dbref})) == []


@pytest.mark.parametrize("discretion", ["strict", "trusting"])
def test_what_was_whispered_in_a_turn_never_crosses(
    game, bruno, vera, ann, sleep, knows, discretion
):
    bruno.assistant.attributes.add("discretion", discretion)
    vera.assistant.attributes.add("discretion", discretion)
    ann.character.location = bruno.location
    game.model.add(
        call("add_journal_entry", content="I promise: Ann hid 40 crowns at the mill bridge."),
        call("whisper", target="Ann", text="I keep it."),
    )
    ann.do("whisper Bruno = Remember: I hid 40 crowns at the mill bridge.")
    game.run(2)
    assert len(bruno.journal.all()) == 1
    assert sleep(bruno)["skipped"]
    bruno.assistant.attributes.add("discretion", "strict")  # written while it was trusting
    assert sleep(bruno)["skipped"]
    assert not SharedEntry.objects.exists() and knows(vera) == []


def test_what_was_made_of_a_whisper_or_of_what_is_gone_never_crosses(game, bruno, ann, sleep):
    ann.character.location = bruno.location
    game.model.add(call("noop"), call("noop"))
    ann.do("whisper Bruno = The bridge is mined.")
    game.run(1)
    ann.do("say Bruno, the bridge is down.")
    game.run(1)
    whispered, said = [
        m["metadata"]["seq"]
        for m in bruno.assistant.conversation_history
        if m["role"] == "user" and "bridge" in m["content"]
    ]
    learn(bruno, "The bridge is mined.", source_seqs=[said, whispered])
    learn(bruno, "The weir is mined.", source_seqs=[said, 999_999])
    assert sleep(bruno)["skipped"]
    learn(bruno, source_seqs=[said])
    assert sleep(bruno)["told"] == 1


@pytest.mark.parametrize("tool", ["add_journal_entry", "pin_fact"])
def test_what_a_trusting_character_writes_is_marked_for_good(game, bruno, ann, tool):
    ann.character.location = bruno.location
    for discretion, marked in (("trusting", True), ("strict", False)):
        bruno.assistant.attributes.add("discretion", discretion)
        game.model.add(call(tool, content=f"Ann is {discretion}."), call("noop"))
        ann.do("say Bruno, note it.")
        game.run(2)
        assert (UNGUARDED in bruno.journal.all()[-1]["tags"]) is marked


# --- rumours --------------------------------------------------------------------------------------


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


# --- taken back -----------------------------------------------------------------------------------


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


def test_what_was_corrected_is_told_anew(bruno, vera, sleep, knows):
    kept = learn(bruno)
    sleep(bruno)
    bruno.journal.update(kept, content="The bridge at the mill is mended.")
    assert sleep(bruno)["told"] == 1
    assert knows(vera) == ["The bridge at the mill is mended."]


def test_a_change_that_fails_takes_nothing_back(bruno, vera, sleep, knows, monkeypatch):
    kept = learn(bruno)
    sleep(bruno)
    knows(vera)

    def fails(*args):
        raise RuntimeError

    monkeypatch.setattr(bruno.journal.segments, "_update", fails)
    with pytest.raises(RuntimeError):
        bruno.journal.update(kept, content="It holds.")
    assert knows(vera) == [BRIDGE]


def test_what_memory_still_holds_is_not_told_once_the_row_is_gone(bruno, vera, sleep, knows):
    learn(bruno)
    sleep(bruno)
    assert knows(vera) == [BRIDGE]
    SharedEntry.objects.all().delete()  # behind our back
    assert knows(vera) == []


def test_forget_me_reaches_it_and_memory_lets_go_of_the_words(bruno, vera, ann, bob, sleep, knows):
    learn(bruno, speakers=[ann.dbref, bob.dbref])
    learn(bruno, "The mill is shut.", speakers=[bob.dbref])
    sleep(bruno)
    assert len(knows(vera)) == 2
    while forget_chunk(ann.dbref):
        pass
    held = vera.assistant.memories.records()
    assert [record["content"] for record in held] == ["The mill is shut."]
    assert knows(vera) == ["The mill is shut."]
    assert [row.text for row in SharedEntry.objects.all()] == ["The mill is shut."]


def test_forget_me_reaches_what_the_journal_has_no_more(bruno, vera, ann, sleep, knows):
    learn(bruno, speakers=[ann.dbref])
    sleep(bruno)
    Journal.drop(bruno)
    bruno.db_attributes.filter(db_attrtype="ai_journal").delete()
    while forget_chunk(ann.dbref):
        pass
    assert knows(vera) == [] and not SharedEntry.objects.exists()


def test_a_teller_who_is_deleted_takes_it_along(bruno, vera, guard, sleep, knows):
    tim = guard("Tim")
    learn(bruno)
    learn(tim, "The mill is shut.")
    sleep(bruno)
    sleep(tim)
    assert len(knows(vera)) == 2
    while erase_chunk(tim.assistant.id):
        pass
    assert [record["content"] for record in vera.assistant.memories.records()] == [BRIDGE]
    assert knows(vera) == [BRIDGE]
    bruno.delete()
    assert knows(vera) == [] and not SharedEntry.objects.exists()


def test_whose_words_it_holds_counts_for_the_locks_of_tools(game, bruno, vera, ann, bob, sleep):
    learn(bruno, speakers=[bob.dbref])
    sleep(bruno)
    ann.character.location = vera.location
    offered = []
    toolbox = game.service.toolbox
    ask = toolbox.offered
    toolbox.offered = lambda context: offered.append(context.remembered) or ask(context)
    asked_for(game, ann, "Vera", "can one cross the bridge at the mill?")
    assert bob.dbref in frozenset().union(*offered)


# --- what it costs --------------------------------------------------------------------------------


def test_where_nothing_changed_nothing_is_asked_before_a_search(game, bruno, vera, sleep, knows):
    learn(bruno)
    sleep(bruno)
    knows(vera)
    script, done = vera.assistant, []
    with CaptureQueriesContext(
        connection,
    ) as queries:
        script.memories.prepare(script.services, []).addBoth(done.append)
    assert done == [None] and len(queries) == 0
    with CaptureQueriesContext(connection) as queries:
        script.memories.search("weather in the hills", 5, None, script.services.now())
    assert len(queries) == 1  # whether what was found still stands


def test_a_reader_who_waits_for_another_has_it_too(game, bruno, vera, guard, sleep):
    for number in range(60):
        learn(bruno, f"Cart {number} went through.")
    sleep(bruno)
    others = [vera.assistant, guard("Tim").assistant]
    done = []
    for script in others:
        memories = script.memories
        ready = memories.prepare(script.services, [])
        ready.addCallback(lambda _, known: done.append(len(known.records())), memories)
    while len(done) < 2:
        game.run(0.01)
    assert done == [MOST_TOLD, MOST_TOLD]


def test_an_endpoint_for_vectors_that_hangs_is_waited_for_once(game, guard, sleep):
    class Hanging:
        name, dimensions = "far", 3

        def embed_later(self, texts):
            return Deferred()

    bruno, vera = (guard(name, share="faction, world, room") for name in ("Bruno", "Vera"))
    learn(bruno)
    sleep(bruno)
    game.service.memory.embedder = Hanging()
    script, done = vera.assistant, []
    script.memories.prepare(script.services, ["bridge"]).addBoth(done.append)
    for _ in range(10):
        game.run(0.01)
    assert done == []
    game.clock.advance(REMOTE_TIME_S)
    game.run(0.1)
    assert done == [None]
    found = script.memories.search("the bridge", 3, None, game.service.now())
    assert [hit.record["content"] for hit in found] == [BRIDGE]


def test_where_one_part_of_memory_cannot_be_read_it_is_said(game, bruno, vera, sleep, monkeypatch):
    learn(bruno)
    sleep(bruno)
    monkeypatch.setattr(
        SharedEntryStore, "load", lambda shelf, put: fail(StoreUnavailable("not now"))
    )
    done = []
    vera.assistant.memories.prepare(game.service).addBoth(done.append)
    game.run(0.1)
    assert done[0].check(StoreUnavailable)


def test_200_guards_with_500_entries_each_hold_the_reactor_for_10_ms_and_hardly_ever_longer(
    game, bruno, vera, sleep, monkeypatch
):
    many_rows(game, bruno)
    spent = timed_slices(game, monkeypatch)
    knowing = vera.assistant
    done = []
    assert knowing.memories is not None  # loads what turns texts into vectors
    began = time.thread_time()
    knowing.memories.prepare(knowing.services, ["the gate"]).addBoth(done.append)
    spent.append(time.thread_time() - began)
    while not done:
        game.run(0.01)
    assert done == [None] and len(knowing.memories.records()) == MOST_HEARD
    began = time.thread_time()
    assert knowing.memories.search("who passed the gate?", 6, None, game.service.now())
    spent.append(time.thread_time() - began)
    learned = [{"id": f"x{n}", "content": f"I saw rider {n} ford the river."} for n in range(500)]
    vera.journal.add_all([{**fields, "importance": 6} for fields in learned])
    assert sleep(vera)["told"] == MOST_TOLD
    spent.sort()
    assert spent[-(len(spent) // 20)] <= 0.010 and spent[-1] <= 0.050, spent[-10:]


def many_rows(game, teller):
    """What 199 others told, as many entries as each may."""
    now = game.service.now()
    fields = {
        "assistant_id": teller.assistant.id, "at": now, "scope": "faction:guards",
        "learnt_at": now, "available_from": now, "trust": 0.4,
    }  # fmt: skip
    rows = [
        SharedEntry(
            **fields,
            teller=f"#{100_000 + guard}",
            entry=f"{guard}-{number}",
            text=f"Guard {guard} saw cart {number} of farmer {guard * number % 97} pass the gate.",
            importance=5 + number % 5,
        )
        for guard in range(199)
        for number in range(MOST_TOLD)
    ]
    SharedEntry.objects.bulk_create(rows)


def timed_slices(game, monkeypatch):
    """How long each piece of work took that was done in its turn, in seconds."""
    spent, put = [], game.service.slices.put

    def timed(work, *args):
        began = time.thread_time()
        work(*args)
        spent.append(time.thread_time() - began)

    monkeypatch.setattr(game.service.slices, "put", lambda work, *args: put(timed, work, *args))
    return spent
