"""The faults a stub provider can play: what endpoints and models were seen to do, and worse.

A reply ``{"fault": "hang"}`` plays one, wherever a reply can stand: in the queue, behind a rule,
or at a page. Some take options, as in ``{"fault": "rate_limited", "seconds": 5}``. An order
``{"faults": {"rate": 0.2, "seed": 7, "names": ["hang", "reset"]}}`` mixes them in at random, in a
way that the seed and a request's number alone decide. Pure, but for the time it is given.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.provider.model_faults import MODEL
from tests.provider.stub_replies import Body, Reply
from tests.provider.transport_faults import STREAM, TRANSPORT, Asked, Build

MIXED: dict[str, Build] = {**TRANSPORT, **MODEL}  # a new name would change what each seed draws
FAULTS: dict[str, Build] = {**MIXED, **STREAM}


def check_fault(reply: Reply) -> None:
    """Raise ValueError for a fault that there is not."""
    if reply["fault"] not in FAULTS:
        known = ", ".join(sorted(FAULTS))
        raise ValueError(f"There is no fault '{reply['fault']}'; there are: {known}.")


def expand_fault(reply: Reply, body: Body, number: int, now: float) -> Reply:
    """A reply that names a fault, as the reply that plays it; any other as it is."""
    if "fault" not in reply:
        return reply
    options = {name: value for name, value in reply.items() if name not in ("fault", "latency")}
    played = FAULTS[reply["fault"]](Asked(body, number, now, options))
    return {**played, "latency": reply.get("latency")}


@dataclass(frozen=True)
class Mix:
    """Which share of the requests meets a fault, and which faults these are."""

    rate: float = 0.0
    seed: int = 0
    names: tuple[str, ...] = tuple(MIXED)


def read_mix(order: Mapping[str, Any]) -> Mix:
    """A mix from an order; raises ValueError where it makes no sense."""
    mix = Mix(**{**order, "names": tuple(order.get("names", Mix.names))})
    for name in mix.names:
        check_fault({"fault": name})
    if not 0 <= mix.rate <= 1 or not mix.names:
        raise ValueError("A mix of faults needs a rate from 0 to 1, and names.")
    return mix


def draw_fault(mix: Mix, number: int) -> Reply | None:
    """The fault that a mix has for a request, or None: always the same for the same number."""
    dice = Random(f"{mix.seed}:{number}")  # dice, not keys
    if dice.random() >= mix.rate:
        return None
    return {"fault": dice.choice(mix.names)}
