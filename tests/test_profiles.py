"""The built-in profiles, and how a game's own go with them."""

from dataclasses import replace
from math import ceil

import pytest

from evennia_ai.config import (
    AssistantConfig,
    ModelProfile,
    choose_settings,
    fit_settings,
    resolve_profile,
    valid_values,
)
from evennia_ai.config.profiles import ENDPOINTS, default_profiles, merge_profiles, missing_model
from evennia_ai.errors import ConfigError, ProviderMisconfigured
from evennia_ai.llm.endpoints import find_endpoint
from evennia_ai.llm.openai_client import build_body
from evennia_ai.policy.limits.endpoints import (
    FIRST_DEADLINE_S,
    LOCAL_DEADLINE_S,
    LONGEST_DEADLINE_S,
    EndpointFacts,
    Speed,
)
from evennia_ai.policy.limits.money import FREE, Prices
from evennia_ai.ports import LLMRequest

KEYS = {"OPENAI_API_KEY": "k1", "OPENROUTER_API_KEY": "k2"}


def test_every_game_has_the_usual_endpoints():
    names = set(default_profiles({}))
    assert names == {
        "offline", "default", "ollama", "llamacpp", "vllm", "openai", "openrouter",
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(ENDPOINTS))
def test_each_is_a_whole_profile_as_soon_as_a_model_is_named(name):
    profile = resolve_profile(name, default_profiles({"EVENNIA_AI_MODEL": "m"}))
    endpoint = find_endpoint(profile, KEYS)
    assert endpoint.base_url.endswith("/v1")
    assert bool(endpoint.key) == (name in ("openai", "openrouter"))
    assert (profile.client, profile.model, profile.context_window) == ("openai", "m", None)
    assert valid_values(profile.settings) == (profile.settings, [])


@pytest.mark.parametrize("name", sorted(ENDPOINTS))
def test_without_a_model_a_sentence_says_where_to_name_one(name):
    profile = resolve_profile(name, default_profiles({}))
    with pytest.raises(ProviderMisconfigured) as caught:
        find_endpoint(profile, KEYS)
    assert str(caught.value) == missing_model(name)
    for way in ("'model' in the profile", "llm_model", "EVENNIA_AI_MODEL"):
        assert way in str(caught.value)


def test_openai_gets_the_replys_limit_by_the_name_it_wants():
    profile = resolve_profile("openai", default_profiles({}))
    request = LLMRequest([], max_tokens=800)
    body = build_body(request, profile)
    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == profile.settings["max_reply_tokens"]


def test_a_game_says_only_what_is_different():
    own = {
        "ollama": {"model": "qwen3:8b", "turn_deadline": 90.0},
        "openrouter": {"extra": {"seed": 1}},
        "castle": {"client": "openai", "model": "m", "base_url": "http://castle/v1"},
    }
    merged = merge_profiles(default_profiles({}), own)
    ollama = resolve_profile("ollama", merged)
    assert ollama.base_url == "http://localhost:11434/v1"
    assert (ollama.model, ollama.settings["turn_deadline"]) == ("qwen3:8b", 90.0)
    assert resolve_profile("openrouter", merged).extra == {
        "reasoning": {"exclude": True}, "seed": 1,
    }  # fmt: skip
    assert resolve_profile("castle", merged).base_url == "http://castle/v1"
    assert "openai" in merged


def test_merging_changes_neither_side():
    built_in, own = default_profiles({}), {"openrouter": {"extra": {"seed": 1}}}
    merge_profiles(built_in, own)
    assert built_in == default_profiles({})
    assert own == {"openrouter": {"extra": {"seed": 1}}}


def test_a_profile_with_another_client_starts_from_nothing():
    merged = merge_profiles(default_profiles({}), {"ollama": {"client": "offline"}})
    assert merged["ollama"] == {"client": "offline"}


def test_an_endpoint_of_ones_own_as_default_needs_no_more_than_it_says():
    own = {"default": {"client": "openai", "base_url": "http://x/v1", "model": "m"}}
    profile = resolve_profile("default", merge_profiles(default_profiles({}), own))
    assert profile == ModelProfile("default", "openai", "m", "http://x/v1")


# --- the fallback ---------------------------------------------------------------------------------


def pair(**entries):
    spare = {"client": "openai", "model": "s", "base_url": "http://spare/v1", "fallback": "hall"}
    hall = {"client": "openai", "model": "m", "base_url": "http://hall/v1", "fallback": "spare"}
    return {"hall": {**hall, **entries}, "spare": spare, "blank": {"client": "openai"},
            "offline": {"client": "offline"}}  # fmt: skip


def test_a_profile_names_one_fallback_which_has_none_itself():
    profile = resolve_profile("hall", pair())
    assert (profile.fallback.name, profile.fallback.model) == ("spare", "s")
    assert profile.fallback.fallback is None
    assert resolve_profile("hall", pair(fallback=None)).fallback is None


def test_a_model_that_somebody_sets_is_not_that_of_the_fallback():
    chosen = choose_settings({"profile": "hall"}, {"llm_model": "big"}, pair()).profile
    assert (chosen.model, chosen.fallback.model) == ("big", "s")


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        ("gone", "which does not exist. Known profiles: blank, offline, spare."),
        ("hall", "which is itself. Name another profile."),
        ("offline", "which is the stand-in. Name a profile with a model."),
        ("blank", "which names no model. Set 'model' in it."),
    ],
)
def test_a_fallback_that_cannot_answer_is_explained(wanted, complaint):
    with pytest.raises(ConfigError) as caught:
        resolve_profile("hall", pair(fallback=wanted))
    assert str(caught.value) == (
        f"The model profile 'hall' names the fallback '{wanted}', {complaint}"
    )


def test_a_fallback_is_a_name():
    with pytest.raises(ConfigError, match=r"fallback = 5; it must be the name of a profile or No"):
        resolve_profile("hall", pair(fallback=5))


# --- the request form, and the deadline of a local endpoint ---------------------------------------


def test_a_profile_names_a_request_form_or_leaves_it_to_what_is_known():
    assert resolve_profile("ollama", default_profiles({})).form == "auto"
    own = merge_profiles(default_profiles({}), {"ollama": {"form": "plain"}})
    assert resolve_profile("ollama", own).form == "plain"


@pytest.mark.parametrize("form", ["json", "", None, ["tools"]])
def test_a_form_that_does_not_exist_is_refused(form):
    with pytest.raises(ConfigError, match="it must be one of auto, tools, plain, schema, text"):
        resolve_profile("p", {"p": {"form": form}})


def deadline(profiles, name, game=(), own=(), prompt=1_400, **told):
    chosen = choose_settings(dict(game), {"profile": name, **dict(own)}, profiles)
    profile = replace(chosen.profile, told=EndpointFacts(**told))
    return fit_settings(chosen.values, profile, lambda _config: prompt).turn_deadline


def test_an_assistants_own_model_goes_before_the_games_and_the_profiles():
    profiles = default_profiles({"OPENAI_BASE_URL": "http://x/v1", "EVENNIA_AI_MODEL": "usual"})
    assert choose_settings({}, {}, profiles).profile.model == "usual"
    assert choose_settings({"llm_model": "big"}, {}, profiles).profile.model == "big"
    assert (
        choose_settings({"llm_model": "big"}, {"llm_model": "own"}, profiles).profile.model == "own"
    )


LOCAL_ENVIRON = {"OPENAI_BASE_URL": "http://192.168.1.7:8080/v1"}
CPU = {"answered": True, "speed": Speed(14.0, 35.0)}


@pytest.mark.parametrize("name", ["ollama", "llamacpp", "vllm", "default"])
def test_the_deadline_of_a_local_model_fits_its_speed(name):
    profiles = default_profiles(LOCAL_ENVIRON)
    assert deadline(profiles, name) == FIRST_DEADLINE_S
    assert deadline(profiles, name, answered=True) == LOCAL_DEADLINE_S
    assert deadline(profiles, name, **CPU) == LONGEST_DEADLINE_S
    assert deadline(profiles, name, prompt=420, **CPU) == ceil(2 * (30 + 400 / 35))


def test_a_deadline_that_somebody_set_is_obeyed():
    profiles = default_profiles(LOCAL_ENVIRON)
    own = {"llamacpp": {"turn_deadline": LOCAL_DEADLINE_S}}
    assert deadline(merge_profiles(profiles, own), "llamacpp", **CPU) == LOCAL_DEADLINE_S
    assert deadline(profiles, "llamacpp", game={"turn_deadline": 10.0}.items(), **CPU) == 10.0
    assert deadline(profiles, "llamacpp", own={"turn_deadline": 7.0}.items(), **CPU) == 7.0
    both = {"game": {"turn_deadline": 10.0}.items(), "own": {"turn_deadline": 7.0}.items()}
    assert deadline(profiles, "llamacpp", **both, **CPU) == 7.0


@pytest.mark.parametrize("name", ["openai", "openrouter", "offline"])
def test_no_other_deadline_changes(name):
    profiles = default_profiles({})
    usual = AssistantConfig().turn_deadline
    settings = resolve_profile(name, profiles).settings
    assert deadline(profiles, name, **CPU) == settings.get("turn_deadline", usual)


def test_a_remote_default_profile_keeps_the_usual_deadline():
    profiles = default_profiles({"OPENAI_BASE_URL": "https://api.example.com/v1"})
    assert deadline(profiles, "default", **CPU) == AssistantConfig().turn_deadline


PRICES = Prices(500_000, 500_000, 2_000_000)
HOSTED = {"client": "openai", "model": "small", "base_url": "https://models.example/v1"}
ASKED = {"input": 0.5, "output": 2}


@pytest.mark.parametrize(
    ("entries", "price"),
    [
        ({"client": "offline"}, FREE),
        ({**HOSTED, "base_url": "http://localhost:8080/v1"}, FREE),
        ({**HOSTED, "base_url": "http://192.168.0.7/v1"}, FREE),
        ({**HOSTED, "base_url": "http://localhost:4000/v1", "prices": ASKED}, PRICES),
        ({**HOSTED, "prices": ASKED}, PRICES),
        ({**HOSTED, "model": "", "prices": ASKED}, PRICES),
        ({**HOSTED, "prices": {"small": ASKED}}, PRICES),
        ({**HOSTED, "prices": {"large": ASKED}}, None),
        ({**HOSTED, "prices": None}, None),
        (HOSTED, None),
    ],
)
def test_a_model_has_the_prices_of_its_profile_and_a_local_one_is_free(entries, price):
    assert resolve_profile("mine", {"mine": entries}).price == price


def test_a_profiles_prices_are_not_those_of_another_model_of_it():
    profiles = {"default": {**HOSTED, "prices": ASKED}}
    chosen = choose_settings({}, {"llm_model": "large"}, profiles)
    assert (chosen.profile.model, chosen.profile.price) == ("large", None)


def test_wrong_prices_are_explained_with_the_name_of_the_profile():
    with pytest.raises(ConfigError) as caught:
        resolve_profile("mine", {"mine": {**HOSTED, "prices": {"input": -1, "output": 1}}})
    assert str(caught.value) == (
        "The prices of the model profile 'mine': money must be from 0 to 1,000,000,000, not -1."
    )
