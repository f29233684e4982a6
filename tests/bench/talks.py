"""Talks inside a server's own process: players without clients, and a model that answers at once.

`probed.ProbedServer` copies this file into a game directory beside the probe; the rooms are those
of `clones.furnish`. What is measured is a game's own way of a line: a player's command, hearing,
the inbox, the turn with its prompt, the gateway, the reading of the reply, the speech in the room,
and all rows of the log.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import count
from types import MethodType
from typing import Any

from twisted.internet import reactor
from twisted.internet.defer import Deferred, gatherResults, inlineCallbacks
from twisted.internet.task import cooperate

from evennia_ai.messages import LLMReply, ToolCallRequest, Usage
from evennia_ai.scheduling import Enqueue, yield_to_reactor
from evennia_ai.signals import turn_finished

SESSION_IDS = count(1_000_000)  # beyond those that the portal gives
AT_A_TIME = 50
DRAIN_S = 60.0
PAUSE_S = 0.2  # after a turn, until what it left to do is done
OWED = ("waiting", "claimed")
SAID = (
    "I came in by the north road, and the toll at the bridge is up again",
    "Did the miller's daughter ever find her grey mare",
    "They say the river will freeze before the week is out",
    "Who keeps the lamp in the old tower these nights",
    "A carter swore that wolves followed him as far as the ford",
    "What would you ask for a coil of good rope",
    "The baker burned half of his loaves this morning",
    "My brother means to sail with the herring fleet",
)
REPLIES = (
    "The bridge was always dear, and the keeper counts every hoof.",
    "She found the beast in the orchard, fat with windfalls.",
    "Let it freeze; a hard winter kills the fever in the marsh.",
    "Old Harl climbs those stairs, though nobody pays him for it.",
    "Wolves keep to the woods, carters keep to their tales.",
    "Three pennies a fathom, and four if it has to be dry.",
    "Half burned is half good, and the pigs do not complain.",
    "Then wish him a west wind, and a captain who drinks little.",
    "There is a stew on the fire, if the road made you hungry.",
    "Nobody asked me that since the harvest fair.",
)

Figures = dict[str, Any]


class InstantModel:
    """An `LLMClient` in place of the HTTP client: it says the next line.

    Replies come in the time slices of the game, as those of the HTTP client's thread do.
    """

    def __init__(self) -> None:
        self.put: Enqueue | None = None
        self.calls = 0
        self.asked_at: list[float] = []

    def complete(self, request: Any, profile: Any) -> Deferred[LLMReply]:
        """Fire with a reply as an endpoint sends it, before it is read."""
        assert self.put is not None, "think_at_once comes first"
        self.asked_at.append(time.perf_counter())
        self.calls += 1
        words = f"{REPLIES[self.calls % len(REPLIES)]} That makes {self.calls} of them."
        call = ToolCallRequest(f"call_{self.calls}", "say", json.dumps({"text": words}))
        usage = Usage(3_000, 30)
        reply = LLMReply("", (call,), "tool_calls", usage, profile.model)
        return yield_to_reactor(self.put).addCallback(lambda _: reply)


class Talker:
    """A player's character with a session that nobody reads."""

    def __init__(self, account: Any, character: Any) -> None:
        import evennia
        from evennia.server.serversession import ServerSession

        character.location = character.home
        self.room = character.home.id
        self.said = 0
        fresh = ServerSession()
        fresh.init_session("telnet", ("127.0.0.1", "nobody"), evennia.SESSION_HANDLER)
        fresh.sessid = next(SESSION_IDS)
        evennia.SESSION_HANDLER.portal_connect(fresh.get_sync_data())
        session = evennia.SESSION_HANDLER.session_from_sessid(fresh.sessid)
        session.data_out = MethodType(lambda session, **kwargs: None, session)
        # What a login and `puppet_object` leave behind; with what they show and announce they take
        # 30 ms, which is much for ten thousand players.
        session.uid, session.uname, session.logged_in = account.id, account.username, True
        session.account, session.puid, session.puppet = account, character.id, character
        character.sessions.add(session)
        character.account = account
        self.session = session

    def type(self, command: str) -> None:
        """Type a command, as the portal would pass it on."""
        self.session.sessionhandler.data_in(self.session, text=[[command], {}])

    def say(self) -> None:
        """Say a line that this player never said before."""
        self.said += 1
        line = SAID[(self.room + self.said) % len(SAID)]
        self.type(f"say {line}, {self.room} times {self.said}?")


class Talk:
    """Lets players speak: each again when the answer's rows are stored, some at a time.

    ``done`` is called with the wall and CPU seconds and the number of turns; ``pause_s`` lies
    between the end of a turn and the next line.
    """

    def __init__(
        self, talkers: Sequence[Talker], rounds: int, done: Callable[..., Any], pause_s: float = 0.0
    ) -> None:
        self._circles = [
            deque([*talkers[first::AT_A_TIME]] * rounds)
            for first in range(min(AT_A_TIME, len(talkers)))
        ]
        self._circle_of = {
            talker.room: self._circles[place % AT_A_TIME] for place, talker in enumerate(talkers)
        }
        self._turns = self._left = rounds * len(talkers)
        self._done, self._pause_s = done, pause_s

    def start(self) -> None:
        """Begin; the first of each circle speaks in the next moments."""
        self._began, self._cpu = time.perf_counter(), time.process_time()
        turn_finished.connect(self._answered, weak=False)
        for circle in self._circles:
            reactor.callLater(0, self._next, circle)

    def _next(self, circle: deque[Talker]) -> None:
        if circle:
            circle.popleft().say()

    def _answered(self, character: Any, turns: int, **_: Any) -> None:
        self._left -= turns
        reactor.callLater(self._pause_s, self._next, self._circle_of[character.location.id])
        if self._left == 0:
            turn_finished.disconnect(self._answered)
            wall, cpu = time.perf_counter() - self._began, time.process_time() - self._cpu
            self._done({"wall_s": wall, "cpu_s": cpu, "turns": self._turns})


class Heard:
    """Notes when an assistant hears a line that it has to answer."""

    def __init__(self) -> None:
        from evennia_ai.assistant_script import AssistantScript

        self.at: list[float] = []
        self._inner = AssistantScript.hear
        AssistantScript.hear = self._hear()

    def _hear(self) -> Callable[..., Any]:
        def hear(script: Any, *args: Any) -> None:
            self.at.append(time.perf_counter())
            self._inner(script, *args)

        return hear

    def stop(self) -> None:
        """Note no more."""
        from evennia_ai.assistant_script import AssistantScript

        AssistantScript.hear = self._inner


TALKERS: list[Talker] = []
MODEL = InstantModel()


def think_at_once() -> Figures:
    """Let all assistants think with `MODEL`, in place of the HTTP client."""
    from evennia_ai.assistant_script import AssistantScript

    services = AssistantScript.shared_services
    MODEL.put = services.slices.put
    services.gateway._clients["openai"] = MODEL
    return {}


def bring_players(number: int) -> Deferred[Figures]:
    """Let players enter until there are so many; fire with their number."""
    entering = cooperate(enter(number)).whenDone()
    return entering.addCallback(lambda _: {"players": len(TALKERS)})


def enter(number: int) -> Iterator[None]:
    """Let one player after the other enter."""
    from evennia.accounts.models import AccountDB
    from evennia.objects.models import ObjectDB

    for place in range(len(TALKERS), number):
        name = f"Guest{place:05}"
        character = ObjectDB.objects.get(db_key=name)
        TALKERS.append(Talker(AccountDB.objects.get(username=name), character))
        yield


def talk(first: int, last: int, rounds: int, pause_s: float = 0.0) -> Deferred[Figures]:
    """Let players of these places talk; fire with the figures when the last turn is stored."""
    result: Deferred[Figures] = Deferred()
    Talk(TALKERS[first:last], rounds, result.callback, pause_s).start()
    return result


def say_in_a_plain_room(number: int) -> Figures:
    """Let the first player say so many lines where nobody is; return their CPU seconds."""
    from evennia.utils.create import create_object

    talker = TALKERS[0]
    place = talker.session.puppet.location
    talker.session.puppet.location = create_object("evennia.DefaultRoom", key="A plain room")
    talker.say()  # loads what a room loads once
    began = time.process_time()
    for _ in range(number):
        talker.say()
    cpu_s = time.process_time() - began
    talker.session.puppet.location = place
    return {"cpu_s": cpu_s}


@inlineCallbacks
def read_log(place: int) -> Generator[Any, Any, Figures]:
    """Let the assistants with a player index their whole logs, also what a turn leaves for later.

    Fires with the seconds that the longest took, once the database searches what it is to search.
    """
    from evennia.objects.models import ObjectDB

    began = time.perf_counter()
    room = ObjectDB.objects.get(id=TALKERS[place].room)
    scripts = [one.assistant for one in room.contents if getattr(one, "assistant", None)]
    yield gatherResults([script.mind.memories().prepare(script.services) for script in scripts])
    seconds = time.perf_counter() - began
    return {"seconds": seconds}


def heard_to_asked(place: int, rounds: int) -> Deferred[Figures]:
    """Let one player talk; fire with the ms from each line that was heard to its model call."""
    heard = Heard()
    MODEL.asked_at.clear()

    def report(figures: Figures) -> Figures:
        heard.stop()
        took, previous = [], 0.0
        for asked in MODEL.asked_at:
            took.append(1000 * (asked - min(at for at in heard.at if previous < at <= asked)))
            previous = asked
        return {**figures, "asked_ms": took}

    return talk(place, place + 1, rounds, PAUSE_S).addCallback(report)


def speak(awake: int, seconds: float, every_s: float) -> Deferred[Figures]:
    """Let each of the first ``awake`` players say a line every so many seconds, in turn.

    Fires when the time is over and all are answered, after `DRAIN_S` at the latest.
    """
    from evennia_ai.models import Event

    lines = max(1, round(awake * seconds / every_s))
    began, cpu = time.perf_counter(), time.process_time()
    turns: list[float] = []
    result: Deferred[Figures] = Deferred()

    def count_turns(turns_of_tick: int) -> None:
        turns.extend([time.perf_counter() - began] * turns_of_tick)

    def note(turns: int, **_: Any) -> None:
        count_turns(turns)

    def wait() -> None:
        late = time.perf_counter() - began > seconds + DRAIN_S
        if not late and Event.objects.filter(state__in=OWED).exists():
            reactor.callLater(0.2, wait)
            return
        turn_finished.disconnect(note)
        result.callback(
            {
                "lines": lines,
                "turns": len(turns),
                "in_time": sum(at <= seconds for at in turns),
                "last_s": max(turns, default=0.0),
                "cpu_s": time.process_time() - cpu,
                "drained": not late,
            }
        )

    turn_finished.connect(note, weak=False)
    for number in range(lines):
        reactor.callLater(number * seconds / lines, TALKERS[number % awake].say)
    reactor.callLater(seconds, wait)
    return result


def bring_contrib(first: int, last: int) -> Figures:
    """Put a character of `evennia.contrib.rpg.llm` beside each player of these places."""
    from evennia.contrib.rpg.llm import LLMNPC
    from evennia.contrib.rpg.llm.llm_npc import CmdLLMTalk
    from evennia.utils.create import create_object

    for talker in TALKERS[first:last]:
        room = talker.session.puppet.location
        create_object(LLMNPC, key="Keeper", location=room, home=room)
        talker.session.puppet.cmdset.add_default(cmdset_of(CmdLLMTalk))
    return {}


def cmdset_of(command: Any) -> Any:
    """Return a command set of the player's own commands and one more."""
    from evennia.commands.default.cmdset_character import CharacterCmdSet

    class Commands(CharacterCmdSet):
        def at_cmdset_creation(self) -> None:
            super().at_cmdset_creation()
            self.add(command())

    return Commands


def contrib_talk(first: int, last: int, rounds: int) -> Deferred[Figures]:
    """Let players of these places talk with the contrib's characters; fire as `talk` does."""
    from evennia.contrib.rpg.llm import LLMNPC

    inner, talkers = LLMNPC.at_talked_to, TALKERS[first:last]
    result: Deferred[Figures] = Deferred()
    circles = [deque([*talkers[place::AT_A_TIME]] * rounds) for place in range(AT_A_TIME)]
    circle_of = {talker.room: circles[place % AT_A_TIME] for place, talker in enumerate(talkers)}
    left = [rounds * len(talkers)]
    began, cpu = time.perf_counter(), time.process_time()

    def go_on(circle: deque[Talker]) -> None:
        if circle:
            talker = circle.popleft()
            talker.said += 1
            talker.type(f"talk Keeper {SAID[talker.said % len(SAID)]}?")

    def answered(_: Any, npc: Any) -> None:
        left[0] -= 1
        reactor.callLater(0, go_on, circle_of[npc.location.id])
        if left[0] == 0:
            LLMNPC.at_talked_to = inner
            wall, cpu_s = time.perf_counter() - began, time.process_time() - cpu
            result.callback({"wall_s": wall, "cpu_s": cpu_s, "turns": rounds * len(talkers)})

    LLMNPC.at_talked_to = lambda npc, *args: inner(npc, *args).addBoth(answered, npc)
    for circle in circles:
        reactor.callLater(0, go_on, circle)
    return result
