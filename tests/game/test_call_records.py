"""The prompt of every model call can be rebuilt from the log, byte for byte."""

from __future__ import annotations

import random

import pytest

from evennia_ai import models
from evennia_ai.policy.context.projection import MASKED
from evennia_ai.sleep.compaction import compact_conversation_history
from evennia_ai.store.call_records import drop_unused_texts, load_call
from tests.scripted import call

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


def test_an_answer_is_kept_with_its_prompt_and_its_raw_reply(game, ann):
    game.model.add({"say": {"text": "Good evening, Ann."}})
    ann.do("say Good evening, Mira.")
    game.run(2)
    (request, stored) = next(sent_and_stored(game))
    assert stored.is_exact and list(stored.messages) == list(request.messages)
    assert stored.kept.reply.calls == (("say", '{"text": "Good evening, Ann."}'),)


def test_texts_that_a_later_call_of_the_same_day_shares_are_kept(game, mira, ann):
    for line in ("say Good evening, Mira.", "say Is there ale?"):
        game.model.add({"say": {"text": "Aye, there you are."}}, call("noop"))
        ann.do(line)
        game.run(2)
        game.model.script.clear()
    first, *later = models.CallRecord.objects.order_by("id").values_list("id", flat=True)
    drop_unused_texts(mira.assistant.id, [first])
    assert later and all(load_call(one).is_exact for one in later)


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


@pytest.mark.parametrize("seed", range(3))
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


def test_prompts_with_hidden_and_edited_lines_are_rebuilt_before_and_after_an_undo(
    game, mira, ann, admin
):
    for number in range(6):
        game.model.add({"say": {"text": f"Well, {WORDS[number]}."}})
        ann.do(f"say Mira, the {WORDS[number]} costs {number} silver.")
        game.run(61)
    seqs = list(models.Message.objects.filter(role="user").values_list("id", flat=True))
    admin.do(f"aihistory/hide Mira = {seqs[1]}")
    admin.do(f"aihistory/edit Mira = {seqs[2]}: Mira, the ship is sold.")
    game.model.add({"say": {"text": "So it is."}})
    ann.do("say Mira, what is for sale?")
    game.run(61)
    text = str(game.model.requests[-1].messages)
    assert "the ship is sold" in text and f"the {WORDS[1]} costs" not in text
    assert_all_exact(game, 7)
    admin.do("aihistory/undo Mira")
    admin.do("aihistory/undo Mira")
    game.model.add({"say": {"text": "Much is for sale."}})
    ann.do("say Mira, and now?")
    game.run(61)
    assert f"the {WORDS[1]} costs" in str(game.model.requests[-1].messages)
    assert_all_exact(game, 8)


def test_the_builders_note_of_a_prompt_is_a_part_of_its_own(game, mira, ann, admin):
    admin.do("ainote Mira = Today is the harvest feast.")
    game.model.add({"say": {"text": "We keep the harvest feast today."}})
    ann.do("say Mira, why is it so loud?")
    game.run(2)
    text = admin.told("aiwhy Mira")
    assert "author's note" in text
    assert "author's note, " in text.split("Where each sentence comes from")[1]


def test_a_prompt_is_rebuilt_with_a_result_that_was_masked_since_or_before(game, mira, ann):
    ann.character.db.desc = "A sailor with many tales. " * 20
    script = mira.assistant
    for line in ("look at me", "and now?"):
        game.model.add(call("look", target="Ann"), {"say": {"text": f"You look well: {line}"}})
        ann.do(f"say Mira, {line}")
        game.run(61)
        script.conversation.mask(script.conversation.current.messages[-1]["metadata"]["seq"])
    sent = [str(request.messages) for request in game.model.requests]
    assert "many tales" in sent[1] and MASKED not in sent[1]
    assert MASKED in sent[-1]
    assert_all_exact(game, 4)
