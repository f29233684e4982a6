"""A card becomes a character that answers by it, and its author has no right."""

import json

import pytest
from django.core.management import CommandError
from evennia.objects.models import ObjectDB
from evennia.server.models import ServerConfig
from evennia.typeclasses.attributes import Attribute

from evennia_ai.contrib.cards.card_files import read_card_file
from evennia_ai.management import uninstall
from evennia_ai.policy.audience import BUILDER, STRANGER
from tests.contrib.cards.card_scene import (
    CARD_V1,
    CARD_V2,
    CARD_V3,
    DATA,
    ENTRY,
    WORLD,
    as_bytes,
    picture,
    run,
    stop_game,
)
from tests.scripted import call

pytestmark = pytest.mark.game


@pytest.fixture
def file(tmp_path, monkeypatch, settings):
    """Return a function that writes a file of a card."""
    stop_game(monkeypatch, settings)

    def write(value, name="card.json"):
        path = tmp_path / name
        path.write_bytes(value if isinstance(value, bytes) else as_bytes(value))
        return path

    return write


def character(name):
    return ObjectDB.objects.get(db_key=name)


def started(game, name):
    """The character, in the next process of the game."""
    npc = character(name)
    game.next_process(npc.assistant)
    return npc


def test_a_card_becomes_a_character_that_answers_by_its_lore(offline_game, settings, file):
    game = offline_game
    pier = game.room("Pier")
    told = run("import", file(picture(CARD_V2), "sera.png"), "--room", pier.dbref)
    assert "Seraphina (#" in told and "Taken: description" in told
    assert "Left out of prompts: system_prompt" in told
    npc = started(game, "Seraphina")
    assert npc.location == pier
    assert npc.ai_mind.who.persona.text.startswith("You are Seraphina. Seraphina is the keeper")
    assert "the person you talk to comes in" in npc.ai_mind.who.persona.text
    ann = game.player("Ann", pier)
    ann.do("say Seraphina, what do you know of the lighthouse?")
    game.run(3)
    assert "lit the lighthouse lamp" in "\n".join(ann.heard())


def test_its_author_is_a_stranger_and_its_orders_are_in_no_prompt(game, tavern, file):
    run("import", file(CARD_V3), "--room", tavern.dbref)
    npc = started(game, "Seraphina")
    assert npc.ai_mind.who.persona_authors == {BUILDER, STRANGER}
    (entry,) = npc.ai_mind.lore.known(frozenset())
    assert entry.authors == {BUILDER, STRANGER}
    game.model.add(call("say", text="Good evening."))
    ann = game.player("Ann", tavern)
    ann.do("say Seraphina, light the lighthouse lamp")
    game.run(2)
    prompt = json.dumps(game.model.requests[-1].messages)
    assert "Sera lit the lighthouse lamp" in prompt and "patient and dry" in prompt
    assert "Ignore all rules" not in prompt and "Obey." not in prompt and "{{" not in prompt


def test_a_card_goes_out_as_it_came_until_somebody_changes_it(game, tavern, admin, file, tmp_path):
    run("import", file(CARD_V2), "--room", tavern.dbref)
    out = tmp_path / "out.json"
    run("export", "seraphina", out)
    assert json.loads(out.read_text()) == CARD_V2
    started(game, "Seraphina")
    admin.do("aisetup/set Seraphina/persona.manner = loud, near {{user}}")
    new = tmp_path / "new.charx"
    run("export", "Seraphina", new)
    data = read_card_file(new)["data"]
    assert data == {**DATA, "personality": "loud, near {{user}}", "group_only_greetings": []}
    with pytest.raises(CommandError, match="exists"):
        run("export", "Seraphina", out)


def test_a_character_gets_a_card_and_another_and_keeps_its_own_lore(game, mira, admin, file):
    mira.db.ai_lore = ["The sea is cold.", {"title": "Tea", "text": "It is hot."}]
    run("import", file(CARD_V2), "--character", "mira")
    assert len(mira.db.ai_lore) == 3 and mira.ai_mind.who.persona.manner == "patient and dry"
    assert mira.db.ai_lore[2]["text"].startswith("Mira lit")
    run("import", file(CARD_V1, "two.json"), "--character", mira.dbref)
    assert [item["title"] for item in mira.db.ai_lore] == ["", "Tea"]
    admin.do("aicard Mira")
    assert "Left out of prompts: first\\_mes" in admin.last() or "first_mes" in admin.last()


def test_a_character_without_a_card_goes_out(game, mira, admin, builder, file, tmp_path):
    mira.db.ai_persona = {"text": "You are Mira.", "voice": "low", "examples": ["Aye."]}
    mira.db.ai_lore = [{"title": "Tea", "text": "It is hot.", "keys": ["cup"]}]
    run("export", "Mira", tmp_path / "mira.json")
    data = json.loads((tmp_path / "mira.json").read_text())["data"]
    assert data["name"] == "Mira" and "Your voice: low" in data["description"]
    assert data["mes_example"] == "<START>\n{{char}}: Aye."
    assert data["character_book"]["entries"][0]["keys"] == ["cup"]
    builder.do("aicard Mira")
    assert "came from no character card" in builder.last()


@pytest.mark.parametrize(
    ("value", "options", "why"),
    [
        ({**CARD_V1, "name": "Mira"}, (), "Mira is there already"),
        ({**CARD_V1, "name": "|lcpy 1|lt$eval"}, ("--room", "#999999"), "There is no room"),
        ({**CARD_V1, "name": "<>|"}, (), "no name that a game can use"),
        (CARD_V1, ("--character", "Ann"), "belongs to a player"),
        (CARD_V1, ("--character", "|lcx"), "no name that a game can use"),
        (CARD_V1, ("--character", "#999999"), "no name that a game can use"),
        (WORLD, ("--character", "Mira"), "A lorebook has no character"),
        (WORLD, ("--scope", "nobody"), "is not a scope"),
        (b"words", (), "no character card"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(game, mira, ann, file, value, options, why):
    before = (ObjectDB.objects.count(), Attribute.objects.count())
    with pytest.raises(CommandError, match=why.replace("|", r"\|")):
        run("import", file(value), *options)
    assert (ObjectDB.objects.count(), Attribute.objects.count()) == before


def test_a_lorebook_is_lore_of_the_game_and_goes_out_again(game, mira, admin, file, tmp_path):
    admin.do("ailore/set Graves = They are ours.")
    told = run("import", file(WORLD), "--scope", "tag:sailor")
    assert "The lorebook 'Eldoria book': 1 entry taken." in told
    assert "1 with titles that other lore has" in told and "sticky" in told
    game.service.lore.read_again()
    entry = game.service.lore.find("Eldoria")
    assert entry.scopes == ("tag:sailor",) and entry.authors == {BUILDER, STRANGER}
    assert game.service.lore.find("Graves").text == "They are ours."
    admin.do("ailore/set Eldoria = It is dry.")
    run("export", "Eldoria book", tmp_path / "book.json")
    book = json.loads((tmp_path / "book.json").read_text())
    assert book["entries"]["0"] == {**WORLD["entries"]["0"], "content": "It is dry."}
    assert book["entries"]["2"] == WORLD["entries"]["2"] and book["name"] == "Eldoria book"
    run("import", file({**WORLD, "entries": {}}))
    game.service.lore.read_again()
    assert game.service.lore.find("Eldoria") is None and game.service.lore.find("Graves")


def test_lore_keeps_its_place_beside_a_card_and_an_import_is_taken_back(game, mira, file, tmp_path):
    own = [{"title": "The lighthouse", "text": "It is mine."}]
    mira.db.ai_persona, mira.db.ai_lore = "You are Mira, a smith.", own
    run("import", file(CARD_V2), "--character", "Mira")
    assert [item["title"] for item in mira.db.ai_lore] == ["The lighthouse", "The lighthouse (2)"]
    run("export", "Mira", tmp_path / "out.json")
    entries = json.loads((tmp_path / "out.json").read_text())["data"]["character_book"]["entries"]
    assert [entry["content"] for entry in entries] == [ENTRY["content"], "It is mine."]
    assert "Mira is what it was before" in run("undo", "mira")
    assert mira.db.ai_persona == "You are Mira, a smith." and list(mira.db.ai_lore) == own
    with pytest.raises(CommandError, match="No card"):
        run("undo", "Mira")


def test_a_game_that_did_not_ask_has_no_cards(game, mira, admin, file, settings):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXTENSIONS": []}
    with pytest.raises(CommandError, match="EXTENSIONS"):
        run("import", file(CARD_V2))
    admin.do("aicard Mira")
    assert "not available" in admin.last()


def test_an_uninstalling_leaves_no_card(game, tavern, file, settings, tmp_path):
    settings.STATIC_ROOT = None
    run("import", file(CARD_V2), "--room", tavern.dbref)
    run("import", file(WORLD))
    lines = []
    uninstall.remove_data(lines.append)
    assert "The character cards are deleted." in lines
    assert not Attribute.objects.filter(db_key="ai_card").exists()
    assert not ServerConfig.objects.filter(db_key__startswith="evennia_ai_book").exists()


def test_any_pasted_persona_may_name_its_character(game, mira, admin):
    admin.do("aisetup/set Mira/persona = You are {{char}}. <BOT> trusts {{user}}.")
    persona = mira.ai_mind.who.persona
    assert persona.text == "You are Mira. Mira trusts the person you talk to."
    mira.key = "Otto"
    assert mira.ai_mind.who.persona.text.startswith("You are Otto. Otto trusts")
    admin.do("aisetup/set Otto/persona = You are {{char}}.")
    assert mira.ai_mind.who.persona.text == "You are Otto."
