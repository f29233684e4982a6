"""Two endpoints with prompt caches behind one profile: how much of the prompts they read anew."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from twisted.internet.task import Clock

from evennia_ai.config import resolve_profile
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.policy.limits.fair_queue import GatewayLimits
from evennia_ai.ports import Caller, LLMRequest, Scene
from tests.bench.figures import Sheet
from tests.provider import FaultyProvider

CHARACTERS, ROUNDS, AT_A_TIME = 8, 15, 3
SLOTS = KEPT = 4  # at each endpoint: slots, or whole prompts
RULES = "Speak only words that your character would say. " * 80
PERSONA = "You are number {0}, keeper of room {0}, and proud of it. " * 40
LINE = "Line {} of the talk: the toll at the bridge is up again. "
MET = 0.8  # a prompt of which this share was cached met its prefix
LEAST_MET, LEAST_LEAD = 0.9, 0.3
# Name, what the servers keep, does a character go to its last endpoint first, slots to pin to.
WAYS = (
    ("prompts, by load", "prompts", False, 0),
    ("prompts, last first", "prompts", True, 0),
    ("slots, by load", "slots", False, 0),
    ("slots, last first", "slots", True, 0),
    ("pinned", "slots", True, SLOTS),
)


@pytest.fixture
def providers(tmp_path: Path) -> Iterator[list[FaultyProvider]]:
    """Return two servers with a prompt cache of a few slots each."""
    with ExitStack() as stack:
        both = [stack.enter_context(FaultyProvider(tmp_path / f"{n}.jsonl")) for n in (1, 2)]
        yield both


def prompt(who: int, lines: int) -> list[dict[str, str]]:
    """Return a prompt as the engine builds it: rules, persona, talk so far, a changing end."""
    talk = "".join(LINE.format(number) for number in range(lines))
    return [
        {"role": "system", "content": RULES},
        {"role": "user", "content": PERSONA.format(who) + talk},
        {"role": "user", "content": f"Now: {who}-{lines}. Ann says: hello"},
    ]


def play(providers: list[FaultyProvider], keeps: bool, slots: int) -> list[tuple[int, int]]:
    """Let all characters talk; return the prompt and the cached tokens of each reply.

    Without ``keeps``, no call belongs to a turn, so that load alone decides where it goes.
    """
    jobs: Queue[Any] = Queue()
    thread = LoopThread(lambda function, *args: jobs.put((function, args)))
    thread.start()
    gateway = ModelGateway(Clock(), {"openai": OpenAIClient(thread, {})}, GatewayLimits())
    endpoints = [{"base_url": one.base_url, "slots": slots} for one in providers]
    raw = {"client": "openai", "model": "stub", "endpoints": endpoints, "max_in_flight": SLOTS}
    profile = resolve_profile("hall", {"hall": raw})
    dice = random.Random(7)  # dice, not keys
    order = [who for _ in range(ROUNDS) for who in dice.sample(range(CHARACTERS), CHARACTERS)]
    told = dict.fromkeys(range(CHARACTERS), 0)
    usages: list[tuple[int, int]] = []
    open_calls: dict[int, Any] = {}
    try:
        while order or open_calls:
            free = [who for who in order if who not in open_calls]
            if free and len(open_calls) < AT_A_TIME:
                who = free[0]
                order.remove(who)
                told[who] += 2
                caller = Caller(assistant=str(who), turn_id=1 if keeps else None)
                request = LLMRequest(prompt(who, told[who]), Scene("", "", ()), caller=caller)  # type: ignore[arg-type]
                open_calls[who] = gateway.complete(request, profile, 600.0)
                open_calls[who].addBoth(lambda reply, who=who: open_calls.pop(who) and reply)
                open_calls[who].addCallback(
                    lambda reply: usages.append(
                        (reply.usage.prompt_tokens, reply.usage.cached_tokens)
                    )
                )
                continue
            function, args = jobs.get(timeout=30)
            function(*args)
    finally:
        thread.stop()
    return usages


def test_characters_that_stay_at_their_endpoint_meet_their_prefix(
    sheet: Callable[[str], Sheet], providers: list[FaultyProvider]
) -> None:
    paper = sheet(f"{CHARACTERS} characters on two endpoints that keep {KEPT} prompts each")
    met = {}
    for way, cache, keeps, slots in WAYS:
        for provider in providers:
            provider.clear()
            provider.control(latency=0.01, speed={cache: KEPT, "read_tokens_per_s": 50_000})
        usages = play(providers, keeps, slots)[CHARACTERS:]  # every first prompt is new
        met[way] = sum(cached >= MET * tokens for tokens, cached in usages) / len(usages)
        read = sum(tokens - cached for tokens, cached in usages) / sum(t for t, _ in usages)
        paper.add(f"{way}: prompts that met their prefix", met[way])
        paper.add(f"{way}: share of tokens read anew", read)
    for best, plain in (("prompts, last first", "prompts, by load"), ("pinned", "slots, by load")):
        paper.add("missing to the least share", max(0.0, LEAST_MET - met[best]), "", 0)
        paper.add("missing to the lead", max(0.0, LEAST_LEAD - met[best] + met[plain]), "", 0)
    paper.check()
