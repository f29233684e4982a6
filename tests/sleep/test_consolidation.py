"""Journal and long-term memory, kept in step: nothing twice, nothing lost, nothing told on."""

import pytest
from twisted.internet.defer import Deferred, gatherResults, inlineCallbacks
from twisted.internet.task import deferLater
from twisted.python.failure import Failure

from evennia_ai.policy.records.journal_entry import agent_of, digest_of, memory_of
from evennia_ai.services.memory_services import AGAIN_AFTER_S, LongTermSync
from evennia_ai.sleep.consolidation import (
    MOST,
    consolidate_memories_to_semantic,
    prune_orphaned_memory_links,
)
from evennia_ai.store.forget import erase_chunk
from evennia_ai.store.server_settings import deletion_marks, mark_for_deletion, note_deleted
from tests.forgetting import forget_chunk
from tests.game import conftest as shared
from tests.semantic import StandInSemantic

service = shared.service
model = shared.model
game = shared.game
tavern = shared.tavern
mira = shared.mira
ann = shared.ann

STEPS_AT_MOST = 20_000


@pytest.fixture
def semantic(service):
    """Long-term memory in a dictionary, in the place of mem0."""
    service.long_term_sync.stop()
    service.semantic = StandInSemantic()
    service.long_term_sync = LongTermSync(service.clock, service.semantic)
    service.long_term_sync.start()
    return service.semantic


@pytest.fixture
def run(game, semantic):
    """Do something to the end; returns its outcome."""

    def run(function, *args, **options):
        return wait(game, function(*args, **options))

    return run


def wait(game, deferred):
    found = []
    deferred.addBoth(found.append)
    for _ in range(STEPS_AT_MOST):
        if found:
            break
        game.clock.advance(0.01)
    if isinstance(found[0], Failure):
        found[0].raiseException()
    return found[0]


def consolidate(run, mira, **options):
    return run(mira.assistant.mind.links.consolidate, **options)


def prune(run, mira):
    return run(prune_orphaned_memory_links, mira.assistant, mira)


def memories(semantic, mira):
    """Entry's id → memory's id and text; fails where an entry has two."""
    held = semantic.stored.get(agent_of(mira.id), {}).values()
    found = {row.entry: (row.id, text) for row, text in held}
    assert len(found) == len(held)
    return found


def in_step(semantic, mira):
    """True where every entry names its memory, and there is no other."""
    held = memories(semantic, mira)
    entries = mira.journal.all()
    named = {entry["id"]: memory_of(entry) for entry in entries}
    said = {entry["id"]: entry["content"] for entry in entries}
    return (
        named == {entry: memory_id for entry, (memory_id, _) in held.items()}
        and said == {entry: text for entry, (_, text) in held.items()}
        and all(entry["consolidated"] for entry in entries)
    )


# --- consolidation --------------------------------------------------------------------------------


def test_entries_and_memories_name_each_other(run, semantic, mira):
    mira.journal.add("The bridge is closed.", links=["j99"])
    mira.journal.add("Ann owes me a coin.", speakers=["#5"], audience=["#5"])
    result = consolidate(run, mira)
    assert result == {
        "success": True, "stored": 2, "linked": 2, "already_there": 0, "failed": 0, "left": 0,
    }  # fmt: skip
    assert in_step(semantic, mira)
    first, second = mira.journal.all()
    assert first["links"] == ["j99", f"mem0:{memory_of(first)}"]
    (row,) = [r for r, _ in semantic.stored[agent_of(mira.id)].values() if r.entry == second["id"]]
    assert row.audience == "5"
    assert row.digest == digest_of(second)


def test_done_again_nothing_is_asked_of_the_store(run, semantic, mira):
    mira.journal.add("The bridge is closed.")
    consolidate(run, mira)
    asked = list(semantic.asked)
    assert consolidate(run, mira)["stored"] == 0
    assert semantic.asked == asked


def test_an_acknowledgement_that_was_lost_makes_no_duplicate(run, semantic, mira):
    for number in range(30):
        mira.journal.add(f"Guest {number} paid.")
    semantic.lose_answers = True
    result = consolidate(run, mira)
    assert result["success"] is False and result["failed"] == 20 and result["left"] == 30
    assert result["error"]
    semantic.lose_answers = False
    result = consolidate(run, mira)
    assert (result["already_there"], result["stored"], result["linked"]) == (20, 10, 30)
    assert in_step(semantic, mira)


def test_a_store_that_is_down_costs_one_call_and_is_caught_up_with(run, semantic, mira):
    for number in range(50):
        mira.journal.add(f"Guest {number} paid.")
    semantic.down = True
    assert consolidate(run, mira)["left"] == 50
    assert semantic.asked == ["rows"]
    semantic.down = False
    assert consolidate(run, mira)["linked"] == 50
    assert in_step(semantic, mira)


def test_a_pass_has_a_limit_and_says_what_is_left(run, semantic, mira):
    for number in range(45):
        mira.journal.add(f"Guest {number} paid.")
    result = consolidate(run, mira, most=40)
    assert (result["stored"], result["left"]) == (40, 5)
    assert MOST < 1_000


def test_what_is_turned_off_is_skipped_and_asked_nothing(run, semantic, mira):
    mira.journal.add("The bridge is closed.")
    semantic.off = "turned off"
    for function in (consolidate_memories_to_semantic, prune_orphaned_memory_links):
        assert run(function, mira.assistant, mira) == {"skipped": True, "reason": "turned off"}
    assert run(mira.assistant.mind.links.rebuild)["skipped"]
    assert semantic.asked == []


def test_what_is_forgotten_while_it_is_stored_is_not_remembered(game, run, semantic, mira):
    gone = mira.journal.add("Ann is with child.")
    changed = mira.journal.add("The bridge is closed.")
    put, answer = semantic.put, Deferred()

    def slowly(agent, items):
        stored = put(agent, items).result
        return answer.addCallback(lambda _: stored)

    semantic.put = slowly
    consolidated = mira.assistant.mind.links.consolidate(2)
    game.run()
    mira.journal.remove(gone)
    mira.journal.update(changed, content="The bridge is open.")
    semantic.put = put
    answer.callback(None)
    wait(game, consolidated)
    assert memories(semantic, mira) == {}
    assert not mira.journal.get(changed)["consolidated"]
    consolidate(run, mira)
    assert in_step(semantic, mira)


def test_many_chains_that_write_and_consolidate_at_once_lose_and_repeat_nothing(
    game, semantic, tavern
):
    minds = [game.assistant(f"Npc{number}", tavern) for number in range(4)]

    @inlineCallbacks
    def chain(mind, letter):
        for number in range(50):
            mind.journal.add(f"{letter} heard number {number}.")
            yield deferLater(game.clock, 0.01, lambda: None)
            if number % 25 == 24:
                yield consolidate_memories_to_semantic(mind.assistant, mind)

    chains = gatherResults([chain(mind, letter) for mind in minds for letter in "AB"])
    wait(game, chains)
    for mind in minds:
        wait(game, consolidate_memories_to_semantic(mind.assistant, mind))
        assert in_step(semantic, mind)
    assert sum(len(memories(semantic, mind)) for mind in minds) == 400


# --- what is out of step --------------------------------------------------------------------------


def test_a_memory_whose_entry_is_gone_is_deleted_and_no_entry_ever(run, semantic, mira):
    gone = mira.journal.add("Ann is with child.")
    kept = mira.journal.add("The bridge is closed.")
    consolidate(run, mira)
    own = mira.journal.add("A builder wrote this.", source_type="builder")
    mira.journal.remove(gone)
    result = prune(run, mira)
    assert (result["deleted"], result["reset"], result["relinked"]) == (1, 0, 0)
    assert list(memories(semantic, mira)) == [kept]
    assert mira.journal.get(own)


def test_no_memory_is_deleted_because_the_journal_was_let_go_meanwhile(run, semantic, mira):
    for n in range(40):
        mira.journal.add(f"Fact number {n}.")
    consolidate(run, mira)
    before, real = memories(semantic, mira), mira.assistant.mind.links._background.write_in_pieces

    def let_go(*work):
        mira.assistant.mind.let_go()
        return real(*work)

    mira.assistant.mind.links._background.write_in_pieces = let_go
    assert prune(run, mira)["deleted"] == 0
    assert memories(semantic, mira) == before


def test_an_entry_whose_memory_is_gone_is_consolidated_anew(run, semantic, mira):
    for number in range(25):
        mira.journal.add(f"Guest {number} paid.")
    consolidate(run, mira)
    semantic.stored.clear()
    result = prune(run, mira)
    assert result["reset"] == 25
    assert result["consolidated_anew"]["linked"] == 25
    assert in_step(semantic, mira)


def test_a_store_that_is_down_is_not_an_empty_one(run, semantic, mira):
    mira.journal.add("The bridge is closed.")
    consolidate(run, mira)
    before = mira.journal.all()
    semantic.down = True
    result = prune(run, mira)
    assert result["success"] is False and result["error"]
    assert mira.journal.all() == before


def test_of_two_memories_of_one_entry_the_one_it_names_stays(run, semantic, mira):
    mira.journal.add("The bridge is closed.")
    consolidate(run, mira)
    held = semantic.stored[agent_of(mira.id)]
    ((row, text),) = held.values()
    held["a1"] = (type(row)("a1", row.entry, row.audience, row.digest), text)
    result = prune(run, mira)
    assert (result["deleted"], result["reset"], result["relinked"]) == (1, 0, 0)
    assert list(held) == [row.id]


def test_a_memory_that_says_something_else_than_its_entry_is_replaced(run, semantic, mira):
    entry = mira.journal.add("The bridge is closed.")
    consolidate(run, mira)
    mira.journal.update(entry, content="The bridge is open.", consolidated=True)
    prune(run, mira)
    assert in_step(semantic, mira)


def test_a_memory_for_other_ears_than_its_entry_is_replaced(run, semantic, mira):
    entry = mira.journal.add("The bridge is closed.")
    consolidate(run, mira)
    mira.journal.update(entry, audience=["#5"])
    consolidate(run, mira)
    ((row, _),) = semantic.stored[agent_of(mira.id)].values()
    assert row.audience == "5"
    assert in_step(semantic, mira)


def test_an_entry_that_says_something_else_now_waits_for_consolidation(run, semantic, mira):
    entry = mira.journal.add("The bridge is closed.")
    consolidate(run, mira)
    assert mira.journal.update(entry, tags=["bridge"])["consolidated"]
    assert not mira.journal.update(entry, content="The bridge is open.")["consolidated"]
    consolidate(run, mira)
    assert in_step(semantic, mira)


def test_made_anew_it_is_the_journals_and_tells_how_far_it_is(run, semantic, mira):
    for number in range(45):
        mira.journal.add(f"Guest {number} paid.")
    consolidate(run, mira)
    held = semantic.stored[agent_of(mira.id)]
    before = set(held)
    told = []
    result = run(mira.assistant.mind.links.rebuild, lambda done, left: told.append((done, left)))
    assert result["linked"] == 45
    assert told == [(20, 25), (40, 5), (45, 0)]
    assert not before & set(held)
    assert in_step(semantic, mira)
    semantic.down = True
    assert run(mira.assistant.mind.links.rebuild)["error"]
    assert all(entry["consolidated"] for entry in mira.journal.all())


# --- forgetting -----------------------------------------------------------------------------------


def forget(dbref):
    while forget_chunk(dbref):
        pass


def test_forget_me_reaches_long_term_memory_within_moments(game, run, semantic, mira, ann):
    mira.journal.add("Ann is with child.", speakers=[ann.dbref])
    kept = mira.journal.add("The bridge is closed.")
    consolidate(run, mira)
    forget(ann.dbref)
    game.run(2)
    game.run(2)
    assert list(memories(semantic, mira)) == [kept]
    assert deletion_marks() == {}


def test_what_was_forgotten_while_the_store_was_down_goes_when_it_is_back(
    game, run, service, semantic, mira, ann
):
    mira.journal.add("Ann is with child.", speakers=[ann.dbref])
    consolidate(run, mira)
    semantic.down = True
    forget(ann.dbref)
    game.run(2)
    assert memories(semantic, mira) and list(deletion_marks()) == [mira.id]
    service.long_term_sync.stop()  # the server stops meanwhile
    semantic.down = False
    game.run(10 * AGAIN_AFTER_S)
    assert memories(semantic, mira)
    service.long_term_sync.start()
    game.run(2)
    game.run(2)
    assert memories(semantic, mira) == {}
    assert deletion_marks() == {}


def test_it_is_tried_again_until_it_succeeds(game, run, semantic, mira, ann):
    mira.journal.add("Ann is with child.", speakers=[ann.dbref])
    consolidate(run, mira)
    semantic.down = True
    forget(ann.dbref)
    game.run(2)
    game.run(AGAIN_AFTER_S)
    semantic.down = False
    game.run(AGAIN_AFTER_S)
    game.run(2)
    assert memories(semantic, mira) == {}


def test_what_is_marked_again_while_it_is_tidied_stays_marked(semantic, mira):
    mark_for_deletion(mira.id)
    before = deletion_marks()[mira.id]
    mark_for_deletion(mira.id)
    note_deleted(mira.id, before)
    assert list(deletion_marks()) == [mira.id]
    note_deleted(mira.id, deletion_marks()[mira.id])
    assert deletion_marks() == {}


def test_with_the_mind_goes_what_it_remembers(game, run, semantic, mira):
    mira.journal.add("Ann is with child.")
    consolidate(run, mira)
    script = mira.assistant
    while erase_chunk(script.id):
        pass
    script.delete()
    game.run(2)
    assert memories(semantic, mira) == {}


def test_with_the_character_goes_what_it_remembers(game, run, semantic, mira):
    mira.journal.add("Ann is with child.")
    consolidate(run, mira)
    number = mira.id
    mira.delete()
    game.run(2)
    assert semantic.stored[agent_of(number)] == {}


def test_what_was_never_used_is_not_opened_to_forget(game, semantic, mira, ann):
    mira.journal.add("Ann is with child.", speakers=[ann.dbref])
    forget(ann.dbref)
    game.run(2)
    assert semantic.asked == []
    assert deletion_marks() == {}
