"""A SOCKS proxy in the environment, which only httpx can use."""

import asyncio
import importlib
from unittest.mock import AsyncMock, Mock

import pytest

from evennia_ai.llm.endpoints import Endpoint
from evennia_ai.llm.sdk_clients import SdkClients

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
    clients = SdkClients(10.0, 1_000)
    client = clients.client_for(Endpoint("http://127.0.0.1:9/v1", ""))
    assert isinstance(client._client, SDK.DefaultAsyncHttpxClient)


def test_where_httpx_cannot_use_it_either_loopback_is_still_reached(socks, provider):
    socks.side_effect = ImportError("socksio is not installed")

    async def ask():
        clients = SdkClients(10.0, 100_000)
        client = clients.client_for(Endpoint(provider.base_url, ""))
        response = await client.get("models", cast_to=clients.response_type)
        await clients.close()
        return response.status_code

    assert asyncio.run(ask()) == 200
