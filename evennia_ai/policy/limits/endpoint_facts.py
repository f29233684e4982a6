"""What is known of an endpoint and a model, and its form as stored data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from evennia_ai.policy.limits.speed import UNKNOWN, Speed, has_changed
from evennia_ai.policy.request_forms.form import FORMS


@dataclass(frozen=True)
class EndpointFacts:
    """What replies and probes told about one model of one endpoint."""

    window: int | None = None  # the context window in tokens, None if unknown
    form: str = ""  # the request form that the probe found (one of `FORMS`), empty if unknown
    system: bool | None = None  # True if a system message is accepted, None if unknown
    speed: Speed = UNKNOWN
    answered: bool = False  # True if it has answered since the server start; never stored


NOTHING_KNOWN = EndpointFacts()


def should_store(stored: EndpointFacts, facts: EndpointFacts) -> bool:
    """Return True if the facts differ from the stored ones by more than a little speed."""
    told, known = ((one.window, one.form, one.system) for one in (stored, facts))
    return told != known or has_changed(stored.speed, facts.speed)


def stored_facts(facts: EndpointFacts) -> dict[str, object]:
    """Return facts as plain data."""
    return {name: value for name, value in asdict(facts).items() if name != "answered"}


def read_facts(stored: object) -> EndpointFacts:
    """Return facts from stored data; an unusable value counts as unknown."""
    found = stored if isinstance(stored, Mapping) else {}
    speed = found.get("speed")
    speeds = speed if isinstance(speed, Mapping) else {}
    window, form, system = found.get("window"), found.get("form"), found.get("system")
    return EndpointFacts(
        window if type(window) is int and window > 0 else None,
        form if form in FORMS else "",
        system if isinstance(system, bool) else None,
        Speed(_rate(speeds.get("read")), _rate(speeds.get("written"))),
    )


def _rate(value: object) -> float | None:
    return value if isinstance(value, float) and 0 < value < float("inf") else None
