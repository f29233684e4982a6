"""A character with a real path to a model: engine, gateway, client, and HTTP on loopback.

Only the world is a stand-in, and the clock is a fake.
"""

from datetime import UTC, datetime
from functools import partial
from queue import Empty
from types import SimpleNamespace

import pytest
from pydantic import BaseModel
from twisted.internet.defer import Deferred
from twisted.logger import formatEvent, globalLogPublisher
from twisted.python.failure import Failure

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.policy.limits.retry import GatewayLimits
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import LLMRequest
from evennia_ai.tools.base import tool
from evennia_ai.tools.registry import ToolRegistry
from tests.game import conftest as scene
from tests.llm import conftest as shared
from tests.minds import Keeper, MemoryMind

# A whole game, of the game's own tests.
service, model, game, tavern = scene.service, scene.model, scene.game, scene.tavern
mira, ann, bob, admin = scene.mira, scene.ann, scene.bob, scene.admin
# The same fixtures as in the client's own tests.
eventually = shared.eventually
loop_thread, transport = shared.loop_thread, shared.transport
provider = shared.provider
provider_process = shared.provider_process
pump = shared.pump

KEY = "4f1c9e77-a2b8-tavern"
DEADLINE_S = 20.0
QUIET_S = 120.0


class Words(BaseModel):
    """What to say."""

    text: str


class Thing(BaseModel):
    """What to look at."""

    target: str = ""


class Nothing(BaseModel):
    """No arguments."""


class Hall:
    """A game's tools, checked by the real registry; `said` holds what players hear."""

    def __init__(self):
        self.said = []
        self.looked = []

    def registry(self):
        @tool("say", category="final")
        def say(context, arguments: Words):
            """Say something."""
            self.said.append(spoken_words(arguments.text, "Mira", 1_000))
            return "You said it."

        @tool("look", world=False)
        def look(context, arguments: Thing):
            """Look at something."""
            self.looked.append(arguments.target)
            return f"You see {arguments.target}."

        @tool("noop", category="final", world=False)
        def noop(context, arguments: Nothing):
            """Do nothing."""
            return "Done."

        return ToolRegistry([say, look, noop])


class Body(Keeper):
    """A stand-in for a character without permissions, with what the registry uses."""

    is_superuser = False

    def __init__(self):
        super().__init__("Mira", partial(datetime.now, UTC))
        self.locks = SimpleNamespace(cache_lock_bypass=lambda body: None, lock_bypass=False)
        self.permissions = SimpleNamespace(check=lambda permission: False)


class Road:
    """A character with a real path to the stub provider."""

    def __init__(self, pump, loop_thread, provider):
        self.pump = pump
        self.provider = provider
        self.hall = Hall()
        self.script = MemoryMind(None, AssistantConfig(turn_deadline=DEADLINE_S), character=Body())
        self.script.settings.profile = ModelProfile(
            "tavern", "openai", "stub", provider.base_url, "STUB_KEY", stream=False
        )
        self.clock = self.script.services.clock
        self.client = OpenAIClient(loop_thread, {"STUB_KEY": KEY})
        self.script.services.toolbox = self.hall.registry()
        self.pauses = []
        self.limit()

    def limit(self, **limits):
        """Set other limits of the gateway; its retries wait without jitter."""
        clients = {"openai": self.client}
        self.gateway = ModelGateway(
            self.clock, clients, GatewayLimits(**limits), jitter=lambda: 0.0
        )
        self.script.services.gateway = self.gateway
        self.script.rebuild()

    # --- asking the gateway ------------------------------------------------------------------

    def ask(self, deadline_s=DEADLINE_S):
        """Send one request; return its Deferred."""
        request = LLMRequest(
            [{"role": "user", "content": "Ann says: hello"}],
            tools=[{"type": "function", "function": {"name": name}} for name in ("look", "say")],
        )
        return self.gateway.complete(
            request, self.script.mind.settings.profile, self.clock.seconds() + deadline_s
        )

    def outcome(self, deferred: Deferred):
        """Return a call's outcome: a reply or an error. The clock goes on during pauses."""
        found = []
        deferred.addBoth(found.append)
        while not found:
            if self.gateway.lanes.in_flight:
                self.run_one_job()
            else:
                self.pass_time()
        return found[0].value if isinstance(found[0], Failure) else found[0]

    def run_one_job(self):
        """Wait for results of the loop's thread."""
        try:
            function, args = self.pump.jobs.get(timeout=QUIET_S)
        except Empty:
            pytest.fail("the provider never answered")
        function(*args)

    def pass_time(self):
        """Advance the clock to the next delayed call."""
        due = min(call.getTime() for call in self.clock.getDelayedCalls())
        pause = due - self.clock.seconds()
        self.pauses.append(round(pause, 3))
        self.clock.advance(pause)

    # --- talking to the character ------------------------------------------------------------

    def hears(self, text):
        """Say something to the character, wait for the end of the turn and return it."""
        self.script.hears(text)
        turns = self.outcome(self.script.mind.turn_runner.answer_all())
        if isinstance(turns, Exception):
            raise turns
        return self.script.mind.turns.turns[-1]

    @property
    def acts(self):
        """Return the state and name of each tool call."""
        return [(act.state, act.call.name) for act in self.script.mind.turns.acts]

    def results(self):
        """Return all tool results so far, as the model sees them."""
        log = self.script.conversation.messages
        return [message["content"] for message in log if message["role"] == "tool"]


@pytest.fixture
def road(pump, loop_thread, provider):
    return Road(pump, loop_thread, provider)


@pytest.fixture
def logged():
    """Collect the formatted log lines of the test."""
    lines = []

    def watch(event):
        lines.append(formatEvent(event))
        if "log_failure" in event:
            lines.append(event["log_failure"].getTraceback())

    globalLogPublisher.addObserver(watch)
    yield lines
    globalLogPublisher.removeObserver(watch)
