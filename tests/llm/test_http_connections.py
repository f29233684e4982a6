"""Connections that are kept for later requests."""

import asyncio
import json
from base64 import b64decode

import pytest

from evennia_ai.llm.endpoints import Endpoint
from evennia_ai.llm.http_connections import (
    KEPT_S,
    Connections,
    find_route,
    read_whole,
)

pytestmark = pytest.mark.usefixtures("transport")
ASKED = json.dumps({"messages": [{"role": "user", "content": "Ann says: hello"}]}).encode()


class Scene:
    """Connections to the stub provider, with a clock that is set by hand."""

    def __init__(self, provider):
        self.now = 0.0
        self.provider = provider
        self.base_url = provider.base_url
        self.connections = Connections(10.0, lambda: self.now)

    @property
    def ports(self):
        """The client's port of the connection that each request used."""
        return [record["port"] for record in self.provider.requests()]

    def send(self, key=""):
        endpoint = Endpoint(self.base_url, key)
        return self.connections.respond(endpoint, "POST", "chat/completions", ASKED)

    async def ask(self, key=""):
        """Send a request and read its answer."""
        async with self.send(key) as response:
            await read_whole(response, 10_000)


@pytest.fixture
def play(provider):
    """Run a coroutine function with a scene, and close its connections."""

    def run(act):
        async def whole():
            scene = Scene(provider)
            outcome = await act(scene)
            await scene.connections.close()
            return outcome

        return asyncio.run(whole())

    return run


def test_requests_that_follow_each_other_share_a_connection(play):
    async def act(scene):
        for _ in range(3):
            await scene.ask()
        return scene.ports

    assert len(set(play(act))) == 1


def test_requests_at_a_time_have_a_connection_each_and_the_last_used_goes_first(play, provider):
    provider.control(latency=0.05)

    async def act(scene):
        await asyncio.gather(scene.ask(), scene.ask())
        for _ in range(3):
            await scene.ask()
        return scene.ports

    ports = play(act)
    assert len(set(ports[:2])) == 2
    assert len(set(ports[2:])) == 1
    assert set(ports[2:]) < set(ports[:2])


def test_another_key_of_the_same_server_has_a_connection_of_its_own(play):
    async def act(scene):
        await scene.ask()
        await scene.ask("other")
        return scene.ports

    assert len(set(play(act))) == 2


@pytest.mark.parametrize(("idle_s", "used"), [(KEPT_S - 1, 1), (KEPT_S + 1, 2)])
def test_a_connection_that_was_idle_for_long_is_closed_and_not_used_again(play, idle_s, used):
    async def act(scene):
        await scene.ask()
        scene.now += idle_s
        await scene.ask()
        return scene.ports, kept(scene)

    ports, clients = play(act)
    assert len(set(ports)) == used
    assert len(clients) == 1


def test_a_request_that_fails_leaves_its_client_for_the_next(play):
    async def act(scene):
        await scene.ask()
        with pytest.raises(RuntimeError, match="no ears"):
            await fail(scene)
        await scene.ask()
        return kept(scene)

    async def fail(scene):
        async with scene.send():
            raise RuntimeError("no ears")

    assert len(play(act)) == 1


@pytest.mark.parametrize(
    ("user", "login"),
    [
        ("token", b"token:"),
        ("token:", b"token:"),
        (":word", b":word"),
        ("me:a%20%3Ab", b"me:a :b"),
        ("m%40e:a:b", b"m@e:a:b"),
    ],
)
def test_user_and_password_of_an_address_are_sent_as_a_header(user, login):
    endpoint = Endpoint(f"http://{user}@host/v1", "")
    route = find_route(endpoint, "chat/completions", Connections(10.0).make_client())
    assert str(route.url) == "http://host/v1/chat/completions"
    kind, _, coded = route.headers["Authorization"].partition(" ")
    assert (kind, b64decode(coded)) == ("Basic", login)


def kept(scene):
    """The clients that wait for later requests."""
    return [client for idle in scene.connections._idle.values() for _, client in idle]
