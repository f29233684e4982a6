"""No stream of deltas costs more than in proportion to its length, whatever they are."""

import asyncio
import itertools
from contextlib import suppress

import pytest

from evennia_ai.llm.openai_stream import read_body
from evennia_ai.llm.reply_body import BrokenReply, ReplyBody
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.tool_call_modes.form import PLAIN, TOOLS
from tests.attacks.hostile_deltas import MAKERS
from tests.growth import grows_like_a_square, text_grows_like_a_square

PARAMETERS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
SAY = {"type": "function", "function": {"name": "say", "parameters": PARAMETERS}}
FEW = pytest.mark.parametrize("few", [500, pytest.param(1_000, marks=pytest.mark.soak)])
CHARS = pytest.mark.parametrize("chars", [200_000, pytest.param(400_000, marks=pytest.mark.soak)])
pytestmark = pytest.mark.campaign


def ids():
    return map(str, itertools.count()).__next__


def read(events, form=TOOLS):
    """The reply of a stream of events, read as the client reads it."""
    body, reader = ReplyBody(), reply_reader(form, [SAY])
    for event in events:
        for delta in body.hear("", event):
            reader.hear(delta)
    body.hear("", "[DONE]")
    return reader.finish(body.reply(ids()))


@FEW
@pytest.mark.parametrize("kind", MAKERS)
def test_ten_times_the_deltas_take_about_ten_times_the_time(kind, few):
    events = [MAKERS[kind](n) for n in range(10 * few)]
    assert not grows_like_a_square(read, events[:few], events)


@FEW
@pytest.mark.parametrize("kind", MAKERS)
def test_and_so_do_those_of_plain_words(kind, few):
    events = [MAKERS[kind](n) for n in range(10 * few)]
    assert not grows_like_a_square(lambda some: read(some, PLAIN), events[:few], events)


async def stream(*pieces):
    for piece in pieces:
        yield piece


def read_pieces(text, size):
    """Read a body that arrives in pieces of so many bytes."""
    data, body = text.encode(), ReplyBody()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    with suppress(BrokenReply):
        asyncio.run(read_body(stream(*pieces), body, None))


@CHARS
@pytest.mark.parametrize("start", ["", "data: ", 'data: {"a": "', "{}\n"])
@pytest.mark.parametrize("piece", [" ", "a", "\n", "\r", ":", "data: {", "data: \n", "{}\n\n", "}"])
def test_bytes_that_come_one_by_one_cost_no_square(start, piece, chars):
    work = lambda text: read_pieces(start + text, 8)  # noqa: E731
    assert not text_grows_like_a_square(work, piece, chars)
