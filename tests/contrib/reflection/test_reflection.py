"""What an assistant lived through it thinks over in its sleep, for each audience by itself."""

import json

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.messages import LLMReply
from evennia_ai.models import CallRecord, ModelCall
from evennia_ai.policy.records.forgetting import cited_by
from evennia_ai.ports.journal import Journal
from evennia_ai.store.forget import Forgetting
from tests.forgetting import forget_chunk

pytestmark = [pytest.mark.game, pytest.mark.engine]

ASKING = ModelProfile("test", client="openai", model="scripted")


def line(insight, *because):
    return json.dumps({"insight": insight, "because": list(because)})


@pytest.fixture
def think_over(game, mira):
    """A function that runs the step; returns its result."""
    mind = mira.assistant.mind
    return lambda profile=ASKING: game.asleep(mind, mind.sleep_pass.steps["reflection"], profile)


def live_through(game, mira, number, content="Ann said thing {n}.", **fields):
    """Write down so many entries of the importance 10; returns their ids."""
    ids = []
    for n in range(number):
        game.clock.advance(1)
        ids.append(mira.journal.add(content.format(n=n), **{"importance": 10, **fields}))
    game.clock.advance(1)
    return ids


def reflections(mira):
    Journal.drop(mira)
    return [entry for entry in mira.journal.all() if entry["source_type"] == "reflection"]


def material(request):
    return request.messages[-1]["content"]


def test_at_150_it_thinks_and_below_it_does_not(game, mira, think_over):
    live_through(game, mira, 14)
    mira.journal.add("One more.", importance=9)
    assert think_over() == {"skipped": True, "reason": "149 of 150 since the last time"}
    assert game.model.requests == []
    first = mira.journal.add("And another.", importance=1)
    game.model.add(line("Ann says a lot.", "j1", first))
    assert think_over() == {
        "success": True,
        "insights": 1,
        "thought_over": 16,
        "refused": 0,
        "calls": 1,
    }
    (made,) = reflections(mira)
    assert (made["content"], made["links"]) == ("Ann says a lot.", ["j1", first])
    assert cited_by(made) == ["j1", first]


def test_of_a_reply_that_was_cut_off_the_last_line_does_not_count(game, mira, think_over):
    live_through(game, mira, 15)
    whole = line("Ann says a lot.", "j1", "j2")
    game.model.add(LLMReply(f'{whole}\n{{"insight": "Ann ow', finish_reason="length"))
    result = think_over()
    assert (result["insights"], result["refused"], result["cut_off"]) == (1, 0, 1)


def test_a_pass_that_dies_half_way_is_made_good_and_nothing_is_doubled(game, mira, ann, think_over):
    live_through(game, mira, 15)
    live_through(game, mira, 15, "A secret {n}.", audience=[ann.dbref])
    game.model.add(line("Ann says a lot.", "j1", "j2"), ProviderUnavailable("killed"))
    assert think_over()["success"] is False
    Journal.drop(mira)
    game.model.add(line("Ann has secrets.", "j16", "j17"))
    assert think_over()["insights"] == 1
    assert "secret" in material(game.model.requests[-1])
    assert len(game.model.requests) == 3
    assert [made["content"] for made in reflections(mira)] == [
        "Ann says a lot.",
        "Ann has secrets.",
    ]


def test_each_audience_is_asked_about_apart_and_keeps_what_follows(
    game, mira, ann, bob, think_over
):
    live_through(game, mira, 8)
    live_through(game, mira, 8, "A secret {n}.", audience=[ann.dbref], speakers=[ann.dbref])
    game.model.add(
        line("Public.", "j1", "j2") + "\n" + line("Told on.", "j1", "j9"),
        line("Private.", "j9", "j10"),
    )
    assert think_over()["refused"] == 1
    public, private = map(material, game.model.requests)
    assert "secret" not in public
    assert "thing" not in private
    made = {entry["content"]: entry["audience"] for entry in reflections(mira)}
    assert made == {"Public.": None, "Private.": [ann.dbref]}
    assert mira.journal.search("Private", frozenset({bob.dbref})) == []


def test_forgetting_somebody_takes_what_followed_from_his_words(game, mira, ann, think_over):
    live_through(game, mira, 15, speakers=[ann.dbref])
    game.model.add(line("Ann says a lot.", "j1", "j2"))
    think_over()
    while forget_chunk(ann.dbref):
        pass
    assert reflections(mira) == []


def test_who_is_forgotten_while_the_model_thinks_is_not_remembered_by_it(
    game, mira, ann, think_over
):
    live_through(game, mira, 15, speakers=[ann.dbref])
    live_through(game, mira, 3, "The sun shone {n}.")

    def meanwhile(request):
        while forget_chunk(ann.dbref):
            pass
        return line("Ann again.", "j1", "j16") + "\n" + line("Fine days.", "j16", "j17")

    game.model.add(meanwhile)
    think_over()
    assert [made["content"] for made in reflections(mira)] == ["Fine days."]


def test_0_is_never(game, mira, think_over):
    live_through(game, mira, 20)
    mira.assistant.attributes.add("reflection_threshold", 0)
    assert think_over() == {"skipped": True, "reason": "reflection disabled"}


def test_it_thinks_with_the_cheaper_model_where_one_is_named(game, mira, think_over):
    mira.assistant.attributes.add("background_model", "small")
    live_through(game, mira, 15)
    game.model.add(line("Ann says a lot.", "j1"))
    think_over()
    assert [call.model for call in ModelCall.objects.all()] == ["small"]


def test_its_request_is_kept_until_they_are_forgotten(game, mira, ann, think_over):
    ids = live_through(game, mira, 16, "Ann lost her boat number {n}.", speakers=[ann.dbref])
    game.model.add(line("Ann lost boat number 3.", *ids[3:5]))
    think_over()
    kept = CallRecord.objects.get(id=ModelCall.objects.get(purpose="reflection").id)
    assert kept.packed and ann.dbref in kept.people
    list(Forgetting({ann.dbref}).steps())
    kept.refresh_from_db()
    assert not kept.packed
