"""What an assistant keeps in mind for good stands in every prompt, for those who may know it."""

import pytest

from tests.scripted import call

pytestmark = pytest.mark.engine


def pin(game, speaker, text, line="say Mira, remember this"):
    game.model.add(call("pin_fact", content=text), call("noop"))
    speaker.do(line)
    game.run(1)


def ask(game, speaker, line="say Mira, hello"):
    game.model.add(call("noop"))
    speaker.do(line)
    game.run(1)
    return game.tail()


def test_what_is_pinned_stands_in_every_prompt_from_then_on(game, ann, mira):
    pin(game, ann, "Ann is allergic to fish.")
    assert "Keep in mind: Ann is allergic to fish." in ask(game, ann)
    assert mira.journal.pinned()[0]["content"] == "Ann is allergic to fish."


def test_what_was_pinned_of_a_whisper_is_for_its_parties_alone(game, ann, bob, mira):
    pin(game, ann, "Ann owes forty crowns.", "whisper Mira = keep this in mind")
    assert "forty crowns" not in ask(game, bob)
    assert "forty crowns" in ask(game, ann, "whisper Mira = hello")


def test_when_there_is_no_room_the_oldest_gives_way_and_stays_in_the_journal(game, ann, mira):
    mira.assistant.attributes.add("pin_tokens", 12)
    pin(game, ann, "Ann is allergic to fish.")
    pin(game, ann, "Bob never pays for his ale.")
    ask(game, ann)
    kept = [row for row in game.told().splitlines() if row.startswith("Keep in mind: ")]
    assert kept[-1] == "Keep in mind: Bob never pays for his ale."
    assert len(mira.journal.all()) == 2


def test_what_is_too_long_is_not_pinned(game, ann, mira):
    mira.assistant.attributes.add("pin_tokens", 5)
    pin(game, ann, "Ann is allergic to fish, to nuts, to bees and to long speeches.")
    assert "too long to keep in mind" in str(game.model.requests[-1].messages)
    assert mira.journal.all() == []


def test_one_player_cannot_evict_what_others_had_pinned(game, ann, bob, mira):
    mira.assistant.attributes.add("pin_tokens", 24)
    pin(game, ann, "Ann is allergic to fish.")
    for number in range(6):
        pin(game, bob, f"Bob never pays for ale {number}.")
    ask(game, ann)
    [*_, kept] = (scene for scene in game.told().split("<situation>") if "Keep in mind" in scene)
    assert "allergic to fish" in kept
    assert "Bob never pays for ale 5." in kept
    assert "Bob never pays for ale 0." not in kept


def test_when_others_pins_fill_the_room_a_new_one_is_refused_and_nothing_goes(game, ann, bob, mira):
    mira.assistant.attributes.add("pin_tokens", 12)
    pin(game, ann, "Ann is allergic to fish.")
    pin(game, bob, "Bob never pays for his ale.")
    assert "for others" in str(game.model.requests[-1].messages)
    assert [entry["content"] for entry in mira.journal.pinned()] == ["Ann is allergic to fish."]


def test_a_builders_pin_is_never_evicted_by_players(game, ann, mira):
    mira.assistant.attributes.add("pin_tokens", 12)
    kept = mira.journal.add("The inn closes at two.", source_type="builder", importance=9)
    mira.journal.update(kept, pinned=True)
    for thing in ("fish", "nuts"):
        pin(game, ann, f"Ann is allergic to {thing}.")
    assert "The inn closes at two." in [entry["content"] for entry in mira.journal.pinned()]
