"""Ways to ask the same endpoint the same thing, each to be run in a process of its own.

    python -m tests.bench.call_paths <way> <base_url> <calls> <at a time> <messages>

Prints one line of JSON: ``wall_s`` from the first call to the last reply, ``cpu_s`` of the process
meanwhile and, for the gateway with several calls at a time, ``held_ms``, how long the reactor was
held at each beat.
"""

import asyncio
import itertools
import json
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

MODEL = "stub"
BEAT_S = 0.002
DEADLINE_S = 600.0
LINE = "I came in by the north road, and the toll at the bridge is up to {} pennies again."

Messages = list[dict[str, Any]]
Ask = Callable[[Messages], Awaitable[Any]]


def make_messages(count: int) -> Messages:
    """A conversation of so many messages, as a game has them."""
    roles = ("user", "assistant")
    return [
        {"role": roles[number % 2], "content": LINE.format(number)} for number in range(count - 1)
    ] + [{"role": "user", "content": "Ann says: hail"}]


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": f"tool_{number}",
            "description": "Does one thing in the game, once, and says what came of it.",
            "parameters": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "target": {"type": "string"}},
                "required": ["text"],
            },
        },
    }
    for number in range(12)
]


async def in_parallel(ask: Ask, calls: int, at_a_time: int, messages: Messages) -> None:
    """Ask ``calls`` times, so many ``at_a_time``."""
    left = iter(range(calls))

    async def work() -> None:
        for _ in left:
            await ask(messages)

    await asyncio.gather(*(work() for _ in range(at_a_time)))


def sdk(base_url: str) -> Any:
    """The openai SDK's client, without retries."""
    import openai

    limits = openai.DefaultAsyncHttpxClient(timeout=DEADLINE_S)
    return openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0, http_client=limits)


async def ask_plainly(base_url: str) -> Ask:
    """The SDK as its manual shows it."""
    client = sdk(base_url)
    return lambda messages: client.chat.completions.create(
        model=MODEL, messages=messages, tools=TOOLS
    )


async def ask_by_extra_body(base_url: str) -> Ask:
    """The SDK without its transform of the messages: the bar."""
    client = sdk(base_url)
    return lambda messages: client.chat.completions.create(
        model=MODEL, messages=[], extra_body={"messages": messages, "tools": TOOLS}
    )


async def ask_by_socket(base_url: str) -> Ask:
    """A bare exchange over loopback: what the stub and the machine take."""
    address = urlsplit(base_url)
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(messages: Messages) -> bytes:
        connection = (
            idle.pop() if idle else await asyncio.open_connection(address.hostname, address.port)
        )
        reader, writer = connection
        body = json.dumps({"model": MODEL, "messages": messages}).encode()
        head = (
            f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        reply = await reader.readexactly(length)
        idle.append(connection)
        return reply

    return ask


WAYS = {"plain": ask_plainly, "extra_body": ask_by_extra_body, "socket": ask_by_socket}


async def measure(way: str, base_url: str, calls: int, at_a_time: int, count: int) -> dict:
    """Time one of `WAYS`, after one call that imports what is imported late."""
    ask, messages = await WAYS[way](base_url), make_messages(count)
    await ask(messages)
    began, cpu = time.perf_counter(), time.process_time()
    await in_parallel(ask, calls, at_a_time, messages)
    return {"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}


def measure_gateway(base_url: str, calls: int, at_a_time: int, count: int, streamed: bool) -> dict:
    """Time the gateway with all that stands behind it, on a running reactor."""
    from twisted.internet import reactor
    from twisted.internet.task import LoopingCall, cooperate

    from evennia_ai.config import ModelProfile
    from evennia_ai.llm.gateway import ModelGateway
    from evennia_ai.llm.loop_thread import LoopThread
    from evennia_ai.llm.openai_client import OpenAIClient
    from evennia_ai.policy.limits.retry import GatewayLimits
    from evennia_ai.ports import Caller, LLMRequest
    from evennia_ai.scheduling import TimeSlices

    slices = TimeSlices(reactor)
    thread = LoopThread(partial(slices.put_from_thread, reactor.callFromThread))
    client = OpenAIClient(thread, {})
    gateway = ModelGateway(reactor, {"openai": client}, GatewayLimits(max_in_flight=at_a_time))
    profile = ModelProfile("stub", "openai", MODEL, base_url)
    messages = make_messages(count)
    figures: dict[str, Any] = {}
    beats: list[float] = []

    def ask(number: int) -> Any:
        request = LLMRequest(
            messages,
            TOOLS,
            caller=Caller(str(number % at_a_time)),
            on_call=(lambda _call: None) if streamed else None,
        )
        return gateway.complete(request, profile, reactor.seconds() + DEADLINE_S)

    def asker() -> Any:
        for number in left:
            yield ask(number)

    def run(_: Any) -> Any:
        from twisted.internet.defer import gatherResults

        figures.update(began=time.perf_counter(), cpu=time.process_time())
        if at_a_time > 1:  # a beat takes CPU, which is not a call's
            heart.start(BEAT_S, now=False)
        return gatherResults([cooperate(asker()).whenDone() for _ in range(at_a_time)])

    def done(result: Any) -> None:
        figures["wall_s"] = time.perf_counter() - figures.pop("began")
        figures["cpu_s"] = time.process_time() - figures.pop("cpu")
        thread.stop()
        reactor.stop()
        if not isinstance(result, list):
            result.printTraceback()

    left = iter(range(calls))
    heart = LoopingCall(lambda: beats.append(time.perf_counter()))
    thread.start()
    client.warm_up().addCallback(lambda _: ask(0)).addCallback(run).addBoth(done)
    reactor.run()
    held = [1000 * (b - a - BEAT_S) for a, b in itertools.pairwise(beats)]
    return {**figures, "held_ms": [max(0.0, ms) for ms in held]}


def main(way: str, base_url: str, *numbers: str) -> None:
    """Measure one way and print its figures."""
    calls, at_a_time, count = map(int, numbers)
    if way.startswith("gateway"):
        figures = measure_gateway(base_url, calls, at_a_time, count, way.endswith("streamed"))
    else:
        figures = asyncio.run(measure(way, base_url, calls, at_a_time, count))
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
