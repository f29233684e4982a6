"""A player may have a fresh start with one character: it alone forgets them."""

import pytest

from evennia_ai.models import Event, Message, SharedEntry, ToolCall
from evennia_ai.services.assistant_service import AssistantService
from evennia_ai.store.server_settings import change_wishes, wishes
from tests.game.test_players import forget, talk
from tests.scripted import call

pytestmark = pytest.mark.engine

SECRET = "My ship is called the Grey Heron"


@pytest.fixture
def otto(game, tavern, mira):
    return game.assistant("Otto", tavern)


@pytest.fixture
def known(game, ann, bob, mira, otto):
    """Return Mira and Otto, who both talked with Ann and with Bob, and noted it."""
    for name in ("Mira", "Otto"):
        note = call("add_journal_entry", content=f"Ann told {name}: {SECRET}.", importance=8)
        talk(game, ann, f"whisper {name} = {SECRET}", (note, call("say", text="A fine ship.")))
        talk(game, bob, f"say {name}, my mule is ill", call("say", text="Poor beast."))
    return mira, otto


def holds(character, words):
    """Return True if anything that a character knows holds some words."""
    texts = [entry["content"] for entry in character.journal.all()]
    id_ = character.assistant.id
    for model, name in ((Message, "content"), (Event, "text"), (ToolCall, "arguments")):
        texts += model.objects.filter(assistant=id_).values_list(name, flat=True)
    return any(words in text for text in texts)


def test_only_the_named_character_forgets(ann, known):
    mira, otto = known
    forget(ann, "yes", "mira")
    assert ann.last() == "Mira has forgotten you. Others have not."
    assert not holds(mira, "Grey Heron")
    assert holds(mira, "mule")
    assert holds(otto, "Grey Heron")
    assert wishes() == {}


def test_what_others_heard_of_the_talk_stays_with_them(game, ann, bob, known):
    mira, otto = known
    talk(game, ann, "say Mira, I sell saffron", call("say", text="Saffron, from Ann?"))
    forget(ann, "yes", "Mira")
    assert not holds(mira, "saffron")
    assert holds(otto, "saffron")


def test_what_the_character_told_others_of_it_goes_and_what_others_told_stays(
    game, ann, known, service
):
    _mira, otto = known
    now = service.now()
    alone = f"{SharedEntry.ONE_MIND}{otto.dbref}"  # sleep takes back what its journal lacks
    for one in known:
        SharedEntry.objects.create(
            assistant_id=one.assistant.id, at=now, entry="e1", scope=alone, teller=one.dbref,
            text=SECRET, learnt_at=now, available_from=now, importance=5, trust=0.5,
            source=ann.dbref, people=f" {ann.dbref} ",
        )  # fmt: skip
    forget(ann, "yes", "Mira")
    assert [row.teller for row in SharedEntry.objects.all()] == [otto.dbref]


def test_a_restart_completes_it_for_that_character_alone(game, ann, known):
    mira, otto = known
    change_wishes([ann.dbref], mira.assistant.id, wait=True)
    service = AssistantService(clock=game.clock, environ={})
    service.startService()
    try:
        service.forgetting.start()
        for _ in range(400):
            game.run(0.1)
        assert wishes() == {}
        assert not holds(mira, "Grey Heron")
        assert holds(otto, "Grey Heron")
    finally:
        service.stopService()


def test_two_of_one_name_are_asked_about_by_their_numbers(game, ann, tavern, mira):
    guards = [game.assistant("guard", tavern) for _ in range(2)]
    for _guard in guards:
        game.model.add(call("noop"))
    ann.do("emote nods at guard")
    game.run(1)
    assert ann.told("forgetme guard") == "Several are called that: guard-1, guard-2. Which one?"
    forget(ann, "no", "guard-2")
    assert ann.last() == "Nothing was forgotten."
    assert ann.told("mute guard").startswith("Several are called that")
    assert "no longer hear guard" in ann.told("mute guard-2")
    assert list(ann.character.muted_assistants) == [guards[1].dbref]
