"""A stub provider with faults, the habits of small models, and a server's speed and template.

Run ``python -m tests.provider.faulty`` with the options of `tests.provider.stub`. It takes
the orders of that module and these:

- ``faults``: a mix of faults, see `faults`;
- ``small_model``: ``{"rate": 0.7, "seed": 1, "names": [...]}``, a mix of the habits of `habits`;
- ``speed``: ``{"read_tokens_per_s": 140, "write_tokens_per_s": 35, "slots": 2}``; with slots, the
  cached tokens and timings of each request are reported;
- ``obedient``: ``{"canary": regex, "most_acts": 3}``, be the model of
  `obedient`, which does what any text of its prompt says;
- ``template``: one of `serving.TEMPLATES`; requests that it does not accept are refused.

It also takes these replies: ``{"fault": name}``, ``{"habit": name}``, and ``{"written_calls":
[{"name": "say", "arguments": {...}}], "as": form}`` with a form of `habits.WRITTEN`.
"""

from __future__ import annotations

import sys
import time
from typing import IO, Any

from tests.provider import stub as provider
from tests.provider.faults import Mix, check_fault, draw_fault, expand_fault, read_mix
from tests.provider.habits import SmallModel, check_habit, play_habit, read_small_model
from tests.provider.obedient import Obedience
from tests.provider.serving import PromptCache, Speed, check_template, serve, template_refusal
from tests.provider.stub_replies import Body, Reply

LOGGED = ("fault", "habit")


class FaultyOrders(provider.Orders):
    """Orders that may name faults and habits; each that is played is written to the log."""

    known = provider.ORDERS | {"faults", "small_model", "speed", "template", "obedient"}

    def __init__(self, log: IO[str] | None = None) -> None:
        super().__init__(log)
        self.faults = Mix()
        self.small_model = SmallModel()
        self.speed = Speed()
        self.cache = PromptCache(0)
        self.template = ""
        self.obedience: Obedience | None = None

    def update(self, orders: dict[str, Any]) -> None:
        """Replace the orders that are named; raises ValueError for what makes no sense."""
        faults = read_mix(orders["faults"]) if "faults" in orders else self.faults
        small_model = self.small_model
        if "small_model" in orders:
            small_model = read_small_model(orders["small_model"])
        speed = Speed(**orders["speed"]) if "speed" in orders else self.speed
        template = check_template(orders.get("template", self.template))
        if "obedient" in orders:
            self.obedience = Obedience(**orders["obedient"]) if orders["obedient"] else None
        super().update(orders)
        if "speed" in orders:
            self.cache = PromptCache(speed.slots)
        self.faults, self.small_model = faults, small_model
        self.speed, self.template = speed, template

    def check(self, reply: Reply) -> None:
        """Raise ValueError for a reply of no known kind, or an unknown fault or habit."""
        if "fault" in reply:
            check_fault(reply)
        elif not check_habit(reply):
            super().check(reply)

    def next_reply(self, body: Body) -> Reply:
        """Return the template's refusal, else the queue's next reply, else a fault or habit of the
        mixes, else what any provider answers."""
        refusal = template_refusal(body, self.template)
        if refusal is not None:
            return refusal
        drawn = None
        if not self.queue:
            drawn = draw_fault(self.faults, self.number) or self.small_model.draw(self.number)
            drawn = drawn or (self.obedience and self.obedience.reply(body))
        reply = drawn or super().next_reply(body)
        for kind in LOGGED:
            if kind in reply:
                self.write({"number": self.number, kind: reply[kind]})
        return reply

    def play(self, reply: Reply, body: Body, number: int) -> Reply:
        """Return the reply that plays a fault or habit, at the server's speed."""
        played = play_habit(expand_fault(reply, body, number, time.time()), body)
        cached = self.cache.read(body) if "raw" not in played else None
        if self.speed != Speed() and played.get("latency") is None:
            played = {**played, "latency": self.latency}
        return serve(played, body, number, self.speed, cached)


if __name__ == "__main__":
    provider.main(sys.argv[1:], FaultyOrders)
