"""Answers while the tables do not fit the code: from the offline brain, and without any log."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred, succeed
from twisted.logger import Logger

from evennia_ai.game.script_ports import GameScript
from evennia_ai.messages import Heard
from evennia_ai.offline import OfflineBrain
from evennia_ai.ports import HeardLine, LLMReply, LLMRequest, Scene, ToolContext
from evennia_ai.turn.fallback import STAND_IN
from evennia_ai.turn.react_loop import speech_call

log = Logger()


def answer_unlogged(script: GameScript, heard: Heard) -> None:
    """Say what the offline brain answers to one line; another assistant gets no answer."""
    if not heard.addressed or heard.hops or not script.character.location:
        return
    asked = OfflineBrain().complete(LLMRequest([], scene_of(script, heard)), STAND_IN)
    asked.addCallback(lambda reply: speak(script, heard, reply))
    asked.addErrback(
        lambda failure: log.failure(
            "{name}: no answer without the tables", failure, name=script.character_name
        )
    )


def scene_of(script: GameScript, heard: Heard) -> Scene:
    """Return what the brain may know: the persona, the place and the line."""
    line = HeardLine(heard.kind, heard.speaker_name, heard.text, heard.private)
    situation = script.services.world.situation(script.character)
    return Scene(script.character_name, script.persona, (line,), situation)


def speak(script: GameScript, heard: Heard, reply: LLMReply) -> Deferred[Any]:
    """Say a reply to those who heard the line."""
    if not reply.content:
        return succeed(None)
    context = ToolContext(
        script=script,
        character=script.character,
        audience=heard.audience,
        private=heard.private,
        speakers=frozenset({heard.speaker}),
        authors=heard.written_by,
        whispered=heard.private,
        askers=heard.audience,
        hops=script.config.max_hops,
    )
    call = speech_call("unlogged", reply.content)
    spoken: Deferred[Any] = script.services.toolbox.run(context, call)
    return spoken
