"""P2, no act twice: each act has a stored intent, and happens once at most."""

import json
from collections import Counter, defaultdict

from tests.invariants.evidence import Evidence, Violation

SPEECH = frozenset({"say", "whisper"})


def check_intents(evidence: Evidence) -> list[Violation]:
    """Check that each deed has an intent, each intent an outcome, and each outcome is true."""
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
    """Check that no act is done twice for one event, unless its tool is safe to retry."""
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
    """Check that one turn at most answers an utterance; excuses do not count."""
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
    """Check that no act of unknown outcome runs again for the same events."""
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
    """Check that no turn acts after it lost its lease."""
    return [
        Violation("P2", deed.assistant, f"{deed.name}({deed.arguments}) was done without a lease")
        for deed in evidence.deeds
        if deed.lease_held is False
    ]


def canonical(arguments: str) -> str:
    """Return JSON arguments with sorted keys, so that equal ones compare equal."""
    try:
        return json.dumps(json.loads(arguments or "{}"), sort_keys=True)
    except ValueError:
        return arguments
