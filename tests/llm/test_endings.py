"""A reply is complete when its finish reason came, however the connection ends behind it."""

import asyncio

import pytest

from evennia_ai.llm import openai_stream
from evennia_ai.llm.reply_body import BrokenReply, ReplyBody
from tests.llm.endpoint_cases import delta, done, events, native

WORDS = events(delta(content="Good evening."), delta("stop"), end="").encode()
GOES_ON = events(delta("stop", content="Good "), delta("stop", content="evening."), end="").encode()


def read(monkeypatch, *pieces, silent=False, silence_s=None):
    """Return the reply of a body that ends with a trouble, or is silent for ever."""
    monkeypatch.setattr(openai_stream, "LINGER_S", 0.01)

    async def arriving():
        for piece in pieces:
            yield piece
        if silent:
            await asyncio.Event().wait()
        raise ConnectionResetError

    body = ReplyBody()
    asyncio.run(openai_stream.read_body(arriving(), body, None, silence_s))
    return body.reply(str)


@pytest.mark.parametrize("silent", [False, True])
def test_a_complete_reply_lasts(monkeypatch, silent):
    assert read(monkeypatch, WORDS, silent=silent).content == "Good evening."
    whole = native("say").encode()
    assert done(read(monkeypatch, whole[:40], whole[40:], silent=silent))


@pytest.mark.parametrize("behind", ['data: {"id": "x\n\n', 'data: {"error": {"code": 500}}\n\n'])
def test_nothing_behind_its_end_breaks_it(monkeypatch, behind):
    assert read(monkeypatch, WORDS, behind.encode()).content == "Good evening."


def test_a_reply_that_went_on_behind_a_reason_is_complete_at_its_end_only(monkeypatch):
    with pytest.raises(ConnectionResetError):
        read(monkeypatch, GOES_ON)
    assert read(monkeypatch, GOES_ON, b"data: [DONE]\n\n").content == "Good evening."


THINKS = delta(reasoning_content="Hmm")
BEGINS = delta(role="assistant", content="")


def test_a_stream_that_pauses_in_its_middle_is_given_up(monkeypatch):
    for begun in ([THINKS, THINKS], [BEGINS, delta(content="Good ")]):
        with pytest.raises(TimeoutError):
            read(monkeypatch, events(*begun, end="").encode(), silent=True, silence_s=0.02)


def test_a_sign_of_life_is_no_part_of_a_reply():
    async def alive():
        while True:
            await asyncio.sleep(0)
            yield b": alive\n\n"

    with pytest.raises(TimeoutError):
        asyncio.run(openai_stream.read_body(alive(), ReplyBody(), None, 0.01))


@pytest.mark.parametrize("pieces", [[WORDS[:70]], [native("say").encode()[:-9]], []])
def test_an_incomplete_reply_is_lost(monkeypatch, pieces):
    with pytest.raises((ConnectionResetError, BrokenReply)):
        read(monkeypatch, *pieces)
