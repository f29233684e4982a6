"""Where a profile's requests go: addresses that can work, and what of them is shown."""

from base64 import b64decode

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderMisconfigured
from evennia_ai.llm.endpoints import find_endpoint, read_address

PASSWORD = "open-sesame-1"


def test_an_endpoint_shows_neither_its_password_nor_its_key():
    found = find_endpoint(
        ModelProfile("p", "openai", "m", f"http://me:{PASSWORD}@host/k3y-in-path/v1", "KEY"),
        {"KEY": "k3y-in-path"},
    )
    assert found.base_url == "http://host/k3y-in-path/v1"
    assert dict(found.headers) == {"Authorization": "Basic bWU6b3Blbi1zZXNhbWUtMQ=="}
    assert found.address == "http://host/***/v1"
    assert PASSWORD not in repr(found) + repr(
        ModelProfile("p", base_url=f"http://me:{PASSWORD}@host")
    )


def test_a_key_in_place_of_its_variable_is_not_shown():
    profile = ModelProfile("p", "openai", "m", "http://host/v1", "sk-proj-1234567")
    with pytest.raises(ProviderMisconfigured, match="name of an environment") as caught:
        find_endpoint(profile, {})
    assert "sk-proj" not in str(caught.value)


@pytest.mark.parametrize(
    ("user", "login"),
    [
        ("token", b"token:"),
        (":word", b":word"),
        ("me:a%20%3Ab", b"me:a :b"),
        ("m%40e:a:b", b"m@e:a:b"),
    ],
)
def test_user_and_password_of_an_address_become_a_header(user, login):
    found = find_endpoint(ModelProfile("p", "openai", "m", f"http://{user}@host/v1"), {})
    kind, _, coded = dict(found.headers)["Authorization"].partition(" ")
    assert (kind, b64decode(coded)) == ("Basic", login)


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/v1", "https://[::1]/v1", "http://ollama"])
def test_an_address_of_a_web_server_is_accepted(address):
    read_address(address, "", ModelProfile("p"))


@pytest.mark.parametrize(
    "address", ["localhost:11434/v1", "ftp://host/", "http://", "http://h:99999", "http://[x"]
)
def test_an_address_of_no_web_server_is_refused_by_the_profiles_name(address):
    with pytest.raises(ProviderMisconfigured, match="base_url of the profile 'p'"):
        read_address(address, "", ModelProfile("p"))
