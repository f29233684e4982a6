"""A small game on a real database: rooms, players with sessions, assistants, a fake clock."""

import json
import re
import sys
import time
from importlib.util import find_spec

import pytest
from twisted.internet.task import Clock
from twisted.python import log as twisted_log

from evennia_ai.errors import StoreUnavailable
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.messages import ToolCallRequest
from evennia_ai.policy.limits.retry import GatewayLimits, RetryLimits
from evennia_ai.ports import SemanticMemory, ToolContext
from tests.game.fresh_state import forget_everything, keep_listening, listening, restart_numbers
from tests.game.players import LOBBY, PLAIN, Player, logged_in, made, new_object, resumed, spares
from tests.scripted import ScriptedLLM
from tests.semantic import StandInSemantic

TIME_ALONE = re.compile(r"<situation>\nTime: [^\n]*\n</situation>\n*")
HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Its thread would take real time, in which no fake clock goes on.
NO_MEM0 = {"MEMORY": {"enabled": False}} if find_spec("evennia_ai.contrib.mem0") else {}


class Game:
    """The rooms, characters and time of a test."""

    def __init__(self, service, model):
        self.service = service
        self.clock = service.clock
        self.model = model
        self.successors = []  # services of later processes
        self._spares = spares()

    def room(self, key="Tavern", desc="A warm room."):
        room = new_object(f"{PLAIN}Room", key=key)
        room.db.desc = desc
        return room

    def exit(self, key, here, there):
        return new_object(f"{PLAIN}Exit", key=key, location=here, destination=there)

    def thing(self, key, location):
        return new_object(f"{PLAIN}Object", key=key, location=location)

    def assistant(self, key, room, persona="You are {key}."):
        return new_object(
            "evennia_ai.assistant_character.AssistantCharacter",
            key=key,
            location=room,
            attributes=[("ai_persona", persona.format(key=key))],
        )

    def player(self, key, room, permissions=(), superuser=False, typeclass=None):
        spare = None if typeclass else next(self._spares, None)
        account, character = spare or made(key, self._lobby(), typeclass)
        if spare:
            account.username, account.email, character.key = key, f"{key}@example.com", key
        if permissions:
            account.permissions.batch_add(*permissions)
            character.permissions.batch_add(*permissions)
        account.is_superuser = account.is_staff = superuser
        account.save()
        session = (resumed if spare else logged_in)(account, character)
        character.location = room
        session.sent.clear()
        return Player(character, account, session)

    def _lobby(self):
        """Return the room in which players enter: nobody in another room sees an arrival."""
        from evennia.objects.models import ObjectDB

        return ObjectDB.objects.filter(db_key=LOBBY).first() or self.room(LOBBY)

    def next_process(self, script):
        """Start and return the service of the next process, with nothing left in memory."""
        from evennia_ai.services.assistant_service import AssistantService

        script.ndb.mind = None
        service = AssistantService(clock=self.clock, environ={})
        service.gateway, service.toolbox = self.service.gateway, self.service.toolbox
        service.startService()
        self.successors.append(service)
        return service

    def end(self):
        """Stop the services of later processes, which would go on hearing signals."""
        for service in self.successors:
            service.stopService()

    def tail(self, number=-1):
        """Return a request's last scene and all that follows it, as one text.

        A scene of the time alone is none: a quarter of an hour may end during a test.
        """
        texts = self._texts(number)
        scenes = list(filter(is_scene_text, texts))
        scenes = [text for text in scenes if not TIME_ALONE.fullmatch(text)] or scenes
        return "\n".join(texts[max(map(texts.index, scenes)) :])

    def told(self, number=-1):
        """Return all scenes of a request, as one text."""
        return "\n".join(filter(is_scene_text, self._texts(number)))

    def _texts(self, number):
        return [str(message["content"]) for message in self.model.requests[number].messages]

    def asleep(self, mind, step, profile=None):
        """Run a step of sleep, with a model profile if one is given; returns its result."""
        mind.settings.resolve()
        mind.settings.profile = profile or mind.settings.profile
        return self.result(step(), step_s=1)

    def run(self, seconds=0.0):
        """Advance the clock in steps, so that each step sees the effects of the one before."""
        for _ in range(3):
            self.clock.advance(0)
        if seconds:
            self.clock.advance(seconds)
            self.clock.advance(0)

    def result(self, deferred, step_s=0.25):
        """Let time pass until a Deferred fires; return its result or its Failure."""
        fired = []
        deferred.addBoth(fired.append)
        while not fired:
            self.run(step_s)
        return fired[0]


def is_scene_text(text):
    """Return True for a message that tells what the character perceives and knows."""
    return text.startswith("<situation>")


def flat(text):
    """Return text without its line breaks, which depend on the width of a screen."""
    return " ".join(text.split())


def gateway_to(model, clock):
    """Return a gateway to the scripted model for all profiles, without retries."""
    limits = GatewayLimits(retry=RetryLimits(max_attempts=1))
    return ModelGateway(clock, {"offline": model, "openai": model}, limits)


def plan_apart(monkeypatch):
    """Let Evennia plan on a clock of its own, not on the reactor, where it would outlive the test.

    That is: what `delay` does, such as the login screen of each session, and dialogues.
    """
    import evennia
    from evennia.commands import cmdhandler

    clock = Clock()
    monkeypatch.setattr(cmdhandler, "reactor", clock)
    monkeypatch.setattr(evennia.TASK_HANDLER, "clock", clock)
    monkeypatch.setattr(evennia.TASK_HANDLER, "tasks", {})
    return clock


@pytest.fixture
def service(spare_players, db, settings, monkeypatch, embedder_setting):
    """Start the real service with a fake clock, and stop it after the test."""
    import evennia
    from evennia.utils.utils import class_from_module

    from evennia_ai.assistant_script import AssistantScript
    from evennia_ai.commands.cmdset import add_commands
    from evennia_ai.memory import embedders
    from evennia_ai.services.assistant_service import AssistantService
    from evennia_ai.services.memory_services import LongTermSync

    restart_numbers()
    settings.PASSWORD_HASHERS = HASHERS
    # Also for a test that sets AI_ASSISTANT anew.
    monkeypatch.setattr(embedders, "DEFAULT", embedder_setting)
    settings.AI_ASSISTANT = {
        "autonomous_calls_per_hour": 0,
        "TEXTS": {"first_meeting": ""},
        **NO_MEM0,
        "PLAYER_LIMITS": {"turns_per_minute": None},  # here all happens in one moment
    }
    clock = Clock()
    clock.advance(time.time())
    listeners = listening()
    service = AssistantService(clock=clock, environ={})
    service.evennias_clock = plan_apart(monkeypatch)
    service.semantic = StandInSemantic()
    service.long_term_sync = LongTermSync(clock, SemanticMemory())
    service.startService()
    service.late_start.cancel()  # as if the start hook had run
    add_commands(class_from_module(settings.CMDSET_CHARACTER))
    yield service
    service.stopService()
    keep_listening(listeners)
    evennia.SESSION_HANDLER.clear()
    AssistantScript.shared_services = None
    forget_everything()


@pytest.fixture
def model():
    """Return the scripted model of all assistants of the test."""
    return ScriptedLLM()


@pytest.fixture
def game(service, model):
    """Return a game whose assistants use `model`."""
    service.gateway = gateway_to(model, service.clock)
    game = Game(service, model)
    yield game
    game.end()


@pytest.fixture
def offline_game(service):
    """Return a game whose assistants use the stand-in."""
    pytest.importorskip("evennia_ai.contrib.stand_in", reason="the stand-in is left out")
    game = Game(service, None)
    yield game
    game.end()


@pytest.fixture
def tavern(game):
    return game.room()


@pytest.fixture
def mira(game, tavern):
    return game.assistant("Mira", tavern)


@pytest.fixture
def ann(game, tavern, mira):
    return game.player("Ann", tavern)


@pytest.fixture
def use(game, mira, ann):
    """Return a function by which Mira uses a tool after Ann spoke; it returns the result."""

    def use(name, audience=None, *, private=False, speakers=None, seqs=(), box=None, **arguments):
        context = ToolContext(
            assistant=mira.assistant.mind.tool_executor.tools,
            character=mira,
            audience=frozenset({ann.dbref} if audience is None else audience),
            private=private,
            speakers=frozenset({ann.dbref} if speakers is None else speakers),
            askers=frozenset({ann.dbref} if speakers is None else speakers),
            source_seqs=tuple(seqs),
        )
        asked = ToolCallRequest("1", name, arguments.pop("raw", None) or json.dumps(arguments))
        return game.result((box or game.service.toolbox).run(context, asked))

    return use


@pytest.fixture
def bob(game, tavern, mira):
    return game.player("Bob", tavern)


@pytest.fixture
def builder(game, tavern, mira):
    """A builder who may edit Mira."""
    mira.locks.add("edit:perm(Builder)")
    return game.player("Bea", tavern, permissions=["Builder"])


@pytest.fixture
def busy(monkeypatch):
    """Return a function that has a method fail as where the database is busy, or so many times.

    It returns the list of what failed.
    """

    def busy(owner, method, times=sys.maxsize):
        real, failed = getattr(owner, method), []

        def fails(*args, **kwargs):
            if len(failed) < times:
                failed.append(args)
                raise StoreUnavailable("database is locked")
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, method, fails)
        return failed

    return busy


@pytest.fixture
def log():
    """Return the lines of the server's log."""
    lines = []

    def note(event):
        lines.append(twisted_log.textFromEventDict(event) or "")

    twisted_log.addObserver(note)
    yield lines
    twisted_log.removeObserver(note)


@pytest.fixture
def admin(game, tavern, mira):
    return game.player("Ada", tavern, permissions=["Admin"])
