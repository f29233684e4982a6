"""The request form by a model's name."""

import pytest

from evennia_ai.policy.tool_call_modes.form import PLAIN, TOOLS, choose_form, forgets_calls

SMALL = """
    qwen2.5-coder:1.5b qwen2.5:0.5b qwen3:0.6b qwen3:4b qwen3.5-4b Qwen/Qwen3-1.7B llama3.2:3b
    llama3.2 llama3.2:latest llama3.2:1b meta-llama/Llama-3.2-3B-Instruct us.meta.llama3-2-3b-v1:0
    Llama-3.2-3B-Instruct-Q4_K_M.gguf /models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
    hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M C:\\models\\gemma-3-1b-it-Q4_0.gguf
    phi-4-mini phi4-mini:3.8b microsoft/Phi-4-mini-instruct smollm2:135m SmolLM2-360M-Instruct
    ministral-3b-latest granite3.1-moe:1b ibm/granite-4.0-h-micro gemma-4-e2b-it gemma4:e4b
    functiongemma:270m lfm2.5-1.2b-instruct minicpm5-1b falcon3:3b deepseek-r1:1.5b
    qwen llama phi local-model
""".split()
CAPABLE = """
    gpt-4o-mini gpt-5-nano gpt-4.1-mini openai/gpt-5 o3-mini gpt-oss:20b gpt-oss-120b
    claude-haiku-4-5
    anthropic.claude-3-5-haiku-20241022-v1:0 gemini-2.5-flash-lite google/gemini-1.5-flash-8b
    mistral-large-latest mistral-small3.2 mistral-nemo mistral:7b ministral-8b-latest codestral
    open-mixtral-8x22b command-r7b amazon.nova-micro-v1:0 grok-3-mini deepseek-chat deepseek-r1
    deepseek-r1:671b phi4:14b llama3:8b qwen2:7b
    deepseek/deepseek-v3.2 llama3.1 llama3.1:8b llama3.3:70b llama-4-scout
    meta.llama3-1-8b-instruct-v1:0 nvidia/llama-3_1-nemotron-ultra-253b qwen2.5:7b qwen2.5 qwen3
    qwen2-5-7b-instruct qwen3-coder:30b qwen3-30b-a3b qwen-plus qwen-max qwen2.5-7b-instruct-1m
    gemma-4-31b-it hermes-3-llama-3.1-8b nemotron-3-nano-30b-a3b glm-4.6 kimi-k2
    Meta-Llama-3.1-8B-Instruct-4bit granite4.1 house-model scripted
""".split()


@pytest.mark.parametrize("model", SMALL)
def test_small_models_get_plain_words(model):
    assert choose_form(model).name == PLAIN


@pytest.mark.parametrize("model", [*CAPABLE, ""])
def test_hosted_larger_and_unknown_models_get_tools(model):
    assert choose_form(model).name == TOOLS
    assert not forgets_calls(model)


@pytest.mark.parametrize("model", ["lfm2-8b-a1b", "granite3.3:8b"])
def test_some_templates_show_the_tools_and_forget_the_calls(model):
    assert choose_form(model).name == TOOLS
    assert forgets_calls(model)
