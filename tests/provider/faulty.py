"""A stub provider with faults, and with a model that obeys every text.

Run ``python -m tests.provider.faulty`` with the options of `tests.provider.stub`. It takes
the orders of that module and these:

- ``faults``: a mix of faults, see `faults`;
- ``obedient``: ``{"canary": regex, "most_acts": 3}``, be the model of
  `obedient`, which does what any text of its prompt says.

It also takes the reply ``{"fault": name}``.
"""

import sys
import time
from typing import IO, Any

from tests.provider import stub as provider
from tests.provider.faults import Mix, check_fault, draw_fault, expand_fault, read_mix
from tests.provider.obedient import Obedience
from tests.provider.stub_replies import Body, Reply


class FaultyOrders(provider.Orders):
    """Orders that may name faults; each that is played is written to the log."""

    known = provider.ORDERS | {"faults", "obedient"}

    def __init__(self, log: IO[str] | None = None) -> None:
        super().__init__(log)
        self.faults = Mix()
        self.obedience: Obedience | None = None

    def update(self, orders: dict[str, Any]) -> None:
        """Replace the orders that are named; raises ValueError for what makes no sense."""
        faults = read_mix(orders["faults"]) if "faults" in orders else self.faults
        if "obedient" in orders:
            self.obedience = Obedience(**orders["obedient"]) if orders["obedient"] else None
        super().update(orders)
        self.faults = faults

    def check(self, reply: Reply) -> None:
        """Raise ValueError for a reply of no known kind, or an unknown fault."""
        if "fault" in reply:
            check_fault(reply)
        else:
            super().check(reply)

    def next_reply(self, body: Body) -> Reply:
        """Return the queue's next reply, else a fault of the mix, else what the model answers."""
        drawn = None
        if not self.queue:
            drawn = draw_fault(self.faults, self.number)
            drawn = drawn or (self.obedience and self.obedience.reply(body))
        reply = drawn or super().next_reply(body)
        if "fault" in reply:
            self.write({"number": self.number, "fault": reply["fault"]})
        return reply

    def play(self, reply: Reply, body: Body, number: int) -> Reply:
        """Return the reply that plays a fault."""
        return expand_fault(reply, body, number, time.time())


if __name__ == "__main__":
    provider.main(sys.argv[1:], FaultyOrders)
