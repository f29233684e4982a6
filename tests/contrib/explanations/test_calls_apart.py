"""Prompts of calls outside the talk are kept too: `aiwhy/call` and the page of a compaction."""

import re

import pytest

from evennia_ai import models
from evennia_ai.contrib.explanations.attribution import RULES, SUMMARY, TALK, parts_of
from evennia_ai.contrib.explanations.stored_calls import load_call
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.messages import make_message
from evennia_ai.policy.recallable_lines import HIDDEN
from evennia_ai.sleep.compaction import compact_conversation_history
from evennia_ai.store.forget import Forgetting
from tests.game.summary_scene import GOODS, SECOND, SECRET, SUMMARY_TEXT, compact, summed_up, talk
from tests.reading_requests import is_summary

__all__ = ["summed_up"]
pytestmark = [pytest.mark.game, pytest.mark.django_db]


def heard(ann, words):
    """Return a message of Ann's words."""
    known = {"speaker": ann.dbref, "evidence": "claimed", "audience": [ann.dbref]}
    return make_message("user", f"Ann says: {words}", **known)


def apart(purpose="summary"):
    """Return the stored calls for a purpose, oldest first."""
    rows = models.ModelCall.objects.filter(purpose=purpose).order_by("id")
    return [load_call(row.id) for row in rows]


def test_a_request_for_a_summary_is_rebuilt_byte_for_byte(game, summed_up, ann):
    talk(game, ann)
    compact(game, summed_up, SECOND)
    sent = [request for request in game.model.requests if is_summary(request)]
    assert len(sent) == 2 == len(apart())
    for request, stored in zip(sent, apart(), strict=True):
        assert stored.messages == request.messages and stored.is_exact and not stored.missing
    first, second = ([part.name for part in parts_of_call(one)] for one in apart())
    assert first == [RULES, TALK] and second == [RULES, SUMMARY, TALK]


def some_prices(request):
    """Return a summary of what a request tells of prices."""
    text = str(request.messages[1]["content"])
    prices = re.findall(r"the \w+ (?:that I sell )?costs \d+ silver", text)
    return f"Ann told her prices: {', '.join([*prices[:3], *prices[-7:]])}."


def parts_of_call(stored):
    return parts_of(stored.kept, stored.marker, stored.talk, stored.own)


def test_the_record_of_a_long_summary_holds_ids_and_no_lines(game, mira, ann):
    lines = [f"{GOODS[n % 10]} number {n} costs {n * 7} silver" for n in range(400)]
    mira.assistant.conversation.append([heard(ann, line) for line in lines])
    compact(game, mira, f"{SUMMARY_TEXT} Numbers 5 to 9 cost 35, 42, 49, 56 and 63 silver.")
    (stored,) = apart()
    assert stored.is_exact and len(str(stored.messages)) > 15_000
    assert len(bytes(models.CallRecord.objects.get().packed)) < 1_500


def test_a_long_message_that_is_summarised_in_pieces_is_kept_with_its_words(game, mira, ann):
    talk(game, ann, 3)
    long = " ".join(f"the {GOODS[n % 10]} costs {n} silver," for n in range(400))
    mira.assistant.conversation.append([heard(ann, long), heard(ann, "That is all.")])
    mira.assistant.db.max_context_tokens = 3_000
    mira.assistant.mind.settings.resolve()
    compact(game, mira, *[some_prices] * 9, keep=1)
    assert len(apart()) > 1 and all(one.is_exact for one in apart())


def test_a_summary_without_results_of_tools_and_with_hidden_lines_is_rebuilt(
    game, mira, ann, admin
):
    ann.character.db.desc = "A sailor with many tales. " * 20
    game.model.add({"look": {"target": "Ann"}}, {"say": {"text": "You look well."}})
    ann.do("say Mira, look at me.")
    game.run(61)
    talk(game, ann)
    script = mira.assistant
    seqs = [one["metadata"]["seq"] for one in script.conversation.current.messages]
    script.conversation.mask(seqs[4])
    script.conversation.amendments.add(HIDDEN, [seqs[5]], "#1")
    script.mind.renew([seqs[5]])
    compact(game, mira, "", SUMMARY_TEXT)
    first, second = apart()
    assert first.is_exact and second.is_exact
    assert not second.kept.trace.with_results and "= [TOOL" not in str(second.messages)


def test_aiwhy_tells_what_a_summary_was_made_of(summed_up, admin):
    told = admin.told("aiwhy/call Mira = summary")
    assert "summary, for everybody" in told and "rebuilt from the log, as it was sent" in told
    assert "  rules" in told and "  talk" in told
    assert SUMMARY_TEXT in told.split("The prompt")[0]
    assert SUMMARY_TEXT in told.split("The reply as it came")[1]
    sources = told.split("Where each sentence comes from")[1]
    assert "talk (message" in sources.split("  2. ")[0]
    assert "nothing in the prompt says this" in sources.split("  3. ")[1]
    whole = admin.told("aiwhy/call/prompt Mira = summary")
    assert "--- rules" in whole and "the beer that I sell costs 3 silver" in whole


def test_a_call_that_failed_is_not_the_last_summary(game, summed_up, ann, admin):
    talk(game, ann)
    game.model.script[:] = [ProviderUnavailable("down")] * 9
    compact_conversation_history(summed_up.assistant, summed_up, force=True, keep_recent=2)
    game.run(2)
    assert models.ModelCall.objects.filter(purpose="summary").last().error_kind
    assert SUMMARY_TEXT in admin.told("aiwhy/call Mira = summary")


def test_a_reply_that_became_no_summary_is_not_shown(game, summed_up, ann, admin):
    row = models.Compaction.objects.get()
    models.Compaction.objects.filter(id=row.id).update(summary={"public": "Of another reply."})
    assert "no text came of it" in admin.told("aiwhy/call Mira = summary")


def test_a_builder_reads_nothing_of_a_private_summary(game, mira, ann, admin):
    builder = game.player("Bea", mira.location, permissions=["Builder"])
    talk(game, ann, 10, "whisper Mira = a ruby lies under the third stair, the")
    compact(game, mira, SECRET)
    for typed in ("aiwhy/call Mira", "aiwhy/call/prompt Mira"):
        told = builder.told(typed)
        assert "ruby" not in told and "Only Admins may read that." in told
    told = admin.told("aiwhy/call Mira")
    assert "ruby" in told and "summary, for Ann" in told


def test_a_forgotten_player_is_in_no_kept_request_for_a_summary(summed_up, game, ann):
    talk(game, ann)
    compact(game, summed_up, SECOND)
    list(Forgetting({ann.dbref}).steps())
    assert apart() == [None, None]
    assert not any(bytes(row.packed) for row in models.CallRecord.objects.all())
