"""What staff change on the pages is seen in the game; nobody else changes anything."""

import re

import pytest

from evennia_ai.game.minds import PERSONA_AUTHORS
from evennia_ai.policy.audience import BUILDER
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry
from tests.contrib.staff_pages.conftest import Browser

pytestmark = pytest.mark.game

PERSONA = {"text": "You are Mira, who keeps the Gull.", "knows": "The cellar\r\nThe key"}
NOTE = {"text": "The king is here.", "turns": 3}
LORE = {"title": "The well", "text": "It is dry.", "scopes": "all", "keys": "water, thirst"}


def sent(browser, path, act, **fields):
    """Send a form of a page; return what the page says then."""
    named = {f"{act}-{name}": value for name, value in fields.items()}
    return browser.post(path, act=act, **named)


@pytest.fixture
def setup(mira):
    return f"{mira.assistant.id}/setup/"


@pytest.fixture
def lore(mira):
    return f"{mira.assistant.id}/lore/"


def test_persona_note_and_settings_are_changed_as_by_the_commands(
    mira, builder, setup, monkeypatch
):
    logged = []
    monkeypatch.setattr("evennia.utils.logger.log_sec", logged.append)
    browser, mind = Browser(builder), mira.assistant.mind
    assert "persona is changed" in sent(browser, setup, "persona", **PERSONA).content.decode()
    assert mind.who.persona.knows == ("The cellar", "The key")
    assert mira.attributes.get(PERSONA_AUTHORS) == [builder.dbref]
    page = browser.text(setup)
    assert "The cellar\nThe key</textarea>" in page
    assert "What it knows and others may not, one on a line" in page
    sent(browser, setup, "note", **NOTE)
    (note,) = mind.status.author_note()
    assert note.text == "The king is here." and note.authors == {BUILDER, builder.dbref}
    sent(browser, setup, "note", text="", turns=1)
    assert not mind.status.author_note()
    sent(browser, setup, "setting", setting="tick_rate", value="9")
    assert mira.assistant.config.tick_rate == 9
    sent(browser, setup, "setting", setting="tick_rate", value="")
    assert mira.assistant.config.tick_rate == 5
    assert len(logged) == 5 and all("account Bo" in line and "Mira" in line for line in logged)
    assert not any("king" in line or "cellar" in line for line in logged)


def test_lore_is_written_edited_and_deleted(service, builder, tavern, lore):
    browser = Browser(builder)
    sent(browser, lore, "lore", **LORE | {"scopes": f"all, room:{tavern.id}"})
    entry = service.lore.find("the well")
    assert (entry.text, entry.scopes, entry.keys) == (
        "It is dry.", ("all", f"room:{tavern.dbref}"), ("water", "thirst")
    )  # fmt: skip
    assert entry.authors == {BUILDER, builder.dbref}
    assert 'value="water, thirst"' in browser.text(lore, edit="The well")
    sent(browser, lore, "delete", title="The well")
    assert service.lore.find("The well") is None
    gone = sent(browser, lore, "delete", title="The well")
    assert gone.status_code == 404 and b"There is no lore &#x27;The well&#x27; any" in gone.content
    assert f'href="/ai/{lore}">Back to the page' in gone.content.decode()


def test_who_wrote_lore_stays_its_author_though_another_saves_it(service, builder, admin, lore):
    builder.do("ailore/set The well = It is dry.")
    sent(Browser(admin), lore, "lore", **LORE)
    assert service.lore.find("The well").authors == {BUILDER, builder.dbref, admin.dbref}


@pytest.mark.parametrize(
    ("act", "fields", "told"),
    [
        ("persona", {"text": " "}, "A persona cannot be empty"),
        ("setting", {"setting": "tick_rate", "value": "soon"}, "must be"),
        ("setting", {"setting": "tools_off", "value": "magic"}, "there are no tools of"),
        ("setting", {"setting": "no_such", "value": "1"}, "Select a valid choice"),
        ("note", {"text": "x" * 501, "turns": 3}, "at most 500"),
    ],
)
def test_what_is_wrong_is_told_in_the_form_and_changes_nothing(
    mira, builder, setup, act, fields, told
):
    before = mira.attributes.get("ai_persona"), mira.assistant.mind.settings.own()
    reply = sent(Browser(builder), setup, act, **fields)
    assert reply.status_code == 200 and told in reply.content.decode()
    assert (mira.attributes.get("ai_persona"), mira.assistant.mind.settings.own()) == before
    assert not mira.assistant.mind.status.author_note()


def test_wrong_lore_and_a_modules_lore_are_refused(service, builder, lore):
    service.lore.fixed = (LoreEntry("The sea", "It is deep."),)
    browser = Browser(builder)
    assert "not a scope" in sent(browser, lore, "lore", **LORE | {"scopes": "x"}).content.decode()
    assert (
        "no room #999"
        in sent(browser, lore, "lore", **LORE | {"scopes": "room:999"}).content.decode()
    )
    told = sent(browser, lore, "lore", **LORE | {"title": "the sea"}).content.decode()
    assert "comes from a module" in told
    assert [entry.title for entry in service.lore.entries()] == ["The sea"]


def test_lore_of_a_character_is_shown_as_such_and_not_changed_here(service, mira, builder, lore):
    mira.db.ai_lore = [{"title": "The arch", "text": "It leans."}]
    page = Browser(builder).text(lore, edit="The arch")
    assert "its own (ai_lore)" in page and "Yes, delete it" not in page
    assert "<textarea" in page and "It leans.</textarea>" not in page
    for act, fields in (("lore", {**LORE, "title": "the arch"}), ("delete", {"title": "The arch"})):
        told = sent(Browser(builder), lore, act, **fields).content.decode()
        assert "is Mira&#x27;s own" in told and not service.lore.entries()
    builder.do("ailore/set The arch = It leans.")  # one of the game can go, of the same title
    sent(Browser(builder), lore, "delete", title="The arch")
    assert not service.lore.entries()


def test_who_may_not_edit_gets_no_form_and_a_way_back(game, mira, tavern, setup):
    other = Browser(game.player("Cy", tavern, permissions=["Builder"]))
    for path in (setup, setup.replace("setup", "trial")):
        page = other.text(path)
        assert "None of your characters may edit Mira" in page
        assert "<textarea" not in page and "Say it" not in page
    reply = other.get(setup.replace("setup", "memory"))
    assert reply.status_code == 403 and f'href="/ai/{setup}"' in reply.content.decode()


def test_what_changed_meanwhile_is_not_overwritten_unless_one_saves_again(mira, builder, setup):
    browser, mind = Browser(builder), mira.assistant.mind

    def seen_on(page, act):
        form = page.partition(f'name="act" value="{act}"')[0].rpartition("<form")[2]
        return re.search('name="seen" value="([^"]*)"', form)[1]

    def save(act, seen, **fields):
        named = {f"{act}-{name}": value for name, value in fields.items()}
        return browser.post(setup, act=act, seen=seen, **named).content.decode()

    stale = browser.text(setup)
    for act, first, mine in (
        ("persona", {"text": "You are Mira."}, {"text": "You are a spy."}),
        ("note", {"text": "Be brief.", "turns": 3}, {"text": "Be rude.", "turns": 3}),
        ("setting", {"setting": "tick_rate", "value": "9"}, {"setting": "tick_rate", "value": "8"}),
    ):
        seen = seen_on(stale, act)
        assert "changed meanwhile" not in save(act, seen, **first)
        told = save(act, seen, **mine)
        assert (
            "was changed meanwhile" in told and [*mine.values()][-1 if act != "note" else 0] in told
        )
        assert "was changed meanwhile" not in save(act, seen_on(told, act), **mine)
    assert mind.who.persona.text == "You are a spy." and mira.assistant.config.tick_rate == 8
    assert mind.status.author_note()[0].text == "Be rude."


def test_no_setting_is_chosen_and_no_persona_emptied_by_mistake(mira, builder, setup):
    browser = Browser(builder)
    assert "tick_rate = 5 s</option>" in browser.text(setup)
    assert "This field is required" in sent(browser, setup, "setting").content.decode()
    told = sent(browser, setup, "persona", **PERSONA | {"text": ""}).content.decode()
    assert "A persona cannot be empty" in told


def test_only_admins_change_who_is_told_what_players_whisper(mira, builder, admin, setup):
    whisper_policy = {"setting": "whisper_policy", "value": "trusting"}
    assert sent(Browser(builder), setup, "setting", **whisper_policy).status_code == 403
    assert mira.assistant.config.whisper_policy == "strict"
    sent(Browser(admin), setup, "setting", **whisper_policy)
    assert mira.assistant.config.whisper_policy == "trusting"


def test_nobody_changes_anything_without_the_right_the_token_or_the_setting(
    game, mira, tavern, ann, builder, admin, setup, lore, settings
):
    other = Browser(game.player("Cy", tavern, permissions=["Builder"]))
    assert "may edit Mira" in sent(other, setup, "persona", **PERSONA).content.decode()
    player, token = Browser(ann), {"csrfmiddlewaretoken": "x" * 32}
    player.client.cookies["csrftoken"] = "x" * 32
    for path, act, fields in ((setup, "persona", PERSONA), (lore, "lore", LORE)):
        data = {"act": act, **{f"{act}-{name}": value for name, value in fields.items()}}
        assert player.client.post(f"/ai/{path}", data).status_code == 403
        assert player.client.post(f"/ai/{path}", {**data, **token}).status_code == 403
        assert Browser(admin).client.post(f"/ai/{path}", data).status_code == 403  # no token
        assert Browser().client.post(f"/ai/{path}", data).status_code == 403
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "WEB_ACTS": False}
    browser = Browser(builder)
    assert "<textarea" not in browser.text(setup) + browser.text(lore)
    browser.client.cookies["csrftoken"] = "x" * 32
    reply = browser.client.post(f"/ai/{setup}", {**token, "act": "note", "note-turns": 1})
    assert reply.status_code == 403 and "WEB_ACTS" in reply.content.decode()
    assert mira.assistant.mind.who.persona.knows == ()
    assert not mira.assistant.services.lore.entries()


def test_a_shared_persona_is_not_overwritten(mira, builder, service, setup):
    from evennia_ai.policy.conversation.persona_and_lore import Persona

    service.personas.write("guard", Persona("You guard."))
    mira.attributes.add("ai_persona", "@guard")
    text = Browser(builder).text(setup)
    assert "shares the persona <strong>@guard" in text and "persona-text" not in text
    sent(Browser(builder), setup, "persona", **PERSONA)
    assert mira.attributes.get("ai_persona") == "@guard"


def test_a_character_is_stopped_and_started_where_its_trouble_is_shown(mira, ann, builder, setup):
    browser = Browser(builder)
    page = browser.text(setup)
    assert ">Stop it</button>" in page and f"/{mira.assistant.id}/trial/" in page
    sent(browser, setup, "stop")
    assert not mira.assistant.is_on and ">Start it</button>" in browser.text(setup)
    assert "Stop it" not in Browser(ann).get(setup).content.decode()
    sent(browser, setup, "stop")
    assert mira.assistant.is_on
