"""Neighbours of what servers really send, whole and streamed; `endpoint_neighbours` has them."""

import json

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.llm.endpoints import find_endpoint
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.policy.tokens import UsageReport, is_silently_truncated
from tests.llm.endpoint_cases import cut_call, delta, done, events, message
from tests.llm.endpoint_neighbours import (
    ADDRESSES,
    AYE,
    CALLS,
    ENDS,
    FAILED,
    SPEECH,
    TALK,
    UNTRUNCATED,
    USAGES,
    WAITS,
    WORDS,
)

FAILS = {  # until the way to models is mended
    "interleaved calls: Plexus: every index 0, ids tell them apart (mcowger/plexus#691)",
    "interleaved calls: DashScope: each chunk has all so far (QwenLM/Qwen-Agent#943)",
    "interleaved calls: Gemini by a gateway: a name in pieces (continuedev/continue#5849)",
    "index missing or unsteady: a PHP gateway: indices as floats",
    "index missing or unsteady: a Bedrock gateway: the second call's parts at index 0",
    "index missing or unsteady: Ollama 0.4: no index, whole calls, one id for both",
    "events that are no object: Ollama: lines of JSON without data:",
    "events that are no object: a proxy: two events on one line",
    "events that are no object: Gemini: a list of chunks",
    "events that are no object: a Spring gateway: indented lines and a quoted end",
    "answer split over choices: a PHP gateway: choices as one object",
    "answer split over choices: Vertex: two candidates with the same call",
    "native calls spelled loosely: OpenAI: multi_tool_use.parallel",
    "native calls spelled loosely: Qwen3.5-Flash: line ends spelled out (OpenHands/software-agent-sdk#2488)",  # noqa: E501
    "native calls spelled loosely: Gemma: the schema's properties around",
    "native calls spelled loosely: Llama 4: its own name around",
    "native calls spelled loosely: Qwen3-Coder: its own form as arguments",
    "calls in other places: Databricks: a part tool_use in the content",
    "calls in other places: Bedrock: a part toolUse",
    "calls in other places: Gemini: a part functionCall",
    "calls in other places: a PHP gateway: tool_calls with keys",
    "calls in other places: LM Studio: tool_calls as text",
    "calls in other places: OpenAI: a custom tool",
    "calls in other places: Xinference: a list in a list",
    "calls in other places: Cohere and Ollama: the message on top",
    "calls in other places: a Responses gateway: output",
    "reasoning without its opening tag: OpenThinker: its end mark",
    "reasoning without its opening tag: MedGemma: an unused token",
    "reasoning without its opening tag: ERNIE: a response tag behind",
    "reasoning without its opening tag: gpt-oss: its channels",
    "reasoning without its opening tag: a web front: the tag escaped",
    "cut off under another name: GLM, Claude: model_context_window_exceeded",
    "cut off under another name: LM Studio: maxPredictedTokensReached",
    "cut off under another name: LM Studio: contextLengthReached",
    "cut off under another name: llama.cpp: limit",
    "cut off under another name: Cohere: ERROR_LIMIT",
    "cut off under another name: a gateway: length_limit",
    "cut off under another name: a gateway: context_length_exceeded",
    "cut off under another name: Bedrock: max_tokens_reached",
    "failure inside a success: Gemini: MALFORMED_FUNCTION_CALL",
    "failure inside a success: Qianfan: error_code",
    "overflow in other words: Spark",
    "overflow in other words: MLX",
    "a minute's limit worded as a quota: Gemini by LiteLLM: JSON in a text",
    "a minute's limit worded as a quota: Vertex: online prediction",
    "a minute's limit worded as a quota: Azure: x-ratelimit-reset-tokens alone (openai/openai-python#937)",  # noqa: E501
    "an address with parts: .env: quotes around",
    "an address with parts: a mail: angle brackets around",
    "an address with parts: Ollama: another path pasted",
    "an address with parts: vLLM: the old path",
    "an address with parts: a gateway: slashes too many, an empty query",
    "usage in other places: a gateway: in the delta",
    "usage in other places: a gateway: in the message",
    "usage in other places: Cohere: tokens",
    "usage in other places: Gemini: usageMetadata",
    "usage in other places: Ollama: eval_count",
    "usage in other places: llama.cpp: timings alone",
    "usage in other places: Bedrock: inputTokens",
    "usage without the cached part: Ollama: nothing told (window of 12?)",
    "usage without the cached part: LiteLLM: a zero in one place, the count in another",
    "usage without the cached part: Bedrock: cacheReadInputTokens",
}


def rows(table, *ways):
    """Return each row of a table, in each of some ways."""
    made = []
    for (kind, name), row in table.items():
        for way in ways or ("",):
            title = f"{kind}: {name}"
            marks = [pytest.mark.xfail(strict=True)] * (title in FAILS)
            title += way and f", {way}"
            made.append(pytest.param(row, *([way] if way else []), id=title, marks=marks))
    return made


def body_of(row, way="whole"):
    """Return a row as the bytes of an answer; a whole reply may come as one chunk."""
    if isinstance(row, str):
        return row
    if isinstance(row, tuple):
        return events(*row)
    if way == "in one chunk" and isinstance(row.get("choices"), list):
        choices = [
            {"delta" if name == "message" else name: value for name, value in choice.items()}
            for choice in row["choices"]
        ]
        return events({**row, "object": "chat.completion.chunk", "choices": choices})
    return json.dumps(row)


def spoken(reply):
    """Return what a player reads of a reply."""
    said = [arguments["text"] for name, arguments in done(reply) if name == "say"]
    return " ".join(said) or spoken_words(reply.content, "Mira", 2_000)


@pytest.mark.parametrize(("row", "way"), rows(CALLS, "unasked", "streamed", "in one chunk"))
def test_each_call_is_found_once(ask, row, way):
    body, right = row
    reply, early = ask(body_of(body, way), streamed=way != "unasked")
    assert done(reply) == right
    assert early == list(reply.tool_calls[: len(early)])


@pytest.mark.parametrize("form", ["text", "tools"])
@pytest.mark.parametrize(("row", "way"), rows(SPEECH, "whole", "streamed"))
def test_nothing_but_the_answer_is_spoken(ask, row, way, form):
    fields = row if isinstance(row, dict) else {"content": "".join(row)}
    body = message(**fields)
    if way == "streamed":
        deltas = [row] if isinstance(row, dict) else [{"content": piece} for piece in row]
        body = events(*(delta(**each) for each in deltas), delta("stop"))
    reply, early = ask(body, form=form, streamed=way == "streamed")
    assert spoken(reply) == WORDS
    assert early == list(reply.tool_calls[: len(early)])


@pytest.mark.parametrize(("reason", "way"), rows(ENDS, "whole", "streamed"))
def test_what_was_cut_off_neither_runs_nor_is_spoken_in_half(ask, reason, way):
    streamed = way == "streamed"
    row = json.loads(cut_call(reason))
    reply, early = ask(body_of(row, "in one chunk" if streamed else way), streamed=streamed)
    assert (reply.finish_reason, early) == ("length", [])
    text = json.loads(message(reason, content=TALK))
    reply, _ = ask(body_of(text, "in one chunk" if streamed else way), streamed=streamed)
    assert reply.content == "Good evening, Ann."


@pytest.mark.parametrize("reason", ["tool_calls", "stop", None])
@pytest.mark.parametrize("streamed", [True, False])
def test_a_cut_call_does_not_run_whatever_its_reason(ask, reason, streamed):
    row = json.loads(cut_call(reason))
    reply, early = ask(body_of(row, "in one chunk" if streamed else "whole"), streamed=streamed)
    assert early == []
    assert '"fi"' not in "".join(call.arguments for call in reply.tool_calls)


@pytest.mark.parametrize(("row", "way"), rows(FAILED, "whole", "streamed"))
def test_a_failure_is_told_from_an_answer(ask, row, way):
    status, body, error = row
    failure, _early = ask(body_of(body), status, streamed=way == "streamed")
    assert type(failure.value) is error


@pytest.mark.parametrize("row", rows(WAITS))
def test_a_minutes_limit_is_waited_for(ask, row):
    body, headers, seconds = row
    failure, _early = ask(json.dumps(body), 429, headers)
    assert type(failure.value) is ProviderUnavailable
    assert failure.value.retry_after_s == seconds


@pytest.mark.parametrize("row", rows(ADDRESSES))
def test_an_address_is_used_as_it_is_meant(row):
    address, base_url, query = row
    found = find_endpoint(ModelProfile("p", "openai", "m", address), {})
    assert (found.base_url, dict(found.query)) == (base_url, query)
    assert "KEY" not in found.address


@pytest.mark.parametrize(("row", "way"), rows(USAGES, "whole", "streamed"))
def test_the_good_usage_is_found(ask, row, way):
    reply, _early = ask(
        body_of(row, "in one chunk" if way == "streamed" else way), streamed=way == "streamed"
    )
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (120, 7)


@pytest.mark.parametrize("row", rows(UNTRUNCATED))
def test_nobody_is_told_of_a_cut_prompt_that_was_cached(ask, row):
    reply, _early = ask(json.dumps({"choices": [AYE], **row}))
    before = [UsageReport(540, 540)]
    if reply.usage is not None:
        report = UsageReport(551, reply.usage.prompt_tokens, reply.usage.cached_tokens)
        assert not is_silently_truncated(report, before)
