"""P9, everything has an audience: a whisper reaches nobody else."""

from collections.abc import Iterable

from tests.invariants.evidence import Audience, EventRow, Evidence, RequestRow, Violation

PUBLIC = "public"


def check_confidence(evidence: Evidence) -> list[Violation]:
    """Check that no whisper is in a request for others, and that no other hears it."""
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
    """Return violations for the secrets that a request must not tell.

    The reply of a summary request is heard by nobody; one person must know all its secrets, since
    that person will be shown the summary.
    """
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
    """Check that no whisper is in a summary, a fact or a journal entry for others."""
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
    """Return who was told each secret, by its text."""
    secrets: dict[str, Audience] = {}
    for row in events:
        if row.secret:
            told = row.audience | {row.assistant}
            secrets[row.secret] = secrets.get(row.secret, frozenset()) | told
    return secrets
