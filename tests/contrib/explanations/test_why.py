"""`aiwhy` tells what set a line off, what its prompt held, and each sentence's source."""

import pytest

from evennia_ai import models
from evennia_ai.contrib.explanations.why import explain_turn
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.sleep.compaction import compact_conversation_history
from evennia_ai.store.forget import Forgetting
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.django_db, pytest.mark.engine]


@pytest.fixture
def told(game, mira, ann, admin):
    """Return the explanation of an answer about what Ann said before."""
    mira.db.ai_persona = "You keep the Gilded Gull and fear Sister Oda."
    game.model.add({"say": {"text": "How nice."}})
    ann.do("say Mira, my daughter Wren sails on the Petrel.")
    game.run(2)
    game.model.add({"say": {"text": "Wren sails on the Petrel. She killed the old baron."}})
    ann.do("say Mira, where is my daughter?")
    game.run(2)
    return lambda line="aiwhy Mira": admin.told(line)


def test_it_tells_what_set_the_line_off_and_what_stood_in_the_prompt(told):
    text = told()
    assert "Set off by" in text and "Ann: Mira, where is my daughter?" in text
    assert "rebuilt from the log, as it was sent" in text
    for part in ("rules", "persona", "talk", "situation", "new lines"):
        assert f"  {part}" in text


def test_each_sentence_has_its_source_or_none(told):
    text = told()
    first, second = text.split("Where each sentence comes from")[1].split("  2. ")
    assert "Wren sails on the Petrel." in first and "my daughter Wren sails" in first
    assert "nothing in the prompt says this" in second


def test_what_a_tool_told_in_the_turn_is_a_source(game, mira, ann, admin, tavern):
    game.thing("lantern", tavern).db.desc = "Marsh fire burns in its green glass."
    game.model.add(
        call("look", target="lantern"), call("say", text="Marsh fire burns in its green glass.")
    )
    ann.do("say Mira, what is in there?")
    game.run(2)
    first = admin.told("aiwhy Mira").split("Where each sentence comes from")[1]
    assert "Marsh fire" in first and "nothing in the prompt says this" not in first


def test_a_changed_prompt_is_not_called_the_sent_one(told):
    rows = models.Message.objects.filter(content__contains="my daughter Wren")
    rows.update(content="Ann says: Mira, my daughter Wren sails on the Gull.")
    assert "not as it was sent" in told()


def test_a_line_is_explained_by_its_own_step(game, mira, ann):
    game.model.add(call("emote", text="looks up."), call("say", text="Aye?"))
    ann.do("say Mira, hello")
    game.run(2)
    lines = explain_turn(models.Turn.objects.get().id, ["Mira"])
    assert [(one.text, one.stored.kept.trace.step) for one in lines] == [
        ("looks up.", 1),
        ("Aye?", 2),
    ]


@pytest.fixture
def excused(game, mira, ann, admin):
    """Let the model fail after a look; return the turn, which an excuse closed."""
    game.model.add(call("look", target="Ann"), ProviderUnavailable("down"))
    ann.do("say Mira, who am I?")
    game.run(2)
    return models.Turn.objects.get()


def test_no_model_call_explains_an_excuse(admin, excused):
    text = admin.told("aiwhy Mira")
    assert "No model chose this line." in text and "What stood in the prompt" not in text


def test_only_calls_with_a_reply_are_asked_again(game, admin, excused):
    game.service.profiles["far"] = {"client": "openai", "model": "m", "base_url": "http://x/v1"}
    game.model.add(call("noop"))
    assert "calls: 1 ..." in admin.told(f"aireplay Mira = {excused.id}, far")


def test_no_line_of_the_turn_itself_counts_as_left_out(offline_game):
    tavern = offline_game.room()
    admin = offline_game.player("Ada", tavern, superuser=True)
    mira = offline_game.assistant("Mira", tavern)
    long = "what does a ferry to Holm cost" + ", and on and on" * 40
    for line in ("do you like the ferry to Holm?", long, "good day", "and now?"):
        admin.do(f"say Mira, {line}")
        offline_game.run(20)
    compact_conversation_history(mira.assistant, mira, force=True, keep_recent=1)
    offline_game.run(2)
    admin.forget()
    admin.do("aiwhy Mira = 3")
    offline_game.run(2)
    told = "\n".join(admin.heard())
    assert "named) Ada: Mira, what does a ferry" in told and "Near, but left out" not in told


def test_a_whisper_in_the_same_reply_as_a_line_aloud_is_explained_apart(game, mira, ann, bob):
    builder = game.player("Bea", mira.location, permissions=["Builder"])
    game.model.add(
        (call("say", text="All is well."), call("whisper", text="It is xyzzy.", target="Ann"))
    )
    ann.do("say Mira, and now?")
    game.run(2)
    assert "xyzzy" not in builder.told("aiwhy Mira = 2") + builder.told("aiwhy Mira = well")
    assert '"All is well."' in builder.told("aiwhy Mira = 2")


@pytest.mark.parametrize(
    ("asked", "is_row_private"),
    [("whisper Mira =", True), ("whisper Mira =", False), ("say", True)],
)
def test_no_word_of_a_whisper_is_found_by_a_builder(game, mira, ann, admin, asked, is_row_private):
    builder = game.player("Bea", mira.location, permissions=["Builder"])
    game.model.add(call("whisper", text="It is xyzzy.", target="Ann"))
    ann.do(f"{asked} Mira, and now?")
    game.run(2)
    assert "xyzzy" in admin.told("aiwhy Mira = xyzzy")
    models.Message.objects.update(private=is_row_private)
    assert "said no line with 'xyzzy'" in builder.told("aiwhy Mira = xyzzy")


def test_the_offline_brain_was_sent_nothing_and_its_own_lines_are_no_claims(offline_game):
    tavern = offline_game.room()
    admin = offline_game.player("Ada", tavern, superuser=True)
    mira = offline_game.assistant("Mira", tavern)
    admin.do("say Hello, Mira. Who is the emperor of Zed?")
    offline_game.run(2)
    text = admin.told("aiwhy Mira")
    assert "No prompt was sent: the stand-in answered" in text and mira.pk
    assert "nothing in the prompt says this" not in text and "small talk" in text


def test_a_forgotten_player_is_in_no_kept_prompt(game, mira, ann, admin, told):
    assert "Petrel" in told()
    list(Forgetting({ann.dbref}).steps())
    rows = models.CallRecord.objects.all()
    assert len(rows) == 2
    assert all(not row.packed and not row.people for row in rows)


def test_the_next_prompt_is_shown_without_asking_a_model(game, mira, ann, admin):
    game.model.add({"say": {"text": "How nice."}})
    ann.do("say Mira, my daughter Wren sails on the Petrel.")
    game.run(2)
    asked = len(game.model.requests)
    text = admin.told("aiprompt Mira = Mira, who sails?")
    assert "--- new lines" in text and "Ada says: Mira, who sails?" in text
    assert "Wren sails on the Petrel" in text
    assert "Nobody asked you anything" in admin.told("aiprompt Mira")
    assert len(game.model.requests) == asked
    assert models.Message.objects.filter(content__contains="who sails").count() == 0


def test_memories_in_a_prompt_are_shown_to_those_who_may_read_memories(service, told, mira, game):
    service.who_may_read = {**service.who_may_read, "public_memories": "Admin"}
    builder = game.player("Bea", mira.location, permissions=["Builder"])
    mira.journal.add("Wren owes the harbour master nine silver.", pinned=True)
    text = builder.told("aiprompt Mira") + builder.told("next")
    assert "nine silver" not in text and "[words, only admins may read it]" in text
