"""Whose word on a model's window counts, and how endpoints put it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evennia_ai.policy.context.windows import (
    MODELS,
    TABLE,
    bare_name,
    known_window,
    model_window,
    window_from_models,
)


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o", 128_000),
        ("gpt-4o-mini-2024-07-18", 128_000),
        ("chatgpt-4o-latest", 128_000),
        ("openai/gpt-4o", 128_000),
        ("ft:gpt-4o-mini:our-guild::8xY", 128_000),
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-4-32k", 32_768),
        ("gpt-4-turbo", 128_000),
        ("gpt-4.1-nano", 1_047_576),
        ("gpt-5", 272_000),
        ("gpt-5-mini", 272_000),
        ("gpt-5-chat-latest", 128_000),
        ("gpt-5.4-mini", 272_000),
        ("gpt-5.5-pro", 922_000),
        ("gpt-3.5-turbo", 16_385),
        ("gpt-35-turbo", 16_385),
        ("o1-mini", 128_000),
        ("o3", 200_000),
        ("o4-mini", 200_000),
        ("openrouter/openai/gpt-oss-20b", 131_072),
        ("claude-3-5-sonnet-20241022", 200_000),
        ("anthropic.claude-3-haiku-20240307-v1:0", 200_000),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
        ("us-gov.openai.gpt-oss-20b-1:0", 131_072),
        ("models/llama-3.1-8b.Q4_K_M.gguf", 131_072),
        ("claude-opus-4-6", 1_000_000),
        ("gemini-2.5-flash", 1_048_576),
        ("models/gemini-2.0-flash", 1_048_576),
        ("llama3.1:8b", 131_072),
        ("llama3:70b", 8_192),
        ("meta-llama/Llama-3.3-70B-Instruct", 131_072),
        ("meta-llama/Meta-Llama-3-8B-Instruct", 8_192),
        ("llama2:13b", 4_096),
        ("mistral:7b", 32_000),
        ("mistralai/Mixtral-8x22B-Instruct-v0.1", 65_536),
        ("mistral-nemo", 128_000),
        ("qwen3:8b", 32_768),
        ("Qwen/Qwen3-4B-Instruct-2507", 262_144),
        ("qwen2.5:14b", 32_768),
        ("deepseek-r1:8b", 65_536),
        ("gemma3:12b", 131_072),
        ("gemma3:1b", 32_768),
        ("gemma2:9b", 8_192),
        ("phi4", 16_384),
        ("phi3:mini", 4_096),
        ("grok-4", 256_000),
        ("offline", None),
        ("", None),
        ("our-own-model", None),
        ("gpt-41", None),
    ],
)
def test_the_table_knows_the_usual_models(model, window):
    assert known_window(model) == window


def test_no_line_of_the_table_is_hidden_behind_another_of_the_same_pattern():
    assert len({pattern for pattern, _window in MODELS}) == len(MODELS) == len(TABLE)


def test_the_profile_comes_before_the_endpoint_and_that_before_the_table():
    assert model_window("gpt-4o", 9_000, 16_000).tokens == 9_000
    assert model_window("gpt-4o", None, 16_000).tokens == 16_000
    assert model_window("gpt-4o").tokens == 128_000
    assert model_window("our-own-model").tokens is None


@pytest.mark.parametrize(
    ("entry", "window"),
    [
        ({"max_model_len": 32_768}, 32_768),
        ({"context_length": 163_840, "top_provider": {"context_length": 163_840}}, 163_840),
        ({"context_length": None, "top_provider": {"context_length": 65_536}}, 65_536),
        ({"context_window": 131_072, "max_completion_tokens": 8_192}, 131_072),
        ({"max_context_length": 131_072, "loaded_context_length": 4_096}, 4_096),
        ({"meta": {"n_ctx_train": 131_072, "n_ctx": 8_192}}, 8_192),
        ({"default_generation_settings": {"n_ctx": 4_096}}, 4_096),
        ({"model_info": {"max_input_tokens": 128_000, "max_tokens": 16_384}}, 128_000),
        ({"inputTokenLimit": 1_048_576}, 1_048_576),
        ({"context_length": "32768"}, 32_768),
        ({"context_length": 32_768.0}, 32_768),
        ({"object": "model", "owned_by": "openai"}, None),
        ({"context_length": 0}, None),
        ({"context_length": -1}, None),
        ({"context_length": True}, None),
        ({"context_length": 10**15}, None),
        ({"context_length": "lots"}, None),
        ({"context_length": float("nan")}, None),
        ({"context_length": {"max": 4_096}}, None),
    ],
)
def test_every_server_has_a_word_of_its_own_for_it(entry, window):
    listed = {"object": "list", "data": [{"id": "other"}, {"id": "ours", **entry}]}
    assert window_from_models(listed, "ours") == window
    assert window_from_models({"id": "ours", **entry}, "ours") == window


def test_what_a_model_could_take_is_not_what_the_server_gives():
    assert window_from_models({"id": "ours", "meta": {"n_ctx_train": 131_072}}, "ours") is None
    ollama = {"model_info": {"qwen3.context_length": 40_960}}
    assert window_from_models(ollama, "ours") is None


def test_a_list_may_stand_by_itself_or_under_another_name():
    entry = {"name": "ours:latest", "context_length": 8_192}
    assert window_from_models([entry], "ours") == 8_192
    assert window_from_models({"models": [entry]}, "OURS") == 8_192
    assert window_from_models({"data": [{"id": "models/ours", "n_ctx": 512}]}, "ours") == 512


def test_a_server_of_one_model_may_call_it_otherwise():
    listed = {"data": [{"id": "/models/big.gguf", "meta": {"n_ctx": 4_096}}]}
    assert window_from_models(listed, "ours") == 4_096


def test_among_several_models_none_is_guessed():
    listed = {"data": [{"id": "a", "n_ctx": 4_096}, {"id": "b", "n_ctx": 8_192}]}
    assert window_from_models(listed, "ours") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["data", "models", "id", "meta", "context_length", "n_ctx", "x"]),
            inner,
            max_size=4,
        )
    ),
)


@given(JSON, st.text(max_size=8))
def test_whatever_an_endpoint_answers_does_no_harm(answer, model):
    window = window_from_models(answer, model)
    assert window is None or 256 <= window <= 100_000_000


@given(st.text(max_size=60))
@example("/\r0")
def test_any_name_may_be_asked_for(model):
    assert known_window(model) is None or known_window(model) > 0
    assert bare_name(bare_name(model)) == bare_name(model)
