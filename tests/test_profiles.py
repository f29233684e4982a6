"""The built-in profiles, and how a game's own go with them."""

import pytest

from evennia_ai.config import AssistantConfig, ModelProfile, resolve_config, resolve_profile
from evennia_ai.config.profiles import ENDPOINTS, default_profiles, merge_profiles, missing_model
from evennia_ai.errors import ProviderMisconfigured
from evennia_ai.llm.endpoints import find_endpoint
from evennia_ai.llm.openai_wire import build_body
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.ports import LLMRequest, Scene

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
    resolve_config([profile.settings])


@pytest.mark.parametrize("name", sorted(ENDPOINTS))
def test_without_a_model_a_sentence_says_where_to_name_one(name):
    profile = resolve_profile(name, default_profiles({}))
    with pytest.raises(ProviderMisconfigured) as caught:
        find_endpoint(profile, KEYS)
    assert str(caught.value) == missing_model(name)
    for way in ("'model' in the profile", "llm_model", "EVENNIA_AI_MODEL"):
        assert way in str(caught.value)


@pytest.mark.parametrize("name", ["ollama", "llamacpp", "vllm"])
def test_a_model_at_home_gets_more_time(name):
    profile = resolve_profile(name, default_profiles({}))
    deadline = resolve_config([profile.settings]).turn_deadline
    assert deadline > AssistantConfig().turn_deadline


def test_openai_gets_the_replys_limit_by_the_name_it_wants():
    profile = resolve_profile("openai", default_profiles({}))
    request = LLMRequest([], Scene("", Persona(), ()), max_tokens=800)
    body = build_body(request, profile)
    assert "max_tokens" not in body
    limit = resolve_config([profile.settings]).max_reply_tokens
    assert body["max_completion_tokens"] == limit


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
