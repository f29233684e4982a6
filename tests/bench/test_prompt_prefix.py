"""What of a prompt a provider's cache can keep, how much stands in its changing tail, and what
deciding on, planning and doing a compaction costs the reactor."""

from __future__ import annotations

import json
import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig
from evennia_ai.messages import LLMReply, Message, make_message, to_wire
from evennia_ai.policy.compaction.plan import CompactionLimits, CompactionPlan, plan_compaction
from evennia_ai.policy.conversation.lore import LoreEntry
from evennia_ai.policy.tokens import estimate_tokens, stored_tokens
from evennia_ai.ports import Situation
from evennia_ai.scheduling import TimeSlices
from evennia_ai.sleep.compaction.compact import compact
from evennia_ai.sleep.compaction.request import CompactionRequest
from evennia_ai.testing.stand_ins import StandInScript
from evennia_ai.turn.context_use import measure_context
from evennia_ai.turn.prompt_building import Prompt, build_prompt
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.bench.figures import Sheet
from tests.bench.planted import make_talk
from tests.bench.remembering import EVERYBODY, Hostile, heard, live_through, log_of

TAIL_PERCENT = 8.0
FULL = 20_000  # more lore and more facts than a prompt has room for
TIMES = 7
SCENE = Situation(
    place="The Drowned Lantern",
    description="A low room with black beams. " * 8,
    people=("Tamsin", "Joren", "Petra", "a fiddler", "an old sailor"),
    things=("a jug", "a lute without strings", "three stools", "a map nobody can read"),
    exits=("out", "up", "cellar"),
    carrying=("a key", "a rag"),
)


def full_script(window: int) -> StandInScript:
    """An assistant with more to know and to remember than its prompts have room for."""
    config = AssistantConfig(max_context_tokens=window, lore_tokens=FULL, recall_tokens=FULL)
    script = StandInScript(Hostile(), config)
    script.services.world.present, script.services.world.seen = EVERYBODY, SCENE
    talk = make_talk(turns=1_200, facts=300, seed=3)
    script.services.world.known = [
        LoreEntry(f"Of {fact.kind}", f"Tamsin says so: {fact.said}") for fact in talk.facts
    ]
    live_through(script, log_of(talk), 3)
    return script


@pytest.mark.parametrize("window", [8_000, 32_000])
@pytest.mark.parametrize("listeners", [EVERYBODY, frozenset({"#11"})])
def test_between_two_calls_only_new_messages_and_the_tail_differ(
    window: int, listeners: frozenset[str], sheet: Callable[[str], Sheet]
) -> None:
    script = full_script(window)
    before = build_prompt(script, CONTEXT_TICK_EVENT, listeners)
    new = [
        heard("Tamsin", "#11", "What do you know of the copper lantern and of Ashford?"),
        make_message("assistant", "Not much.", audience=sorted(EVERYBODY)),
        heard("Joren", "#12", "And of the gilded mirror?"),
    ]
    script.conversation.append(new)
    after = build_prompt(script, CONTEXT_TICK_EVENT, listeners)
    assert "You know: " in tail_of(after)
    assert "You remember: " in tail_of(after)
    changed = in_bytes(after) - same_bytes(before, after)
    paper = sheet(f"prompt of {window:,} tokens for {len(listeners)} listeners")
    expected = len(json.dumps(to_wire(new))) + len(json.dumps(after.messages[-1]))
    paper.add("unchanged prefix", same_bytes(before, after), "bytes")
    paper.add("changed bytes, new messages and tail at most", changed, "bytes", expected)
    tail = estimate_tokens(tail_of(after))
    paper.add("tail", 100 * tail / window, "% of the window", TAIL_PERCENT)
    paper.check()


def tail_of(prompt: Prompt) -> str:
    return str(prompt.messages[-1]["content"])


def in_bytes(prompt: Prompt) -> int:
    return len(json.dumps(prompt.messages))


def same_bytes(one: Prompt, other: Prompt) -> int:
    """How long two prompts are the same from their beginning."""
    pairs = zip(json.dumps(one.messages), json.dumps(other.messages), strict=False)
    return next((number for number, (a, b) in enumerate(pairs) if a != b), 0)


class Turns:
    """A reactor's turns, done by hand, each timed."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self.took_ms: list[float] = []

    def callLater(self, delay: float, work: Callable[..., object], *args: Any) -> None:  # noqa: N802  # as in Twisted
        """Do this in a turn of its own."""
        self.waiting.append((work, args))

    def timed(self, work: Callable[..., Any], *args: Any) -> Any:
        """Do this now, timed."""
        started = time.perf_counter()
        result = work(*args)
        self.took_ms.append(1_000 * (time.perf_counter() - started))
        return result

    def go_on(self) -> None:
        """Do what waits, until nothing does."""
        while self.waiting:
            work, args = self.waiting.popleft()
            self.timed(work, *args)


class Waiting:
    """A gateway whose replies come when they are told to."""

    def __init__(self) -> None:
        self.calls: list[Deferred[LLMReply]] = []

    def complete(self, *args: Any) -> Deferred[LLMReply]:
        """Wait."""
        self.calls.append(Deferred())
        return self.calls[-1]


def long_script(messages: int) -> tuple[StandInScript, Turns, Waiting]:
    """An assistant with so many messages in view, in a real database."""
    from evennia.scripts.models import ScriptDB

    from evennia_ai.store.conversation import TableConversation

    gateway, turns = Waiting(), Turns()
    script = StandInScript(gateway, AssistantConfig(max_context_tokens=30_000))
    script.services.slices = TimeSlices(turns)  # type: ignore[assignment,arg-type]
    row = ScriptDB.objects.create(db_key="mira")
    script.conversation = TableConversation(row.id, script.services.now)  # type: ignore[assignment]
    script.conversation.append(history(messages))
    assert len(script.conversation.current.messages) == messages
    return script, turns, gateway


def history(messages: int) -> list[Message]:
    """So many messages of talk full of facts."""
    talk = make_talk(turns=messages, facts=messages // 3, seed=5)
    return [message for turn in log_of(talk) for message in turn][:messages]


@pytest.mark.django_db
def test_a_compaction_does_not_hold_the_reactor(sheet: Callable[[str], Sheet]) -> None:
    paper = sheet("a compaction of 2,000 messages, without the model call")
    longest, whole = [], []
    for _ in range(TIMES):
        script, turns, gateway = long_script(2_000)
        done: list[Any] = []
        started = turns.timed(compact, script, CompactionRequest("manual", force=True))
        started.addCallback(done.append)
        turns.go_on()
        while gateway.calls:
            reply = LLMReply("Nothing worth a word was said.")
            turns.timed(gateway.calls.pop().callback, reply)
            turns.go_on()
        assert done[0]["success"]
        assert done[0]["compacted_messages"] > 1_500
        longest.append(max(turns.took_ms))
        whole.append(sum(turns.took_ms))
    add_times(paper, "longest stretch on the reactor", longest, "ms", 30)
    add_times(paper, "all of it", whole, "ms", None)
    paper.check()


@pytest.mark.django_db
def test_planning_and_deciding_take_no_time(sheet: Callable[[str], Sheet]) -> None:
    paper = sheet("planning and deciding")
    script, _, _ = long_script(5_000)
    messages = script.conversation.current.messages
    limits = CompactionLimits(window=100_000, fixed=2_000, reserve=800, target=0.45, preserve=20)
    plans = [
        once_ms(lambda: plan_compaction(messages, limits, stored_tokens)) for _ in range(TIMES)
    ]
    assert isinstance(plan_compaction(messages, limits, stored_tokens), CompactionPlan)
    add_times(paper, "planning 5,000 messages", plans, "ms", 20)
    script.config = AssistantConfig(max_context_tokens=1_000_000)
    assert not measure_context(script).is_due
    decisions = [once_ms(lambda: many(100, script)) * 10 for _ in range(TIMES)]
    add_times(paper, "deciding that none is needed, twice", decisions, "µs", 50)
    paper.check()


def many(times: int, script: StandInScript) -> None:
    """Decide as a tick does, over and over."""
    for _ in range(times):
        assert not measure_context(script).is_urgent
        assert not measure_context(script).is_due


def once_ms(work: Callable[[], object]) -> float:
    """How long this takes."""
    started = time.perf_counter()
    work()
    return 1_000 * (time.perf_counter() - started)


def add_times(
    paper: Sheet, name: str, times: Sequence[float], unit: str, at_most: float | None
) -> None:
    """The best and the median of several; the best has the bar, for others use this machine."""
    paper.add(f"{name}, best of {len(times)}", min(times), unit, at_most)
    paper.add(f"{name}, median", statistics.median(times), unit)
