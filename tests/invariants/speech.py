"""P1, no lost speech: what was heard is stored, and comes to a stated end."""

from collections import Counter

from tests.invariants.evidence import Evidence, Violation

ENDS = frozenset({"answered", "excused", "noted", "expired"})
NAMED_BY_A_TURN = frozenset({"answered", "excused"})


def check_nothing_is_lost(evidence: Evidence) -> list[Violation]:
    """Check that every event that was put is in the inbox and has a stated end."""
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
    """Check that an event is in the conversation once if a turn took it, and never otherwise."""
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
    """Check that the turn that answered an event names it, in its row and to its model."""
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
