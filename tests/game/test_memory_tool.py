"""`search_memory`: everything it remembers, in one search, for those only who may know."""

import pytest

from evennia_ai.messages import make_message
from tests.game.profile_values import set_attribute

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


def test_nothing_private_to_another_is_found_and_what_is_private_binds(mira, ann, bob, search):
    mira.journal.add("Ann hid the ring in the well.", audience=[ann.dbref])
    assert search("the ring", [bob.dbref]).text == "You remember nothing about that."
    assert search("the ring", [ann.dbref, bob.dbref]).text == "You remember nothing about that."
    result = search("the ring", [ann.dbref])
    assert "in the well" in result.text and result.heard_by == {ann.dbref}
