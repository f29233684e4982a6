"""A SOCKS proxy in the environment, which only httpx can use."""

import asyncio
import importlib
from unittest.mock import AsyncMock, Mock

import pytest

from evennia_ai.llm.endpoints import Endpoint
from evennia_ai.llm.http_connections import Connections

SDK = importlib.import_module("openai")


@pytest.fixture(params=["ALL_PROXY", "https_proxy"], autouse=True)
def proxy(request, monkeypatch):
    monkeypatch.setenv(request.param, "socks5h://127.0.0.1:9")


@pytest.fixture
def socks(monkeypatch):
    """What httpx makes for each proxy; a stand-in for its package for SOCKS."""
    classes = SDK.DefaultAsyncHttpxClient.__mro__
    base = next(one for one in classes if not one.__module__.startswith("openai"))
    made = Mock(return_value=AsyncMock())
    monkeypatch.setattr(base, "_init_proxy_transport", made)
    return made


@pytest.mark.usefixtures("socks")
def test_httpx_is_used_though_aiohttp_is_installed():
    assert isinstance(Connections(10.0).make_client(), SDK.DefaultAsyncHttpxClient)


def test_where_httpx_cannot_use_it_either_loopback_is_still_reached(socks, provider):
    socks.side_effect = ImportError("socksio is not installed")

    async def ask():
        connections = Connections(10.0)
        endpoint = Endpoint(provider.base_url, "")
        async with connections.respond(endpoint, "GET", "models") as response:
            status = response.status_code
        await connections.close()
        return status

    assert asyncio.run(ask()) == 200
