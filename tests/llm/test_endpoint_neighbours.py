"""Neighbours of what servers really send, whole and streamed; `endpoint_neighbours` has them."""

import asyncio
import json
from itertools import count

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.llm.endpoints import find_endpoint
from evennia_ai.llm.openai_stream import read_body
from evennia_ai.llm.reply_body import ReplyBody
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.request_forms.form import Asked
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.policy.tokens import UsageReport, is_silently_truncated
from tests.llm.conftest import TOOLS
from tests.llm.endpoint_cases import STREAMS, UNSTEADY, cut_call, delta, done, events, message
from tests.llm.endpoint_failures import ADDRESSES, AYE, FAILED, UNTRUNCATED, USAGES, WAITS
from tests.llm.endpoint_neighbours import CALLS, ENDS, SPEECH, TALK, WORDS


def rows(table, *ways):
    """Return each row of a table, in each of some ways."""
    made = []
    for (kind, name), row in table.items():
        for way in ways or ("",):
            title = f"{kind}: {name}" + (way and f", {way}")
            made.append(pytest.param(row, *([way] if way else []), id=title))
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


def speech_body(row, way):
    """Return a row of `SPEECH` as the bytes of an answer."""
    fields = row if isinstance(row, dict) else {"content": "".join(row)}
    if way == "whole":
        return message(**fields)
    deltas = [row] if isinstance(row, dict) else [{"content": piece} for piece in row]
    return events(*(delta(**each) for each in deltas), delta("stop"))


@pytest.mark.parametrize("form", ["text", "tools"])
@pytest.mark.parametrize(("row", "way"), rows(SPEECH, "whole", "streamed"))
def test_nothing_but_the_answer_is_spoken(ask, row, way, form):
    reply, early = ask(speech_body(row, way), form=form, streamed=way == "streamed")
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


CUT_STEP = 7  # bytes between the cuts in two; another run cuts behind each byte
STREAMED = {
    **{("known", name): events(*row) for name, row in (STREAMS | UNSTEADY).items()},
    **{key: body_of(row, "in one chunk") for key, (row, _right) in CALLS.items()},
    **{key: speech_body(row, "streamed") for key, row in SPEECH.items()},
}


@pytest.mark.parametrize("text", rows(STREAMED))
def test_a_stream_reads_the_same_wherever_it_is_cut(text):
    data = text.encode()

    async def read(*pieces):
        """Return what runs of a body that comes in pieces, and whether it ran early."""

        async def arriving():
            for piece in pieces:
                yield piece

        early, body, reader = [], ReplyBody(), reply_reader("tools", Asked(TOOLS))
        await read_body(arriving(), body, lambda delta: early.extend(reader.hear(delta)), list)
        reply = reader.finish(body.reply(map("made{}".format, count(1)).__next__))
        assert early == list(reply.tool_calls[: len(early)])
        return done(reply), reply.content

    async def read_all():
        whole = await read(data)
        assert await read(*(data[at : at + 1] for at in range(len(data)))) == whole
        for cut in range(1, len(data), CUT_STEP):
            assert await read(data[:cut], data[cut:]) == whole

    asyncio.run(read_all())
