"""What servers really send, whole and streamed: from the bytes of a socket to what runs, is spoken,
or fails. `endpoint_cases`, `endpoint_neighbours` and `endpoint_failures` have the rows."""

import asyncio
import json
from itertools import count

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ContextOverflow, ProviderUnavailable
from evennia_ai.llm.endpoints import find_endpoint
from evennia_ai.llm.openai_stream import read_body
from evennia_ai.llm.reply_body import ReplyBody
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.sanitize import spoken_words, strip_reasoning
from evennia_ai.policy.tokens import UsageReport, is_silently_truncated
from tests.llm import endpoint_cases as known
from tests.llm import endpoint_failures as failed
from tests.llm.conftest import TOOLS
from tests.llm.endpoint_cases import BOTH, SAID, cut_call, delta, done, events, message
from tests.llm.endpoint_neighbours import CALLS, ENDS, SPEECH, TALK, WORDS


def rows(table, *ways):
    """Return each row of a table, in each of some ways."""
    made = []
    for key, row in table.items():
        name = key if isinstance(key, str) else ": ".join(key)
        for way in ways or ("",):
            title = name + (way and f", {way}")
            made.append(pytest.param(row, *([way] if way else []), id=title))
    return made


def body_of(row, way="whole"):
    """Return a row as the bytes of an answer; a whole reply may come as one chunk."""
    if isinstance(row, str):
        return row
    if isinstance(row, tuple):
        return events(*row)
    if way == "streamed" and isinstance(row, dict) and isinstance(row.get("choices"), list):
        choices = [
            {"delta" if name == "message" else name: value for name, value in choice.items()}
            for choice in row["choices"]
        ]
        return events({**row, "object": "chat.completion.chunk", "choices": choices})
    return json.dumps(row)


# What is done: the rows of both files, each with the calls that run.
ALL_CALLS = {
    **{name: (row, BOTH) for name, row in known.STREAMS.items()},
    **{name: (row, SAID) for name, row in (known.UNSTEADY | known.BODIES).items()},
    **CALLS,
}


@pytest.mark.parametrize(("row", "way"), rows(ALL_CALLS, "whole", "asked to stream", "streamed"))
def test_each_call_is_found_once(ask, row, way):
    body, right = row
    reply, early = ask(body_of(body, way), streamed=way != "whole")
    assert done(reply) == right
    assert early == list(reply.tool_calls[: len(early)])


@pytest.mark.parametrize("line_end", ["\r", "\r\n"])
def test_lines_may_end_in_any_way(ask, line_end):
    text = events(known.SPOKEN, known.END).replace("\n", line_end)
    assert done(ask(text, streamed=True)[0]) == SAID


@pytest.mark.parametrize("arguments", known.ARGUMENTS)
def test_arguments_may_be_missing(ask, arguments):
    reply, _early = ask(known.native("look", arguments))
    assert done(reply) == [("look", {})]


def spoken(reply):
    """Return what a player reads of a reply."""
    said = [arguments["text"] for name, arguments in done(reply) if name == "say"]
    return " ".join(said) or spoken_words(reply.content, "Mira", 2_000)


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


@pytest.mark.parametrize("mark", known.MARKS)
def test_reasoning_that_began_in_the_prompt_is_not_said(ask, mark):
    reply, early = ask(known.reasoned(mark), form="plain", streamed=True)
    assert not early and strip_reasoning(reply.content) == WORDS


@pytest.mark.parametrize(
    ("reason", "way"), rows({name: name for name in known.CUT} | ENDS, "whole", "streamed")
)
def test_what_was_cut_off_neither_runs_nor_is_spoken_in_half(ask, reason, way):
    streamed = way == "streamed"
    reply, early = ask(body_of(json.loads(cut_call(reason)), way), streamed=streamed)
    assert (reply.finish_reason, early) == ("length", [])
    reply, _ = ask(body_of(json.loads(message(reason, content=TALK)), way), streamed=streamed)
    assert reply.content == "Good evening, Ann."


@pytest.mark.parametrize("reason", ["tool_calls", "stop", None])
@pytest.mark.parametrize("way", ["whole", "streamed"])
def test_a_cut_call_does_not_run_whatever_its_reason(ask, reason, way):
    reply, early = ask(body_of(json.loads(cut_call(reason)), way), streamed=way == "streamed")
    assert early == []
    assert '"fi"' not in "".join(call.arguments for call in reply.tool_calls)


@pytest.mark.parametrize(("row", "way"), rows(known.FAILURES | failed.FAILED, "whole", "streamed"))
def test_a_failure_is_what_it_says_whatever_its_status(ask, row, way):
    status, body, error = row
    failure, _early = ask(body_of(body), status, streamed=way == "streamed")
    assert type(failure.value) is error


@pytest.mark.parametrize("kind", ["event: error\ndata: ", "data: "])
def test_a_failure_in_a_stream_ends_it(ask, kind):
    told = json.dumps({"error": {"code": 400, "message": known.OVERFLOW}})
    failure, _early = ask(events(f"{kind}{told}\n\n"), streamed=True)
    assert type(failure.value) is ContextOverflow


LIMITS = {str(row): (*row, 2.0) for row in known.LIMITS}


@pytest.mark.parametrize("row", rows(LIMITS | failed.WAITS))
def test_a_limit_that_passes_soon_is_waited_for(ask, row):
    body, headers, seconds = row
    failure, _early = ask(json.dumps(body), 429, headers)
    assert type(failure.value) is ProviderUnavailable
    assert failure.value.retry_after_s == seconds


@pytest.mark.parametrize("row", rows(failed.ADDRESSES))
def test_an_address_is_used_as_it_is_meant(row):
    address, base_url, query = row
    found = find_endpoint(ModelProfile("p", "openai", "m", address), {})
    assert (found.base_url, dict(found.query)) == (base_url, query)
    assert "KEY" not in found.address


@pytest.mark.parametrize(("where", "usage"), known.USAGES)
def test_usage_is_read_where_it_stands_if_it_can_be_true(ask, where, usage):
    reply, _early = ask(known.usage_body(where))
    found = reply.usage
    assert (found and (found.prompt_tokens, found.completion_tokens)) == usage


@pytest.mark.parametrize(("row", "way"), rows(failed.USAGES, "whole", "streamed"))
def test_the_good_usage_is_found(ask, row, way):
    reply, _early = ask(body_of(row, way), streamed=way == "streamed")
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (120, 7)


@pytest.mark.parametrize("row", rows(failed.UNTRUNCATED))
def test_nobody_is_told_of_a_cut_prompt_that_was_cached(ask, row):
    reply, _early = ask(json.dumps({"choices": [failed.AYE], **row}))
    before = [UsageReport(540, 540)]
    if reply.usage is not None:
        report = UsageReport(551, reply.usage.prompt_tokens, reply.usage.cached_tokens)
        assert not is_silently_truncated(report, before)


CUT_STEP = 7  # bytes between the cuts in two; another run cuts behind each byte
STREAMED = {
    **{key: body_of(row, "streamed") for key, (row, _right) in ALL_CALLS.items()},
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

        early, body, reader = [], ReplyBody(), reply_reader("tools", TOOLS)
        await read_body(arriving(), body, lambda delta: early.extend(reader.hear(delta)))
        reply = reader.finish(body.reply(map("made{}".format, count(1)).__next__))
        assert early == list(reply.tool_calls[: len(early)])
        return done(reply), reply.content

    async def read_all():
        whole = await read(data)
        assert await read(*(data[at : at + 1] for at in range(len(data)))) == whole
        for cut in range(1, len(data), CUT_STEP):
            assert await read(data[:cut], data[cut:]) == whole

    asyncio.run(read_all())
