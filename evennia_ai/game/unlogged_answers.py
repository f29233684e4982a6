"""Answers while the tables do not fit the code: from the offline brain, and without any log."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred, succeed
from twisted.logger import Logger

from evennia_ai.messages import Heard
from evennia_ai.offline import OfflineBrain
from evennia_ai.policy.conversation.machine import true_answer
from evennia_ai.ports import (
    HeardLine,
    Identity,
    LLMReply,
    LLMRequest,
    Scene,
    Settings,
    ToolContext,
    World,
)
from evennia_ai.turn.fallback import STAND_IN
from evennia_ai.turn.tool_execution import Acts, speech_call

log = Logger()


class UnloggedAnswers:
    """Says what the offline brain answers, and stores nothing."""

    def __init__(
        self, who: Identity, settings: Settings, world: World, acts: Acts, brain: OfflineBrain
    ) -> None:
        self._who, self._settings, self._world, self._acts = who, settings, world, acts
        self._brain = brain

    def answer(self, heard: Heard) -> None:
        """Answer one line; another assistant gets no answer."""
        if not heard.addressed or heard.hops or not self._who.character.location:
            return
        truth = true_answer(heard.text, self._who.name, self._settings.config.machine_line or "")
        request = LLMRequest([], self._scene(heard))
        asked = succeed(LLMReply(truth)) if truth else self._brain.complete(request, STAND_IN)
        asked.addCallback(lambda reply: self._speak(heard, reply))
        asked.addErrback(
            lambda failure: log.failure(
                "{name}: no answer without the tables", failure, name=self._who.name
            )
        )

    def _scene(self, heard: Heard) -> Scene:
        """Return what the brain may know: the persona, the place and the line."""
        line = HeardLine(heard.kind, heard.speaker_name, heard.text, heard.private)
        situation = self._world.situation(self._who.character)
        return Scene(self._who.name, self._who.persona, (line,), situation)

    def _speak(self, heard: Heard, reply: LLMReply) -> Deferred[Any]:
        """Say a reply to those who heard the line."""
        if not reply.content:
            return succeed(None)
        context = ToolContext(
            assistant=self._acts.tools,
            character=self._who.character,
            audience=heard.audience,
            private=heard.private,
            speakers=frozenset({heard.speaker}),
            authors=heard.written_by,
            whispered=heard.private,
            askers=heard.audience,
            hops=self._settings.config.max_hops,
        )
        return self._acts.run_unlogged(context, speech_call("unlogged", reply.content))
