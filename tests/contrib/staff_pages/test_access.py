"""Who may open the staff pages, and what they show of private words."""

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from evennia_ai.contrib.staff_pages.access import staff_link
from tests.contrib.staff_pages.conftest import CANARY, SCRIPT, Browser

pytestmark = pytest.mark.game


def test_strangers_are_sent_to_the_login_and_players_read_nothing(pages, ann):
    browser = Browser(ann)
    for page in pages:
        reply = Browser().get(page)
        assert reply.status_code == 302 and reply.url.startswith("/auth/login"), page
        reply = browser.get(page)
        assert reply.status_code == 403 and "Mira" not in reply.content.decode(), page


def test_the_menu_of_the_site_leads_those_to_the_pages_who_may_open_them(builder, ann):
    menu = b'<nav id="menu-content"><ul></ul></nav>'

    def shown(player):
        request = RequestFactory().get("/")
        request.user = player.account
        return staff_link(lambda _: HttpResponse(menu))(request).content

    assert b'href="/ai/">NPCs</a></li></ul>' in shown(builder)
    assert shown(ann) == menu


def test_no_page_shows_a_builder_a_private_word(pages, builder):
    browser = Browser(builder)
    assert [page for page in pages if CANARY in browser.text(page)] == []


def test_an_admin_reads_it_and_the_security_log_says_so(pages, lived, admin, monkeypatch):
    logged = []
    monkeypatch.setattr("evennia.utils.logger.log_sec", logged.append)
    browser, id_ = Browser(admin), lived.assistant.id
    texts = {page: browser.text(page) for page in pages}
    whispered = {page for page, text in texts.items() if CANARY in text}
    assert {f"{id_}/", f"{id_}/live/", f"{id_}/memory/"} < whispered
    (line,) = [line for line in logged if f"/ai/{id_}/memory/ read 1 private" in line]
    assert "account Ada" in line and "Mira" in line and CANARY not in line
    # What players and models write stays text.
    assert [page for page, text in texts.items() if SCRIPT in text] == []
    assert sum("&lt;script&gt;alert(1)" in text for text in texts.values()) >= 5


def test_a_row_that_does_not_exist_or_is_of_another_is_not_found(game, lived, tavern, pages, admin):
    browser, mine = Browser(admin), lived.assistant.id
    other, turn = game.assistant("Odo", tavern).assistant.id, pages[2].split("/")[-2]
    assert browser.get(f"{other}/turn/{turn}/").status_code == 404
    for path in ("{x}/", "{x}/memory/", "{id}/turn/{x}/", "{id}/compaction/{x}/", "{id}/?page={x}"):
        for number in (0, 987654, 10**30):
            assert browser.get(path.format(x=number, id=mine)).status_code == 404, (path, number)


def test_a_builder_who_may_not_edit_a_character_does_not_read_its_memories(game, lived, tavern):
    other = game.player("Cy", tavern, permissions=["Builder"])
    for page in ("memory", "relations"):
        reply = Browser(other).get(f"{lived.assistant.id}/{page}/")
        assert reply.status_code == 403
        assert "may edit Mira" in reply.content.decode()


def test_the_permission_of_a_setting_counts(lived, service, builder, admin):
    service.who_may_read = {**service.who_may_read, "public_words": "Admin"}
    text = Browser(builder).text(f"{lived.assistant.id}/?words=morning")
    assert "Only Admins may search words." in text and "/turn/" not in text
    service.who_may_read = {**service.who_may_read, "figures": "Developer"}
    assert Browser(builder).get().status_code == Browser(admin).get().status_code == 403


def test_a_permission_in_the_plural_a_higher_one_and_a_superuser_count(game, pages, tavern):
    for name, permission in (("Di", "builders"), ("Ed", "Developer")):
        assert Browser(game.player(name, tavern, permissions=[permission])).get().status_code == 200
    assert CANARY in Browser(game.player("Su", tavern, superuser=True)).text(pages[1])


def test_pages_are_neither_kept_nor_framed(lived, admin):
    reply = Browser(admin).get()
    assert "no-store" in reply["Cache-Control"]
    assert reply["X-Frame-Options"] == "DENY"


def test_a_game_without_running_assistants_says_so(lived, admin, monkeypatch):
    from evennia_ai.assistant_script import AssistantScript

    monkeypatch.setattr(AssistantScript, "shared_services", None)
    reply = Browser(admin).get()
    assert reply.status_code == 503
    assert "were not started" in reply.content.decode()


STRANGE = (
    "since=9999-12-31", "until=0001-01-01", "tokens=-1", "tokens=1e9", "outcome=x", "tool=%00",
    "words=%00", "player=%00", "player=%23", "player=%2399999999999999999999", "words=%25%27%22",
)  # fmt: skip


def test_a_strange_query_is_answered(lived, admin):
    for query in STRANGE:
        reply = Browser(admin).get(f"{lived.assistant.id}/?{query}")
        assert reply.status_code == 200, query
