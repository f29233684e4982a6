"""What a day of play leaves behind, and what must hold.

The rows and most checks are those of the crash campaigns. What a player had forgotten is left out
of them, and checked apart. So are turns during which the clock was set: their times mean nothing.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.e2e.crash.evidence import EXCUSE_END, MARK, check_screens, collect, of, read_journal
from tests.e2e.day.checks import (
    check_explained,
    check_log,
    check_lonely,
    check_requests,
    check_secrets_on_screens,
    check_shown,
    check_sums,
    check_things,
    check_words_are_gone,
    dbrefs,
)
from tests.e2e.day.course import Day
from tests.invariants import (
    CHECKS,
    EventRow,
    Evidence,
    TurnRow,
    Violation,
    check_append_only,
    check_records,
)
from tests.invariants.acts import check_lease, check_nothing_twice, check_one_answer
from tests.invariants.confidence import check_confidence_of_memory
from tests.invariants.turns import check_nothing_after_the_end, check_one_turn_at_a_time
from tests.invariants.words import check_words_only

# What holds at any moment; the other checks are for a game at rest.
AT_ANY_TIME = (
    check_nothing_twice, check_one_answer, check_lease, check_confidence_of_memory,
    check_words_only, check_one_turn_at_a_time, check_nothing_after_the_end,
)  # fmt: skip
OVERHEARD, FORGOTTEN = "overheard", "forgotten"
MOST_OPEN = 60  # turns at a time
HEARD = "SELECT id, speaker, turn_id FROM evennia_ai_event"


@dataclass(frozen=True)
class Gone:
    """What was forgotten: marks, and the numbers of events and turns that had to do with them.

    ``echoes`` are the marks in what was said in these turns, also of other players' lines.
    ``people`` are the dbrefs of the forgotten: with somebody who said nothing, the answers go in
    whose turn an arrival of theirs was noted.
    """

    marks: frozenset[str] = frozenset()
    events: frozenset[int] = frozenset()
    turns: frozenset[int] = frozenset()
    echoes: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()

    def holds(self, text: str) -> bool:
        """Return True if a text has a forgotten mark."""
        return bool(self.marks) and not self.marks.isdisjoint(MARK.findall(text))

    def echoes_in(self, text: str) -> bool:
        """Return True if a text may be a copy of what was said in these turns, or an answer to it.

        An excuse, and what the stand-in says, has no mark.
        """
        marks = MARK.findall(text)
        return bool(self.people) and (not marks or not self.echoes.isdisjoint(marks))


def what_is_gone(day: Day, evidence: Evidence, heard: Mapping[int, tuple[str, int]]) -> Gone:
    """Return what was forgotten so far, with every turn that it had a part in.

    ``heard`` are the speaker and the turn, 0 for none, of all events that were ever seen.
    """
    marks = frozenset[str]().union(*(one.marks for one in day.forgotten))
    gone, people = Gone(marks), dbrefs(day)
    last = {people[one.who]: one.last_event for one in day.forgotten}
    events = {number for number, (who, _turn) in heard.items() if number <= last.get(who, 0)}
    events |= {put.event_id for put in evidence.puts if gone.holds(put.text)}
    events |= {row.id for row in evidence.events if gone.holds(row.text)}
    turns = {heard[number][1] for number in events if number in heard} - {0}
    for record in of(read_journal(day.game), "turn"):
        if not events.isdisjoint(record["events"]):
            turns.add(record["turn_id"])
    turns |= {m.turn_id for m in evidence.messages if m.turn_id and gone.holds(m.content)}
    turns |= {turn_of(act.call_id) for act in evidence.deeds if gone.holds(act.text)}
    events |= {number for number, (_who, turn) in heard.items() if turn in turns}
    # A retried event is of its last turn, its message of the first.
    events |= {m.event_id for m in evidence.messages if m.event_id and m.turn_id in turns}
    echoes = {
        mark
        for deed in evidence.deeds
        if turn_of(deed.call_id) in turns
        for mark in MARK.findall(deed.text)
    }
    return Gone(marks, frozenset(events), frozenset(turns), frozenset(echoes), frozenset(last))


def turn_of(call_id: str) -> int:
    """Return the turn that a call's id names; its row may be gone."""
    return int(call_id[: -len(EXCUSE_END)], 36)


def without(evidence: Evidence, gone: Gone) -> Evidence:
    """Return the rows that have nothing to do with what was forgotten."""
    if gone == Gone():
        return evidence
    return replace(
        evidence,
        puts=[
            row
            for row in evidence.puts
            if row.event_id not in gone.events and not gone.echoes_in(row.text)
        ],
        events=[
            row
            for row in evidence.events
            if row.id not in gone.events and not gone.echoes_in(row.text)
        ],
        turns=[row for row in evidence.turns if row.id not in gone.turns],
        acts=[row for row in evidence.acts if row.turn_id not in gone.turns],
        messages=[
            row
            for row in evidence.messages
            if row.turn_id not in gone.turns
            and row.event_id not in gone.events
            and not (row.event_id and gone.echoes_in(row.content))
        ],
        deeds=[row for row in evidence.deeds if row.turn_id and row.turn_id not in gone.turns],
        # The journal holds the entries of a compaction a moment, or a start, after it.
        compactions=[replace(row, count=None, memories={}) for row in evidence.compactions],
    )


def at_rest(row: EventRow, forgetting: bool) -> EventRow:
    """Return an event; one that waits for its listener's next turn is at rest, too.

    A forgetting empties the reasons of many events, since these may quote somebody.
    """
    if row.state == OVERHEARD:
        return replace(row, state="noted")
    return replace(row, reason=row.reason or FORGOTTEN) if forgetting else row


def timed(turn: TurnRow, jumps: Iterable[tuple[int, int]]) -> TurnRow:
    """Return a turn such that only those between the same two jumps of the clock compare."""
    return replace(turn, epoch=turn.epoch + sum(turn.id > last for _first, last in jumps))


class Judge:
    """Checks the promises of a day; what it saw once must not change later.

    ``found`` are the violations so far, ``counts`` the rows of the last look.
    """

    def __init__(self) -> None:
        self.found: list[Violation] = []
        self.seen = Evidence()
        self.heard: dict[int, tuple[str, int]] = {}
        self.counts: dict[str, int] = {}

    def look(self, day: Day) -> None:
        """Check what holds at any time."""
        evidence, _gone = self._gather(day)
        newest = max((turn.id for turn in evidence.turns), default=0)
        # The tables were not read in one moment: the newest turns are left out, as at a jump.
        self._run(AT_ANY_TIME, evidence, [*day.jumps, (newest, newest)])

    def judge(self, day: Day) -> list[Violation]:
        """Check a game at rest; return everything that was found since the morning."""
        evidence, gone = self._gather(day)
        self._run(CHECKS, evidence, day.jumps)
        players = day.players.values()
        self.found += check_screens(players, self.seen, day.cast.minds, gone.marks)
        self.found += check_secrets_on_screens(day, evidence)
        self.found += check_requests(day, evidence)
        self.found += check_words_are_gone(day, gone.marks)
        self.found += check_lonely(day)
        self.found += check_sums(day)
        self.found += check_things(day)
        self.found += check_shown(day)
        self.found += check_log(day)
        self.found += check_explained(day, evidence)
        return list(dict.fromkeys(self.found))

    def _gather(self, day: Day) -> tuple[Evidence, Gone]:
        """Read everything, and compare it with what was read before."""
        evidence = collect(day.game)  # type: ignore[arg-type]  # of any game with a journal
        for record in of(read_journal(day.game), "put"):
            self.heard.setdefault(record["event_id"], (record["speaker"], 0))
        for row in day.game.sql(HEARD):
            self.heard[row["id"]] = (row["speaker"], row["turn_id"] or 0)
        gone = what_is_gone(day, evidence, self.heard)
        now, before = without(evidence, gone), without(self.seen, gone)
        lost = check_append_only(before.messages, now.messages)
        self.found += lost
        self._tell_lost(
            before, now, {dbrefs(day)[one.who] for one in day.forgotten} if lost else ()
        )
        if not day.forgotten:  # summaries are rewritten after a forgetting, some of them later
            self.found += check_records(before.compactions, now.compactions)
        self.seen = evidence
        now.events = [at_rest(row, bool(day.forgotten)) for row in now.events]
        self.counts = {
            name: len(getattr(evidence, name))
            for name in ("puts", "turns", "acts", "messages", "deeds", "compactions")
        }
        return now, gone

    def _tell_lost(self, before: Evidence, now: Evidence, forgotten: Collection[str]) -> None:
        """Print which turns lost messages belong to, and whose events these had."""
        left = {(row.assistant, row.seq) for row in now.messages}
        turns = {row.turn_id for row in before.messages if (row.assistant, row.seq) not in left} - {
            None
        }
        for turn in sorted(turns) if forgotten else ():
            events = {n: who for n, (who, at) in self.heard.items() if at == turn}
            said = [deed.text for deed in before.deeds if deed.turn_id == turn]
            print(f"lost: turn {turn}, {events=}, {said=}, forgotten: {sorted(forgotten)}")

    def _run(
        self, checks: Iterable[Any], evidence: Evidence, jumps: Collection[tuple[int, int]]
    ) -> None:
        astride = {
            turn.id
            for turn in evidence.turns
            for first, last in jumps
            if first - MOST_OPEN < turn.id <= last
        }
        by_clock = replace(
            evidence,
            turns=[timed(t, jumps) for t in evidence.turns if t.id not in astride],
            # The time of a heard line is that of its event, which may be before the jump.
            messages=[m for m in evidence.messages if not m.event_id],
        )
        for check in checks:
            own = check in (check_one_turn_at_a_time, check_nothing_after_the_end)
            self.found += check(by_clock if own else evidence)
