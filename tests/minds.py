"""A mind in memory that is spoken to, with tools that only record what was said."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from twisted.internet.defer import inlineCallbacks, maybeDeferred

from evennia_ai import ports
from evennia_ai.config import FIELDS, AssistantConfig, ModelProfile, declare_settings
from evennia_ai.extension import Extension
from evennia_ai.messages import OWN_RESULTS, Audience, IncomingEvent, ToolCallRequest
from evennia_ai.mind import Mind
from evennia_ai.policy.conversation.persona_and_lore import read_persona
from evennia_ai.ports import Gateway, ToolContext, ToolResult, ToolSpec
from evennia_ai.scheduling import Coroutine
from evennia_ai.testing.minds import (
    FixedSettings,
    InMemory,
    MemoryCompany,
    MemoryIdentity,
    MemoryLife,
    Now,
    StandInCharacter,
    StandInServices,
    in_memory,
    surroundings,
)
from evennia_ai.turn.tool_executor import failed_call
from tests.memory_stores import MemoryConversation, MemoryInbox, MemoryTurns

TOOLS = {"say": "final", "whisper": "final", "noop": "final", "look": "free", "give": "once"}
SCRIPTED = ModelProfile("test", model="scripted")
SILENT = frozenset({"noop", "look", "add_journal_entry"})


def own_extensions(*names: str) -> list[Extension]:
    """Return the package's own extensions of these names that are not deleted, set up."""
    from evennia_ai.game.extensions import own_classes

    wanted = [item for item in own_classes() if item.name in names]
    for item in wanted:
        if item.settings:
            declare_settings(item.settings)
    return [item() for item in wanted]


def known_settings(**values: Any) -> dict[str, Any]:
    """Return those of some settings that are declared."""
    return {name: value for name, value in values.items() if name in FIELDS}


Behaviour = Callable[[ToolContext, Mapping[str, Any]], Any]


class StandInToolbox:
    """`ports.Toolbox` that only records what was said, and to whom.

    Attributes:
        categories: category of each tool by name.
        behaviours: functions by tool name. A function gets the context and the arguments; it
            returns a text, a result, or a Deferred of one, or raises, as a game's tool does.
        reading: the tools that only read.
        spoken: (tool, words, audience) of each say and whisper.
    """

    def __init__(self, categories: Mapping[str, str] = TOOLS) -> None:
        self.categories = dict(categories)
        self.behaviours: dict[str, Behaviour] = {}
        self.reading: Collection[str] = ()
        self.spoken: list[tuple[str, str, Audience]] = []

    def offered(self, context: ToolContext) -> Sequence[ToolSpec]:
        return [
            ToolSpec(
                name,
                category,
                name not in SILENT,
                name in SILENT,
                {"function": {"name": name}},
                reads=name in self.reading,
            )
            for name, category in self.categories.items()
            if context.allowed is None or name in context.allowed
        ]

    def permitted(self, context: ToolContext, specs: Iterable[ToolSpec]) -> Sequence[ToolSpec]:
        return list(specs)

    @inlineCallbacks
    def run(
        self, context: ToolContext, call: ToolCallRequest, dry: bool = False
    ) -> Coroutine[ToolResult]:
        if call.name not in self.categories:
            return ToolResult("failed", f"There is no tool '{call.name}'.")
        if dry:
            return ToolResult("done", "")
        arguments = json.loads(call.arguments or "{}")
        behaviour = self.behaviours.get(call.name)
        try:
            text = OWN_RESULTS.get(call.name, "Done.")
            if behaviour:
                text = yield maybeDeferred(behaviour, context, arguments)
        except Exception as error:  # noqa: BLE001  # as the game's own registry
            return failed_call(error, call.name not in SILENT)
        if call.name in ("say", "whisper"):
            self.spoken.append((call.name, arguments.get("text", ""), context.audience))
        return text if isinstance(text, ToolResult) else ToolResult("done", str(text))


class MemoryJournal(InMemory, ports.Journal):
    """A `Journal` with an archive."""

    archive: Any = None

    def __init__(self, now: Now) -> None:
        super().__init__(now)
        self.archive = in_memory(ports.JournalArchive, now)


class Keeper(StandInCharacter):
    """A character whose journal has an archive."""

    def __init__(self, key: str, now: Now) -> None:
        super().__init__(key, now)
        self.journal = MemoryJournal(now)


class MemoryMind(Mind):
    """A mind in memory that hears players; its tools are a `StandInToolbox`.

    It can stand for an `AssistantScript`.
    """

    settings: FixedSettings
    log: MemoryConversation
    inbox: MemoryInbox
    turns: MemoryTurns
    presence: MemoryCompany
    status: MemoryLife

    def __init__(
        self,
        gateway: Gateway | None,
        config: AssistantConfig | None = None,
        persona: Any = "You are Mira, a barkeep.",
        embedder: Any = None,
        name: str = "Mira",
        character: Any = None,
        services: Any = None,
    ) -> None:
        services = services or StandInServices(gateway, StandInToolbox(), embedder)
        self.services = services
        log, inbox = MemoryConversation(services.now), MemoryInbox(services.now)
        turns = MemoryTurns(log, inbox)
        self.character = character or Keeper(name, services.now)
        self.journal = self.character.journal
        who = MemoryIdentity(self.character, read_persona(persona))
        settings = FixedSettings(config or AssistantConfig(), SCRIPTED)
        around = surroundings(services, who, settings, log, inbox, turns)
        self.memories: Any = around.memories()  # a test may replace it
        super().__init__(replace(around, memories=lambda: self.memories))

    @property
    def mind(self) -> "MemoryMind":
        return self

    @property
    def conversation(self) -> MemoryConversation:
        return self.log

    def rebuild(self, **parts: Any) -> None:
        """Put the mind together again with some parts of its `Surroundings` replaced."""
        Mind.__init__(self, replace(self.around, **parts))
        self.services = self.around.services
        self.character = self.who.character

    @property
    def id(self) -> int:
        return self.who.id

    @property
    def config(self) -> AssistantConfig:
        return self.settings.config

    @config.setter
    def config(self, config: AssistantConfig) -> None:
        self.settings.config = config

    def states(self) -> dict[str, str]:
        """Return the state of every event by its text, for assertions."""
        return {row.event.heard.text: row.state for row in self.inbox.rows}

    def hears(
        self,
        text: str,
        speaker: str = "#5",
        name: str = "Ann",
        audience: Audience | None = None,
        **fields: Any,
    ) -> int:
        """Put words that need an answer into the inbox; return the event's id."""
        heard_by = frozenset({speaker}) if audience is None else audience
        defaults: dict[str, Any] = {"kind": "say", "addressed": True, **fields}
        return self.inbox.put(
            IncomingEvent(
                speaker=speaker, speaker_name=name, text=text, audience=heard_by, **defaults
            )
        )

    def whispered(self, text: str, speaker: str = "#5", name: str = "Ann") -> int:
        """Put a whisper into the inbox; return the event's id."""
        open_now = self.settings.config.whisper_policy == "trusting"
        return self.hears(text, speaker, name, kind="whisper", private=True, repeatable=open_now)
