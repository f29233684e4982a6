"""Staff mark turns and comment on them; marked turns are scenes of ``ai_check``."""

import html
import re

import pytest

from evennia_ai.models import Turn
from tests.contrib.staff_pages.conftest import CANARY, SCRIPT, Browser
from tests.contrib.staff_pages.test_pages import turns_on

pytestmark = pytest.mark.game

COMMENT = "Too curt.\r\nsays: welcome | good evening\r\ndoes: give item = ale; to = Ann"


def marks(browser, mira, turn, mark="bad", comment=COMMENT):
    """Mark a turn; return what the page says then."""
    path = f"{mira.assistant.id}/turn/{turn.id}/"
    return browser.post(path, act="mark", **{"mark-mark": mark, "mark-comment": comment})


@pytest.fixture
def said(lived):
    return Turn.objects.filter(private=False).last()


@pytest.fixture
def whispered(lived):
    return Turn.objects.get(private=True)


def scenes_of(browser, mira, tmp_path, **query):
    """Return the downloaded scenes as `ai_check` reads them."""
    (tmp_path / "x.yaml").write_text(browser.text(f"{mira.assistant.id}/scenes/", **query))
    play = pytest.importorskip("evennia_ai.contrib.evals.play")
    return play.load_scenes(str(tmp_path / "x.yaml"))


def test_a_mark_and_a_comment_stand_on_the_turn_until_they_are_changed(
    lived, builder, said, monkeypatch
):
    logged = []
    monkeypatch.setattr("evennia.utils.logger.log_sec", logged.append)
    browser = Browser(builder)
    page = marks(browser, lived, said).content.decode()
    assert f"The mark of turn {said.id} is stored." in page and "Too curt.<br>says: welcome" in page
    said.refresh_from_db()
    assert (said.mark, said.marked_by) == ("bad", "Bo")
    assert [f"the mark of turn {said.id}" in line for line in logged] == [True]
    assert "curt" not in logged[0]
    marks(browser, lived, said, "", "")
    said.refresh_from_db()
    assert (said.mark, said.comment) == ("", "")


def test_a_marked_turn_is_exported_with_what_its_comment_expects(
    game, lived, tavern, builder, said, tmp_path
):
    browser = Browser(builder)
    marks(browser, lived, said)
    (scene,) = scenes_of(browser, lived, tmp_path)
    (step,) = scene.steps
    assert (scene.character, scene.people) == ("Mira", ("Bo", "Ada"))
    assert (step.who, step.says) == ("Ann", f"Mira, what is {SCRIPT}?")
    assert step.answer.must_mention == (("welcome", "good evening"),)
    (wanted,) = step.answer.must_do
    assert (wanted.tool, wanted.arguments) == ("give", {"item": "ale", "to": "Ann"})
    page = html.unescape(browser.text(f"{lived.assistant.id}/turn/{said.id}/"))
    assert "must_do:" in "".join(re.findall(r"<pre>(.*?)</pre>", page, re.S))


@pytest.mark.parametrize(("mark", "check"), [("good", "must_mention"), ("bad", "must_not_mention")])
def test_without_such_lines_the_spoken_words_are_expected_or_unwanted(
    lived, builder, said, tmp_path, mark, check
):
    browser = Browser(builder)
    marks(browser, lived, said, mark, "")
    (scene,) = scenes_of(browser, lived, tmp_path, mark=mark)
    assert getattr(scene.steps[0].answer, check) == ((f"You said {SCRIPT}.",),)


def test_a_private_turn_is_marked_and_exported_only_by_who_may_read_it(
    lived, builder, admin, whispered, tmp_path
):
    browser = Browser(admin)
    page = marks(browser, lived, whispered, "good", f"says: {CANARY}").content.decode()
    assert "is stored" in page
    (scene,) = scenes_of(browser, lived, tmp_path)
    assert scene.steps[0].whispers == f"Keep my word: {CANARY}"
    other, path = Browser(builder), f"{lived.assistant.id}/"
    assert whispered.id in turns_on(other.text(path, mark="good"))
    for page in (path, f"{path}turn/{whispered.id}/", f"{path}scenes/"):
        assert CANARY not in other.text(page)
    assert marks(other, lived, whispered, "bad", "").status_code == 403
    whispered.refresh_from_db()
    assert whispered.mark == "good"


def test_nobody_marks_without_the_right_the_token_or_the_setting(
    game, lived, tavern, ann, builder, admin, said, settings
):
    path = f"{lived.assistant.id}/turn/{said.id}/"
    stranger = Browser(game.player("Cy", tavern, permissions=["Builder"]))
    assert "may edit Mira" in marks(stranger, lived, said).content.decode()
    data = {"act": "mark", "mark-mark": "bad"}
    assert Browser(admin).client.post(f"/ai/{path}", data).status_code == 403  # no token
    player = Browser(ann)
    player.client.cookies["csrftoken"] = "x" * 32
    forged = {**data, "csrfmiddlewaretoken": "x" * 32}
    assert player.client.post(f"/ai/{path}", forged).status_code == 403
    assert player.get(f"{lived.assistant.id}/scenes/").status_code == 403
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "WEB_ACTS": False}
    assert "Save the mark" not in Browser(builder).text(path)
    browser = Browser(builder)
    browser.client.cookies["csrftoken"] = "x" * 32
    assert browser.client.post(f"/ai/{path}", forged).status_code == 403
    said.refresh_from_db()
    assert (said.mark, said.comment) == ("", "")


def test_a_turn_that_is_not_this_characters_is_not_marked(game, lived, tavern, admin, said):
    otto = game.assistant("Otto", tavern)
    browser = Browser(admin)
    browser.get(f"{lived.assistant.id}/turn/{said.id}/")
    token = browser.client.cookies["csrftoken"].value
    data = {"csrfmiddlewaretoken": token, "act": "mark", "mark-mark": "bad"}
    path = f"/ai/{otto.assistant.id}/turn/{said.id}/"
    assert browser.client.post(path, data).status_code == 404
    said.refresh_from_db()
    assert said.mark == ""
