"""What of a prompt a provider's cache can keep, how much is new in the next one, and what
deciding on, planning and doing a compaction costs the reactor."""

import json
import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig
from evennia_ai.messages import ChatMessage, LLMReply, Situation, make_message, to_wire
from evennia_ai.policy.compaction.plan import (
    CompactionLimits,
    CompactionOrder,
    CompactionPlan,
    plan_compaction,
)
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry
from evennia_ai.policy.retrieval.words import stemmers
from evennia_ai.policy.tokens import estimate_tokens, stored_tokens
from evennia_ai.scheduling import TimeSlices
from evennia_ai.turn.prompt_building import Prompt
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.bench.figures import Sheet
from tests.bench.planted import make_talk
from tests.bench.remembering import EVERYBODY, Hostile, heard, live_through, log_of
from tests.minds import MemoryMind

TAIL_PERCENT = 5.0
DECISIONS = 100
FULL = 20_000  # more lore and more facts than a prompt has room for
TIMES = 7
FEW, MANY = 2_500, 5_000
SCENE = Situation(
    place="The Drowned Lantern",
    description="A low room with black beams. " * 8,
    people=("Tamsin", "Joren", "Petra", "a fiddler", "an old sailor"),
    things=("a jug", "a lute without strings", "three stools", "a map nobody can read"),
    exits=("out", "up", "cellar"),
    carrying=("a key", "a rag"),
)


def full_script(window: int) -> MemoryMind:
    """An assistant with more to know and to remember than its prompts have room for."""
    config = AssistantConfig(max_context_tokens=window, lore_tokens=FULL, recall_tokens=FULL)
    script = MemoryMind(Hostile(), config)
    script.services.world.present, script.services.world.seen = EVERYBODY, SCENE
    talk = make_talk(turns=1_200, facts=300, seed=3)
    script.services.world.known = [
        LoreEntry(f"Of {fact.kind}", f"Tamsin says so: {fact.lines[0].text}") for fact in talk.facts
    ]
    live_through(script, log_of(talk), 3)
    return script


@pytest.mark.parametrize("window", [8_000, 32_000])
@pytest.mark.parametrize("listeners", [EVERYBODY, frozenset({"#11"})])
def test_between_two_calls_only_new_messages_and_scenes_differ(
    window: int, listeners: frozenset[str], sheet: Callable[[str], Sheet]
) -> None:
    script = full_script(window)
    before = script.mind.prompts.build(CONTEXT_TICK_EVENT, listeners)
    script.log.show(before.scenes)
    new = [
        heard("Tamsin", "#11", "What do you know of the dwarven cloak and of Kellith?"),
        make_message("assistant", "Not much.", audience=sorted(EVERYBODY)),
        heard("Joren", "#12", "And of the cracked mirror?"),
    ]
    script.conversation.append(new)
    after = script.mind.prompts.build(CONTEXT_TICK_EVENT, listeners)
    passing = [one for one in after.messages if "You remember" in str(one["content"])]
    assert passing
    changed = in_bytes(after) - same_bytes(before, after)
    paper = sheet(f"prompt of {window:,} tokens for {len(listeners)} listeners")
    expected = 1 + len(json.dumps([*to_wire([*new, *after.scenes]), *passing]))
    paper.add("unchanged prefix", same_bytes(before, after), "bytes")
    paper.add("changed bytes, with scenes and recalled lines, at most", changed, "bytes", expected)
    tail = estimate_tokens(tail_of(after))
    paper.add("scenes", 100 * tail / window, "% of the window", TAIL_PERCENT)
    paper.check()


def tail_of(prompt: Prompt) -> str:
    return "\n".join(scene["content"] for scene in prompt.scenes)


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
        """Do this now and keep the processor's time, which other programs do not change."""
        started = time.thread_time()
        result = work(*args)
        self.took_ms.append(1_000 * (time.thread_time() - started))
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


def long_script(messages: int) -> tuple[MemoryMind, Turns, Waiting]:
    """An assistant with so many messages in view, in a real database."""
    from evennia.scripts.models import ScriptDB

    from evennia_ai.store.conversation import TableConversation

    gateway, turns = Waiting(), Turns()
    script = MemoryMind(gateway, AssistantConfig(max_context_tokens=30_000))
    script.services.slices = TimeSlices(turns)  # type: ignore[assignment,arg-type]
    row = ScriptDB.objects.create(db_key="mira")
    script.rebuild(log=TableConversation(row.id, script.services.now))
    script.conversation.append(history(messages))
    assert len(script.conversation.current.messages) == messages
    return script, turns, gateway


def history(messages: int) -> list[ChatMessage]:
    """So many messages of talk full of facts."""
    talk = make_talk(turns=messages, facts=messages // 3, seed=5)
    return [message for turn in log_of(talk) for message in turn][:messages]


@pytest.mark.django_db
def test_a_compaction_does_not_hold_the_reactor(sheet: Callable[[str], Sheet]) -> None:
    paper = sheet("a compaction of 2,000 messages, without the model call")
    stemmers()  # as a server does at its start
    request = CompactionOrder("manual", force=True)
    stretches: list[float] = []
    whole: list[float] = []
    for _ in range(TIMES):
        script, turns, gateway = long_script(2_000)
        done: list[Any] = []
        started = turns.timed(script.mind.compactor.compact, request)
        started.addCallback(done.append)
        turns.go_on()
        while gateway.calls:
            reply = LLMReply("Nothing worth a word was said.")
            turns.timed(gateway.calls.pop().callback, reply)
            turns.go_on()
        assert done[0]["success"]
        assert done[0]["compacted_messages"] > 1_500
        stretches += turns.took_ms
        whole.append(sum(turns.took_ms))
    paper.add_held("a stretch on the reactor", stretches, p99_at_most=10.0)
    paper.add("the longest stretch", max(stretches), "ms", 10.0)
    add_times(paper, "all of it", whole)
    paper.check()


@pytest.mark.django_db
def test_planning_grows_with_the_talk_and_deciding_does_not(sheet: Callable[[str], Sheet]) -> None:
    paper = sheet("planning and deciding")
    few, many = (long_script(messages)[0] for messages in (FEW, MANY))
    plans = [times_of(lambda script=script: plan(script)) for script in (few, many)]
    add_times(paper, f"planning {MANY:,} messages", plans[1])
    paper.add(f"  times that of {FEW:,}", min(plans[1]) / min(plans[0]), "", 1.5 * MANY / FEW)
    decisions = [times_of(lambda script=script: decide(script)) for script in (few, many)]
    add_times(paper, f"deciding {DECISIONS} times that none is needed", decisions[1])
    paper.add("  one decision", 1_000 * min(decisions[1]) / DECISIONS, "µs", 10.0)
    paper.add(f"  times that at {FEW:,}", min(decisions[1]) / min(decisions[0]), "", 1.5)
    paper.check()


def plan(script: MemoryMind) -> None:
    """Plan a compaction of all that stands in view."""
    limits = CompactionLimits(window=10_000, fixed=2_000, reserve=800, target=0.45, preserve=20)
    messages = script.conversation.current.messages
    assert isinstance(plan_compaction(messages, limits, stored_tokens), CompactionPlan)


def decide(script: MemoryMind) -> None:
    """Decide many times, as a tick does, that no compaction is needed."""
    script.config = AssistantConfig(max_context_tokens=1_000_000)
    for _ in range(DECISIONS):
        use = script.mind.meter.measure()
        assert not use.is_urgent and not use.is_due


def times_of(work: Callable[[], object]) -> list[float]:
    """Return the processor's time for each of several runs, in ms."""
    times = []
    for _ in range(TIMES):
        started = time.thread_time()
        work()
        times.append(1_000 * (time.thread_time() - started))
    return times


def add_times(paper: Sheet, name: str, times_ms: Sequence[float]) -> None:
    """Keep the best and the median of several times."""
    paper.add(f"{name}, best of {len(times_ms)}", min(times_ms), "ms")
    paper.add(f"{name}, median", statistics.median(times_ms), "ms")
