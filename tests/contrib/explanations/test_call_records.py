"""The prompt of every model call can be rebuilt from the log, byte for byte."""

import random
from contextlib import suppress
from datetime import date

import pytest
from django.db import transaction

from evennia_ai import models
from evennia_ai.contrib.explanations.stored_calls import load_call
from evennia_ai.policy.recallable_lines import EDITED, HIDDEN
from evennia_ai.sleep.compaction import compact_conversation_history
from evennia_ai.store.call_records import drop_unused_texts, keep_texts
from tests.scripted import call
from tests.short_form import short_form

pytestmark = [pytest.mark.game, pytest.mark.django_db, pytest.mark.engine]

WORDS = "beer stew ship anchor moon cellar knife letter debt wine rope harbour song gold".split()
TURNS = 60
SUMMARY = "Ann and Bob talked about ships, and Mira kept the knife."


def sent_and_stored(game):
    """Yield each request of the test's model with the stored call that it became."""
    rows = models.ModelCall.objects.order_by("id").values_list("id", flat=True)
    requests = game.model.requests
    assert len(rows) == len(requests)
    for request, call_id in zip(requests, rows, strict=True):
        yield request, load_call(call_id)


def assert_all_exact(game, at_least):
    """Assert that every prompt is rebuilt as it was sent."""
    pairs = list(sent_and_stored(game))
    assert len(pairs) >= at_least
    for request, stored in pairs:
        assert list(stored.messages) == list(request.messages)
        assert stored.is_exact and stored.missing == 0
        assert list(stored.kept.sent.tools) == list(request.tools)


def test_texts_that_a_later_call_of_the_same_day_shares_are_kept(game, mira, ann):
    for line in ("say Good evening, Mira.", "say Is there ale?"):
        game.model.add({"say": {"text": "Aye, there you are."}}, call("noop"))
        ann.do(line)
        game.run(2)
        game.model.script.clear()
    first, *later = models.CallRecord.objects.order_by("id").values_list("id", flat=True)
    drop_unused_texts(mira.assistant.id, [first])
    assert later and all(load_call(one).is_exact for one in later)


def test_texts_in_use_are_noted_each_day(django_capture_on_commit_callbacks):
    for day in (1, 2):
        with django_capture_on_commit_callbacks(execute=True):
            keep_texts({"digest": "You keep an inn."}, date(2026, 1, day))
    assert models.PromptText.objects.get().used_on == date(2026, 1, 2)


def test_texts_of_a_write_that_failed_are_stored_by_the_next_one():
    day, kept = date(2026, 1, 1), {"digest": "You keep an inn."}

    @transaction.atomic
    def breaks():
        keep_texts(kept, day)
        raise OSError

    with suppress(OSError):
        breaks()
    assert not models.PromptText.objects.exists()
    keep_texts(kept, day)
    assert models.PromptText.objects.get().text == "You keep an inn."


def test_it_is_told_how_many_messages_of_a_prompt_are_gone(game, mira, ann):
    game.model.add(call("look", target="Ann"), call("say", text="Aye."))
    ann.do("say Mira, who am I?")
    game.run(2)
    ids = models.ModelCall.objects.order_by("id").values_list("id", flat=True)
    trace = load_call(ids[1]).kept.trace
    assert len(trace.own) == 2
    models.Message.objects.filter(id__in=[*trace.talk, *trace.own]).delete()
    assert load_call(ids[1]).missing == len(trace.talk) + len(trace.own)


def random_turn(game, rng, people):
    """Let somebody say, whisper or do something, and let the model answer or look around."""
    speaker = rng.choice(people)
    words = " ".join(rng.choices(WORDS, k=rng.randint(2, 9)))
    game.model.script.clear()
    answer = " ".join(rng.choices(WORDS, k=rng.randint(2, 9)))
    if rng.random() < 0.3:
        game.model.add(call("look", target=rng.choice(["Ann", "Bob"])))
    game.model.add({"say": {"text": f"{answer.capitalize()}."}}, "Yes.", "Well.", "Hm.")
    speaker.do(rng.choice([f"say Mira, {words}", f"whisper Mira = {words}", f"emote {words}"]))
    game.run(2)


@pytest.mark.parametrize("seed", short_form(range(3), 3, pytest.mark.soak))
def test_every_prompt_of_a_long_talk_is_rebuilt_byte_for_byte(game, mira, ann, bob, seed):
    rng = random.Random(seed)
    script = mira.assistant
    script.db.max_context_tokens = 6_000
    for turn in range(TURNS):
        random_turn(game, rng, [ann, bob])
        game.run(61)
        if turn % 20 == 15:
            view = script.conversation.current
            script.conversation.mask(view.messages[-3]["metadata"]["seq"])
        if turn % 20 == 10:
            game.model.script[:] = [SUMMARY] * 4
            compact_conversation_history(script, mira, force=True, keep_recent=6)
            game.run(2)  # the next turn gives the model other replies
        if turn == 35:
            script.conversation.undo()
    assert_all_exact(game, TURNS // 2)


def change(mira, kind, seq, words=""):
    """Hide a line, or give it other words, as staff do."""
    mira.assistant.conversation.amendments.add(kind, [seq], "#1", words)
    mira.assistant.mind.renew([seq])


def test_prompts_with_hidden_and_edited_lines_are_rebuilt_before_and_after_an_undo(
    game, mira, ann, admin
):
    for number in range(6):
        game.model.add({"say": {"text": f"Well, {WORDS[number]}."}})
        ann.do(f"say Mira, the {WORDS[number]} costs {number} silver.")
        game.run(61)
    seqs = list(models.Message.objects.filter(role="user").values_list("id", flat=True))
    change(mira, HIDDEN, seqs[1])
    change(mira, EDITED, seqs[2], "Mira, the ship is sold.")
    game.model.add({"say": {"text": "So it is."}})
    ann.do("say Mira, what is for sale?")
    game.run(61)
    text = str(game.model.requests[-1].messages)
    assert "the ship is sold" in text and f"the {WORDS[1]} costs" not in text
    assert_all_exact(game, 7)
    mira.assistant.conversation.amendments.undo("#1")
    mira.assistant.mind.renew(seqs[1:3])
    game.model.add({"say": {"text": "Much is for sale."}})
    ann.do("say Mira, and now?")
    game.run(61)
    assert f"the {WORDS[1]} costs" in str(game.model.requests[-1].messages)
    assert_all_exact(game, 8)
