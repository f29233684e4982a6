"""Connections that are kept for later requests."""

import asyncio

import pytest

from evennia_ai.llm.endpoints import Endpoint
from evennia_ai.llm.http_connections import KEPT_S, Connections, read_whole


class Scene:
    """Connections to the stub provider, with a clock that is set by hand."""

    def __init__(self, base_url):
        self.now = 0.0
        self.base_url = base_url
        self.connections = Connections(10.0, lambda: self.now)

    async def ask(self, key=""):
        """Return the client's port of the connection that a request used."""
        endpoint = Endpoint(self.base_url, key)
        async with self.connections.respond(endpoint, "GET", "models") as response:
            stream = response.extensions["network_stream"]
            port = stream.get_extra_info("client_addr")[1]
            await read_whole(response, 1_000)
        return port


@pytest.fixture
def play(provider):
    """Run a coroutine function with a scene, and close its connections."""

    def run(act):
        async def whole():
            scene = Scene(provider.base_url)
            outcome = await act(scene)
            await scene.connections.close()
            return outcome

        return asyncio.run(whole())

    return run


def test_requests_that_follow_each_other_share_a_connection(play):
    async def act(scene):
        return [await scene.ask() for _ in range(3)]

    assert len(set(play(act))) == 1


def test_requests_at_a_time_have_a_connection_each_and_the_last_used_goes_first(play, provider):
    provider.control(pages={"GET /v1/models": {"raw": "{}", "latency": 0.05}})

    async def act(scene):
        at_a_time = await asyncio.gather(scene.ask(), scene.ask())
        return set(at_a_time), {await scene.ask() for _ in range(3)}

    at_a_time, after = play(act)
    assert len(at_a_time) == 2
    assert len(after) == 1
    assert after < at_a_time


def test_another_key_of_the_same_server_has_a_connection_of_its_own(play):
    async def act(scene):
        return [await scene.ask(), await scene.ask("other")]

    assert len(set(play(act))) == 2


@pytest.mark.parametrize(("idle_s", "used"), [(KEPT_S - 1, 1), (KEPT_S + 1, 2)])
def test_a_connection_that_was_idle_for_long_is_closed_and_not_used_again(play, idle_s, used):
    async def act(scene):
        first = await scene.ask()
        scene.now += idle_s
        ports = {first, await scene.ask()}
        kept = [client for idle in scene.connections._idle.values() for _, client in idle]
        return ports, kept

    ports, kept = play(act)
    assert len(ports) == used
    assert len(kept) == 1


def test_a_request_that_fails_leaves_its_client_for_the_next(play):
    async def act(scene):
        await scene.ask()
        with pytest.raises(RuntimeError, match="no ears"):
            await fail(scene)
        await scene.ask()
        return [client for idle in scene.connections._idle.values() for _, client in idle]

    async def fail(scene):
        async with scene.connections.respond(Endpoint(scene.base_url, ""), "GET", "models"):
            raise RuntimeError("no ears")

    assert len(play(act)) == 1
