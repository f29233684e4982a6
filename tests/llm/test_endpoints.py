"""Where a profile's requests go: addresses that can work, and what of them is shown."""

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderMisconfigured
from evennia_ai.llm.endpoints import check_address, find_endpoint

PASSWORD = "open-sesame-1"


def test_an_endpoint_shows_neither_its_password_nor_its_key():
    found = find_endpoint(
        ModelProfile("p", "openai", "m", f"http://me:{PASSWORD}@host/k3y-in-path/v1", "KEY"),
        {"KEY": "k3y-in-path"},
    )
    assert found.base_url == f"http://me:{PASSWORD}@host/k3y-in-path/v1"
    assert found.address == "http://host/***/v1"
    assert PASSWORD not in repr(found) + repr(ModelProfile("p", base_url=found.base_url))


def test_a_key_in_place_of_its_variable_is_not_shown():
    profile = ModelProfile("p", "openai", "m", "http://host/v1", "sk-proj-1234567")
    with pytest.raises(ProviderMisconfigured, match="name of an environment") as caught:
        find_endpoint(profile, {})
    assert "sk-proj" not in str(caught.value)


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/v1", "https://[::1]/v1", "http://ollama"])
def test_an_address_of_a_web_server_is_accepted(address):
    check_address(address, ModelProfile("p"))


@pytest.mark.parametrize(
    "address", ["localhost:11434/v1", "ftp://host/", "http://", "http://h:99999", "http://[x"]
)
def test_an_address_of_no_web_server_is_refused_by_the_profiles_name(address):
    with pytest.raises(ProviderMisconfigured, match="base_url of the profile 'p'"):
        check_address(address, ModelProfile("p"))
