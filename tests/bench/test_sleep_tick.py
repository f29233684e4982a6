"""A whole pass of sleep with much to do never holds the reactor for long: 1,000 journal entries,
most of them faded, 50 people of whom something new was noticed, goals, and a head full of talk.

On a database file, in write-ahead mode, with the settings that a game's server has; every piece of
work that the pass gives to the slices, and whatever the clock brings, is timed. The brain is the
offline one; long-term memory is the stand-in, since mem0 works in a thread of its own, as an
embedder does.
"""

import time
from collections import deque
from collections.abc import Callable, Generator
from datetime import timedelta
from typing import Any

import pytest
from twisted.internet.task import Clock

from evennia_ai.messages import make_message
from evennia_ai.scheduling import SLICE_S, TimeSlices
from tests.bench.figures import Sheet, percentile
from tests.semantic import StandInSemantic

ENTRIES, PEOPLE, NOTICED, GOALS, LINES = 1_000, 50, 10, 20, 250
TIME_S = 0.05
STRETCH_AT_MOST_MS = 50.0
# Nobody is in talk, goals fade later, no trade is known of her, and she shares with nobody.
NOTHING_TO_DO = {"stale_conversations", "goals", "daily_plan", "shared_memory"}
NEED_A_MODEL = {
    "entity_consolidation", "pre_compaction_extraction", "reflection", "deduplication",
}  # fmt: skip


@pytest.fixture
def mira(db: None, settings: Any) -> Generator[Any]:
    """An assistant in a room, with a service whose clock is ours."""
    from evennia.objects.objects import DefaultRoom
    from evennia.utils.create import create_object

    from evennia_ai.assistant_character import AssistantCharacter
    from evennia_ai.assistant_script import AssistantScript
    from evennia_ai.services.assistant_service import AssistantService

    clock = Clock()
    clock.advance(time.time())
    service = AssistantService(clock=clock, environ={})
    service.semantic = StandInSemantic()
    service.startService()
    service.late_start.cancel()
    room = create_object(DefaultRoom, key="Tavern")
    yield create_object(
        AssistantCharacter, key="Mira", location=room, attributes=[("ai_persona", "You are Mira.")]
    )
    service.stopService()
    AssistantScript.shared_services = None


def live_long(mira: Any) -> None:
    """Give it a journal of half a year, things noticed of many people, goals, and much talk."""
    now = mira.assistant.services.now()
    for number in range(ENTRIES):
        mira.journal.add(
            f"It rained on the roof of house {'x' * (number % 7)}{number} again.",
            timestamp=now - timedelta(days=180 - number * 0.1),
            audience=["#5"] if number % 5 == 0 else None,
        )
    mira.journal.count_recalls([f"j{number}" for number in range(1, ENTRIES, 10)])
    for person in range(PEOPLE):
        for number in range(NOTICED):
            mira.ai_profiles.observe(
                f"#{1_000 + person}",
                f"She owes Bob {number + 1} silver. She lives in Ferrow. She hums song {number}.",
                source_entity="#5" if number % 3 else "#6",
                audience=["#5"] if number % 4 == 0 else None,
            )
    for number in range(GOALS):
        mira.ai_goals.add(f"Mend net {number}.")
    line = "Ann says: the ferry leaves at noon with {} crowns of wool, and Bob owes me {} more."
    mira.assistant.conversation.append(
        [make_message("user", line.format(n, n + 1)) for n in range(LINES)]
    )


class TimedSlices(TimeSlices):
    """Slices that keep how long each stretch of work took, in ms; run by hand. ``busy`` is the
    processor's time, which is the same whatever else the machine does."""

    def __init__(self) -> None:
        self.runs: deque[Callable[[], None]] = deque()
        self.took: list[float] = []
        self.busy: list[float] = []
        super().__init__(self, SLICE_S)  # type: ignore[arg-type]

    def callLater(self, delay: float, work: Callable[[], None]) -> None:  # noqa: N802
        """Note that a slice wants to run."""
        self.runs.append(work)

    def run_all(self) -> None:
        """Run slices until nothing is left to do."""
        while self.runs:
            self.time(self.runs.popleft())

    def time(self, work: Callable[[], object]) -> None:
        """Do some work and keep how long it took."""
        began, busy = time.perf_counter(), time.thread_time()
        work()
        self.busy.append((time.thread_time() - busy) * 1_000)
        self.took.append((time.perf_counter() - began) * 1_000)


def test_a_pass_of_sleep(mira: Any, sheet: Callable[[str], Sheet]) -> None:
    from evennia_ai.ports.goal_records import Goals
    from evennia_ai.ports.journal import Journal, JournalArchive
    from evennia_ai.ports.profiles import EntityProfiles

    live_long(mira)
    recalls = mira.journal.recalls
    for shelf in (Journal, JournalArchive, EntityProfiles, Goals):
        shelf.drop(mira)  # as after a restart, when all of it has to be loaded
    mira.journal.recalls = recalls
    script = mira.assistant
    script.attributes.add("prune_keep_at_least", 100)
    script.attributes.add("max_context_tokens", 8_000)
    script.mind.settings.resolve()
    slices = TimedSlices()
    script.services.slices = slices
    script.ndb.mind = None  # made anew, with these slices
    fired: list[Any] = []
    slices.time(lambda: script.mind.sleep_pass.run().addBoth(fired.append))
    slices.run_all()
    while not fired:
        slices.time(lambda: script.services.clock.advance(TIME_S))
        slices.run_all()
    (results,) = fired
    done = {name for name, result in results.items() if result.get("success")}
    paper = sheet(f"Sleep, {ENTRIES:,} entries and {PEOPLE} people")
    paper.add("entries put away", results["episodic_prune"]["pruned"])
    paper.add("the pass, in all, of the processor's time", sum(slices.busy), "ms")
    paper.add_held("a stretch", slices.busy, p99_at_most=STRETCH_AT_MOST_MS)
    paper.add("a stretch by the clock, p99", percentile(slices.took, 99), "ms")
    assert results.keys() - done <= NOTHING_TO_DO | NEED_A_MODEL, results
    assert results["episodic_prune"]["pruned"] >= 400
    paper.check()
