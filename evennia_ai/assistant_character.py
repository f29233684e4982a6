"""Typeclass mixins: for an NPC, and for players' characters."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from django.db import DatabaseError
from evennia.objects.models import ObjectDB
from evennia.objects.objects import DefaultCharacter

import evennia_ai.store.segments  # noqa: F401  # stores the records
from evennia_ai.game.client_notices import choose_filler, mark_line
from evennia_ai.game.perception import authors_of_object, bare_words, display_name
from evennia_ai.game.room_lines import KINDS, MOVES, Utterance, split_message, uncoloured, words_of
from evennia_ai.game.sleep_state import sleeper_line
from evennia_ai.game.wares import lets_go
from evennia_ai.messages import EMOTE, SAY, WHISPER, IncomingEvent, Situation, deed_of
from evennia_ai.ports import Character
from evennia_ai.ports.goal_records import DayPlan, Goals
from evennia_ai.ports.journal import Journal
from evennia_ai.ports.profiles import EntityProfiles
from evennia_ai.store.attributes import SCRIPT_KEY, holder_of, read_attribute, write_attribute

SCRIPT_PATH = "evennia_ai.assistant_script.AssistantScript"

if TYPE_CHECKING:
    from evennia.objects.objects import DefaultCharacter as Mixed
else:  # a mixin stands before any typeclass
    Mixed = object


class RawSpeechMixin(Mixed):
    """While it speaks, ``ndb.ai_utterance`` holds the raw words for the assistants present."""

    def at_say(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Speak."""
        if self.ndb.ai_utterance:  # the words of an assistant; `message` is escaped for clients
            super().at_say(message, *args, **kwargs)
            return
        if self.has_account and self.location:
            add_missing_mixins(self.location)
        message = bare_words(message)
        receivers = kwargs.get("receivers") or next(iter(args[2:3]), None) or ()
        listed = tuple(receivers) if isinstance(receivers, (list, tuple, set)) else (receivers,)
        whisper = bool(kwargs.get("whisper"))
        self.ndb.ai_utterance = Utterance(message, listed, whisper)
        try:
            if mind := getattr(self, "ai_mind", None):
                mind.hearing.note_own(WHISPER if whisper else SAY, uncoloured(message))
            super().at_say(message, *args, **kwargs)
        finally:
            self.ndb.ai_utterance = None


class AssistantMixin(RawSpeechMixin):
    """Lets a character have an assistant. Without one it does nothing and costs nothing."""

    @property
    def db(self) -> Any:
        """Return the Attributes, as of any typeclass."""
        return holder_of(self)

    @property
    def assistant(self) -> Any:
        """Return the character's `AssistantScript`, None without one. Query the database once."""
        known = self.ndb.ai_assistant
        if known is None or (known and not known.pk):
            known = self.ndb.ai_assistant = next(iter(self.scripts.get(SCRIPT_KEY)), False)
        return known or None

    @property
    def ai_mind(self) -> Any:
        """Return the assistant's `GameMind`, None without one or without the service."""
        script = self.assistant
        return script.mind if script else None

    @property
    def journal(self) -> Journal:
        """Return the journal: ``add``, ``get``, ``all``, ``search`` and more."""
        return Journal.of(self)

    @property
    def ai_profiles(self) -> EntityProfiles:
        """Return the entity profiles: what the character knows about others, by dbref."""
        return EntityProfiles.of(self)

    @property
    def ai_goals(self) -> Goals:
        """Return the goals of the character."""
        return Goals.of(self)

    @property
    def ai_plan(self) -> DayPlan:
        """Return the day plan of the character."""
        return DayPlan.of(self)

    def attach_assistant(self, persona: str = "") -> Any:
        """Give the character an assistant and return its script; "" keeps the present persona."""
        if persona:
            self.db.ai_persona = persona
        self.ndb.ai_assistant = None
        if self.assistant is None:
            self.scripts.add(SCRIPT_PATH, key=SCRIPT_KEY)
            self.ndb.ai_assistant = None
        return self.assistant

    def ai_perceived(
        self, kind: str, actor: Any, item: Any = None, since: datetime | None = None
    ) -> bool:
        """Return True if the game itself showed the character an event; words never count.

        ``kind`` is "give", "arrive", "leave", or one given to `notify`; ``actor`` did it; ``item``
        is the object that was given, or its name; ``since`` an aware time. None for any.
        """
        mind = self.ai_mind
        if mind is None or actor is None:
            return False
        name, dbref = (item, "") if isinstance(item, str) else ("", getattr(item, "dbref", ""))
        return bool(mind.inbox.has_perceived(kind, actor.dbref, dbref, name, since))

    def at_ai_hear(self, event: IncomingEvent) -> IncomingEvent | None:
        """Hook: return the event to store, changed or not; return None to drop it."""
        return event

    def at_ai_pre_act(self, tool: str, args: dict[str, Any]) -> bool | None:
        """Hook: return False to forbid a tool call."""

    def at_ai_situation(self, situation: Situation) -> Situation:
        """Hook: return what the character perceives.

        Add what only your game knows, such as weather or hunger, with
        ``dataclasses.replace(situation, notes=("It rains.",))``.
        """
        return situation

    def at_ai_describe_self(self) -> str:
        """Hook: return the character's own state, such as "Health 3 of 18"; quote no player."""
        return ""

    def at_ai_say(self, text: str) -> str:
        """Hook: return the words that the character will say, changed or not."""
        return text

    def at_ai_thinking(self, seconds: float) -> str | None:
        """Hook: return what the character does while an answer takes long; None for nothing.

        Called every 20 s, with the seconds so far. The line follows the character's name, such as
        "rubs her chin.". By default the lines of ``ai_fillers`` are taken in turn.
        """
        number = self.ndb.ai_fillers_shown or 0
        self.ndb.ai_fillers_shown = number + 1
        return choose_filler(read_attribute(self, "ai_fillers"), number)

    def return_appearance(self, looker: Any, **kwargs: Any) -> str:
        """Return the appearance, with a line if the character sleeps."""
        appearance = super().return_appearance(looker, **kwargs)
        line = sleeper_line(self, looker) if appearance else ""
        return f"{appearance}\n{line}" if line else appearance

    def at_object_post_creation(self) -> None:
        """Attach an assistant to a character that was created with a persona."""
        super().at_object_post_creation()
        if self.attributes.has("ai_persona"):
            self.attach_assistant()

    def swap_typeclass(self, *args: Any, **kwargs: Any) -> None:
        """Change the typeclass; an NPC goes on hearing."""
        super().swap_typeclass(*args, **kwargs)
        if self.scripts.has(SCRIPT_KEY):
            add_assistant_mixin(self)

    def at_idmapper_flush(self) -> bool:
        """Return False: a character read again from the database would lack what was added."""
        return False if hasattr(self, "ai_before") else bool(super().at_idmapper_flush())

    def at_msg_receive(self, text: Any = None, from_obj: Any = None, **kwargs: Any) -> bool:
        """Pass a line from Evennia to the assistant, if the character can hear it."""
        passed: bool = super().at_msg_receive(text=text, from_obj=from_obj, **kwargs)
        mind = self.ai_mind
        if from_obj and hasattr(from_obj, "dbref") and mind:
            line, message_type = split_message(text)
            kind = KINDS.get(message_type)
            if from_obj is self:
                if kind in (SAY, EMOTE) and not self.ndb.ai_utterance:
                    deed = deed_of(mind.who.name, words_of(kind, line, self))
                    mind.hearing.note_own(kind, deed)
            elif kind:
                mind.hearing.hear(kind, words_of(kind, line, from_obj), from_obj)
            elif message_type in MOVES:
                mind.presence.notice_move(from_obj)
            elif not message_type:
                mind.presence.notice_presence()
        return passed

    def at_talked_to(self, speech: str, character: Any) -> Any:
        """Hear the command ``talk`` of Evennia's contrib ``llm`` in place of the contrib itself."""
        if mind := self.ai_mind:
            return mind.hearing.hear("say", f"{mind.who.name}, {speech}", character)
        talk = getattr(super(), "at_talked_to", None)
        return talk(speech, character) if talk else None

    def at_msg_send(self, text: Any = None, to_obj: Any = None, **kwargs: Any) -> None:
        """Mark what the assistant says, but not what a player says who controls the character."""
        super().at_msg_send(text=text, to_obj=to_obj, **kwargs)
        if to_obj is not None and self.assistant and not self.has_account:
            mark_line(self, text, to_obj)

    def at_pre_object_leave(self, leaving_object: Any, destination: Any, **kwargs: Any) -> bool:
        """Return False for a thing with a price that the assistant's tools do not sell."""
        left: bool = super().at_pre_object_leave(leaving_object, destination, **kwargs)
        return left and lets_go(self, leaving_object, destination)

    def at_object_receive(
        self, moved_obj: Any, source_location: Any, move_type: str = "move", **kwargs: Any
    ) -> None:
        """Pass a gift to the assistant as an event."""
        super().at_object_receive(moved_obj, source_location, move_type=move_type, **kwargs)
        if move_type == "give" and source_location and (mind := self.ai_mind):
            name, authors = display_name(moved_obj, self), authors_of_object(moved_obj)
            mind.hearing.hear("give", name, source_location, moved_obj.dbref, authors)

    def at_post_move(self, source_location: Any, move_type: str = "move", **kwargs: Any) -> None:
        """Tell the assistant that the character is in another place."""
        super().at_post_move(source_location, move_type=move_type, **kwargs)
        if self.ai_mind:
            self.ai_mind.presence.notice_place()

    def at_post_unpuppet(self, account: Any = None, session: Any = None, **kwargs: Any) -> None:
        """Wake the assistant when a player leaves the character; the character stays in place."""
        if self.ai_mind:
            self.ai_mind.notice_unpuppet()
        else:
            super().at_post_unpuppet(account, session=session, **kwargs)


class AssistantCharacter(AssistantMixin, DefaultCharacter):
    """An NPC. Create it with the Attribute ``ai_persona``."""


class SpeakerMixin(RawSpeechMixin):
    """Optional for players' characters: assistants get the raw words and the receivers of a line,
    and the player can mute assistants."""

    @property
    def muted_assistants(self) -> tuple[str, ...]:
        """Return the dbrefs of the characters that this player muted."""
        stored = read_attribute(self, "ai_muted") or ()
        return tuple([known for known in stored if str(known).startswith("#")])

    def toggle_mute(self, dbref: str) -> bool:
        """Mute or unmute a character; return whether it is muted now."""
        muted = [known for known in self.muted_assistants if known != dbref]
        is_new = len(muted) == len(self.muted_assistants)
        write_attribute(self, "ai_muted", [*muted, dbref] if is_new else muted)
        return is_new

    def at_msg_receive(self, text: Any = None, from_obj: Any = None, **kwargs: Any) -> bool:
        """Drop everything that a muted character says or does."""
        if from_obj and getattr(from_obj, "dbref", None) in self.muted_assistants:
            return False
        return bool(super().at_msg_receive(text=text, from_obj=from_obj, **kwargs))

    def at_post_puppet(self, **kwargs: Any) -> None:
        """Tell the assistants present that a player arrived."""
        super().at_post_puppet(**kwargs)
        notify_assistants(self, "arrive")

    def at_post_unpuppet(self, account: Any = None, session: Any = None, **kwargs: Any) -> None:
        """Tell the assistants present that a player left."""
        if not self.sessions.count():
            notify_assistants(self, "leave")
        super().at_post_unpuppet(account, session=session, **kwargs)


if TYPE_CHECKING:

    def check_port(character: AssistantCharacter) -> Character:
        """Let the type checker compare the class with its port."""
        return character


def notify_assistants(player: Any, kind: str) -> None:
    """Tell every assistant in a player's place that the player arrived or left."""
    for obj in player.location.contents if player.location else ():
        mind = getattr(obj, "ai_mind", None)
        if mind is not None and obj is not player:
            mind.hearing.hear(kind, "", player)
            if kind == "arrive":
                mind.presence.note_arrival(player)


@cache
def with_mixin(base: Any) -> type:
    """Return a class that adds `AssistantMixin` to ``base``; queries find it as that typeclass."""
    path = f"{base.__module__}.{base.__name__}"
    name = "Assistant__" + path.replace(".", "__")  # Django wants a name of its own for each
    made: Any = type(base)(name, (AssistantMixin, base), {"__module__": __name__})
    made.path, made.typename, made.ai_before = path, base.__name__, base
    return cast(type, made)


def add_assistant_mixin(character: Any) -> None:
    """Add `AssistantMixin` to a character in memory, if it is missing; its typeclass stays."""
    if not isinstance(character, AssistantMixin):
        own: Any = type(character)
        character.__class__ = with_mixin(own)


def add_missing_mixins(place: Any = None) -> None:
    """Let the NPCs hear, also one from another process, copy or backup."""
    rows = ObjectDB.objects.filter(scriptdb__db_key=SCRIPT_KEY)
    objects: list[Any] = []
    with suppress(DatabaseError):  # then the next line or visit looks again
        objects = list(rows if place is None else rows.filter(db_location=place))
    for character in objects:
        add_assistant_mixin(character)
        if character.ndb.ai_assistant is False:  # it had none when this process looked
            character.ndb.ai_assistant = None


def look_round(sender: Any, traverser: Any = None, **kwargs: Any) -> None:
    """Let the characters hear where a player logs in, or goes to by an exit."""
    player = traverser or sender
    if player.has_account and player.location:
        add_missing_mixins(player.location)


def remove_assistant_mixin(character: Any) -> None:
    """Undo `add_assistant_mixin`; a class that inherits from `AssistantMixin` keeps it."""
    character.ndb.ai_assistant = None
    character.__class__ = getattr(type(character), "ai_before", type(character))
