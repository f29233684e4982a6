"""What an assistant keeps in mind for good stands in every prompt, for those who may know it."""

from evennia_ai.messages import make_message
from evennia_ai.testing.scripted import call


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
    tail = ask(game, ann)
    assert "Bob never pays" in tail
    assert "allergic" not in tail
    assert len(mira.journal.all()) == 2


def test_what_is_too_long_is_not_pinned(game, ann, mira):
    mira.assistant.attributes.add("pin_tokens", 5)
    pin(game, ann, "Ann is allergic to fish, to nuts, to bees and to long speeches.")
    assert "too long to keep in mind" in str(game.model.requests[-1].messages)
    assert mira.journal.all() == []


def test_it_is_told_when_its_head_is_rather_full(game, ann, mira):
    assert "rather full" not in ask(game, ann)
    mira.assistant.attributes.add("max_context_tokens", 8_000)
    mira.assistant.conversation.append(
        [make_message("user", "Ann says: " + "word " * 100) for _ in range(35)]
    )
    assert "rather full" in ask(game, ann)
