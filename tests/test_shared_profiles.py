"""Profiles with several endpoints: what each inherits, and what holds for all of them."""

import pytest

from evennia_ai.config import choose_settings, resolve_profile
from evennia_ai.errors import ConfigError
from evennia_ai.policy.limits.endpoints import EndpointFacts, Speed, common_facts
from evennia_ai.policy.limits.money import FREE, Prices

NEAR, FAR = "http://10.0.0.1:8080/v1", "https://api.example.com/v1"
HALL = {
    "client": "openai", "model": "qwen3-8b", "base_url": "http://unused/v1", "api_key_env": "HALL",
    "max_in_flight": 8, "extra": {"top_p": 0.9},
}  # fmt: skip


def hall(*endpoints, **entries):
    return resolve_profile("hall", {"hall": {**HALL, **entries, "endpoints": list(endpoints)}})


def test_an_endpoint_inherits_what_it_does_not_say():
    own = {"base_url": FAR, "model": "qwen/qwen3-8b", "api_key_env": "FAR", "max_in_flight": 2}
    near, far = hall(NEAR, {**own, "slots": 4}).each
    assert (near.base_url, near.model, near.api_key_env) == (NEAR, "qwen3-8b", "HALL")
    assert (near.max_in_flight, near.slots, near.extra) == (8, None, {"top_p": 0.9})
    assert (far.base_url, far.model, far.api_key_env) == (FAR, "qwen/qwen3-8b", "FAR")
    assert (far.max_in_flight, far.slots) == (2, 4)
    assert {near.name, far.name} == {"hall"}


def test_a_profile_without_endpoints_is_its_own():
    profile = hall()
    assert profile.each == (profile,)
    assert profile.base_url == "http://unused/v1"


def test_a_model_that_somebody_sets_holds_at_every_endpoint():
    raw = {"hall": {**HALL, "endpoints": [NEAR, {"base_url": FAR, "model": "qwen/qwen3-8b"}]}}
    kept = choose_settings({"profile": "hall"}, {}, raw).profile
    assert [one.model for one in kept.each] == ["qwen3-8b", "qwen/qwen3-8b"]
    other = choose_settings({"profile": "hall"}, {"llm_model": "big"}, raw).profile
    assert {other.model, *(one.model for one in other.each)} == {"big"}


def test_a_shared_profile_is_local_if_an_endpoint_is():
    assert hall(FAR, NEAR).is_local
    assert not hall(FAR).is_local


def test_the_price_is_that_of_the_dearest_and_unknown_if_one_is():
    paid = {"base_url": FAR, "prices": {"input": 1.0, "output": 2.0}}
    assert hall(NEAR, paid).price == Prices(1_000_000, 1_000_000, 2_000_000)
    assert [one.price for one in hall(NEAR, paid).each] == [FREE, hall(paid).price]
    assert hall(paid, FAR).price is None
    assert hall(NEAR, NEAR).is_free


@pytest.mark.parametrize(
    ("endpoints", "complaint"),
    [
        (NEAR, "endpoints = 'http://10.0.0.1:8080/v1'; it must be a list"),
        ([{"model": "m"}], "has an endpoint without a base_url"),
        ([5], "has an endpoint without a base_url"),
        ([{"base_url": NEAR, "turn_deadline": 5}], "has unknown entries: turn_deadline. Use api_"),
        ([{"base_url": NEAR, "slots": "4"}], "has slots = '4'; it must be a whole number or None"),
        ([{"base_url": NEAR, "prices": 4}], "The prices of the model profile 'hall'"),
    ],
)
def test_a_wrong_endpoint_is_explained(endpoints, complaint):
    with pytest.raises(ConfigError, match="hall") as caught:
        resolve_profile("hall", {"hall": {**HALL, "endpoints": endpoints}})
    assert complaint in str(caught.value)


def test_no_address_of_an_endpoint_is_in_what_a_profile_shows_of_itself():
    assert "10.0.0.1" not in repr(hall(NEAR))


def test_what_holds_at_all_endpoints_is_the_most_careful_of_each_figure():
    one = EndpointFacts(8_192, "tools", True, Speed(300.0, 20.0), answered=True)
    two = EndpointFacts(None, "", None, Speed(100.0, None), answered=True)
    three = EndpointFacts(4_096, "schema", False, Speed(200.0, 30.0))
    assert common_facts([one, two]) == EndpointFacts(
        8_192, "tools", True, Speed(100.0, 20.0), answered=True
    )
    assert common_facts([one, two, three]) == EndpointFacts(
        4_096, "tools", False, Speed(100.0, 20.0)
    )
