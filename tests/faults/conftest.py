"""The way from a character to a model and back, with everything on it real but time: the engine,
the gateway, the client, HTTP on loopback. Only the world is a stand-in, and the clock a fake."""

from queue import Empty
from types import SimpleNamespace

import pytest
from pydantic import BaseModel
from twisted.internet.defer import Deferred
from twisted.logger import formatEvent, globalLogPublisher
from twisted.python.failure import Failure

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.llm.gateway import GatewayLimits, ModelGateway
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import LLMRequest, Scene
from evennia_ai.testing.memory_records import EmptyProfiles
from evennia_ai.testing.stand_ins import StandInScript
from evennia_ai.tools.base import tool
from evennia_ai.tools.registry import ToolRegistry
from evennia_ai.turn.answer_events import answer_events
from tests.llm import conftest as shared

# The same fixtures as in the client's own tests.
eventually = shared.eventually
loop_thread = shared.loop_thread
provider = shared.provider
provider_process = shared.provider_process
pump = shared.pump

KEY = "4f1c9e77-a2b8-tavern"
DEADLINE_S = 20.0
QUIET_S = 10.0


class Words(BaseModel):
    """What to say."""

    text: str


class Thing(BaseModel):
    """What to look at."""

    target: str = ""


class Nothing(BaseModel):
    """No arguments."""


class Hall:
    """Tools as a game's are, checked by the real registry; `said` is what players hear."""

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


class Body:
    """What the registry touches of a character: an ordinary one without rights."""

    key = "Mira"
    ai_profiles = EmptyProfiles()
    is_superuser = False

    def __init__(self):
        self.ndb = SimpleNamespace()
        self.locks = SimpleNamespace(cache_lock_bypass=lambda body: None, lock_bypass=False)
        self.permissions = SimpleNamespace(check=lambda permission: False)

    def at_ai_pre_act(self, name, arguments):
        return True


class Road:
    """A character with a real way to the stub provider."""

    def __init__(self, pump, loop_thread, provider):
        self.pump = pump
        self.provider = provider
        self.hall = Hall()
        self.script = StandInScript(None, AssistantConfig(turn_deadline=DEADLINE_S))
        self.script.character = Body()
        self.script.profile = ModelProfile(
            "tavern", "openai", "stub", provider.base_url, "STUB_KEY"
        )
        self.clock = self.script.services.clock
        self.client = OpenAIClient(loop_thread, {"STUB_KEY": KEY})
        self.script.services.toolbox = self.hall.registry()
        self.pauses = []
        self.limit()

    def limit(self, **limits):
        """Give the gateway other limits; its tries wait exactly as long as they were asked to."""
        clients = {"openai": self.client}
        self.gateway = ModelGateway(
            self.clock, clients, GatewayLimits(**limits), jitter=lambda: 0.0
        )
        self.script.services.gateway = self.gateway

    # --- asking the gateway ------------------------------------------------------------------

    def ask(self, deadline_s=DEADLINE_S):
        """Ask the gateway one thing, as the Deferred of the outcome."""
        request = LLMRequest(
            [{"role": "user", "content": "Ann says: hello"}],
            Scene("Mira", "", ()),
            tools=[{"type": "function", "function": {"name": name}} for name in ("look", "say")],
        )
        return self.gateway.complete(
            request, self.script.profile, self.clock.seconds() + deadline_s
        )

    def outcome(self, deferred: Deferred):
        """What a call comes to: a reply or an error. While the gateway pauses, time passes."""
        found = []
        deferred.addBoth(found.append)
        while not found:
            if self.gateway.in_flight:
                self.run_one_job()
            else:
                self.pass_time()
        return found[0].value if isinstance(found[0], Failure) else found[0]

    def run_one_job(self):
        """Wait for what the loop's thread has to hand over."""
        try:
            function, args = self.pump.jobs.get(timeout=QUIET_S)
        except Empty:
            pytest.fail("the provider never answered")
        function(*args)

    def pass_time(self):
        """Go to the next thing that is due."""
        due = min(call.getTime() for call in self.clock.getDelayedCalls())
        pause = due - self.clock.seconds()
        self.pauses.append(round(pause, 3))
        self.clock.advance(pause)

    # --- talking to the character ------------------------------------------------------------

    def hears(self, text):
        """Say something to the character and wait until the turn has ended; returns the turn."""
        self.script.hears(text)
        turns = self.outcome(answer_events(self.script))
        if isinstance(turns, Exception):
            raise turns
        return self.script.turns.turns[-1]

    @property
    def acts(self):
        """The state and name of each call that was asked for."""
        return [(act.state, act.call.name) for act in self.script.turns.acts]

    def results(self):
        """The results of all calls so far, as the model is given them."""
        log = self.script.conversation.messages
        return [message["content"] for message in log if message["role"] == "tool"]


@pytest.fixture
def road(pump, loop_thread, provider):
    return Road(pump, loop_thread, provider)


@pytest.fixture
def logged():
    """Every line of the log while the test runs, formatted."""
    lines = []

    def watch(event):
        lines.append(formatEvent(event))
        if "log_failure" in event:
            lines.append(event["log_failure"].getTraceback())

    globalLogPublisher.addObserver(watch)
    yield lines
    globalLogPublisher.removeObserver(watch)
