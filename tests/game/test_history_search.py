"""Talk that is out of view: looked up by the assistant within its audience, and by admins."""

import pytest

from evennia_ai.messages import make_message
from tests.game.compaction_records import record
from tests.game.conftest import flat
from tests.scripted import call

pytestmark = pytest.mark.engine


@pytest.fixture
def old_talk(mira, ann, bob):
    """Mira with talk behind her of which the first part is out of view."""
    log = mira.assistant.conversation
    both, secret = [ann.dbref, bob.dbref], [ann.dbref]
    rows = log.append(
        [
            make_message("user", "Ann says: The ferry leaves at noon.", audience=both),
            make_message(
                "user", "Ann whispers to you: The key is under the ferry.", audience=secret,
                private=True,
            ),
            make_message("user", "Bob says: I like cheese.", audience=both),
        ]
    )  # fmt: skip
    log.compact(
        record(
            rows[1]["metadata"]["seq"], reason="sleep", compacted_count=2, rung="summary",
            summary={"public": "They spoke of a ferry.", ann.dbref: "A key was mentioned."},
            facts_found=4, facts_kept=3, facts_rescued=1,
        )
    )  # fmt: skip
    return mira


def result_of(game):
    """What the last tool told the model."""
    return [m for m in game.model.requests[-1].messages if m["role"] == "tool"][-1]["content"]


def test_the_assistant_finds_what_was_said_word_for_word(game, bob, ann, old_talk):
    game.model.add(call("search_history", words="when does the ferries leave"), call("noop"))
    bob.do("say Mira, when does the ferry leave?")
    game.run(1)
    assert "Ann: The ferry leaves at noon." in result_of(game)


def test_a_whisper_is_found_for_its_own_listener_alone(game, bob, ann, old_talk):
    game.model.add(call("search_history", words="key"), call("noop"))
    bob.do("say Mira, where is the key?")
    game.run(1)
    assert result_of(game) == "Nothing of that kind was said."
    game.model.add(call("search_history", words="key"), call("noop"))
    ann.do("whisper Mira = where is the key?")
    game.run(1)
    assert "under the ferry" in result_of(game)


def test_admins_find_words_in_the_whole_log(admin, old_talk):
    text = admin.told("aihistory/search Mira = ferry")
    assert "The ferry leaves at noon." in text
    assert "(private)" in text
    assert "cheese" not in text
    assert "The key is" not in admin.told("aihistory/search Mira = ferry at noon")
    assert admin.told("aihistory/search Mira = zebra") == "No message holds these words."


def test_admins_read_the_compactions(admin, ann, old_talk):
    line = "while asleep: 2 messages summarised, 60 tokens into 20; "
    line += "of 4 facts 3 kept in the summary, 1 of the others recalled from the log, 0 in neither"
    assert line in flat(admin.told("aihistory/compactions Mira"))
    assert line in flat(admin.told("aihistory/compaction Mira"))
    number = old_talk.assistant.conversation.current.record.id
    text = admin.told(f"aihistory/compaction Mira = {number}")
    assert "For everybody:\nThey spoke of a ferry." in text
    assert "For Ann:\nA key was mentioned." in text
    admin.do("aicompact/undo Mira")
    assert "(undone)" in admin.told("aihistory/compactions Mira")


def test_a_searched_word_begins_a_word_and_a_star_finds_it_within(mira, admin):
    log = mira.assistant.conversation
    lines = ("Ann says: What a day!", "Ann says: My hats are dry.", "Bob says:\nhat on, off we go")
    log.append([make_message("user", line, audience=[]) for line in lines])
    told = admin.told("aihistory/search Mira = hat")
    assert "hats are dry" in told and "hat on" in told and "What a day" not in told
    assert "What a day" in admin.told("aihistory/search Mira = *hat")
