"""``aicompact``: by hand, dry, and back again."""

import re

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.errors import ProviderUnavailable
from evennia_ai.messages import make_message
from evennia_ai.models import Compaction, Message
from tests.reading_requests import is_summary
from tests.scripted import LLMReply, call

pytestmark = pytest.mark.engine
STORIES = "Ann told long stories in lines of one word: 1, 2, 3, 4, 5, 6 and 7."


@pytest.fixture
def talkative(mira, ann):
    """Mira with forty lines behind her."""
    mira.assistant.attributes.add("max_context_tokens", 12_000)
    mira.assistant.conversation.append(
        [
            make_message("user", f"Ann says: line {n} " + "word " * 200, audience=[ann.dbref])
            for n in range(40)
        ]
    )
    return mira


def counts(text):
    """How many messages were summed up, and how many kept."""
    found = re.search(r"(\d+) messages (?:would be )?summarised, (?:the newest )?(\d+)", text)
    return int(found[1]), int(found[2])


@pytest.fixture
def answer(game, admin):
    """A function that types a command as the admin and lets the game go on; what he is told."""

    def ask(line):
        admin.told(line)
        game.run()
        return "\n".join(admin.heard())

    return ask


def test_a_compaction_is_done_told_and_taken_back(game, admin, answer, talkative):
    game.model.add(STORIES)
    text = answer("aicompact Mira = the stories")
    gone, kept = counts(text)
    assert gone + kept == 40
    assert "Done (summary)" in text and "To undo it: aicompact/undo Mira" in text
    assert "the stories" in game.model.requests[0].messages[0]["content"]
    assert not game.model.requests[0].caller.background  # the admin waits, and so does Mira
    assert "blinks, as if sorting" in text
    assert Message.objects.count() == 40
    assert f"{gone} messages is undone" in admin.told("aicompact/undo Mira")
    assert len(talkative.assistant.conversation.view()) == 40
    assert "no compaction to undo" in admin.told("aicompact/undo Mira")


def test_admins_read_what_it_cost_and_whether_the_log_under_it_is_still_the_same(
    game, admin, answer, talkative
):
    game.model.add(STORIES)
    answer("aicompact Mira")
    number = Compaction.objects.get().id
    text = admin.told(f"aihistory/compaction Mira = {number}")
    assert re.search(r"Cost: 1 model calls, [\d,]+ tokens in, 0 out, 0.0 s\.", text)
    assert "The summarised messages are unchanged." in text
    Message.objects.order_by("id").first().delete()
    text = admin.told(f"aihistory/compaction Mira = {number}")
    assert "The summarised messages are changed: messages were deleted." in text


def test_what_neither_the_summary_nor_a_search_holds_is_listed_and_pinned(
    game, admin, answer, talkative
):
    game.model.add(STORIES)
    answer("aicompact Mira")
    mind = talkative.assistant.mind
    mind.memories().search = lambda *_query, **_options: ()
    text = answer(f"aihistory/compaction Mira = {Compaction.objects.get().id}")
    assert "In no summary, and found by no search:" in text
    number = re.search(r"line:(\d+) Ann: line 9 word", text)[1]
    assert "Now pinned" in answer(f"aimemory/pin Mira = line:{number}")
    (entry,) = [entry for entry in talkative.journal.all() if entry["pinned"]]
    assert entry["content"].startswith("Ann: line 9 word")
    assert "holds no fact" in answer("aimemory/pin Mira = line:999999")


def test_the_mode_and_the_phase_can_be_read_from_the_first_moment_on(game, ann, talkative):
    script, phases = talkative.assistant, []
    assert script.db.operating_mode == "awake"
    script.attributes.add("max_context_tokens", 9_000)

    def answer_it(request):
        phases.append((is_summary(request), script.db.operating_mode, script.db.sleep_phase))
        return STORIES

    game.model.script[:] = [answer_it] * 9
    script.mind.sleep.fall_asleep("order")
    script.wake()
    game.run(5)
    assert (True, "sleep", "dreaming") in phases


def test_dry_says_what_would_be_summarised_and_changes_nothing(game, answer, talkative):
    text = answer("aicompact/dry Mira")
    gone, kept = counts(text)
    assert gone + kept == 40 and gone > 0 and text.endswith("Nothing was changed.")
    assert game.model.requests == [] and not Compaction.objects.exists()


def test_a_failed_summary_changes_nothing(game, answer, talkative):
    game.model.add(ProviderUnavailable("down"))
    assert "no usable summary, so nothing was changed" in answer("aicompact Mira")
    assert not Compaction.objects.exists()
    assert len(talkative.assistant.conversation.view()) == 40


def test_a_character_that_thinks_is_not_compacted(game, admin, answer, talkative):
    game.model.add(Deferred())
    admin.do("say Mira, hello")
    game.run()
    assert "Nothing was changed: Mira is thinking just now" in answer("aicompact Mira")
    assert len(game.model.requests) == 1 and not Compaction.objects.exists()


def test_what_is_said_meanwhile_is_answered_afterwards(game, admin, ann, talkative):
    late = Deferred()
    game.model.add(late, call("say", text="Yes?"))
    admin.told("aicompact Mira")
    ann.do("say Mira, hello")
    game.run()
    assert "Mira says" not in ann.last()
    late.callback(LLMReply(STORIES))
    game.run()
    assert ann.last() == 'Mira says, "Yes?"'


def test_what_was_taken_back_while_a_summary_was_made_is_told_and_nothing_is_done(
    game, admin, answer, talkative
):
    game.model.add(STORIES)
    answer("aicompact/keep Mira/10")
    late = Deferred()
    game.model.add(late)
    admin.told("aicompact/keep Mira/3")
    admin.told("aicompact/undo Mira")
    late.callback(LLMReply(f"{STORIES} Ann told more."))
    game.run()
    assert "changed meanwhile" in "\n".join(admin.heard())
    assert not Compaction.objects.filter(undone_at=None).exists()
    assert len(talkative.assistant.conversation.view()) == 40
