"""One stub provider process for the tests of a folder or a file, empty for each."""

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
