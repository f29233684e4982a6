"""A character in memory on which a scene is played, with tools that change nothing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from django.db import DatabaseError
from evennia.objects.models import ObjectDB
from twisted.internet.defer import inlineCallbacks

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.contrib.evals.format import EvalLine, EvalScene
from evennia_ai.contrib.evals.toolbox import EvalCast, EvalToolbox
from evennia_ai.errors import ConfigError
from evennia_ai.extension import Tool
from evennia_ai.game.perception import EvenniaPerception
from evennia_ai.game.settings import game_setting
from evennia_ai.game.wares import goods_of
from evennia_ai.messages import WHISPER, Audience, ChatMessage, InboxEvent, IncomingEvent, Situation
from evennia_ai.mind import Mind
from evennia_ai.mind.dry_run import DryConversation, DryTurns, dry_turn
from evennia_ai.policy.context.projection import CompactionRecord, LogInView
from evennia_ai.policy.conversation.batching import heard_messages, own_messages
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry, is_known, read_persona
from evennia_ai.policy.tool_call_modes.wire_order import count_stored
from evennia_ai.ports import Gateway, Lines, OpenEvents, TurnRecord
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.attributes import SCRIPT_KEY, own_settings, read_attribute
from evennia_ai.store.lore_records import LoreRecords, PersonaRecords
from evennia_ai.testing import minds
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from evennia_ai.turn.react_loop import Outcome

FIRST_PERSON = 1_001  # no object of the game is ever looked up by it


class EvalLog(DryConversation):
    """The log of a scene: `ports.Conversation` and its `ports.Lines`, in a list."""

    refreshes = 0

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__(LogInView(None, (), 0, count_stored))
        self._now = now
        self.lines: Lines = self

    def append(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Add messages with what a log adds to them."""
        return super().append([self._stored(n, m) for n, m in enumerate(messages, 1)])

    def _stored(self, number: int, message: ChatMessage) -> ChatMessage:
        seq, at = len(self.added) + number, self._now().isoformat()
        own: Any = {"seq": seq, "at": at, "tokens": count_stored(message)}
        return {**message, "metadata": {**message["metadata"], **own}}

    def compact(self, record: CompactionRecord) -> CompactionRecord:
        """Let a summary stand for messages, after an overflow; the journal gets nothing of it."""
        self.current = self.current.after(record)
        return record

    def to_archive(self) -> Sequence[tuple[CompactionRecord, bool]]:
        return ()

    def to_journal(self) -> Sequence[CompactionRecord]:
        return ()

    def after(
        self, seq: int, upto: int | None, limit: int, embedder: str
    ) -> list[tuple[ChatMessage, bytes | None]]:
        """Return later messages, without vectors: words rank the memories of a scene."""
        return [(message, None) for message in self.added[seq:upto][:limit]]

    def before_newest(self, count: int) -> int:
        return max(0, len(self.added) - count)

    def read(self, seqs: Iterable[int]) -> list[ChatMessage]:
        return [self.added[seq - 1] for seq in sorted(self.existing(seqs))]

    def existing(self, seqs: Iterable[int]) -> set[int]:
        return {seq for seq in seqs if 0 < seq <= len(self.added)}

    def store_vectors(self, embedder: str, vectors: Mapping[int, bytes]) -> None:
        """Store nothing."""


class EvalTurns(DryTurns):
    """The turns of a scene; those of a compaction, too, are only counted."""

    count = 0

    def begin(
        self, events: Sequence[InboxEvent], audience: Audience, private: bool, context: str
    ) -> TurnRecord:
        self.count += 1
        return TurnRecord(self.count, audience, private, tuple(events))

    def recover(self) -> None:
        """Do nothing: no turn stays open."""

    def finish(self, turn_id: int, outcome: str, detail: str = "") -> None:
        """Do nothing, as `recover`."""


class EvalStage:
    """One scene in memory: its character, its people, and what they remember.

    Each line is a dry turn that ends as one in the game does; see `mind.dry_run`.
    """

    def __init__(
        self,
        scene: EvalScene,
        cast: EvalCast,
        tools: Iterable[Tool],
        gateway: Gateway,
        clock: Any,
        chosen: tuple[ModelProfile, AssistantConfig],
    ) -> None:
        self.scene, self.cast = scene, cast
        others = [who for who in scene.everybody if who != cast.name]
        self.people = {who: f"#{number}" for number, who in enumerate(others, FIRST_PERSON)}
        self.toolbox = EvalToolbox(tools, scene, cast, self.people)
        profile, config = chosen
        self.services = services = minds.StandInServices(gateway, self.toolbox)
        services.clock, world = clock, services.world
        self.log = log = EvalLog(services.now)
        self.turns, self._overheard = EvalTurns(log), list[InboxEvent]()
        inbox: Any = SimpleNamespace(overheard=lambda: self._overheard, open_events=OpenEvents)
        self.character = minds.StandInCharacter(cast.name, services.now)
        who = minds.MemoryIdentity(self.character, cast.persona)
        settings = minds.FixedSettings(config, profile)
        self.mind = Mind(minds.surroundings(services, who, settings, log, inbox, self.turns))
        world.present = frozenset(self.people.values())
        world.names = {ref: who for who, ref in self.people.items()}
        world.seen = replace(cast.situation, people=tuple(self.people))
        world.known = list(cast.lore)
        for memory in scene.memories:
            self.remember(memory.text, memory.told_by, memory.private)
        asker = ""
        for line in scene.earlier:
            log.append(self.logged(line, asker))
            asker = asker if line.who == cast.name else line.who

    def overhear(self, line: EvalLine) -> None:
        """Let the character hear a line before the next one, which it answers."""
        event = InboxEvent(0, self.services.now(), self.heard(line, False))
        self._overheard.append(event)

    @inlineCallbacks
    def answer(self, line: EvalLine) -> Coroutine[Outcome]:
        """Let the engine answer a line. Fires with how its turn ended."""
        if self.turns.count:  # the turn before has made the talk longer
            yield self.mind.emergency.make_room()
        self.turns.count += 1
        self.toolbox.spoken.clear()
        self.turns.calls, self.turns.costs = [], []
        turn = dry_turn(self.mind.around, self.heard(line), self.turns.count)
        self.log.append(heard_messages((*self._overheard, *turn.events), turn.id))
        self._overheard.clear()
        # There is one, since nobody leaves a scene.
        outcome: Outcome = yield self.mind.turn_runner.reach_outcome(turn, CONTEXT_TICK_EVENT)
        return outcome

    def remember(self, text: str, told_by: str, private: bool) -> None:
        """Write a journal entry; if private, only whoever told it may hear of it."""
        source = {self.people[told_by]} if told_by in self.people else set[str]()
        known_to = sorted(source) if private else None
        self.character.journal.add(text, audience=known_to, speakers=sorted(source))

    def logged(self, line: EvalLine, asker: str) -> list[ChatMessage]:
        """Return an earlier line as it stands in a log; an own whisper is for the ``asker``."""
        if line.who != self.cast.name:
            return heard_messages([InboxEvent(0, self.services.now(), self.heard(line))], 0)
        secret = line.kind == WHISPER
        to = [self.people[asker]] if secret and asker else sorted(self.people.values())
        about: dict[str, Any] = {"turn_id": 0, "audience": to, "authors": to, "private": secret}
        return own_messages(f"earlier{id(line)}", line.kind, line.text, **about)

    def heard(self, line: EvalLine, addressed: bool = True) -> IncomingEvent:
        ref, private = self.people[line.who], line.kind == WHISPER
        audience = frozenset({ref}) if private else frozenset(self.people.values())
        return IncomingEvent(line.kind, ref, line.who, line.text, audience, private, addressed)


def cast_of(scene: EvalScene) -> EvalCast:
    """Return who plays; raises ConfigError if the game has no such character."""
    if scene.character:
        return _from_game(scene)
    lore = tuple(LoreEntry(entry.title, entry.text) for entry in scene.lore)
    seen, prices = (_situation_of(scene, Situation()), scene.place.prices if scene.place else {})
    return EvalCast(scene.name, read_persona(scene.persona), lore, seen, {}, prices)


def _situation_of(scene: EvalScene, otherwise: Situation) -> Situation:
    place = scene.place
    if place is None:
        return otherwise
    return Situation(place=place.name, **place.model_dump(exclude={"name", "prices"}))


def _from_game(scene: EvalScene) -> EvalCast:
    """Return a character of the game as it is now; the scene's own entries come first."""
    character = _find_character(scene.character)
    world = EvenniaPerception(LoreRecords(game_setting("LORE", ())))
    personas = PersonaRecords(game_setting("PERSONAS", {}))
    written = scene.persona or read_attribute(character, "ai_persona")
    entries, labels = world.lore(character, frozenset())
    own = [LoreEntry(entry.title, entry.text) for entry in scene.lore]
    known = [LoreEntry(e.title, e.text) for e in entries if is_known(e, labels)]
    here = world.situation(character) if character.location else Situation()
    script = character.scripts.get(SCRIPT_KEY)[0]
    return EvalCast(
        scene.name or script.character_name,
        personas.resolve(written),
        (*own, *known),
        _situation_of(scene, here),
        own_settings(script),
        scene.place.prices if scene.place else goods_of(character, None),
    )


def _find_character(name: str) -> Any:
    try:
        characters = list(ObjectDB.objects.filter(db_key__iexact=name, scriptdb__db_key=SCRIPT_KEY))
    except DatabaseError as error:
        raise ConfigError(f"The game's database cannot be read: {error}.") from error
    if len(characters) != 1:
        raise ConfigError(
            f"The game has {len(characters)} characters '{name}' with an assistant; there must be "
            "one. "
            "A scene may give 'name' and 'persona' instead of 'character'."
        )
    add_assistant_mixin(characters[0])
    return characters[0]
