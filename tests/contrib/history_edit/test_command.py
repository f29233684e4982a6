"""Lines that builders hide, edit or have said anew, and memories that they delete."""

import pytest
from evennia.utils import logger
from twisted.internet.defer import Deferred

from evennia_ai.messages import make_message
from evennia_ai.models import Amendment, Event, LineVector, Message, SharedEntry, Turn
from tests.game.compaction_records import record
from tests.game.conftest import flat
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]


@pytest.fixture
def talk(game, mira, ann):
    """Mira and Ann, who spoke of a debt."""
    hears(game, ann, "say Mira, I owe you forty crowns", call("say", text="Forty crowns it is."))
    return mira


def hears(game, who, line, *replies):
    """Let somebody say something, and the model reply."""
    game.model.add(*replies)
    who.do(line)
    game.run(1)


def seq_of(words):
    """Return the number of the message with these words."""
    return Message.objects.filter(content__contains=words).order_by("-id").first().id


def call_seq(words):
    return Message.objects.get(tool_calls__icontains=words).id


def prompt(game):
    return "\n".join(
        str(m["content"]) + str(m.get("tool_calls", "")) for m in game.model.requests[-1].messages
    )


def typed(game, who, line):
    """Type a line and let its work end; return the output as one text."""
    who.forget()
    who.do(line)
    game.run(1)
    return flat("\n".join(who.heard()))


def test_a_hidden_line_enters_no_prompt_and_undo_brings_it_back(game, builder, ann, talk):
    number = seq_of("forty crowns")
    text = typed(game, builder, f"aihistory/hide Mira = {number}")
    assert f"Mira no longer sees line {number}." in text and "aihistory/undo Mira" in text
    hears(game, ann, "say Mira, what now?", call("noop"))
    assert "I owe you forty" not in prompt(game) and "Forty crowns it is" in prompt(game)
    assert "I owe you forty" in Message.objects.get(id=number).content
    assert "(hidden)" in flat(builder.told("aihistory Mira"))
    assert f"Undone for Mira: line {number}, no longer hidden." in typed(
        game, builder, "aihistory/undo Mira"
    )
    hears(game, ann, "say Mira, and now?", call("noop"))
    assert "I owe you forty" in prompt(game)


def test_a_call_is_hidden_with_its_result(game, builder, ann, talk):
    number = call_seq("Forty crowns it is")
    text = typed(game, builder, f"aihistory/hide Mira = {number}")
    assert f"Mira no longer sees line {number} and the results of its acts." in text
    assert f"Undone for Mira: line {number}, no" in typed(game, builder, "aihistory/undo Mira")
    typed(game, builder, f"aihistory/hide Mira = {number}")
    hears(game, ann, "say Mira, what now?", call("noop"))
    assert "Forty crowns it is" not in prompt(game)
    assert not [m for m in game.model.requests[-1].messages if m["role"] == "tool"]


def test_an_edited_line_shows_new_words_of_the_same_speaker(game, builder, ann, talk):
    number = seq_of("forty crowns")
    typed(game, builder, f"aihistory/edit Mira = {number}: Mira, I owe you |rfour|n crowns")
    hears(game, ann, "say Mira, what now?", call("noop"))
    assert "Ann says: Mira, I owe you |rfour|n crowns" in prompt(game)
    assert "I owe you forty" not in prompt(game)
    (shown,) = [m for m in talk.assistant.conversation.view() if m["metadata"]["seq"] == number]
    assert {ann.dbref, builder.dbref, "builder"} <= set(shown["metadata"]["authors"])
    typed(game, builder, f"aihistory/edit Mira = {number}: nothing at all")
    typed(game, builder, "aihistory/undo Mira")
    text = flat(builder.told("aihistory Mira"))
    assert "(edited)" in text and "now: Mira, I owe you |rfour|n crowns" in text
    assert "I owe you forty" in text


def test_a_hidden_or_edited_line_is_not_recalled_and_memories_of_it_neither(
    game, builder, ann, bob, mira
):
    log = mira.assistant.conversation
    rows = log.append(
        [
            make_message(
                "user", text, speaker=ann.dbref, speaker_name="Ann", evidence="claimed",
                audience=[ann.dbref, bob.dbref],
            )
            for text in ("Ann says: The vault opens with a whistle.", "Ann says: I like the rain.")
        ]
    )  # fmt: skip
    first = rows[0]["metadata"]["seq"]
    log.compact(record(rows[-1]["metadata"]["seq"]))
    note = mira.journal.add("The vault opens with a whistle.", source_seqs=[first])
    index = mira.assistant.mind.memories()
    mira.journal.update(note, pinned=True)
    hears(game, ann, "say Mira, what did I say the vault opens with?", call("noop"))
    assert "whistle" in prompt(game)
    text = typed(game, builder, f"aihistory/hide Mira = {first}")
    assert f"Memories made of it are not recalled either: {note}." in text
    assert "A summary was written with it before" in text and "aicompact/undo Mira" in text
    shown = typed(game, builder, f"aimemory/show Mira = {note}")
    assert "Not used: a line that it came from was hidden or edited" in shown
    hears(game, bob, "say Mira, how does the vault open, I ask?", call("noop"))
    assert "whistle" not in prompt(game)
    game.model.add(call("search_journal", words="vault"), call("noop"))
    hears(game, bob, "say Mira, look it up: the vault")
    assert "whistle" not in prompt(game)
    typed(game, builder, "aihistory/undo Mira")
    typed(game, builder, f"aihistory/edit Mira = {first}: The vault opens with a knock.")
    hears(game, bob, "say Mira, so how does the vault open?", call("noop"))
    assert "knock" in prompt(game) and "whistle" not in prompt(game)
    assert mira.assistant.mind.memories() is index  # which need not be built again
    index.close()
    assert not LineVector.objects.filter(message_id=first)  # one of the old words would mislead


def test_a_retry_asks_again_and_hides_the_answer(game, builder, ann, talk):
    game.model.add(call("say", text="Four crowns, you mean?"))
    ann.forget()
    text = typed(game, builder, "aihistory/retry Mira")
    assert "What it said aloud stays said" in text
    assert "Four crowns, you mean?" in "\n".join(ann.heard())
    asked = prompt(game)
    assert asked.count("I owe you forty crowns") == 1 and "Forty crowns it is" not in asked
    assert [turn.outcome for turn in Turn.objects.order_by("id")] == ["retried", "answered"]
    assert Message.objects.filter(role="user").count() == 1
    assert set(Event.objects.values_list("state", flat=True)) == {"answered"}
    typed(game, builder, "aihistory/undo Mira")
    hears(game, ann, "say Mira, what now?", call("noop"))
    assert "Forty crowns it is" in prompt(game) and "Four crowns, you mean" in prompt(game)


def test_a_retry_does_no_act_twice(game, builder, ann, tavern, mira):
    game.thing("coin", mira)
    give = call("give", item="coin", to="Ann")
    hears(game, ann, "say Mira, a coin please", give, call("say", text="Here."))
    assert [obj.key for obj in ann.character.contents] == ["coin"]
    game.model.add(give, call("say", text="There you are."))
    typed(game, builder, "aihistory/retry Mira")
    told = [m["content"] for m in game.model.requests[-1].messages if m["role"] == "tool"]
    assert any("already" in str(text).lower() for text in told), told


def test_an_answer_to_old_words_is_not_retried(game, admin, ann, talk):
    game.clock.advance(400)
    text = typed(game, admin, "aihistory/retry Mira")
    assert "event_max_age" in text and "Say them again." in text
    assert not Amendment.objects.exists()


def test_what_waits_for_an_answer_cannot_be_hidden(game, admin, ann, talk):
    game.model.add(Deferred())
    ann.do("say Mira, are you there?")
    game.run(1)
    text = typed(game, admin, f"aihistory/hide Mira = {seq_of('are you there')}")
    assert "thinking just now" in text or "wait for an answer" in text
    assert not Amendment.objects.exists()


def test_a_builder_changes_no_whisper(game, admin, builder, ann, mira):
    hears(game, ann, "whisper Mira = the key is red", call("noop"))
    number = seq_of("key is red")
    for line in (f"hide Mira = {number}", f"edit Mira = {number}: x"):
        text = typed(game, builder, f"aihistory/{line}")
        assert "This line is private: only Admins may change it." in text
    typed(game, admin, f"aihistory/hide Mira = {number}")
    assert "only Admins may change it" in typed(game, builder, "aihistory/undo Mira")
    assert "(hidden)" in flat(admin.told("aihistory Mira"))


def test_only_who_may_edit_the_character_changes_its_lines(game, builder, ann, talk):
    talk.locks.add("edit:false();control:false()")
    text = typed(game, builder, f"aihistory/hide Mira = {seq_of('forty crowns')}")
    assert "You may not change Mira" in text


def test_lines_of_a_deleted_memory_are_not_recalled_until_undo(game, builder, ann, bob, mira):
    log = mira.assistant.conversation
    rows = log.append(
        [
            make_message(
                "user", "Ann says: The vault opens with a whistle.", speaker=ann.dbref,
                speaker_name="Ann", evidence="claimed", audience=[ann.dbref, bob.dbref],
            )
        ]
    )  # fmt: skip
    log.compact(record(rows[-1]["metadata"]["seq"]))
    note = mira.journal.add(
        "The vault opens with a whistle.", source_seqs=[rows[0]["metadata"]["seq"]]
    )
    text = typed(game, builder, f"aimemory/delete Mira = {note}")
    assert "The line of the log behind it will not be recalled either." in text
    hears(game, bob, "say Mira, how does the vault open?", call("noop"))
    assert "whistle" not in prompt(game)
    assert "no change of Mira's lines" in typed(game, builder, "aihistory/undo Mira")
    typed(game, builder, f"aimemory/restore Mira = {note}")
    hears(game, bob, "say Mira, so how does the vault open?", call("noop"))
    assert "whistle" in prompt(game)


def test_what_others_were_told_of_a_hidden_line_is_withdrawn(game, builder, ann, talk):
    number = seq_of("forty crowns")
    note = talk.journal.add("Ann owes forty crowns.", source_seqs=[number])
    now, teller = game.service.now(), talk.dbref
    SharedEntry.objects.create(
        assistant_id=talk.assistant.id, at=now, entry=note, scope="town", teller=teller,
        text="Ann owes forty crowns.", learnt_at=now, available_from=now, importance=5, trust=0.6,
    )  # fmt: skip
    typed(game, builder, f"aihistory/hide Mira = {number}")
    assert not SharedEntry.objects.exists()


def test_the_security_log_names_who_changed_which_line_without_its_words(
    game, builder, ann, talk, monkeypatch
):
    number, logged = seq_of("forty crowns"), []
    monkeypatch.setattr(logger, "log_sec", lambda text, **kwargs: logged.append(text))
    typed(game, builder, f"aihistory/edit Mira = {number}: four crowns")
    (line,) = [one for one in logged if "aimend/edit" in one]
    assert "Bea" in line and f"line {number} of Mira" in line and "crowns" not in line


WRONG = {
    "aihistory/hide Mira": "Which line? aihistory Mira shows their numbers.",
    "aihistory/hide Mira = 99999": "There is no line 99999.",
    "aihistory/undo Mira": "There is no change of Mira's lines to undo.",
    "aihistory/retry Mira": "Mira has answered nobody yet",
    "aimend Mira": "Usage: aihistory/hide",
    "aihistory/hide/edit Mira = 1": "Use one switch",
    "aihistory/edit Mira = 5: " + "x" * 1001: "1,001 of 1,000 characters",
}


def test_each_wrong_use_is_answered(game, admin, mira):
    for line, answer in WRONG.items():
        assert answer in flat(admin.told(line)), line


def test_the_help_of_the_history_names_the_ways_to_change_it(game, builder):
    told = builder.told("help aihistory")
    for switch in ("hide", "edit", "retry", "undo"):
        assert f"aihistory/{switch}" in told
        own = builder.told(f"help aihistory/{switch}")
        assert "hide or reword lines" in own and "No help entry" not in own, switch
