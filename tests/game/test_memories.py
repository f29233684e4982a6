"""What a character wrote down comes to mind when the talk touches it: to those only who may know,
as it is now, and after a restart too."""

import numpy as np
import pytest
from twisted.internet.defer import Deferred, succeed

from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.memory.remote_vectors import PAUSE_S
from evennia_ai.tools.registry import load_registry
from tests.scripted import call

pytestmark = pytest.mark.engine

ANN, BOB = frozenset({"#5"}), frozenset({"#6"})


def asked_for(game, player, words):
    """The last part of the prompt that somebody's words lead to."""
    game.model.add(call("say", text="Well."))
    player.do(f"say Mira, {words}")
    game.run(1)
    return game.tail()


def found(mira, words, audience=None, limit=5):
    index = mira.assistant.mind.memories()
    hits = index.search(words, limit, audience, mira.assistant.services.now(), upto=0)
    return [hit.record.get("content") or hit.record["value"] for hit in hits]


def test_what_was_written_down_comes_to_mind_where_it_is_touched(game, ann, mira):
    mira.journal.add("The cellar key hangs behind the oak barrel.")
    mira.journal.add("The miller's goat is called Bertha.")
    shown = asked_for(game, ann, "where would one look for a key?")
    assert "You remember:" in shown and "behind the oak barrel" in shown


def test_what_one_player_alone_may_know_comes_to_mind_for_no_other(game, ann, bob, mira):
    mira.journal.add("Ann's treasure lies below the willow.", audience=[ann.character.dbref])
    assert "willow" not in asked_for(game, bob, "where is Ann's treasure?")
    game.model.add(call("whisper", target="Ann", text="Yes."))
    ann.do("whisper Mira = where is my treasure?")
    game.run(1)
    assert "below the willow" in game.tail()


def test_changes_are_found_at_once(game, ann, mira):
    kept = mira.journal.add("The red mare is for sale.")
    asked_for(game, ann, "hello")
    mira.journal.update(kept, content="The red mare is sold.")
    other = mira.journal.add("The grey mare is ill.")
    assert set(found(mira, "mare")) == {"The red mare is sold.", "The grey mare is ill."}
    mira.journal.remove(other)
    assert found(mira, "mare") == ["The red mare is sold."]


def test_an_entry_that_became_private_is_hidden_though_the_index_lags(game, ann, mira):
    kept = mira.journal.add("The mare is lame.")
    asked_for(game, ann, "hello")
    mira.assistant.mind.memories()._due.clear()
    mira.journal.update(kept, audience=["#5"])
    mira.assistant.mind.memories()._due.clear()  # as if it had not heard of it yet
    assert found(mira, "mare") == [] and found(mira, "mare", BOB) == []
    assert found(mira, "mare", ANN) == ["The mare is lame."]


class Endpoint:
    """An embedder somewhere else, which answers when it is told to."""

    name, dimensions = "far", 3

    def __init__(self):
        self.fails, self.asked, self.questions = False, [], []

    def embed_later(self, texts, query=False):
        self.asked.append(list(texts))
        self.questions += texts if query else []
        if self.fails:
            return Deferred()
        rows = [[1.0, "horse" in text or "mare" in text, 0.0] for text in texts]
        return succeed(np.array(rows, dtype=np.float32))


@pytest.fixture
def far(game, mira):
    endpoint = Endpoint()
    index = RecallIndex(mira.journal, mira.ai_profiles, endpoint, lambda dbref: "")
    return endpoint, index


def test_vectors_of_an_endpoint_are_fetched_before_they_are_needed(game, mira, far):
    endpoint, index = far
    mira.journal.add("The grey mare is ill.")
    mira.journal.add("The bell is cracked.")
    done = index.prepare(mira.assistant.services, ["how is the horse?"])
    game.run(1)
    assert done.called
    assert endpoint.asked == [
        ["how is the horse?"],
        ["The bell is cracked.", "The grey mare is ill."],
    ]
    best = index.search("how is the horse?", 1, None, mira.assistant.services.now())
    assert best[0].record["content"] == "The grey mare is ill."


def test_an_endpoint_that_hangs_leaves_it_to_words_and_is_asked_again_later(game, mira, far, admin):
    endpoint, index = far
    endpoint.fails = True
    mira.journal.add("The grey mare is ill.")
    done = index.prepare(mira.assistant.services, ["the mare"])
    game.run(6)
    assert done.called
    now = mira.assistant.services.now()
    assert index.search("the mare", 1, None, now)[0].record["content"] == "The grey mare is ill."
    index.prepare(mira.assistant.services, ["the mare"])
    game.run(1)
    assert len(endpoint.asked) == 1
    game.service.memory.embedder = endpoint
    assert "Recall: The embedder was late" in admin.told("aistatus")
    endpoint.fails = False
    game.run(PAUSE_S)
    assert "embedder was late" not in admin.told("aistatus")
    index.prepare(mira.assistant.services, ["how is the horse?"])
    game.run(1)
    assert endpoint.asked[1:] == [["how is the horse?"], ["The grey mare is ill."]]
    assert index.search("how is the horse?", 1, None, now)


def test_whose_words_come_to_mind_needs_a_tool_s_right_too(game, tavern, ann, mira):
    """P8: the tool ``price`` is for builders."""
    game.service.toolbox = load_registry(["tests.game.test_tools"])
    builder = game.player("Ada", tavern, permissions=["Builder"])
    ann.character.location = game.room("Far away")
    asked_for(game, builder, "what is the price of a goose?")
    assert "price" in offered(game)
    mira.journal.add("A goose is five crowns.", speakers=[ann.dbref])
    asked_for(game, builder, "what is the price of a goose?")
    assert "price" not in offered(game)


def test_so_do_words_that_a_search_brought_back_in_the_same_turn(game, tavern, ann, mira):
    game.service.toolbox = load_registry(["tests.game.test_tools"])
    builder = game.player("Ada", tavern, permissions=["Builder"])
    mira.journal.add("A goose is five crowns.", speakers=[ann.dbref], source_type="compaction")
    for search in (call("search_memory", query="goose"), call("search_journal", words="goose")):
        game.model.add(search, call("price", thing="goose"), call("say", text="Five."))
        builder.do("say Mira, do you know?")
        game.run(2)
        asked, results = game.model.requests[-1], []
        assert "price" not in offered(game)
        results = [m["content"] for m in asked.messages if m["role"] == "tool"]
        assert results[-2].endswith("A goose is five crowns.") and "5 coins" not in results[-1]


def offered(game):
    return {tool["function"]["name"] for tool in game.model.requests[-1].tools}
