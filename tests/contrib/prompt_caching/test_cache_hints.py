"""Cache hints: only for endpoints that know them, and at what stays the same."""

import copy
from dataclasses import replace

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import default_profiles, resolve_profile
from evennia_ai.contrib.prompt_caching import PromptCachingExtension
from evennia_ai.llm.openai_client import build_body
from evennia_ai.ports import Caller, LLMRequest

RULES = "You play a character in a text game. " * 20
LOOK = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
MESSAGES = [
    {"role": "system", "content": RULES},
    {"role": "user", "content": "Ann says: hello"},
    {"role": "assistant", "content": "Hello, Ann."},
    {"role": "user", "content": "Ann says: a room, please"},
    {"role": "assistant", "content": "", "tool_calls": [LOOK]},
    {"role": "tool", "tool_call_id": "a", "content": "A free room."},
    {"role": "assistant", "content": "The red room is free."},
    {"role": "user", "content": "You are in the tavern.\nAnn says: and an ale"},
]
EPHEMERAL = {"cache_control": {"type": "ephemeral"}}
EXPLICIT = {"prompt_cache_breakpoint": {"mode": "explicit"}}
OPENAI, OPENROUTER = "https://api.openai.com/v1", "https://openrouter.ai/api/v1"


def body_for(base_url, model, messages=MESSAGES, **extra):
    return sent(ModelProfile("p", "openai", model, base_url, "KEY", extra=extra), messages)


def sent(profile, messages=MESSAGES):
    """Return the body of a request with the fields of the extension."""
    request = LLMRequest(messages=messages)
    fields = PromptCachingExtension().request_fields(request, profile)
    return build_body(request, replace(profile, extra={**profile.extra, **fields}))


def text_parts(messages):
    """The breakpoints: index of the message, and what its only part has beside the text."""
    found = {}
    for number, message in enumerate(messages):
        if isinstance(message["content"], list):
            (part,) = message["content"]
            assert (part.pop("type"), part.pop("text")) == ("text", MESSAGES[number]["content"])
            found[number] = part
    return found


@pytest.mark.parametrize(
    ("base_url", "model"),
    [
        ("http://localhost:8080/v1", "gpt-5.6"),
        ("http://localhost:8080/v1", "anthropic/claude"),
        ("https://castle.example/v1", "gpt-6"),
        ("https://api.openai.com.example/v1", "gpt-6"),
        (OPENAI, "gpt-5.5"),
        ("", "gpt-4o-mini"),
        (OPENROUTER, "openai/gpt-5.6"),
        (OPENROUTER, "meta/anthropic/x"),
    ],
)
def test_an_endpoint_without_known_hints_gets_none(base_url, model):
    body = body_for(base_url, model)
    assert body == {"messages": MESSAGES}


@pytest.mark.parametrize("model", ["gpt-5.6", "gpt-5.10-mini", "gpt-6", "gpt-10"])
def test_newer_models_of_openai_get_breakpoints_at_what_comes_again(model):
    body = body_for(OPENAI, model)
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert text_parts(body["messages"]) == {0: EXPLICIT, 3: EXPLICIT}


def test_anthropics_models_at_openrouter_get_breakpoints():
    before = copy.deepcopy(MESSAGES)
    body = body_for(OPENROUTER, "anthropic/claude-sonnet-5")
    assert text_parts(body["messages"]) == {0: EPHEMERAL, 3: EPHEMERAL}
    assert "cache_control" not in body
    assert before == MESSAGES


def test_a_first_request_has_one_breakpoint_and_one_without_text_none():
    first = body_for(OPENROUTER, "anthropic/x", [MESSAGES[0], MESSAGES[-1]])
    assert [type(message["content"]) for message in first["messages"]] == [list, str]
    bare = [{"role": "user", "content": "Hi"}]
    assert body_for(OPENROUTER, "anthropic/x", bare)["messages"] == bare
    empty = [{"role": "system", "content": ""}, *bare]
    assert body_for(OPENROUTER, "anthropic/x", empty)["messages"] == bare


def test_a_profiles_extra_replaces_and_removes_hints():
    implicit = body_for(OPENAI, "gpt-6", prompt_cache_options={"mode": "implicit"})
    assert implicit["prompt_cache_options"] == {"mode": "implicit"}
    for body in (
        implicit,
        body_for(OPENAI, "gpt-6", prompt_cache_options=None),
        body_for(OPENROUTER, "anthropic/x", cache_control=None),
    ):
        assert body["messages"] == MESSAGES
    assert "prompt_cache_options" not in body_for(OPENAI, "gpt-6", prompt_cache_options=None)
    assert "cache_control" not in body_for(OPENROUTER, "anthropic/x", cache_control=None)


def test_the_built_in_profiles_address_the_hosts_that_get_hints():
    profiles = default_profiles({"EVENNIA_AI_MODEL": "anthropic/x", "OPENAI_API_KEY": "k"})
    bodies = {name: sent(resolve_profile(name, profiles)) for name in profiles}
    assert [name for name, body in bodies.items() if body["messages"] != MESSAGES] == ["openrouter"]


def test_a_character_has_one_pseudonym_in_a_game(settings):
    profile = ModelProfile("p", "openai", "m", "http://hall/v1", "", extra={"user": "{character}"})

    def user_of(assistant):
        request = LLMRequest(messages=MESSAGES, caller=Caller(assistant))
        return PromptCachingExtension().request_fields(request, profile)["user"]

    first = user_of("1")
    assert first == user_of("1") != user_of("2") and len(first) == 24
    settings.SERVERNAME = "another game"
    assert user_of("1") != first
