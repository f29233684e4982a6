"""A trial talk on a page: two models side by side, with nothing done, stored or heard."""

import pytest

from evennia_ai.contrib.staff_pages.trial import answer_of
from evennia_ai.models import Event, Message, Turn
from tests.contrib.staff_pages.conftest import Browser
from tests.game.forgetting_scene import forget
from tests.scripted import call

pytestmark = pytest.mark.game

LEFT_OUT = "The talk so far was left out"


@pytest.fixture
def trial(mira):
    return f"{mira.assistant.id}/trial/"


@pytest.fixture
def page(builder):
    return Browser(builder)


def stored():
    return [model.objects.count() for model in (Event, Message, Turn)]


def talk_in(reply):
    """The signed talk that a page carries on."""
    return reply.context["trial_form"].initial["talk"]


def test_two_models_answer_and_nothing_happens(game, ann, mira, page, trial):
    before = stored()
    game.model.add(call("say", text="Stew, love."), call("say", text="Bread."))
    reply = page.post(trial, line="Mira, what is there to eat?", first="default", second="offline")
    (one,) = reply.context["talk"]
    first, second = one["sides"]
    assert [side["acts"][0]["text"] for side in (first, second)] == ["Stew, love.", "Bread."]
    assert first["model"].startswith("default:") and second["model"].startswith("offline:")
    assert "Stew, love." in reply.content.decode()
    assert stored() == before
    assert "Stew" not in " ".join(ann.heard())


def test_a_talk_goes_on_with_what_was_said_in_it(game, mira, page, trial):
    game.model.add(call("say", text="A pleasure, Karl."))
    reply = page.post(trial, line="Mira, I am Karl.", first="default", second="")
    game.model.add(call("say", text="You are Karl."))
    reply = page.post(trial, line="Mira, who am I?", first="default", talk=talk_in(reply))
    assert [one["line"] for one in reply.context["talk"]] == ["Mira, I am Karl.", "Mira, who am I?"]
    prompt = str(game.model.requests[-1].messages)
    assert "I am Karl." in prompt and "A pleasure, Karl." in prompt and "rehearsal" not in prompt
    assert not page.get(trial).context["talk"]


@pytest.fixture
def begun(game, ann, page, trial):
    """The signed talk of a page on which a builder asks for what Ann said."""
    ann.do("say I like quinces.")
    game.run(2)
    game.model.add(call("say", text="Ann likes quinces."))
    reply = page.post(trial, line="Mira, what does Ann like?", first="default")
    return talk_in(reply)


def says(page, path, talk, name="Mira"):
    """Go on with a posted talk; return the lines that it has then, and the page."""
    reply = page.post(path, line=f"{name}, go on.", first="default", talk=talk)
    return [one["line"] for one in reply.context["talk"]], reply.content.decode()


def test_a_talk_that_the_page_did_not_sign_is_none(game, page, trial):
    game.model.add(call("say", text="Who?"))
    lines, text = says(page, trial, "[1]:forged")
    assert lines == ["Mira, go on."] and LEFT_OUT in text


def test_a_talk_with_one_character_cannot_go_on_with_another(game, tavern, page, trial, begun):
    bruno = game.assistant("Bruno", tavern)
    bruno.locks.add("edit:perm(Builder)")
    game.model.add(call("say", text="Go on?"))
    lines, text = says(page, f"{bruno.assistant.id}/trial/", begun, "Bruno")
    assert lines == ["Bruno, go on."] and LEFT_OUT in text
    assert "quinces" not in str(game.model.requests[-1].messages)


def test_a_talk_of_one_person_cannot_go_on_in_the_page_of_another(game, admin, trial, begun):
    game.model.add(call("say", text="Go on?"))
    lines, text = says(Browser(admin), trial, begun)
    assert lines == ["Mira, go on."] and LEFT_OUT in text


def test_a_page_that_stayed_open_keeps_no_words_that_were_forgotten(game, ann, page, trial, begun):
    forget(ann)
    game.model.add(call("say", text="Go on?"))
    lines, text = says(page, trial, begun)
    assert lines == ["Mira, go on."] and LEFT_OUT in text and "quinces" not in text
    assert "quinces" not in str(game.model.requests[-1].messages)


def test_an_answer_during_which_words_were_forgotten_is_not_carried_on(
    game, ann, page, trial, begun, monkeypatch
):
    def forgetting_meanwhile(*side):
        forget(ann)
        return answer_of(*side)

    game.model.add(call("say", text="Quinces."), call("say", text="Go on?"))
    with monkeypatch.context() as patches:
        patches.setattr("evennia_ai.contrib.staff_pages.trial.answer_of", forgetting_meanwhile)
        reply = page.post(trial, line="Mira, again?", first="default", talk=begun)
    assert len(reply.context["talk"]) == 2
    lines, text = says(page, trial, talk_in(reply))
    assert lines == ["Mira, go on."] and LEFT_OUT in text


def test_what_cannot_be_asked_is_told(game, ann, mira, page, trial, settings):
    reply = page.post(trial, line="Nice weather.", first="default")
    assert (
        "the line names nobody, and others are in the room" in reply.content.decode()
        and not reply.context["talk"]
    )
    mira.assistant.mind.is_dry_running = True
    reply = page.post(trial, line="Mira, hello.", first="default")
    assert "Mira is being tried already" in reply.content.decode()
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "WEB_ACTS": False}
    assert page.post(trial, line="Mira, hello.", first="default").status_code == 403


def test_players_and_builders_who_may_not_edit_it_are_refused(game, ann, mira, tavern, trial):
    stranger = game.player("Zed", tavern, permissions=["Builder"])
    mira.locks.add("edit:perm(Admin)")
    assert Browser(stranger).post(trial, line="Mira, hi.", first="default").status_code == 403
    assert Browser(ann).get(trial).status_code == 403
    assert not game.model.requests
