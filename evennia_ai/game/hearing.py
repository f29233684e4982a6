"""From what Evennia sends a character to a stored event; what cannot be stored now waits."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.client_notices import introduce
from evennia_ai.game.confirmations import hear_answer
from evennia_ai.game.perception import display_name, find_objects, is_assistant
from evennia_ai.game.presence import GamePresence, leader_id, shake_off
from evennia_ai.game.room_lines import RoomLine, UnperceivedLine, hearers_of, named, perceive
from evennia_ai.game.sleep_state import GameSleep
from evennia_ai.game.tick_scheduler import GameAssistantStatus
from evennia_ai.messages import (
    NOTICE,
    PERCEIVED,
    PUPPETED,
    WHISPER,
    Authors,
    InboxEvent,
    IncomingEvent,
    quoted,
)
from evennia_ai.policy.audience import GAME, STRANGER
from evennia_ai.policy.conversation.addressing import (
    NAMED,
    NOT_NAMED,
    SPOKEN,
    SpokenLine,
    asks_to_stay,
)
from evennia_ai.policy.limits.people import COOLING
from evennia_ai.policy.sanitize import clean_heard, cut_text
from evennia_ai.ports import Identity, Settings, ToolContext
from evennia_ai.scheduling import loggable
from evennia_ai.signals import event_heard
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.transactions import store_errors
from evennia_ai.turn.react_loop import EXPIRED
from evennia_ai.turn.turn_runner import AutonomyBudget

log = Logger()

LOST = "{name}: hearing failed; the line is lost"
UNANSWERED = "{name}: hearing failed; the line is stored"
UNHEARD = "{name} did not hear a line ({error}); telling its speaker"
URGENT = 7
STOPPED = "the character is stopped (aistop)"
NOTEWORTHY = 4


class Hearing:
    """Turns what one assistant's character hears into events of its inbox, and attends to them.

    `connect` sets what is made later. Lines and events go through `store.inbox_queue`, which calls
    `read`, `attend_to` and `give_up`.
    """

    def __init__(
        self,
        who: Identity,
        settings: Settings,
        inbox: TableInbox,
        status: GameAssistantStatus,
        sleep: GameSleep,
        services: Any,
    ) -> None:
        self._who, self._settings, self._inbox = who, settings, inbox
        self._status, self._sleep, self._services = status, sleep, services
        self.assistant_id = who.id

    def connect(
        self, presence: GamePresence, autonomy: AutonomyBudget, attend: Callable[[], None]
    ) -> None:
        """Set what hears, too; ``attend`` lets the assistant tick while players are near."""
        self._presence, self._autonomy, self._attend = presence, autonomy, attend

    def hear(
        self, kind: str, words: str, speaker: Any, item: str = "", authors: Authors = frozenset()
    ) -> None:
        """Store what the character heard, then wake it if it must answer.

        ``item`` is the dbref of a thing that was given; ``authors`` are those whose words it holds
        beside the speaker's (`policy.audience`). An unknown kind counts as a claim.
        """
        ndb = speaker.ndb  # of the act that is under way; it is over when a line is read again
        behind = frozenset(ndb.ai_authors or ())
        self._services.inbox_queue.put(
            self, UnperceivedLine(kind, words, speaker, item, authors, behind, ndb.ai_confidants)
        )

    def read(self, line: UnperceivedLine) -> tuple[IncomingEvent, bool] | None:
        """Return a line as an event and whether it is stored at once; None if it is not taken in.

        Do at once what its words ask for and what needs no model. Raises StoreUnavailable if the
        database cannot be read now.
        """
        try:
            with store_errors():
                perceived = self._perceive(line)
        except StoreUnavailable:
            raise
        except Exception:  # noqa: BLE001  # a game's hook failed; the speaker must not notice
            log.failure(LOST, name=self._who.name)
            return None
        if perceived is None:
            return None
        event, is_crowded = perceived
        taken = self._pass_hook(event)
        try:
            if taken and self._services.store_trouble:  # tell who spoke that it does not think
                if taken.addressed and self._services.crowd.should_tell(taken.speaker):
                    self._status.tell("minds_off", [taken.speaker])
                taken = None
            if taken and taken.kind in SPOKEN:
                self._presence.last_talk_at = self._services.clock.seconds()
            if taken and taken.addressed:
                self._presence.partners[taken.speaker] = self._services.now()
            if line.kind in SPOKEN:
                self._answer_speaker(line, event)
        except Exception:  # noqa: BLE001  # as above, but the line is stored
            log.failure(UNANSWERED, name=self._who.name)
        return (taken, taken.addressed or not is_crowded) if taken else None

    def _perceive(self, speech: UnperceivedLine) -> tuple[IncomingEvent, bool] | None:
        """Return a line as an event and whether several assistants hear it; None if it does not."""
        if not self._status.is_on:
            self._note_unheard(speech)
            return None
        line = self._services.lines.hear(
            speech.kind, speech.words, speech.speaker, self._who.character
        )
        if self._who.character.dbref in line.muted:
            return None
        event = perceive(line, speech.words, self._who.character, self._settings.config)
        if speech.confidants is not None:
            known_to = event.audience & (speech.confidants | {event.speaker})
            event = replace(event, private=True, audience=known_to)
        authors = speech.authors | (speech.behind or event.authors)
        return replace(event, item=speech.item, authors=authors), line.is_crowded

    def _answer_speaker(self, speech: UnperceivedLine, event: IncomingEvent) -> None:
        """Answer without a model, so that nobody is followed against their will."""
        hear_answer(speech.speaker, self._who.id, self._who.name, speech.words)
        if leader_id(self._who.character) == speech.speaker.dbref and event.reason != NOT_NAMED:
            own = named(self._who.character, speech.speaker)
            if asks_to_stay(speech.words, (*own.names, *own.parts)):
                shake_off(self._who.character, speech.speaker)

    def _note_unheard(self, speech: UnperceivedLine) -> None:
        """Store soon what a person says while the character is stopped."""
        by_a_mind = is_assistant(speech.speaker) or self._who.character.has_account
        if speech.kind in SPOKEN and not by_a_mind:
            line = RoomLine(
                SpokenLine(speech.kind, speech.words), speech.speaker, self._who.character
            )
            self._services.slices.put(self._store_unheard, line, speech.words)

    def _store_unheard(self, line: RoomLine, words: str) -> None:
        """Store what somebody said to the stopped character; `attend_to` turns it away."""
        event = perceive(line, words, self._who.character, self._settings.config)
        alone = event.reason in (NAMED, WHISPER) or not line.is_crowded  # else another answers
        if event.addressed and alone and not self._services.store_trouble:
            self._services.inbox_queue.put(self, event)

    def _pass_hook(self, event: IncomingEvent) -> IncomingEvent | None:
        """Return what the hook `at_ai_hear` makes of an event, None to drop it."""
        try:
            changed = self._who.character.at_ai_hear(event)
        except Exception:  # noqa: BLE001  # a builder's hook may raise anything; keep the words
            message = "{name}: at_ai_hear failed; storing the event unchanged"
            log.failure(message, loggable(event.private), name=self._who.name)
            return event
        if changed is None:
            return None
        # The log keeps the words as they were said; `store.rows` cleans them for a prompt.
        limit = self._settings.config.max_heard_chars
        too_long = len(changed.text) > limit
        return replace(changed, text=cut_text(changed.text, limit)) if too_long else changed

    def attend_to(self, event: IncomingEvent, event_id: int) -> None:
        """Wake the assistant for a stored event, if the event must be answered."""
        if event.evidence == PUPPETED:
            return
        if self._services.switched_off and event.addressed:
            self._turn_away(event, event_id, self._services.switched_off, "switched_off")
            return
        if not self._status.is_on:
            self._turn_away(event, event_id, STOPPED, "stopped")
            return
        if missing := self._status.lacks_model:
            self._turn_away(event, event_id, missing)
            return
        refusal = self._services.crowd.judge(event, self._who.character.dbref)
        if refusal:
            notice = "cooling" if refusal == COOLING else "too_fast"
            self._turn_away(event, event_id, refusal, notice)
            return
        self._attend()
        self._announce(event, event_id)
        if event.addressed:
            self._status.wake()  # first, since what follows may fail
            if not event.hops:
                self._services.gateway.give_way(str(self._who.id))
            if event.hops:
                self._autonomy.note_act()
            self._sleep.on_addressed(event)
            self._presence.end_pause()
            for person in find_objects([event.speaker]):
                introduce(self._who.character, person)

    def _announce(self, event: IncomingEvent, event_id: int) -> None:
        if event_heard.has_listeners():
            stored, who = InboxEvent(event_id, self._services.now(), event), self._who.character
            event_heard.send_robust(who.assistant, character=who, event=stored)

    def _turn_away(
        self, event: IncomingEvent, event_id: int, refusal: str, notice: str = ""
    ) -> None:
        """Close an event that is not answered; tell its speaker a line now and then."""
        with suppress(StoreUnavailable):  # the event expires by its age
            self._inbox.close([event_id], EXPIRED, refusal)
        if notice and event.addressed and self._services.crowd.should_tell(event.speaker):
            self._status.tell(notice, [event.speaker])

    def give_up(self, item: UnperceivedLine | IncomingEvent, error: StoreUnavailable) -> None:
        """Tell a speaker that their line was not heard: it could not be read, or not be stored."""
        log.error(UNHEARD, name=self._who.name, error=error)
        if isinstance(item, IncomingEvent):
            speakers = [item.speaker] if item.addressed else []
        else:
            speakers = [item.speaker.dbref] if item.kind in SPOKEN else []
        self._status.tell("unheard", speakers)

    def note_own(self, kind: str, words: str, by_code: ToolContext | None = None) -> None:
        """Store what the character does without its mind; its words count as a stranger's.

        If code spoke for it, ``by_code`` has who heard that, and whose words they are.
        """
        who = self._who.character
        if who.ndb.ai_acting or self._services.store_trouble:
            return
        try:
            heard_by = {obj.dbref for obj in hearers_of(kind, who, who)} - {who.dbref}
            authors = frozenset({STRANGER})
            if by_code is None:
                who.ndb.ai_hops = 0
            else:
                heard_by, authors = {*by_code.audience}, by_code.all_authors
            own = IncomingEvent(
                kind=kind,
                speaker=who.dbref,
                speaker_name=self._who.name,
                text=cut_text(words, self._settings.config.max_heard_chars),
                audience=frozenset(heard_by),
                private=kind == WHISPER,
                reason="by code" if by_code else PUPPETED,
                evidence=PUPPETED,
                authors=authors,
            )
            self._services.inbox_queue.put(self, own)
        except Exception:  # noqa: BLE001  # the game goes on speaking
            log.failure(LOST, name=self._who.name)

    def notify(  # all but one have defaults
        self,
        text: str,
        importance: int = 5,
        kind: str = NOTICE,
        actor: Any = None,
        item: Any = None,
        author: Any = GAME,
    ) -> None:
        """Tell the character one sentence, from its point of view, such as about the weather.

        From importance 7 (of 1 to 10) it takes a turn at once; from 4 it may react later; below
        that it only knows. ``kind``, ``actor`` and ``item`` are for `ai_perceived`. ``author`` is
        the object whose words the text holds, if it is not the game's own; then it is quoted.
        """
        if not self._status.is_on:
            return
        listeners = self._services.world.listeners(self._who.character)
        line = clean_heard(text, self._settings.config.max_heard_chars)
        urgent = importance >= URGENT
        event = IncomingEvent(
            kind=kind,
            speaker=dbref_of(actor),
            speaker_name=display_name(actor, self._who.character) if actor else "",
            text=quoted(line) if dbref_of(author) else line,
            audience=listeners,
            addressed=urgent,
            reason="notice",
            evidence=PERCEIVED,
            item=dbref_of(item),
            authors=frozenset({dbref_of(author) or str(author)}),
        )
        self._services.inbox_queue.put(self, event)
        if importance >= NOTEWORTHY and not urgent:
            self._presence.news_at = self._services.clock.seconds()


def dbref_of(obj: Any) -> str:
    """Return an object's dbref, "" for None and for an author that is no object."""
    return str(getattr(obj, "dbref", None) or "")
