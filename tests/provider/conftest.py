"""One stub provider for every test of it."""

import pytest

from tests.provider import FaultyProvider


@pytest.fixture(scope="session")
def provider_process(tmp_path_factory):
    with FaultyProvider(tmp_path_factory.mktemp("stub") / "requests.jsonl") as provider:
        yield provider


@pytest.fixture
def provider(provider_process):
    provider_process.clear()
    return provider_process
