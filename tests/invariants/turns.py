"""P5, one turn at a time for each assistant."""

from tests.invariants.evidence import Evidence, MessageRow, RequestRow, TurnRow, Violation


def check_one_turn_at_a_time(evidence: Evidence) -> list[Violation]:
    """Check that in one process a turn begins only after the one before has ended."""
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
    """Check that in one process a request begins only after the one before has ended."""
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
    """Check that a turn has no effect after its end.

    The message with the outcome of an earlier act may come later.
    """
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
