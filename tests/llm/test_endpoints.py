"""Where a profile's requests go: addresses that can work, and what of them is shown."""

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderMisconfigured
from evennia_ai.llm.endpoints import check_address, shown_address


def test_an_address_is_shown_without_user_password_and_query():
    assert shown_address("https://me:pw@host.example:8/v1/?key=k#x") == "https://host.example:8/v1"


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/v1", "https://[::1]/v1", "http://ollama"])
def test_an_address_of_a_web_server_is_accepted(address):
    check_address(address, ModelProfile("p"))


@pytest.mark.parametrize(
    "address", ["localhost:11434/v1", "ftp://host/", "http://", "http://h:99999", "http://[x"]
)
def test_an_address_of_no_web_server_is_refused_by_the_profiles_name(address):
    with pytest.raises(ProviderMisconfigured, match="base_url of the profile 'p'"):
        check_address(address, ModelProfile("p"))
