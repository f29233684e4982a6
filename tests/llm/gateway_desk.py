"""A gateway with a scripted model and a clock, and what became of its calls."""

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.messages import LLMReply
from evennia_ai.policy.limits.retry import GatewayLimits
from evennia_ai.ports import Caller, LLMRequest

PROFILE = ModelProfile("tavern", "scripted", "m")
DOWN = ProviderUnavailable("down")
ANN = frozenset({"#5"})


class Held:
    """A client whose every call stays open until the test ends it."""

    def __init__(self):
        self.open = {}
        self.asked = []
        self.cancelled = []

    def complete(self, request, profile):
        number = int(request.messages[0]["content"])
        self.asked.append(number)
        self.open[number] = Deferred(lambda _: self.cancelled.append(number))
        return self.open[number]

    @property
    def started(self):
        return list(self.open)


class Outcome:
    """What became of a call: every outcome its Deferred had, which should be one at most."""

    def __init__(self, deferred):
        self.deferred = deferred
        self.results = []
        deferred.addBoth(self.results.append)

    @property
    def error(self):
        (failure,) = self.results
        return failure.value


class Desk:
    """A gateway with a fake clock, no jitter unless told, and one held client."""

    def __init__(self, jitter=1.0, **limits):
        self.clock = Clock()
        self.client = Held()
        self.number = 0
        clients = {"scripted": self.client, "offline": self.client}
        self.gateway = ModelGateway(self.clock, clients, GatewayLimits(**limits), lambda: jitter)

    def ask(self, deadline=20.0, profile=PROFILE, tokens=0, max_tokens=0, **caller):
        request = LLMRequest(
            [{"role": "user", "content": str(self.number)}],
            tokens=tokens,
            max_tokens=max_tokens,
            caller=Caller(**caller),
        )
        self.number += 1
        deadline_at = self.clock.seconds() + deadline
        return Outcome(self.gateway.complete(request, profile, deadline_at))

    def answer(self, number, usage=None):
        self.client.open.pop(number).callback(LLMReply("hi", usage=usage))

    def fail(self, number, error=DOWN):
        self.client.open.pop(number).errback(error)
