"""The world of a simulated game: rooms, who is where, and who notices what."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.errors import NothingDone
from evennia_ai.messages import Audience, Situation, ToolCallRequest
from evennia_ai.policy.audience import may_be_said
from evennia_ai.policy.conversation.tool_call_rules import FINAL, FREE, ONCE
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import ToolContext, ToolResult, ToolSpec
from evennia_ai.scheduling import retry_write
from evennia_ai.turn.tool_executor import failed_call

if TYPE_CHECKING:
    from tests.simulation.process import Process

MOST_CHARS = 1_000
ROOMS = ("tavern", "yard")
JOURNAL = "add_journal_entry"


@dataclass(frozen=True)
class Kind:
    """What the engine knows of a tool."""

    category: str
    world: bool = True
    safe_to_retry: bool = False


TOOLS = {
    "say": Kind(FINAL),
    "whisper": Kind(FINAL),
    "emote": Kind(ONCE),
    "give": Kind(ONCE),
    "knock": Kind(FREE),
    "glow": Kind(FREE, safe_to_retry=True),
    "look": Kind(FREE, world=False, safe_to_retry=True),
    JOURNAL: Kind(FREE, world=False, safe_to_retry=True),
    "noop": Kind(FINAL, world=False, safe_to_retry=True),
}
VIEW = "You see a room. " + "It has walls, a door and a floor. " * 7
PARAMETERS = {"type": "object", "properties": {"text": {"type": "string"}}}
SCHEMAS = {
    name: {"type": "function", "function": {"name": name, "parameters": PARAMETERS}}
    for name in TOOLS
}


class Rooms:
    """Who is where; it survives every process. None is nowhere."""

    def __init__(self) -> None:
        self.place: dict[str, str | None] = {}

    def listeners(self, character: str) -> Audience:
        """Return everybody else in the same room."""
        here = self.place[character]
        if here is None:
            return frozenset()
        return frozenset(
            who for who, place in self.place.items() if place == here and who != character
        )


class Senses:
    """`ports.World` over the rooms; characters are their dbrefs."""

    def __init__(self, rooms: Rooms) -> None:
        self.rooms = rooms

    def listeners(self, character: str) -> Audience:
        """Return who would hear it."""
        return self.rooms.listeners(character)

    def situation(self, character: str) -> Situation:
        """Return what it sees."""
        people = tuple(sorted(self.rooms.listeners(character)))
        return Situation(place=self.rooms.place[character] or "", people=people)

    def lore(self, character: str, audience: Audience) -> tuple[Sequence[Any], Audience]:
        """Return nothing: these worlds have no lore."""
        return (), frozenset()

    def name_of(self, character: str, dbref: str) -> str:
        """Return no name: nobody speaks of himself by it."""
        return ""


@dataclass(frozen=True)
class Act:
    """What a tool is about to do: to whom it is noticeable, and who alone heard it, if so."""

    text: str
    heard_by: Audience
    private_to: Audience | None = None


class Hands:
    """`ports.Toolbox`: tools whose deeds are written into the simulation's memory.

    They keep confidences as the shipped ones do (see `evennia_ai.tools.speech`), by what the engine
    tells them of the turn, so that an engine that tells them wrong is found out.
    """

    def __init__(self, process: Process) -> None:
        self.process = process

    def offered(self, context: ToolContext) -> Sequence[ToolSpec]:
        """Return every tool that the context allows."""
        return [
            ToolSpec(name, kind.category, kind.world, kind.safe_to_retry, SCHEMAS[name])
            for name, kind in TOOLS.items()
            if context.allowed is None or name in context.allowed
        ]

    def permitted(self, context: ToolContext, specs: Iterable[ToolSpec]) -> Sequence[ToolSpec]:
        """Return all of them."""
        return list(specs)

    @inlineCallbacks
    def run(
        self, context: ToolContext, call: ToolCallRequest
    ) -> Generator[Deferred[Any], Any, ToolResult]:
        """Act at once; the result may come later or never."""
        kind, in_doubt = TOOLS.get(call.name), False
        try:
            arguments = json.loads(call.arguments or "{}")
            if kind is None or not isinstance(arguments, dict):
                return ToolResult("failed", "There is no such thing to do.")
            act = ACTS[call.name](self, context, arguments) if call.name in ACTS else None
            if call.name == JOURNAL:
                yield self.write_down(context, words_of(arguments))
            in_doubt = kind.world and not kind.safe_to_retry
            if act is not None:
                self.process.moment("before a deed")
                self.process.do(context, call, act)
                self.process.moment("after a deed")
            yield self.process.tool_pause()
        except Exception as error:  # noqa: BLE001  # as the game's own registry
            return failed_call(error, in_doubt)
        if act is None:
            return ToolResult("done", VIEW if call.name == "look" else "You noted it.")
        return ToolResult("done", "Done.", act.private_to)

    def say(self, context: ToolContext, arguments: Mapping[str, Any]) -> Act:
        """Aloud, or to the confidants alone where others must not hear."""
        present = self.those_present(context)
        text = self.spoken(context, arguments)
        if context.whispered or not may_be_said(present, context.audience, context.private):
            return self.to_some(text, present & context.audience)
        return Act(text, present)

    def whisper(self, context: ToolContext, arguments: Mapping[str, Any]) -> Act:
        """To one person, or to all confidants where none is named."""
        present = self.those_present(context)
        receivers = present & context.audience
        if arguments.get("target"):
            receivers = present & {str(arguments["target"])}
        if not may_be_said(receivers, context.audience, context.private):
            raise NothingDone("What was told you in confidence is not for that person.")
        return self.to_some(self.spoken(context, arguments), receivers)

    def show(self, context: ToolContext, arguments: Mapping[str, Any]) -> Act:
        """For everybody to see."""
        present = self.those_present(context)
        if not may_be_said(present, context.audience, context.private):
            raise NothingDone("Others would see that, and this talk is private: whisper instead.")
        return Act(words_of(arguments), present)

    def write_down(self, context: ToolContext, text: str) -> Deferred[str]:
        """Into the journal, as `evennia_ai.tools.journal.add_journal_entry`."""
        audience = sorted(context.audience) if context.private else None
        add = partial(context.character.journal.add, text, audience=audience)
        return retry_write(self.process.clock, add)

    def those_present(self, context: ToolContext) -> Audience:
        """Return everybody who would hear."""
        present = self.process.rooms.listeners(context.character)
        if context.waiting and not context.waiting & present:
            raise NothingDone("Those you would answer are not here any more.")
        return present

    def spoken(self, context: ToolContext, arguments: Mapping[str, Any]) -> str:
        """Return the words as they are heard, as the shipped tools make them."""
        name = context.assistant.who.name
        words = spoken_words(words_of(arguments), name, MOST_CHARS)
        if not words:
            raise NothingDone("You said nothing.")
        return words

    def to_some(self, text: str, receivers: Audience) -> Act:
        """A whisper, as `evennia_ai.tools.speech.deliver_whisper`."""
        if not receivers:
            raise NothingDone("Nobody who may hear this is here any more.")
        return Act(text, receivers, receivers)


def words_of(arguments: Mapping[str, Any]) -> str:
    """Return the words of a call; a small model's may have them under another name."""
    words = arguments.get("text", arguments.get("content", arguments.get("item", "")))
    return str(words)


ACTS: dict[str, Callable[[Hands, ToolContext, Mapping[str, Any]], Act]] = {
    "say": Hands.say,
    "whisper": Hands.whisper,
    "emote": Hands.show,
    "give": Hands.show,
    "knock": Hands.show,
    "glow": Hands.show,
}
