"""Compactions in the database: the log stays, the view moves, undo brings it back."""

import pytest
from twisted.internet.defer import succeed

from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import make_message
from evennia_ai.models import Compaction, Message
from evennia_ai.policy.context.projection import MASKED, is_marker
from evennia_ai.ports.journal import Journal
from evennia_ai.sleep.emergency import Emergency
from evennia_ai.store.conversation import TableCompactions, assistants_to_archive
from tests.forgetting import forget_chunk
from tests.game.compaction_records import record
from tests.scripted import call

pytestmark = pytest.mark.engine

LONG = "seen {} " + "and more " * 40


@pytest.fixture
def conversation(mira):
    log = mira.assistant.conversation
    log.append([make_message("user", f"line {n}", audience=["#5"]) for n in range(6)])
    return log


def seqs(log):
    return [m["metadata"]["seq"] for m in log.view() if not is_marker(m)]


def contents(log):
    return [m["content"] for m in log.view()]


def fresh(log):
    """As another process would read it."""
    log.forget_view()
    return contents(log)


def test_a_compaction_moves_the_view_and_leaves_the_log(conversation):
    before = list(Message.objects.values())
    third = seqs(conversation)[2]
    stored = conversation.compact(record(third))
    assert contents(conversation) == [
        "[CONTEXT SUMMARY]\nThey talked.",
        "line 3",
        "line 4",
        "line 5",
    ]
    assert conversation.view()[0]["metadata"]["id"] == stored.id
    assert contents(conversation) == fresh(conversation)
    assert list(Message.objects.values()) == before


def test_two_compactions_are_undone_one_after_the_other(conversation):
    all_seqs = seqs(conversation)
    first = conversation.compact(record(all_seqs[1]))
    second = conversation.compact(record(all_seqs[3], previous_id=first.id))
    assert conversation.undo().id == second.id
    assert len(contents(conversation)) == 1 + 4
    assert conversation.undo().id == first.id
    assert contents(conversation) == [f"line {n}" for n in range(6)]
    assert conversation.undo() is None


def test_what_was_undone_can_be_compacted_anew(conversation):
    third = seqs(conversation)[2]
    first = conversation.compact(record(third))
    conversation.undo()
    second = conversation.compact(record(third))
    assert second.id != first.id
    assert len(fresh(conversation)) == 1 + 3
    assert conversation.compactions.last().id == second.id


def test_entries_of_an_undone_compaction_are_withdrawn_whatever_a_crash_left(conversation):
    kept = conversation.compact(record(seqs(conversation)[2]))
    assert conversation.to_archive()[0][1]  # its entries are still to be written
    conversation.undo()
    assert [(item.id, is_in_force) for item, is_in_force in conversation.to_archive()] == [
        (kept.id, False)
    ]


def test_a_compaction_that_cannot_be_stored_changes_nothing(conversation, busy):
    before = contents(conversation)
    busy(conversation.compactions, "commit")
    with pytest.raises(StoreUnavailable):
        conversation.compact(record(seqs(conversation)[2]))
    assert contents(conversation) == fresh(conversation) == before


def test_old_results_are_masked_and_come_back_with_an_undo(conversation):
    rows = conversation.append(
        [
            make_message("tool", LONG.format(n), tool_call_id=str(n), audience=["#5"])
            for n in range(3)
        ]
    )
    assert conversation.mask(rows[1]["metadata"]["seq"]) == 2
    assert conversation.mask(rows[1]["metadata"]["seq"]) == 0
    assert contents(conversation)[-3:] == [MASKED, MASKED, LONG.format(2)]
    assert contents(conversation) == fresh(conversation)
    assert Message.objects.filter(content=LONG.format(0)).exists()
    conversation.compact(record(seqs(conversation)[0]))
    conversation.undo()
    assert contents(conversation)[-3:] == [MASKED, MASKED, LONG.format(2)]
    Compaction.objects.update(undone_at=conversation.now())
    assert fresh(conversation)[-3:] == [LONG.format(n) for n in range(3)]


def test_an_undo_shows_again_what_was_masked_after_it(conversation):
    (row,) = conversation.append([make_message("tool", LONG, tool_call_id="1", audience=["#5"])])
    conversation.compact(record(seqs(conversation)[0]))
    assert conversation.mask(row["metadata"]["seq"]) == 1
    conversation.undo()
    assert contents(conversation)[-1] == LONG
    assert contents(conversation) == fresh(conversation)


def test_whose_words_a_synthesis_holds_is_forgotten_in_it_too(mira, ann, bob, conversation):
    last = seqs(conversation)[-1]
    parts = {"public": "They talked of crowns.", ann.dbref: "Ann is a spy."}
    speakers = {"public": [ann.dbref, bob.dbref], ann.dbref: [ann.dbref]}
    conversation.compact(record(last, summary=parts, speakers=speakers))
    mira.assistant.mind.compactor.archive.archive()
    assert len(mira.journal.all()) == 2
    while forget_chunk(bob.dbref):
        pass
    assert [entry["content"] for entry in mira.journal.all()] == [
        "[CONTEXT SYNTHESIS]\nAnn is a spy."
    ]
    while forget_chunk(ann.dbref):
        pass
    assert mira.journal.all() == []


class Killed(BaseException):
    """What no code of ours may take for an error of its own."""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("store", "operation", "time"),
    [(Journal, "add", 1), (Journal, "add", 2), (TableCompactions, "note_archived", 1)],
)
def test_a_kill_at_any_point_of_it_leaves_neither_too_little_nor_too_much(
    store, operation, time, when, game, service, mira, conversation, monkeypatch
):
    do, calls = getattr(store, operation), []

    def fatal(self, *args, **fields):
        calls.append(args)
        if len(calls) == time and when == "before":
            raise Killed
        result = do(self, *args, **fields)
        if len(calls) == time:
            raise Killed
        return result

    parts = {"public": "They talked.", "#5": "Ann is a spy."}
    conversation.compact(record(seqs(conversation)[2], summary=parts))
    with monkeypatch.context() as patch:
        patch.setattr(store, operation, fatal)
        mira.assistant.mind.compactor.archive.archive().addErrback(
            lambda failure: failure.trap(Killed)
        )
    Journal.drop(mira)  # as another process would read it
    service.resume()
    game.run(2)
    assert [entry["content"].split("\n")[1] for entry in mira.journal.all()] == list(parts.values())
    assert assistants_to_archive() == []
    mira.assistant.mind.compactor.archive.undo()
    game.run(1)
    assert mira.journal.all() == [] and assistants_to_archive() == []


def test_a_digest_gives_way_to_a_summary_in_sleep(game, mira, ann):
    mind = mira.assistant.mind
    mira.assistant.db.max_context_tokens, mira.assistant.db.max_reply_tokens = 2_900, 300
    lines = [f"Ann says: The ferry takes {n} crowns for a cart and a horse." for n in range(99)]
    mind.log.append([make_message("user", line, audience=[ann.dbref]) for line in lines])
    mind.settings.resolve()
    mind.emergency.make_room()
    game.run(1)
    (digest,) = Compaction.objects.all()
    assert (digest.rung, game.model.requests) == ("digest", [])
    game.model.add(
        "Ann told what the ferry takes for a cart and a horse: 1, 2, 3, 4, 5 or 6 crowns."
    )
    mind.compactor.in_sleep()
    game.run(1)
    undone, summary = Compaction.objects.order_by("id")
    assert (undone.id, undone.undone_at is None, summary.rung) == (digest.id, False, "summary")
    assert (summary.undone_at, summary.from_seq) == (None, digest.from_seq)
    (entry,) = [one for one in mira.journal.all() if "compaction" in one["tags"]]
    assert "what the ferry takes" in entry["content"]


def test_what_was_evicted_in_a_hurry_is_journalled_by_the_next_process(
    game, mira, ann, monkeypatch
):
    mira.assistant.db.max_context_tokens = 12_000
    lines = [f"Ann says: The ferry takes {n % 3} crowns. " + "Mind it. " * 40 for n in range(66)]
    mira.assistant.conversation.append(
        [make_message("user", line, audience=[ann.dbref]) for line in lines]
    )
    with monkeypatch.context() as patch:  # as if it is killed after the answer
        patch.setattr(Emergency, "journal_late", lambda _self: succeed({}))
        summary = "Ann says that the ferry takes 0, 1 or 2 crowns; mind it."
        game.model.add(summary, call("say", text="Good day."))
        ann.do("say Mira, good day")
        game.run(2)
    assert "Good day." in ann.last()
    assert Compaction.objects.filter(unread=True).count() == 1
    game.next_process(mira.assistant).at_start()
    entry = call("add_journal_entry", content="The ferry takes 7 crowns.")
    game.model.add(call("say", text="Indeed."), entry, call("noop"), call("noop"))
    ann.do("say Mira, a fine day")
    game.run(2)
    for _ in range(20):  # its work comes in slices of real time
        game.run(1)
    assert "The ferry takes 7 crowns." in [item["content"] for item in mira.journal.all()]
    assert not Compaction.objects.filter(unread=True).exists()
