"""The log is the memory: each line is recalled for those who may know it, and forgotten with it."""

from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from django.db import OperationalError
from twisted.internet.defer import Deferred, succeed

from evennia_ai.config.table_retention import Limit
from evennia_ai.game.sleep_state import fall_asleep, wake_up
from evennia_ai.memory.index_cache import IndexCache
from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.memory.remote_vectors import BATCH
from evennia_ai.memory.vectors import to_bytes, unit
from evennia_ai.messages import EXCUSE, make_message, wire_call
from evennia_ai.models import LineVector, Message
from evennia_ai.store import lines as line_store
from evennia_ai.store.conversation import MESSAGE_BYTES
from evennia_ai.store.erase import erase_chunk
from evennia_ai.store.lines import KEPT
from evennia_ai.store.purge import TablePurge
from tests.forgetting import forget_chunk
from tests.game import purge_scene
from tests.memory.bag_of_words import BagOfWords

pytestmark = pytest.mark.engine

log = purge_scene.log

ANN, BOB = "#905", "#906"
BOTH = frozenset({ANN, BOB})


def heard(text, speaker=ANN, audience=BOTH, private=False):
    name = {ANN: "Ann", BOB: "Bob"}[speaker]
    verb = "whispers to you" if private else "says"
    return make_message(
        "user", f"{name} {verb}: {text}", speaker=speaker, speaker_name=name,
        audience=sorted(audience), private=private,
    )  # fmt: skip


def said(tool, text, **metadata):
    call = wire_call("c1", tool, f'{{"text": "{text}"}}')
    return make_message("assistant", "", tool_calls=[call], audience=sorted(BOTH), **metadata)


def result(text):
    return make_message("tool", text, tool_call_id="c1", audience=sorted(BOTH))


class Counting(BagOfWords):
    """An embedder that notes what it is asked."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def embed(self, texts):
        self.texts += texts
        return super().embed(texts)


class Recalling:
    """A character with a log, and an index over it that is made anew on demand."""

    def __init__(self, game, mira):
        self.game, self.script = game, mira.assistant
        self.embedder = Counting()
        self.restart()

    def restart(self):
        who = self.script.character
        self.index = RecallIndex(
            who.journal, who.ai_profiles, self.embedder, lambda dbref: "",
            self.script.conversation.lines, "Mira",
        )  # fmt: skip

    def log(self, *messages):
        return [m["metadata"]["seq"] for m in self.script.conversation.append(messages)]

    def prepare(self, *queries, **options):
        done = self.index.prepare(self.script.services, queries, **options)
        self.game.run(1)
        assert done.called
        return done

    def search(self, words, audience=BOTH, **options):
        now = self.script.services.now()
        hits = self.index.search(words, 5, audience, now, **options)
        return [hit.record["content"] for hit in hits]

    def found(self, words, audience=BOTH, **options):
        self.prepare()
        return self.search(words, audience, **options)


@pytest.fixture
def mind(game, mira):
    return Recalling(game, mira)


def test_every_kind_of_line_is_recalled_and_nothing_else(mind):
    mind.log(
        heard("goose"),
        said("say", "goose, you say"),
        result("You said it."),
        make_message("tool", "You gave the goose to Ann.", audience=sorted(BOTH)),
        make_message("tool", "A goose stands here.", audience=sorted(BOTH)),
        make_message("assistant", "Not now, goose.", type=EXCUSE, audience=sorted(BOTH)),
        said("emote", "plucks the goose."),
        make_message("user", "Bob acts out: eats goose.", speaker=BOB, speaker_name="Bob"),
    )
    assert sorted(mind.found("goose")) == [
        "Ann says: goose",
        "Bob acts out: eats goose.",
        "Mira acts out: plucks the goose.",
        "Mira says: goose, you say",
        "You gave the goose to Ann.",
    ]


def test_what_the_game_perceived_keeps_its_mark_in_recall(mind):
    gift = make_message("user", "◆ Bob gives you goose.", speaker=BOB, nature="perceived")
    mind.log(gift, heard("◆ Bob gives you goose."))
    assert sorted(mind.found("goose")) == ["Ann says: ◇ Bob gives you goose.", gift["content"]]


def test_a_line_tells_its_speaker_its_time_and_its_audience(mind):
    (seq,) = mind.log(heard("it rains", audience={ANN}, private=True))
    mind.prepare()
    hit, *_ = mind.index.search("rain", 5, frozenset({ANN}), mind.script.services.now())
    assert hit.record == {
        "id": f"line:{seq}", "kind": "line", "seq": seq, "own": False,
        "content": "Ann whispers to you: it rains", "words": "it rains",
        "speaker_name": "Ann", "source_entity": ANN, "source_type": "direct", "speakers": [ANN],
        "nature": "claimed",
        "timestamp": Message.objects.get(id=seq).at.isoformat(), "audience": [ANN],
    }  # fmt: skip


def test_a_whisper_is_recalled_for_those_alone_who_heard_it(mind):
    first, secret, last = mind.log(
        heard("it is"), heard("below the willow", audience={ANN}, private=True), heard("hm")
    )
    assert mind.found("willow", frozenset({ANN}))[0] == "Ann whispers to you: below the willow"
    for others in (frozenset({BOB}), BOTH, frozenset(), None):
        assert "willow" not in str(mind.search("willow", others))
        beside = mind.index.companions([first, secret], others)
        assert [line["seq"] for line in beside[first]] == [last]
        assert "willow" not in str(beside)
    assert "willow" in str(mind.search("willow", BOTH, everything=True))


def test_lines_in_the_view_are_left_out_before_anything_is_ranked(mind):
    one, two, three = mind.log(heard("a red goose"), heard("a grey goose"), heard("a goose?"))
    assert mind.found("goose", upto=two) == mind.search("goose", upto=two)
    assert sorted(mind.search("goose", upto=two)) == [
        "Ann says: a grey goose",
        "Ann says: a red goose",
    ]
    assert [line["seq"] for line in mind.index.companions([one], BOTH, upto=two)[one]] == [two]
    assert three


def test_lines_after_a_message_are_taken_in_later(mind):
    one, _two = mind.log(heard("a red goose"), heard("a grey goose"))
    mind.prepare(upto=one)
    assert len(mind.index) == 1
    assert len(mind.found("goose")) == 2


def test_vectors_are_made_once_and_loaded_afterwards(mind):
    mind.log(*(heard(f"goose number {n}") for n in range(45)))
    mind.prepare()
    mind.index.close()
    assert LineVector.objects.count() == 45
    mind.embedder.texts.clear()
    mind.restart()
    assert len(mind.found("goose number 7")) == 5
    assert mind.embedder.texts == ["goose number 7"]


def test_another_embedder_makes_its_own(mind):
    mind.log(*(heard(f"goose {n}") for n in range(25)))
    mind.prepare()
    mind.index.close()
    mind.embedder.name = "another"
    mind.embedder.texts.clear()
    mind.restart()
    mind.prepare()
    mind.index.close()
    assert len(mind.embedder.texts) == 25
    names = set(LineVector.objects.values_list("embedder", flat=True))
    assert LineVector.objects.count() == 25 and len(names) == 1 and "another" in names.pop()


def test_a_database_that_cannot_be_written_fails_no_search(mind, monkeypatch):
    def locked():
        raise OperationalError("database is locked")

    mind.log(*(heard(f"goose {n}") for n in range(25)))
    monkeypatch.setattr(line_store.models.LineVector.objects, "bulk_create", lambda rows: locked())
    assert len(mind.found("goose")) == 5
    assert LineVector.objects.count() == 0


def test_few_new_lines_are_taken_in_without_a_query(mind, django_assert_num_queries):
    mind.log(heard("goose"))
    mind.prepare()
    mind.log(heard("a second goose"), heard("a third goose"))
    with django_assert_num_queries(0):
        mind.prepare()
    assert len(mind.index) == 3


def test_no_line_is_missed_whatever_was_in_memory(mind):
    mind.log(heard("goose"))
    mind.prepare()
    mind.log(*(heard(f"goose {n}") for n in range(KEPT + 5)))
    mind.prepare()
    assert len(mind.index) == KEPT + 6
    mind.log(heard("another goose"))
    mind.script.conversation.forget_view()
    mind.log(heard("a last goose"))
    mind.prepare()
    assert len(mind.index) == KEPT + 8


def test_a_line_that_is_gone_is_found_no_more(mind):
    seqs = mind.log(heard("a red goose"), heard("a grey goose"))
    assert len(mind.found("goose")) == 2
    LineVector.objects.all().delete()
    Message.objects.filter(id=seqs[0]).delete()  # behind the index's back
    assert mind.found("goose") == ["Ann says: a grey goose"]
    assert len(mind.index) == 1


@pytest.fixture
def known(game, mira):
    """Mira's own index with forty lines, their vectors stored."""
    mind = Recalling(game, mira)
    mind.index.close()
    mind.seqs = mind.log(*(heard(f"goose {n}", (ANN, BOB)[n % 2]) for n in range(40)))
    mind.index = mira.assistant.memories
    mind.prepare()
    assert LineVector.objects.count() == len(mind.index) == 40
    return mind


def rest(mind):
    """How many of the forty lines are left: in the log, as vectors, in memory."""
    return Message.objects.count(), LineVector.objects.count(), len(mind.index)


def test_forgetting_a_speaker_takes_their_vectors_along(known):
    while forget_chunk(ANN):
        pass
    assert rest(known) == (20, 20, 20)
    assert "Ann" not in str(known.found("goose"))


def test_erasing_takes_all_vectors_along(known):
    while erase_chunk(known.script.id):
        pass
    assert rest(known) == (0, 0, 0)


def test_retention_takes_vectors_along(known, log):
    for seq in known.seqs[9::10]:
        log.compaction(50, seq)
    purge = TablePurge("Message", known.script.id, Limit(rows=0), log.now + timedelta(days=60))
    while purge.step()[0]:
        pass
    assert rest(known) == (20, 20, 20)  # what two undos bring back stays


def test_deleting_an_assistant_takes_its_vectors_along(known, mira):
    mira.delete()
    assert LineVector.objects.count() == Message.objects.count() == 0


def test_nothing_stays_loaded_of_who_sleeps_or_is_stopped(known):
    script = known.script
    for leave, come_back in (
        (lambda: fall_asleep(script, "order"), lambda: wake_up(script, "a test")),
        (script.stop_thinking, lambda: None),
    ):
        index, conversation = script.memories, script.conversation
        conversation.view()
        leave()
        assert conversation.nbytes == 0
        come_back()
        assert script.memories is not index


class Endpoint:
    """An embedder elsewhere; it answers the first calls at once and the others on demand."""

    name, dimensions = "far", 3

    def __init__(self, at_once=1_000):
        self.at_once, self.asked = at_once, []

    def embed_later(self, texts, query=False):
        self.asked.append(list(texts))
        if len(self.asked) > self.at_once:
            return Deferred()
        return succeed(np.array([[1.0, "mare" in t, 0.0] for t in texts], dtype=np.float32))


def test_an_endpoint_makes_the_vectors_of_lines_batch_by_batch_behind_the_search(mind):
    mind.embedder = Endpoint(at_once=2)
    mind.index.close()
    mind.restart()
    mind.log(*(heard(f"goose {n}") for n in range(BATCH + 20)))
    mind.prepare("how is the mare?")  # fires although the second batch never comes
    assert [len(texts) for texts in mind.embedder.asked] == [BATCH, 1, 20]
    assert LineVector.objects.count() == BATCH
    assert len(mind.search("goose")) == 5


def test_vectors_of_an_endpoint_are_loaded_too(mind):
    mind.embedder = Endpoint()
    mind.index.close()
    mind.restart()
    mind.log(*(heard(f"the mare of {n}") for n in range(BATCH + 20)))
    mind.prepare()
    mind.index.close()
    rows = LineVector.objects.values_list("packed", flat=True)
    assert len(rows) == BATCH + 20
    assert np.allclose(unit(to_bytes(bytes(rows[0]))), np.sqrt([0.5, 0.5, 0]), atol=0.01)
    asked = len(mind.embedder.asked)
    mind.restart()
    mind.prepare()
    assert len(mind.embedder.asked) == asked


def test_a_line_deleted_while_an_endpoint_works_leaves_no_vector(mind):
    endpoint = mind.embedder = Endpoint()
    answers = []

    def later(texts, query=False):
        answers.append((Deferred(), texts))
        return answers[-1][0]

    endpoint.embed_later = later
    mind.index.close()
    mind.restart()
    seqs = mind.log(*(heard(f"goose {n}") for n in range(20)))
    done = mind.index.prepare(mind.script.services)
    mind.game.run()
    Message.objects.filter(id=seqs[0]).delete()
    deferred, texts = answers[0]
    deferred.callback(np.ones((len(texts), 3), dtype=np.float32))
    mind.game.run()
    assert done.called
    mind.index.close()
    assert LineVector.objects.count() == 19


def test_lines_keep_their_order_whatever_came_between(mind):
    seqs = mind.log(*(heard(f"goose {n}") for n in range(6)))
    mind.prepare()
    beside = mind.index.companions([seqs[3]], BOTH)[seqs[3]]
    assert [line["seq"] for line in beside] == [seqs[2], seqs[4]]
    assert all(a["timestamp"] <= b["timestamp"] for a, b in pairwise(beside))


def test_the_least_recently_used_indices_are_dropped_by_bytes(game, mira, monkeypatch):
    cache, scripts = IndexCache(Counting, None), [mira.assistant]
    scripts += [game.assistant(name, mira.location).assistant for name in ("Otto", "Vera")]

    def use(script):
        script.conversation.append([heard(f"goose {n}") for n in range(30)])
        cache.of_character(script).prepare(game.service)
        game.run()
        return cache.of_character(script)

    first, second = use(scripts[0]), use(scripts[1])
    assert first.nbytes > 30 * 64
    monkeypatch.setattr("evennia_ai.memory.index_cache.MOST_BYTES", 2.7 * first.nbytes)
    cache.of_character(scripts[0])
    use(scripts[2])
    assert cache.of_character(scripts[0]) is first
    assert cache.of_character(scripts[1]) is not second


def test_the_least_recently_used_views_are_unloaded_by_bytes(game, mira, monkeypatch):
    scripts = [mira.assistant]
    scripts += [game.assistant(name, mira.location).assistant for name in ("Otto", "Vera")]
    logs = [script.conversation for script in scripts]
    for log in logs:
        log.append([heard(f"goose {n}") for n in range(30)])
    monkeypatch.setattr("evennia_ai.store.conversation.MOST_BYTES", 2.5 * 30 * MESSAGE_BYTES)
    sizes = [len(log.view()) for log in (logs[0], logs[1], logs[0], logs[2])]
    assert [log.nbytes > 0 for log in logs] == [True, False, True]
    assert sizes == [30] * 4 and len(logs[1].view()) == 30


def test_the_sizes_of_an_unloaded_view_grow_with_the_log(mind, django_assert_num_queries):
    log = mind.script.conversation
    mind.log(heard("goose"), heard("a secret", audience={ANN}, private=True))
    log.view()
    log.unload_view()
    mind.log(
        heard("another goose"), make_message("assistant", "Hm.", type=EXCUSE), said("say", "x")
    )
    with django_assert_num_queries(0):
        kept = log.sizes
    assert log.nbytes == 0
    log.view()
    assert (log.sizes.public, log.sizes.private) == (kept.public, kept.private)
    assert log.sizes is not kept
