"""The promises as checks over plain rows: what the tables hold, and what the world saw.

Each check takes `Evidence` of a game that has come to rest (nobody waits, nothing is under way)
and returns what breaks a promise, one `Violation` each; an empty list is a promise kept. The
simulation, the crash harness and any other harness fill in the same rows, each from what it can
see: a field left at None is not checked.

Everybody is named as in an audience, by dbref; a moment is any number that grows, such as unix
seconds.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

Audience = frozenset[str]

ENDS = frozenset({"answered", "excused", "noted", "expired"})
NAMED_BY_A_TURN = frozenset({"answered", "excused"})
PUBLIC = "public"
SPEECH = frozenset({"say", "whisper"})


@dataclass(frozen=True)
class Violation:
    """A promise broken: which, by whom, and how, in words."""

    promise: str
    assistant: str
    text: str

    def __str__(self) -> str:
        return f"{self.promise} {self.assistant}: {self.text}"


@dataclass(frozen=True)
class Put:
    """An utterance whose `put` returned: from here on it is promised."""

    assistant: str
    event_id: int
    text: str


@dataclass(frozen=True)
class EventRow:
    """One row of the inbox. ``secret`` is what of its text was told in confidence to ``audience``
    and the assistant, and stands in nothing else that was ever said; empty for room talk."""

    assistant: str
    id: int
    text: str
    state: str
    reason: str = ""
    turn_id: int | None = None
    secret: str = ""
    audience: Audience = frozenset()


@dataclass(frozen=True)
class TurnRow:
    """One turn. ``events`` are those it was opened for; ``epoch`` is its process."""

    assistant: str
    id: int
    epoch: int
    events: tuple[int, ...]
    began: float
    ended: float | None
    outcome: str = ""


@dataclass(frozen=True)
class ActRow:
    """An intent with its outcome; ``moment`` is when the intent was stored; ``logged`` is False
    where the conversation holds nothing of it, as of what is written down before talk goes."""

    assistant: str
    turn_id: int
    call_id: str
    name: str
    arguments: str
    world: bool
    state: str
    safe_to_retry: bool = False
    moment: float | None = None
    logged: bool = True


@dataclass(frozen=True)
class MessageRow:
    """One message of the log. ``calls`` are the ids of the calls it asks for; ``moment`` is when it
    was stored."""

    assistant: str
    seq: int
    role: str
    content: str
    event_id: int | None = None
    turn_id: int | None = None
    private: bool = False
    audience: Audience = frozenset()
    calls: tuple[str, ...] = ()
    call_id: str = ""
    moment: float | None = None


@dataclass(frozen=True)
class Deed:
    """Something that really happened in the world.

    ``events`` are those of the turn that did it; ``text`` all its words; ``heard_by`` everybody who
    noticed; ``excuse`` True for the fallback line; ``lease_held`` whether its turn might still act.
    """

    assistant: str
    name: str
    arguments: str
    call_id: str
    turn_id: int
    events: tuple[int, ...]
    text: str = ""
    heard_by: Audience = frozenset()
    excuse: bool = False
    safe_to_retry: bool = False
    lease_held: bool | None = None
    moment: float | None = None


@dataclass(frozen=True)
class RequestRow:
    """A request as a model got it.

    ``audience`` would hear the answer, by what the world knew; it is None where nobody would, since
    the reply becomes a summary. ``step`` counts the turn's requests from 1, and is 0 for a summary.
    ``moment`` and ``ended`` are when it was made and came to its end, in the process ``epoch``.
    """

    assistant: str
    turn_id: int
    step: int
    audience: Audience | None
    text: str
    epoch: int = 0
    moment: float | None = None
    ended: float | None = None


@dataclass(frozen=True)
class CompactionRow:
    """What moved the start of a view: messages up to ``upto_seq`` are summed up since then.

    ``count`` is how many it says to have summed up; ``parts`` are everything it keeps of them,
    summaries and facts, by who may know: ``public``, or dbrefs with commas between; ``entries``
    are what its summaries are in the journal, by id.
    """

    assistant: str
    id: int
    from_seq: int
    upto_seq: int
    undone: bool = False
    count: int | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ViewRow:
    """What a model would be shown of a log: the compaction whose marker comes first, None where
    there is none, and the messages after it."""

    assistant: str
    marker: int | None
    seqs: tuple[int, ...]


@dataclass(frozen=True)
class EntryRow:
    """Something a character wrote down; ``audience`` alone may know it, None is everybody."""

    assistant: str
    text: str
    audience: Audience | None = None
    id: str = ""


@dataclass
class Evidence:
    """Everything there is to judge."""

    puts: list[Put] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    turns: list[TurnRow] = field(default_factory=list)
    acts: list[ActRow] = field(default_factory=list)
    messages: list[MessageRow] = field(default_factory=list)
    deeds: list[Deed] = field(default_factory=list)
    requests: list[RequestRow] = field(default_factory=list)
    compactions: list[CompactionRow] = field(default_factory=list)
    views: list[ViewRow] = field(default_factory=list)
    entries: list[EntryRow] = field(default_factory=list)


Check = Callable[[Evidence], list[Violation]]


# --- P1: no lost speech ----------------------------------------------------------------------


def check_nothing_is_lost(evidence: Evidence) -> list[Violation]:
    """Whatever was put into the inbox is there and has come to a stated end."""
    found = []
    rows = {(row.assistant, row.id): row for row in evidence.events}
    for put in evidence.puts:
        row = rows.get((put.assistant, put.event_id))
        if row is None or row.text != put.text:
            found.append(Violation("P1", put.assistant, f"{put.text!r} is not in the inbox"))
    for row in evidence.events:
        if row.state not in ENDS:
            found.append(Violation("P1", row.assistant, f"{row.text!r} is {row.state} for ever"))
        elif row.state == "expired" and not row.reason:
            found.append(Violation("P1", row.assistant, f"{row.text!r} expired without a reason"))
    return found


def check_logged_once(evidence: Evidence) -> list[Violation]:
    """What a turn took is in the conversation exactly once, and what none took is not."""
    found = []
    logged = Counter((m.assistant, m.event_id) for m in evidence.messages if m.event_id)
    for row in evidence.events:
        times = logged[row.assistant, row.id]
        taken = row.turn_id is not None
        if times != int(taken):
            words = f"{row.text!r} is logged {times} times, and a turn took it: {taken}"
            found.append(Violation("P1", row.assistant, words))
    return found


def check_named_by_turns(evidence: Evidence) -> list[Violation]:
    """The turn that answered an utterance named it: in its row, and to the model it asked."""
    found = []
    turns = {(turn.assistant, turn.id): turn for turn in evidence.turns}
    texts = {(row.assistant, row.id): row.text for row in evidence.events}
    for row in evidence.events:
        turn = turns.get((row.assistant, row.turn_id or 0))
        if row.state in NAMED_BY_A_TURN and (turn is None or row.id not in turn.events):
            words = f"{row.text!r} was {row.state} by turn {row.turn_id}, which did not name it"
            found.append(Violation("P1", row.assistant, words))
    for request in evidence.requests:
        turn = turns.get((request.assistant, request.turn_id))
        named = turn.events if turn is not None and request.step == 1 else ()
        for event_id in named:
            text = texts.get((request.assistant, event_id), "")
            if text not in request.text:
                words = f"turn {request.turn_id} did not tell its model of {text!r}"
                found.append(Violation("P1", request.assistant, words))
    return found


# --- P2: no act twice ------------------------------------------------------------------------


def check_intents(evidence: Evidence) -> list[Violation]:
    """Every deed has its stored intent, every intent its outcome, and no outcome is made up."""
    found = []
    intents = {(act.assistant, act.call_id): act for act in evidence.acts}
    happened = {(deed.assistant, deed.call_id) for deed in evidence.deeds}
    for deed in evidence.deeds:
        act = intents.get((deed.assistant, deed.call_id))
        if act is None or (act.name, act.arguments) != (deed.name, deed.arguments):
            words = f"{deed.name}({deed.arguments}) was done without a stored intent"
            found.append(Violation("P2", deed.assistant, words))
    for act in evidence.acts:
        if act.state == "intended":
            words = f"{act.name}({act.arguments}) has no outcome for ever"
            found.append(Violation("P2", act.assistant, words))
        if act.world and act.state == "done" and (act.assistant, act.call_id) not in happened:
            words = f"{act.name}({act.arguments}) counts as done and was not"
            found.append(Violation("P2", act.assistant, words))
    return found


def check_nothing_twice(evidence: Evidence) -> list[Violation]:
    """No world act is done twice for one event, unless its tool may be."""
    times: Counter[tuple[str, int, str, str]] = Counter()
    for deed in evidence.deeds:
        if not deed.excuse and not deed.safe_to_retry:
            for event_id in deed.events:
                times[deed.assistant, event_id, deed.name, canonical(deed.arguments)] += 1
    return [
        Violation("P2", assistant, f"{name}({arguments}) was done {count} times for event {event}")
        for (assistant, event, name, arguments), count in times.items()
        if count > 1
    ]


def check_one_answer(evidence: Evidence) -> list[Violation]:
    """An utterance is answered in one turn at most; excuses beside that may repeat."""
    answers: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for deed in evidence.deeds:
        if deed.name in SPEECH and not deed.excuse:
            for event_id in deed.events:
                answers[deed.assistant, event_id].add(deed.turn_id)
    return [
        Violation("P2", assistant, f"event {event} was answered in turns {sorted(turns)}")
        for (assistant, event), turns in answers.items()
        if len(turns) > 1
    ]


def check_unknown_stays_undone(evidence: Evidence) -> list[Violation]:
    """An act of unknown outcome is not run again for the same events."""
    found = []
    events = {(turn.assistant, turn.id): set(turn.events) for turn in evidence.turns}
    for act in evidence.acts:
        if act.state != "unknown" or act.safe_to_retry or not act.world:
            continue
        concerned = events.get((act.assistant, act.turn_id), set())
        key = (act.assistant, act.name, canonical(act.arguments))
        for deed in evidence.deeds:
            again = deed.turn_id > act.turn_id and concerned & set(deed.events) and not deed.excuse
            if again and (deed.assistant, deed.name, canonical(deed.arguments)) == key:
                words = f"{act.name}({act.arguments}) of unknown outcome was done again"
                found.append(Violation("P2", act.assistant, words))
    return found


def check_lease(evidence: Evidence) -> list[Violation]:
    """Nothing is done for a turn that lost its lease."""
    return [
        Violation("P2", deed.assistant, f"{deed.name}({deed.arguments}) was done without a lease")
        for deed in evidence.deeds
        if deed.lease_held is False
    ]


def canonical(arguments: str) -> str:
    """Arguments as one spelling, whatever the order of their keys."""
    try:
        return json.dumps(json.loads(arguments or "{}"), sort_keys=True)
    except ValueError:
        return arguments


# --- P3: the log is append-only --------------------------------------------------------------


def check_order_of_log(evidence: Evidence) -> list[Violation]:
    """Each assistant's messages are numbered upwards."""
    found = []
    last: dict[str, int] = {}
    for message in evidence.messages:
        if message.seq <= last.get(message.assistant, 0):
            words = f"message {message.seq} stands behind {last[message.assistant]}"
            found.append(Violation("P3", message.assistant, words))
        last[message.assistant] = message.seq
    return found


def check_append_only(before: Sequence[MessageRow], after: Sequence[MessageRow]) -> list[Violation]:
    """Every message of an earlier look is still there as it was."""
    now = {(row.assistant, row.seq): row for row in after}
    return [
        Violation("P3", row.assistant, f"message {row.seq} {row.content!r} was changed or removed")
        for row in before
        if now.get((row.assistant, row.seq)) != row
    ]


def check_records(
    before: Sequence[CompactionRow], after: Sequence[CompactionRow]
) -> list[Violation]:
    """Of compactions, nothing ever changes but that they are undone."""
    now = {row.id: row for row in after}
    return [
        Violation("P3", row.assistant, f"compaction {row.id} was changed or removed")
        for row in before
        if now.get(row.id) not in (row, replace(row, undone=True))
    ]


def check_deeds_are_logged(evidence: Evidence) -> list[Violation]:
    """What the character did and knows it did is in its conversation, with its result, once."""
    found = []
    asked = Counter((m.assistant, call) for m in evidence.messages for call in m.calls)
    told = Counter((m.assistant, m.call_id) for m in evidence.messages if m.call_id)
    said = {(m.assistant, m.turn_id, m.content) for m in evidence.messages if not m.calls}
    words = {(deed.assistant, deed.call_id): deed.text for deed in evidence.deeds}
    for act in evidence.acts:
        key = (act.assistant, act.call_id)
        if act.state != "done" or (act.assistant, act.turn_id, words.get(key)) in said:
            continue
        if not act.logged and not asked[key] and not told[key]:
            continue
        if (asked[key], told[key]) != (1, 1):
            text = f"{act.name}({act.arguments}) was done and is not in the conversation once"
            found.append(Violation("P3", act.assistant, text))
    return found


def check_nothing_falls_between(evidence: Evidence) -> list[Violation]:
    """Each compaction in force begins with the very next message after the one before, and takes
    out of view what it sums up, so that every message is either summed up or in view."""
    found = []
    seqs: defaultdict[str, list[int]] = defaultdict(list)
    for message in evidence.messages:
        seqs[message.assistant].append(message.seq)
    last: dict[str, int] = {}
    for row in evidence.compactions:
        if row.undone:
            continue
        passed = [
            seq for seq in seqs[row.assistant] if last.get(row.assistant, 0) < seq < row.from_seq
        ]
        if passed:
            words = f"compaction {row.id} leaves out messages {passed[0]} to {passed[-1]}"
            found.append(Violation("P3", row.assistant, words))
        gone = sum(row.from_seq <= seq <= row.upto_seq for seq in seqs[row.assistant])
        if row.count not in (None, gone):
            words = f"compaction {row.id} sums {row.count} messages up and takes {gone} out of view"
            found.append(Violation("P3", row.assistant, words))
        last[row.assistant] = row.upto_seq
    return found


def check_views(evidence: Evidence) -> list[Violation]:
    """What a model is shown is the marker of the compaction in force, and every message after what
    it sums up, each once."""
    found = []
    in_force = {row.assistant: row for row in evidence.compactions if not row.undone}
    for view in evidence.views:
        row = in_force.get(view.assistant)
        first = row.upto_seq if row else 0
        log = (message for message in evidence.messages if message.assistant == view.assistant)
        meant = tuple(message.seq for message in log if message.seq > first)
        marker = row.id if row else None
        if (view.marker, view.seqs) != (marker, meant):
            words = f"{view.marker} and {view.seqs} are in view, not {marker} and {meant}"
            found.append(Violation("P3", view.assistant, words))
    return found


def check_journal_of_summaries(evidence: Evidence) -> list[Violation]:
    """The summaries in force are in the journal, too, in their own or an older entry of the same
    words; and none that was undone is."""
    found = []
    texts = {(entry.assistant, entry.text) for entry in evidence.entries}
    ids = {(entry.assistant, entry.id) for entry in evidence.entries}
    for row in evidence.compactions:
        for entry_id, text in row.entries.items():
            if row.undone and (row.assistant, entry_id) in ids:
                words = f"the journal still has {entry_id} of a compaction that was undone"
                found.append(Violation("P3", row.assistant, words))
            if not row.undone and (row.assistant, text) not in texts:
                words = f"the journal has nothing of compaction {row.id}"
                found.append(Violation("P3", row.assistant, words))
    return found


# --- P4: progress ------------------------------------------------------------------------------


def check_compactions_progress(evidence: Evidence) -> list[Violation]:
    """Each compaction in force takes what came after the one before, and something at all."""
    found = []
    last: dict[str, int] = {}
    for row in evidence.compactions:
        if row.undone:
            continue
        if not last.get(row.assistant, 0) < row.from_seq <= row.upto_seq:
            words = f"compaction {row.id} of {row.from_seq} to {row.upto_seq} made no progress"
            found.append(Violation("P4", row.assistant, words))
        last[row.assistant] = row.upto_seq
    return found


# --- P5: one turn at a time ------------------------------------------------------------------


def check_one_turn_at_a_time(evidence: Evidence) -> list[Violation]:
    """In one process, a turn begins only when the one before has ended."""
    found = []
    last: dict[tuple[str, int], TurnRow] = {}
    for turn in sorted(evidence.turns, key=lambda row: row.began):
        earlier = last.get((turn.assistant, turn.epoch))
        if earlier is not None and (earlier.ended is None or earlier.ended > turn.began):
            words = f"turn {turn.id} began while turn {earlier.id} was open"
            found.append(Violation("P5", turn.assistant, words))
        last[turn.assistant, turn.epoch] = turn
    return found


def check_one_thought_at_a_time(evidence: Evidence) -> list[Violation]:
    """In one process, a model is asked only when the request before has come to an end."""
    found = []
    last: dict[tuple[str, int], RequestRow] = {}
    for request in evidence.requests:
        if request.moment is None:
            continue
        earlier = last.get((request.assistant, request.epoch))
        if earlier is not None and (earlier.ended is None or earlier.ended > request.moment):
            words = f"turn {request.turn_id} asked while turn {earlier.turn_id} had no reply"
            found.append(Violation("P5", request.assistant, words))
        last[request.assistant, request.epoch] = request
    return found


def check_nothing_after_the_end(evidence: Evidence) -> list[Violation]:
    """A turn that is over has no effect any more: no deed, and no message but the outcome of what
    was begun before."""
    found = []
    ended = {(turn.assistant, turn.id): turn.ended for turn in evidence.turns}
    begun = {(act.assistant, act.call_id): act.moment for act in evidence.acts}
    said = {(deed.assistant, deed.turn_id, deed.text): deed.moment for deed in evidence.deeds}
    for effect in (*evidence.deeds, *evidence.messages):
        end = ended.get((effect.assistant, effect.turn_id or 0))
        moment = effect.moment
        if isinstance(effect, MessageRow):
            call_id = effect.call_id or "".join(effect.calls)
            told = said.get((effect.assistant, effect.turn_id or 0, effect.content))
            moment = begun.get((effect.assistant, call_id), told) or moment
        if end is not None and moment is not None and moment > end:
            words = f"turn {effect.turn_id} was over when it brought about {effect}"
            found.append(Violation("P5", effect.assistant, words))
    return found


# --- P9: everything has an audience ----------------------------------------------------------


def check_confidence(evidence: Evidence) -> list[Violation]:
    """What was whispered is in no request whose answer others hear, and in nobody's ears."""
    found = []
    secrets = circles(evidence.events)
    for request in evidence.requests:
        told = [text for text in secrets if text in request.text]
        found += confidence_of_request(request, {text: secrets[text] for text in told})
    for deed in evidence.deeds:
        for text, circle in secrets.items():
            if text in deed.text and not deed.heard_by <= circle:
                words = f"{text!r} was heard by {sorted(deed.heard_by - circle)}"
                found.append(Violation("P9", deed.assistant, words))
    return found


def confidence_of_request(request: RequestRow, told: dict[str, Audience]) -> list[Violation]:
    """Of the secrets that a request tells, those that it must not. Where nobody hears the reply,
    all of them must be known to somebody, who will be shown the summary."""
    me = frozenset({request.assistant})
    if request.audience is None:
        common = frozenset.intersection(*told.values()) - me if told else None
        words = f"a summary mixes {sorted(told)}, which nobody was told together"
        return [Violation("P9", request.assistant, words)] if common == frozenset() else []
    heard_by = sorted(request.audience)
    return [
        Violation("P9", request.assistant, f"{text!r} is in a request for {heard_by}")
        for text, circle in told.items()
        if not (heard_by and request.audience | me <= circle)
    ]


def check_confidence_of_memory(evidence: Evidence) -> list[Violation]:
    """What was whispered stands in no summary, among no facts and in no journal entry that others
    may be shown."""
    found = []
    secrets = circles(evidence.events)
    kept = [(entry.assistant, entry.text, entry.audience) for entry in evidence.entries]
    for row in evidence.compactions:
        for key, text in row.parts.items():
            kept.append((row.assistant, text, None if key == PUBLIC else frozenset(key.split(","))))
    for assistant, text, audience in kept:
        for secret, circle in secrets.items():
            if secret in text and (audience is None or not audience <= circle):
                ears = "everybody" if audience is None else sorted(audience)
                found.append(Violation("P9", assistant, f"{secret!r} is remembered for {ears}"))
    return found


def circles(events: Iterable[EventRow]) -> dict[str, Audience]:
    """Who may know of each secret: everybody who was told it."""
    secrets: dict[str, Audience] = {}
    for row in events:
        if row.secret:
            told = row.audience | {row.assistant}
            secrets[row.secret] = secrets.get(row.secret, frozenset()) | told
    return secrets


CHECKS: tuple[Check, ...] = (
    check_nothing_is_lost,
    check_logged_once,
    check_named_by_turns,
    check_intents,
    check_nothing_twice,
    check_one_answer,
    check_unknown_stays_undone,
    check_lease,
    check_order_of_log,
    check_deeds_are_logged,
    check_nothing_falls_between,
    check_views,
    check_journal_of_summaries,
    check_compactions_progress,
    check_one_turn_at_a_time,
    check_one_thought_at_a_time,
    check_nothing_after_the_end,
    check_confidence,
    check_confidence_of_memory,
)


def violations(evidence: Evidence) -> list[Violation]:
    """Everything that breaks a promise."""
    return [violation for check in CHECKS for violation in check(evidence)]
