"""A stage for the stand-in: it hears and answers; no tool changes anything."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evennia_ai.contrib.stand_in import StandIn
from evennia_ai.contrib.stand_in.transcript import HeardLine, StandInRequest
from evennia_ai.messages import Situation, heard_line
from evennia_ai.policy.conversation.persona_and_lore import Persona

TOOLS = ("say", "whisper", "emote", "look", "move", "get", "give", "noop")
Done = list[tuple[str, dict[str, str]]]


@dataclass
class Talk:
    """A conversation with one character."""

    name: str
    persona: Persona
    place: Situation = field(default_factory=Situation)
    lore: tuple[str, ...] = ()
    tools: Sequence[str] = TOOLS
    messages: list[dict[str, Any]] = field(default_factory=list)

    def happens(self, kind: str, speaker: str = "", text: str = "") -> None:
        """Add a line that is heard and needs no answer."""
        self.messages.append({"role": "user", "content": heard_line(kind, speaker, text)})

    def hear(self, text: str, speaker: str = "Ann", kind: str = "say") -> str:
        """Return the words and emotes in answer to a line."""
        self.happens(kind, speaker, text)
        done = self.think(HeardLine(kind, speaker, text, kind == "whisper"))
        return " ".join(arguments.get("text", "") for _, arguments in done)

    def act_unasked(self) -> tuple[str, str]:
        """Return the tool and the words of an autonomous act."""
        ((name, arguments),) = self.think()
        return name, arguments.get("text", "")

    def think(self, *lines: HeardLine) -> Done:
        """Return all calls of one reply, and add them to the conversation."""
        scene = StandInRequest(self.name, self.persona, lines, self.place, self.lore)
        asked = replace(scene, messages=list(self.messages), tools=frozenset(self.tools))
        calls = StandIn().think(asked).tool_calls
        wire = [{"function": {"name": c.name, "arguments": c.arguments}} for c in calls]
        self.messages.append({"role": "assistant", "content": "", "tool_calls": wire})
        self.messages += [{"role": "tool", "content": "You did it."} for _ in calls]
        return [(call.name, json.loads(call.arguments)) for call in calls]
