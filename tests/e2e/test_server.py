"""The demo game over real telnet: players talk, an assistant answers, admins look, it reloads."""

import re
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

import pytest

from tests.e2e.harness import ADMIN, PASSWORD, GameServer

pytestmark = pytest.mark.quick


def test_players_hear_each_other_through_a_reload_from_inside(shared_game: GameServer) -> None:
    with shared_game.player("Ann") as ann, shared_game.player(ADMIN) as admin:
        ann.send("say Good evening.")
        ann.expect('You say, "Good evening."')
        admin.expect('Ann says, "Good evening."')
        admin.send("say And to you.")
        ann.expect('Warden says, "And to you."')

        admin.send("reload")
        admin.expect("Server restarted", 60)
        ann.send("say Still here.")
        admin.expect('Ann says, "Still here."')


def test_a_player_is_answered_and_an_admin_reads_it(shared_game: GameServer) -> None:
    # Not Ann: what she said in the test before may be answered when she comes in.
    with shared_game.player("Ben") as ben, shared_game.player(ADMIN) as admin:
        ben.send("say hello Mira, are you well?")
        answer = ben.expect('Mira says, "([^"]+)')[1]
        admin.send("aihistory Mira")
        admin.expect("hello Mira, are you well")
        admin.expect(re.escape(str(answer)[:20]))
        admin.send("aistatus")
        admin.expect("Mira .*(?:awake|thinking) .*the stand-in")
        admin.send("aihistory/turns Mira")
        admin.expect("Page 1 of")


def test_a_player_starts_in_the_common_room_with_mira(shared_game: GameServer) -> None:
    with shared_game.player("Ann") as ann:
        ann.send("look")
        ann.expect("The Gilded Gull")
        ann.expect("Exits: quay, yard, and cellar")
        ann.expect("Characters: Mira\n")


def test_every_room_can_be_walked_to_and_back(shared_game: GameServer) -> None:
    walk = [
        ("yard", "The Yard"), ("north", "Brannoc's Smithy"), ("west", "Saltmarket Quay"),
        ("up", "The Chapel of the Lost"), ("down", "Saltmarket Quay"), ("gull", "The Gilded Gull"),
        ("cellar", "The Cellar of the Gull"), ("gull", "The Gilded Gull"),
    ]  # fmt: skip
    with shared_game.player("Ann") as ann:
        for way, room in walk:
            ann.send(way)
            ann.expect(room)
            ann.expect("Exits:")


def test_the_database_is_in_write_ahead_mode(shared_game: GameServer) -> None:
    assert shared_game.sql("PRAGMA journal_mode")[0][0] == "wal"


def test_what_the_server_writes_is_in_the_file_at_once(shared_game: GameServer) -> None:
    # In write-ahead mode a connection carried over twistd's fork loses everything it writes.
    query = "SELECT db_location_id FROM objects_objectdb WHERE db_key = 'Ben'"
    with shared_game.player("Ben"):
        assert [tuple(row) for row in shared_game.sql(query)] == [(2,)]


def test_only_this_machine_can_connect(shared_game: GameServer) -> None:
    with shared_game.player(ADMIN) as admin:
        admin.send('py __import__("django.conf").conf.settings.LOCKDOWN_MODE')
        admin.expect("True")


def test_a_stop_and_a_start_lose_nothing(shared_game: GameServer) -> None:
    with shared_game.player("Ann") as ann:
        ann.send("get mug")
        ann.expect("You pick up")
    shared_game.stop(by_launcher=True)
    assert shared_game.is_down()
    shared_game.start(by_launcher=True)
    with shared_game.player("Ann") as ann:
        ann.send("inventory")
        ann.expect("pewter mug")
        ann.send("drop mug")
        ann.expect("You drop")


def test_the_web_site_works_for_staff(shared_game: GameServer) -> None:
    # Evennia links to the admin for staff, which fails every page where the admin has no address.
    site = f"http://127.0.0.1:{shared_game.web_port}"
    browser = build_opener(ProxyHandler({}), HTTPCookieProcessor())
    form = browser.open(f"{site}/auth/login/").read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)
    assert token
    login = {"username": ADMIN, "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
    page = browser.open(f"{site}/auth/login/", urlencode(login).encode()).read().decode()
    assert ADMIN in page
    for path in ("/", "/webclient/", "/admin/"):
        assert browser.open(site + path).status == 200
