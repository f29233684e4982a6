"""A stub provider that also takes ``{"fault": name}`` as a reply and ``faults`` as an order.

Run ``python -m tests.provider.faulty`` with the options of `evennia_ai.testing.provider`.
"""

from __future__ import annotations

import sys
import time
from typing import IO, Any

from evennia_ai.testing import provider
from evennia_ai.testing.stub_replies import Body, Reply
from tests.provider.faults import Mix, check_fault, draw_fault, expand_fault, read_mix


class FaultyOrders(provider.Orders):
    """Orders that may name faults; each fault that is played is written to the log."""

    known = provider.ORDERS | {"faults"}

    def __init__(self, log: IO[str] | None = None) -> None:
        super().__init__(log)
        self.faults = Mix()

    def update(self, orders: dict[str, Any]) -> None:
        """Replace the orders that are named; raises ValueError for what makes no sense."""
        faults = read_mix(orders["faults"]) if "faults" in orders else self.faults
        super().update(orders)
        self.faults = faults

    def check(self, reply: Reply) -> None:
        """Raise ValueError for a reply of no known kind, or a fault there is not."""
        if "fault" in reply:
            check_fault(reply)
        else:
            super().check(reply)

    def next_reply(self, body: Body) -> Reply:
        """Return the queue's next reply, else the mix's fault, else what any provider answers."""
        drawn = None if self.queue else draw_fault(self.faults, self.number)
        reply = drawn or super().next_reply(body)
        if "fault" in reply:
            self.write({"number": self.number, "fault": reply["fault"]})
        return reply

    def play(self, reply: Reply, body: Body, number: int) -> Reply:
        """Return the reply that plays a fault; any other as it is."""
        return expand_fault(reply, body, number, time.time())


if __name__ == "__main__":
    provider.main(sys.argv[1:], FaultyOrders)
