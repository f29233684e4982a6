"""What tools consulted in the real game is stored, survives a compaction, and is at hand again."""

import pytest

from evennia_ai.models import Compaction, Message
from evennia_ai.policy.compaction.plan import MANUAL, CompactionOrder
from tests.scripted import call

pytestmark = pytest.mark.engine


@pytest.fixture
def talk(game, mira, ann):
    """A function that has Ann say something, after which Mira uses tools and answers."""

    def talk(line, *calls):
        game.model.add(*calls, call("say", text="Well."))
        ann.do(f"say Mira, {line}")
        game.run(1)

    return talk


def consulted():
    return [row.consulted for row in Message.objects.filter(role="tool").exclude(consulted={})]


def test_what_tools_look_at_and_change_is_named_in_the_log_and_not_to_the_model(
    game, mira, ann, talk
):
    entry = mira.journal.add("Ann owes 40 crowns.")
    talk(
        "what do I owe?",
        call("search_journal", words="crowns"),
        call("look", target="Ann"),
        call("update_entity_observation", entity="Ann", observation="She is in a hurry."),
        call("add_journal_entry", content="Ann asked after her debt."),
    )
    new = mira.journal.all()[-1]["id"]
    assert consulted() == [
        {"read": [f"entry:{entry}"], "changed": []},
        {"read": [f"entity:{ann.dbref}"], "changed": []},
        {"read": [], "changed": [f"entity:{ann.dbref}"]},
        {"read": [], "changed": [f"entry:{new}"]},
    ]
    assert f"entry:{entry}" not in str(game.model.requests[-1].messages)


def test_it_is_at_hand_when_that_talk_is_out_of_view(game, mira, ann, talk):
    entry = mira.journal.add("Ann owes 40 crowns.")
    talk("what do I owe?", call("search_journal", words="crowns"))
    for number in range(6):
        talk(f"line {number} " + "and so on " * 40)
    game.model.add("Ann asked what she owes.")
    mira.assistant.mind.compact(CompactionOrder(MANUAL, force=True, keep_recent=2))
    game.run(1)
    assert [ref for ref, _seq, _key in Compaction.objects.get().consulted["read"]] == [
        f"entry:{entry}"
    ]
    mira.journal.update(entry, content="Ann owes 30 crowns.")
    mira.assistant.conversation.forget_view()
    talk("and now?")
    assert "owes 30 crowns." in game.told()
    assert "At hand: you noted on" in game.told()


def test_of_an_entity_at_hand_only_what_all_listeners_may_know_is_told(game, mira, ann, talk):
    bob = game.player("Bob", game.room("Far away"))
    for content, ears in (("He limps.", None), ("He is a spy.", [ann.dbref])):
        mira.ai_profiles.observe(bob.dbref, content, audience=ears)
    talk("note that", call("update_entity_observation", entity="Bob", observation="He is gone."))
    for number in range(6):
        talk(f"line {number} " + "and so on " * 40)
    game.model.add("Ann told of Bob.")
    mira.assistant.mind.compact(CompactionOrder(MANUAL, force=True, keep_recent=2))
    game.run(1)
    for here, knows in ((True, True), (False, False)):
        if not here:
            game.player("Cay", mira.location)
        talk("and now?")
        told = game.told()
        assert "At hand: Bob" in told and "He limps." in told
        assert [("a spy" in told), game.model.requests[-1].trace.private] == [knows] * 2
