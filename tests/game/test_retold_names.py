"""A forgotten player's name goes from what one character retold of an answer of another."""

from evennia_ai import models
from evennia_ai.policy.facts.origin import SpokenWords
from tests.game import forgetting_scene as scene
from tests.game.forgetting_scene import forget, fresh
from tests.game.test_forgetting import all_rows
from tests.scripted import call

bruno, planted = scene.bruno, scene.planted


def test_no_name_is_left_in_what_another_character_retold(planted, game, mira, bruno, tavern):
    tester = game.player("Tesswick", tavern)
    answer = "In short, Tesswick: the ferry leaves at noon."
    planted.reply(call("say", text=answer))
    tester.do("say Mira, when does one cross?")
    game.run(2)
    planted.reply(
        call("add_journal_entry", content=f"Mira says: {answer}"),
        call("say", text=f"Mira says: {answer}"),
    )
    planted.ben.do("say Bruno, what did Mira tell about it?")
    game.run(2)
    told = models.ToolCall.objects.filter(assistant_id=bruno.assistant.id)
    assert [row.name for row in told.filter(arguments__contains="Tesswick")] == [
        "add_journal_entry",
        "say",
    ]
    forget(tester)
    left = {table for (table, _id), row in all_rows().items() if "esswick" in row}
    of_minds = {table for table in left if table.startswith("Assistant__")}  # if a test made one
    assert left - of_minds == {"ObjectDB", "Character", "AccountDB", "DefaultAccount"}
    assert "the ferry leaves at noon" in str(list(told.values_list("arguments", flat=True)))
    assert "esswick" not in str(fresh(bruno).all())


def test_a_name_alone_addresses_somebody_and_stays():
    words = SpokenWords()
    words.add_name("Eve")
    stored = '{"text": "In short, Eve: at eve, by Noon.", "target": "Eve"}'
    assert words.without(stored, and_names=True) == stored.replace("short, Eve", "short, …")
    assert words.without(stored) == stored
