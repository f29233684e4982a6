"""`search_memory`: everything it remembers, in one search, for those only who may know."""

import pytest

from evennia_ai.messages import make_message
from tests.game.profile_values import set_attribute
from tests.scripted import call

pytestmark = pytest.mark.engine


@pytest.fixture
def search(use):
    return lambda query, audience=None: use("search_memory", audience, query=query)


def test_notes_and_values_are_found_with_their_day_and_source(mira, ann, bob, search):
    mira.journal.add("The bridge toll is five pennies.", source_entity=ann.dbref)
    set_attribute(mira.ai_profiles, bob.dbref, "trade", "toll keeper")
    lines = search("who takes the toll at the bridge?").text.splitlines()
    assert any(line.endswith(", from Ann: The bridge toll is five pennies.") for line in lines)
    assert any(line.endswith(": Bob: trade: toll keeper") for line in lines)


def test_lines_of_the_log_are_found_with_notes_and_their_audience_binds(mira, ann, bob, search):
    both = [ann.dbref, bob.dbref]
    mira.assistant.conversation.append(
        [
            make_message("user", "Ann says: The ferry leaves at noon.", audience=both),
            make_message(
                "user",
                "Ann whispers to you: The key is under the ferry.",
                audience=[ann.dbref],
                private=True,
            ),
        ]
    )
    kept = mira.journal.add("The ferry is called Osprey.")
    result = search("the ferry", [ann.dbref, bob.dbref])
    assert "leaves at noon" in result.text and "called Osprey" in result.text
    assert "key" not in result.text and result.heard_by is None
    assert result.read == (f"entry:{kept}",)
    result = search("the ferry", [ann.dbref])
    assert "under the ferry" in result.text and result.heard_by == {ann.dbref}


def test_long_term_memory_is_not_asked_because_the_index_holds_all_of_it(game, mira, search):
    mira.journal.add("The quay lies behind the mill.")
    game.service.semantic.down = True
    assert "behind the mill" in search("where is the quay?").text
    assert game.service.semantic.asked == []


def test_nothing_private_to_another_is_found_and_what_is_private_binds(mira, ann, bob, search):
    mira.journal.add("Ann hid the ring in the well.", audience=[ann.dbref])
    assert search("the ring", [bob.dbref]).text == "You remember nothing about that."
    assert search("the ring", [ann.dbref, bob.dbref]).text == "You remember nothing about that."
    result = search("the ring", [ann.dbref])
    assert "in the well" in result.text and result.heard_by == {ann.dbref}


def test_nothing_is_said_so(search):
    assert search("dragons").text == "You remember nothing about that."


def test_a_model_uses_it_in_a_turn_and_what_it_read_is_noted(game, ann, mira):
    kept = mira.journal.add("The quay lies behind the mill.")
    game.model.add(call("search_memory", query="quay"), call("say", text="Behind the mill."))
    ann.do("say Mira, where is it, that quay?")
    game.run(2)
    assert ann.last() == 'Mira says, "Behind the mill."'
    (result,) = [m for m in mira.assistant.conversation_history if m["role"] == "tool"][:1]
    assert result["metadata"]["consulted"]["read"] == [f"entry:{kept}"]
