"""A line on its way to all who hear it in a place: who they are, and which of them answer.

Evennia passes a line to each listener in turn; what is the same for all is found at the first.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from evennia.objects.objects import DefaultCharacter, DefaultObject

from evennia_ai.config import AssistantConfig
from evennia_ai.errors import AssistantError
from evennia_ai.game import perception
from evennia_ai.messages import GIVE, SAY, WHISPER, Audience, Authors, IncomingEvent
from evennia_ai.policy.conversation import addressing
from evennia_ai.policy.conversation.addressing import NamedEntity, Names, name_parts
from evennia_ai.policy.conversation.persona_and_lore import render_persona
from evennia_ai.policy.retrieval.relevance import score_texts
from evennia_ai.policy.sanitize import clean_heard, cut_text, storable
from evennia_ai.scheduling import Clock
from evennia_ai.store.names import own_name, plain_name

HEARD_CHARS = 20_000
WHY_NOT = {
    "ambient": "names nobody, and others are in the room",
    "somebody else named": "names somebody else",
    "another one answers": "is one that another character answers",
}


class RoomLine:
    """One line, or an arrival, and those who hear it; ``character`` is the first of them.

    ``everybody`` also has its speaker; ``muted`` are the assistants that the speaker does not hear.
    """

    def __init__(self, line: addressing.SpokenLine, speaker: Any, character: Any) -> None:
        self.line = replace(line, speaker=speaker.dbref)
        self.speaker, self.first = speaker, character
        self.place = character.location
        self.utterance = utterance_of(speaker)
        self.hearers = hearers_of(line.kind, speaker, character)
        self.everybody = frozenset(obj.dbref for obj in (speaker, *self.hearers))
        self.muted = frozenset(getattr(speaker, "muted_assistants", ()))
        expected = [character] if line.kind == GIVE else self.hearers
        self._expected = {obj.dbref for obj in expected}

    def is_same(self, kind: str, speaker: Any, character: Any) -> bool:
        """Return True if the character may hear this line; a game may word it for each listener."""
        same = self.line.kind == kind and self.speaker is speaker
        is_here = self.place is character.location
        return same and is_here and self.utterance is utterance_of(speaker)

    def take(self, dbref: str) -> bool:
        """Return True if this listener gets the line now, and has not got it before."""
        if dbref not in self._expected:
            return False
        self._expected.remove(dbref)
        return True

    @cached_property
    def is_crowded(self) -> bool:
        """Return True if several assistants hear it."""
        return len(self._minds) > 1

    @cached_property
    def verdict(self) -> addressing.AddressingDecision:
        """Return who answers, and why the others do not."""
        if self.line.kind not in addressing.SPOKEN | addressing.DIRECT:
            return addressing.AddressingDecision()
        decided = addressing.decide_answers(self.line, self._listeners, self._standing)
        called = [self._minds[dbref] for dbref in decided.answering]
        if self.line.from_assistant and not all(
            item.autonomy.may_answer_assistants() for item in called
        ):
            return addressing.refuse(decided, addressing.NO_CALLS_LEFT)
        is_named = addressing.NAMED in decided.answering.values()
        if self.line.kind == SAY and not is_named and self._calls_who_is_away():
            return addressing.AddressingDecision(otherwise=addressing.NOT_NAMED)
        return decided

    def _calls_who_is_away(self) -> bool:
        """Return True if the line calls an assistant that is elsewhere, by its whole name."""
        known = perception.objects_named_in(self.line.text)
        away = [obj for obj in known if perception.is_assistant(obj) and obj not in self.hearers]
        return bool(Names(NamedEntity(obj.dbref, (obj.key,)) for obj in away).calls(self.line.text))

    @cached_property
    def greeter(self) -> str:
        """Return the dbref of the assistant that may react to an arrival, "" without one."""
        able = [
            listener
            for listener in self._listeners
            if listener.may_answer and not listener.is_player
        ]
        return addressing.choose(able, self._standing) if able else ""

    @cached_property
    def _minds(self) -> dict[str, Any]:
        """Return the assistants that hear it, those under a player's control among them."""
        minds = ((obj, getattr(obj, "ai_mind", None)) for obj in self.hearers)
        return {
            obj.dbref: mind
            for obj, mind in minds
            if mind and (mind.status.is_on or obj is self.first)  # `aitest` asks stopped ones, too
        }

    @cached_property
    def _listeners(self) -> list[addressing.Listener]:
        names = self.line.kind in addressing.SPOKEN
        listeners = [self._listener(obj, names) for obj in self.hearers]
        others = self._others() if names else ()
        return [*listeners, *(silent(obj, self.speaker) for obj in others)]

    def _listener(self, obj: Any, names: bool) -> addressing.Listener:
        mind = self._minds.get(obj.dbref)
        is_receiver = self.line.kind != GIVE or obj is self.first
        last = mind.presence.last_exchange_with(self.speaker.dbref) if mind else 0.0
        return addressing.Listener(
            id=obj.dbref,
            named=named(obj, self.speaker) if names else None,
            is_player=bool(obj.has_account),
            may_answer=bool(mind and is_receiver and obj.dbref not in self.muted),
            last_exchange=last,
            came_along=mind is not None and mind.presence.came_behind(self.speaker.dbref) > last,
            max_bot_replies=mind.settings.config.max_bot_replies if mind else 0,
        )

    def _others(self) -> Iterator[Any]:
        """Yield the speaker, and those in the place who hear nothing, such as a stopped assistant.

        Their names are theirs: in "I am Guard 07", the word "guard" names nobody else.
        """
        if isinstance(self.speaker, DefaultObject):
            yield self.speaker
        for obj in self.place.contents if self.place else ():
            if isinstance(obj, DefaultCharacter) and obj.dbref not in self.everybody:
                yield obj

    def _standing(self, ids: Sequence[str]) -> Iterator[tuple[bool, float]]:
        """Return whether assistants are awake, and how near their personas are to the words."""
        minds = [self._minds[dbref] for dbref in ids]
        awake = [not mind.sleep.is_asleep for mind in minds]
        if not self.line.text:
            return zip(awake, [0.0] * len(ids), strict=True)
        near = score_texts(self.line.text, [render_persona(mind.who.persona) for mind in minds])
        return zip(awake, near, strict=True)


class RoomLines:
    """The line that is on its way now, and how often assistants answered one another in a place."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._latest: RoomLine | None = None
        # By place: answers among assistants since a player spoke or one acted unasked.
        self._answers: dict[int, int] = {}

    def hear(self, kind: str, words: str, speaker: Any, character: Any) -> RoomLine:
        """Return the line that a character hears now, which may be on its way already."""
        line = self.current(kind, words, speaker, character)
        if not line.take(character.dbref):  # it is the next one
            line = self._open(kind, words, speaker, character)
            line.take(character.dbref)
        return line

    def current(self, kind: str, words: str, speaker: Any, character: Any) -> RoomLine:
        """Return the line on its way, a new one if it is another."""
        if self._latest and self._latest.is_same(kind, speaker, character):
            return self._latest
        return self._open(kind, words, speaker, character)

    def _open(self, kind: str, words: str, speaker: Any, character: Any) -> RoomLine:
        from_assistant = perception.is_assistant(speaker)
        place = character.location.id if character.location else 0
        hops = self._count_hops(speaker, place) if from_assistant else 0
        line = RoomLine(
            addressing.SpokenLine(kind, words, from_assistant, hops), speaker, character
        )
        if kind in addressing.SPOKEN | addressing.DIRECT:
            answered = bool(line.verdict.answering)
            self._answers[place] = hops if answered else max(hops - 1, 0)
        self._latest = line
        self._clock.callLater(0, self._end, line)
        return line

    def _count_hops(self, speaker: Any, place: int) -> int:
        """Return the number of an answer among assistants; who answered nobody begins a chain."""
        chain = speaker.ndb.ai_hops or 0
        return max(chain, self._answers.get(place, 0) + 1) if chain else 1

    def _end(self, line: RoomLine) -> None:
        """Forget a line that all have heard; the same words later are another line."""
        if self._latest is line:
            self._latest = None


def utterance_of(speaker: Any) -> Any:
    """Return the `Utterance` of a speaker with `SpeakerMixin`, None without one."""
    return getattr(speaker.ndb, "ai_utterance", None)


def hearers_of(kind: str, speaker: Any, character: Any) -> list[Any]:
    """Return everybody who hears it beside its speaker; the character is one of them.

    The other receivers of a whisper are known only if its speaker has `SpeakerMixin`.
    """
    if kind == WHISPER:
        utterance = utterance_of(speaker)
        others = list(utterance.receivers) if utterance else []
    else:
        place = character.location
        others = [obj for obj in place.contents if perception.can_hear(obj)] if place else []
    hearers = [obj for obj in others if obj is not speaker]
    return hearers if character in hearers else [*hearers, character]


def named(obj: Any, looker: Any, listens: bool = True) -> NamedEntity:
    """Return a character's names: key, also without article, aliases, the looker's, and parts."""
    key = own_name(obj)
    called = [
        perception.without_article(name) for name in (key, *perception.names_known(obj, looker))
    ]
    names = (key, *called, *map(plain_name, obj.aliases.all()))
    kept = tuple(name for name in dict.fromkeys(names) if len(name) > 1 or not name.isascii())
    parts = [part for name in called for part in name_parts(name)]
    return NamedEntity(obj.dbref, kept, tuple(dict.fromkeys(parts)), listens)


def silent(obj: Any, looker: Any) -> addressing.Listener:
    """Return somebody who does not answer, so that a line that calls them is for nobody else."""
    return addressing.Listener(obj.dbref, named(obj, looker, listens=False))


KINDS = {"say": "say", "whisper": "whisper", "pose": "emote"}
MOVES = frozenset({"move", "traverse", "teleport", "follow"})
QUOTED = re.compile(r'\A[^"“«„]*+["“«„](.*)["”»“]', re.DOTALL)
# Words in a colour, as in "|rStop!|n"; a lone pipe, as in "red|green", is no colour.
COLOURED = re.compile(r"(?<![\w|])\|\[?(?:[a-zA-Z]|[0-5]{3}|#[0-9a-f]{6})(?=\S)([^|]*)\|n(?!\w)")
LINE_CHARS = 20_000


@dataclass(frozen=True)
class Utterance:
    """What a speaker with `SpeakerMixin` is saying at this moment."""

    words: str
    receivers: Sequence[Any]
    whisper: bool


@dataclass(frozen=True)
class UnperceivedLine:
    """The arguments of `Hearing.hear`, and what an assistant's act tells of itself meanwhile."""

    kind: str
    words: str
    speaker: Any
    item: str
    authors: Authors
    behind: Authors  # of the act, none if it is none
    confidants: Audience | None  # who may know of the act, None for everybody

    @property
    def speaker_name(self) -> str:
        return str(self.speaker)


def split_message(text: Any) -> tuple[str, str]:
    """Return the words and the type of what `msg` got: a string or (string, options)."""
    if isinstance(text, (tuple, list)):
        words = text[0] if text else ""
        options = text[1] if len(text) > 1 and isinstance(text[1], dict) else {}
        return str(words or ""), str(options.get("type") or "")
    return str(text or ""), ""


def words_of(kind: str, line: str, speaker: Any) -> str:
    """Return the raw words if the speaker has them, else those in the line, in no colour.

    Nobody can tell other markup from pipes that were meant.
    """
    if kind == "emote":
        if perception.is_assistant(speaker):  # its emote is escaped for clients
            return perception.plain(line, LINE_CHARS)
        deed = line.removeprefix(str(speaker.key))
        return uncoloured(line if deed == line else own_name(speaker) + deed)
    utterance = utterance_of(speaker)
    match = QUOTED.match(line)  # as in: Ann says, "hello"; a whisper has resets around it
    words = match[1].removeprefix("|n").removesuffix("|n") if match else line
    return uncoloured(perception.bare_words(utterance.words if utterance else words))


def uncoloured(line: str) -> str:
    """Return a line with its coloured words in no colour."""
    return COLOURED.sub(r"\1", storable(str(line))[:LINE_CHARS])


class CannotBeHeard(AssistantError):
    """A typed line reaches nobody. The text says why."""


def hear_typed(
    character: Any, config: AssistantConfig, speaker: Any, kind: str, typed: str
) -> IncomingEvent:
    """Return a typed line as a character would hear it now; raises CannotBeHeard."""
    name, words = own_name(character), clean_heard(uncoloured(typed), HEARD_CHARS)
    if not words:
        raise CannotBeHeard("Which line?")
    if character is speaker:
        raise CannotBeHeard(f"You are {name}. Somebody else must say the line.")
    if character.location is None:
        raise CannotBeHeard(f"{name} is in no room, so nobody can speak to it.")
    return perceive(
        RoomLine(addressing.SpokenLine(kind, words), speaker, character), words, character, config
    )


def ensure_answered(name: str, event: IncomingEvent, whisper: str) -> None:
    """Raise CannotBeHeard for a line that it would not answer; ``whisper`` says how to do that."""
    if not event.addressed:
        why = WHY_NOT.get(event.reason, f"is not for it ({event.reason})")
        raise CannotBeHeard(
            f"{name} would not answer: the line {why}. Say '{name}, ...', or {whisper}."
        )


def perceive(line: RoomLine, words: str, character: Any, config: AssistantConfig) -> IncomingEvent:
    """Make an event of a line that a character hears; ``words`` may name what was given."""
    speaker, spoken_line = line.speaker, line.line
    addressed, reason = line.verdict.of(character.dbref)
    is_whisper = spoken_line.kind == WHISPER
    return IncomingEvent(
        kind=spoken_line.kind,
        speaker=speaker.dbref,
        speaker_name=perception.display_name(speaker, character),
        text=cut_text(words, config.max_heard_chars),
        audience=line.everybody - {character.dbref},
        private=is_whisper,
        repeatable=is_whisper
        and not spoken_line.from_assistant
        and config.whisper_policy == "trusting",
        addressed=addressed,
        hops=spoken_line.hops,
        reason=reason,
        authors=frozenset({speaker.dbref}),
    )
