"""Settings: where a value comes from, and what is said of a bad one."""

from dataclasses import replace

import pytest

from evennia_ai.config import (
    FIELDS,
    AssistantConfig,
    ModelProfile,
    default_profiles,
    fit_settings,
    parse_value,
    resolve_profile,
    usable_window,
    valid_values,
    window_known,
)
from evennia_ai.config.profiles import REPLY_TOKENS, WORKING_WINDOWS
from evennia_ai.errors import ConfigError
from evennia_ai.policy.limits.endpoints import EndpointFacts


def no_prompt(config):
    return 0


def test_the_last_layer_that_says_something_wins_and_none_inherits():
    layers = [{"lore_tokens": 1}, {"lore_tokens": None}, {"lore_tokens": 0}, {"unknown": 1}]
    assert valid_values(*layers) == ({"lore_tokens": 0}, [])
    assert valid_values({"lore_tokens": 1}, {"lore_tokens": None}) == ({"lore_tokens": 1}, [])


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_bot_replies", "4", 4),
        ("turn_deadline", "2.5", 2.5),
        ("turn_deadline", "2", 2.0),
        ("whisper_policy", "trusting", "trusting"),
        ("temperature", "none", None),
        ("llm_model", "qwen3:8b", "qwen3:8b"),
    ],
)
def test_what_a_builder_types_becomes_the_settings_type(name, text, value):
    assert parse_value(name, text) == value


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("max_bot_replies", "many", "max_bot_replies must be a whole number, not 'many'."),
        ("max_bot_replies", "-1", "max_bot_replies must be at least 0, not -1."),
        ("turn_deadline", "0.4", "turn_deadline must be at least 0.5 s, not 0.4."),
        ("turn_deadline", "601", "turn_deadline must be at most 600 s, not 601."),
        ("turn_deadline", "nan", "turn_deadline must be at least 0.5 s, not nan."),
        ("whisper_policy", "loose", "whisper_policy must be one of strict, trusting, not 'loose'."),
    ],
)
def test_a_bad_value_is_told_in_one_sentence(name, text, sentence):
    with pytest.raises(ConfigError) as caught:
        parse_value(name, text)
    assert str(caught.value) == sentence


def test_an_unknown_setting_names_those_there_are():
    with pytest.raises(ConfigError, match=r"no setting 'tickrate'\. Did you mean 'tick_rate'\?"):
        parse_value("tickrate", "5")


def test_a_bad_stored_value_is_passed_over_and_named():
    values, complaints = valid_values({"lore_tokens": 2}, {"lore_tokens": "x", "tick_rate": 9})
    assert values == {"lore_tokens": 2, "tick_rate": 9}
    assert complaints == ["lore_tokens must be a whole number, not 'x'."]


def test_every_setting_has_a_help_text():
    assert all(item.metadata["help"] for item in FIELDS.values())


def test_without_a_key_or_an_address_the_offline_brain_thinks():
    assert resolve_profile("default", default_profiles({})).client == "offline"


def test_the_environment_chooses_the_endpoint_and_the_key_is_only_named():
    environ = {"OPENAI_BASE_URL": "http://x/v1", "OPENAI_API_KEY": "sk-1", "EVENNIA_AI_MODEL": "m"}
    profile = resolve_profile("default", default_profiles(environ))
    assert (profile.client, profile.base_url, profile.model) == ("openai", "http://x/v1", "m")
    assert profile.api_key_env == "OPENAI_API_KEY"
    assert "sk-1" not in repr(profile)


def test_a_profile_may_bring_settings_of_its_own():
    profile = resolve_profile("p", {"p": {"client": "offline", "turn_deadline": 60.0}})
    assert profile.settings == {"turn_deadline": 60.0}


@pytest.mark.parametrize(
    ("profiles", "words"),
    [
        ({}, "There is no model profile 'p'. Known profiles: none."),
        ({"p": {"clint": "x"}}, "unknown entries: clint"),
        ({"p": {"client": "magic"}}, "has the client 'magic'; it must be one of openai, offline"),
    ],
)
def test_a_bad_profile_is_told_in_one_sentence(profiles, words):
    with pytest.raises(ConfigError, match=words.replace("(", r"\(")):
        resolve_profile("p", profiles)


def test_the_window_is_the_smaller_of_setting_and_profile():
    config = AssistantConfig(max_context_tokens=8_000)
    assert usable_window(config, ModelProfile("p", context_window=4_000)) == 4_000
    assert usable_window(config, ModelProfile("p", context_window=32_000)) == 8_000
    assert usable_window(config, ModelProfile("p")) == 8_000


def test_a_profile_knows_a_window_best_then_its_endpoint_then_the_models_name():
    config = AssistantConfig(max_context_tokens=1_000_000)
    everybody = ModelProfile(
        "p", model="gpt-4o", context_window=4_000, told=EndpointFacts(window=6_000)
    )
    assert usable_window(config, everybody) == 4_000
    assert usable_window(config, replace(everybody, context_window=None)) == 6_000
    by_name = replace(everybody, context_window=None, told=EndpointFacts())
    assert usable_window(config, by_name) == 128_000
    assert window_known(by_name).source == "by the model's name"
    assert window_known(replace(by_name, model="ours")).tokens is None


def test_a_profiles_working_window_limits_every_assistant_with_it():
    profile = ModelProfile("p", client="openai", context_window=32_000, working_window=6_000)
    assert usable_window(AssistantConfig(), profile) == 6_000
    assert usable_window(AssistantConfig(max_context_tokens=4_000), profile) == 4_000
    assert usable_window(AssistantConfig(), replace(profile, context_window=5_000)) == 5_000


def test_the_default_window_is_that_of_the_request_form_and_a_set_one_comes_first():
    profile = ModelProfile("p", client="openai", context_window=128_000)
    usual = fit_settings({}, profile, no_prompt)
    assert usual == AssistantConfig(max_context_tokens=WORKING_WINDOWS["tools"])
    assert usable_window(usual, profile) == WORKING_WINDOWS["tools"]
    chosen = fit_settings({"max_context_tokens": 50_000}, profile, no_prompt)
    assert usable_window(chosen, profile) == 50_000
    limited = replace(profile, working_window=9_000)
    assert fit_settings({}, limited, no_prompt).max_context_tokens == 9_000
    assert fit_settings({}, ModelProfile("offline"), no_prompt) == AssistantConfig()


def test_the_longest_reply_is_that_of_the_request_form_unless_it_is_set():
    profile = ModelProfile("p", client="openai", form="plain")
    assert fit_settings({}, profile, no_prompt).max_reply_tokens == REPLY_TOKENS["plain"]
    assert fit_settings({"max_reply_tokens": 700}, profile, no_prompt).max_reply_tokens == 700
    usual = fit_settings({}, replace(profile, form="tools"), no_prompt)
    assert usual.max_reply_tokens == AssistantConfig().max_reply_tokens


@pytest.mark.parametrize(
    ("value", "words"),
    [(999, "= 999; it must be at least 1,000 tokens"), ("big", "must be a whole number or None")],
)
def test_a_working_window_that_is_none_is_told(value, words):
    with pytest.raises(ConfigError, match=words):
        resolve_profile("p", {"p": {"working_window": value}})
    assert resolve_profile("p", {"p": {"working_window": 1_000}}).working_window == 1_000
    assert resolve_profile("p", {"p": {"working_window": None}}).working_window is None


def test_what_an_endpoint_told_is_no_setting():
    with pytest.raises(ConfigError, match="unknown entries: told"):
        resolve_profile("p", {"p": {"told": 9}})
