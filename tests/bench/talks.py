"""Talks inside a server's own process: players without clients, and a model that answers at once.

`probed.ProbedServer` copies this file into a game directory beside the probe. What is measured is a
game's own way of a line: a player's command, hearing, the inbox, the turn with its prompt, the
gateway, the reading of the reply, the speech in the room, and all rows of the log.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from types import MethodType
from typing import Any

from twisted.internet import reactor
from twisted.internet.defer import Deferred, succeed

from evennia_ai.messages import LLMReply, ToolCallRequest, Usage
from evennia_ai.signals import turn_finished

SESSION_IDS = count(1_000_000)  # beyond those that the portal gives
AT_A_TIME = 50
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


class InstantModel:
    """An `LLMClient` in place of the HTTP client: it says the next line."""

    def __init__(self) -> None:
        self.calls = 0

    def complete(self, request: Any, profile: Any) -> Deferred[LLMReply]:
        """Fire at once with a reply as an endpoint sends it, before it is read."""
        self.calls += 1
        words = f"{REPLIES[self.calls % len(REPLIES)]} That makes {self.calls} of them."
        call = ToolCallRequest(f"call_{self.calls}", "say", json.dumps({"text": words}))
        usage = Usage(3_000, 30)
        return succeed(LLMReply("", (call,), "tool_calls", usage, profile.model))


class Talker:
    """A player's character with a session that nobody reads."""

    def __init__(self, account: Any, character: Any, npc: Any) -> None:
        import evennia
        from evennia.server.serversession import ServerSession

        self.character, self.npc = character, npc
        fresh = ServerSession()
        fresh.init_session("telnet", ("127.0.0.1", "nobody"), evennia.SESSION_HANDLER)
        fresh.sessid = next(SESSION_IDS)
        evennia.SESSION_HANDLER.portal_connect(fresh.get_sync_data())
        session = evennia.SESSION_HANDLER.session_from_sessid(fresh.sessid)
        session.data_out = MethodType(lambda session, **kwargs: None, session)
        evennia.SESSION_HANDLER.login(session, account, testmode=True)
        account.puppet_object(session, character)
        self.session = session

    def say(self, line: str) -> None:
        """Type a command, as the portal would pass it on."""
        self.session.sessionhandler.data_in(self.session, text=[[f"say {line}"], {}])


class Talk:
    """Lets every player say some lines, one player of a circle after the other's answer is stored.

    ``done`` is called with the seconds, the CPU seconds and the number of turns.
    """

    def __init__(self, talkers: Sequence[Talker], rounds: int, done: Callable[..., Any]) -> None:
        self._places = {talker.npc.id: place for place, talker in enumerate(talkers)}
        self._circles = [
            deque(
                (talker, f"{SAID[(number + turn) % len(SAID)]}, {number} times {turn}?")
                for turn in range(rounds)
                for number, talker in enumerate(talkers)
                if number % AT_A_TIME == circle
            )
            for circle in range(min(AT_A_TIME, len(talkers)))
        ]
        self._turns = self._left = rounds * len(talkers)
        self._done = done

    def start(self) -> None:
        """Begin; the first of each circle speaks in the next moments."""
        self._began, self._cpu = time.perf_counter(), time.process_time()
        turn_finished.connect(self._answered, weak=False)
        for circle in self._circles:
            reactor.callLater(0, self._next, circle)

    def _next(self, circle: deque[tuple[Talker, str]]) -> None:
        if circle:
            talker, line = circle.popleft()
            talker.say(line)

    def _answered(self, character: Any, turns: int, **_: Any) -> None:
        self._left -= turns
        circle = self._circles[self._places[character.id] % AT_A_TIME]
        reactor.callLater(0, self._next, circle)
        if self._left == 0:
            turn_finished.disconnect(self._answered)
            wall, cpu = time.perf_counter() - self._began, time.process_time() - self._cpu
            self._done(wall_s=wall, cpu_s=cpu, turns=self._turns)


TALKERS: list[Talker] = []
MODEL = InstantModel()


def bring_players() -> dict[str, Any]:
    """Let every player of `worlds.pairs` enter, and let all assistants think with `MODEL`."""
    from evennia.accounts.models import AccountDB
    from evennia.objects.models import ObjectDB

    from evennia_ai.assistant_script import AssistantScript

    for client in AssistantScript.shared_services.gateway._clients.values():
        if hasattr(client, "_client"):
            client._client._client = MODEL  # below the reading of replies
    for npc in ObjectDB.objects.filter(db_key__startswith="Npc").order_by("id"):
        account = AccountDB.objects.get(username=npc.key.replace("Npc", "Guest"))
        (player,) = account.characters
        player.location = npc.location
        TALKERS.append(Talker(account, player, npc))
    return {"players": len(TALKERS)}


def talk(rounds: int) -> Deferred[dict[str, Any]]:
    """Let all players talk; fire with the figures when the last turn is stored."""
    result: Deferred[dict[str, Any]] = Deferred()
    Talk(TALKERS, rounds, lambda **figures: result.callback(figures)).start()
    return result
