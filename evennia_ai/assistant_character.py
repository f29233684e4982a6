"""What a character needs to have a mind, and what makes a player's character better heard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evennia.objects.objects import DefaultCharacter
from evennia.utils.utils import class_from_module

from evennia_ai.errors import ConfigError
from evennia_ai.game.hearing import KINDS, MOVES, Utterance, split_message, words_of
from evennia_ai.game.perception import display_name
from evennia_ai.game.sleep_state import sleeper_line
from evennia_ai.game.typing_indicator import choose_filler
from evennia_ai.messages import Heard, Situation
from evennia_ai.store.attributes import SCRIPT_KEY, read_attribute, write_attribute
from evennia_ai.store.goal_records import Goals
from evennia_ai.store.journal import Journal
from evennia_ai.store.plans import DayPlan
from evennia_ai.store.profiles import EntityProfiles

SCRIPT_PATH = "evennia_ai.assistant_script.AssistantScript"
COMPOSED = "Assistant__"
DBREF = re.compile(r"#\d+")


if TYPE_CHECKING:
    from evennia.objects.objects import DefaultCharacter as Mixed
else:  # a mixin stands before any typeclass
    Mixed = object


class AssistantMixin(Mixed):
    """Ears for a character. Does nothing, and costs nothing, while no assistant is attached."""

    @property
    def assistant(self) -> Any | None:
        """The character's `AssistantScript`, None without one. Asks the database once."""
        known = self.ndb.ai_assistant
        if known is None or (known and not known.pk):
            found = self.scripts.get(SCRIPT_KEY)
            known = found[0] if found else False
            self.ndb.ai_assistant = known
        return known or None

    @property
    def journal(self) -> Journal:
        """What the character wrote down: ``add``, ``get``, ``all``, ``search`` and more."""
        return Journal.of(self)

    @property
    def ai_profiles(self) -> EntityProfiles:
        """What the character knows of others, by their dbrefs."""
        return EntityProfiles.of(self)

    @property
    def ai_goals(self) -> Goals:
        """What the character is after."""
        return Goals.of(self)

    @property
    def ai_plan(self) -> DayPlan:
        """What the character is about at which time of its day."""
        return DayPlan.of(self)

    def attach_assistant(self, persona: str = "") -> Any:
        """Give the character a mind, with a persona or with the one it has; returns the script."""
        if persona:
            self.db.ai_persona = persona
        self.ndb.ai_assistant = None
        if self.assistant is None:
            self.scripts.add(SCRIPT_PATH, key=SCRIPT_KEY)
            self.ndb.ai_assistant = None
        return self.assistant

    def at_ai_hear(self, event: Heard) -> Heard | None:
        """Called before something heard is stored: return it, or another, or None to be deaf."""
        return event

    def at_ai_pre_act(self, tool: str, args: dict[str, Any]) -> bool | None:
        """Called before a tool runs: return False to forbid it."""

    def at_ai_situation(self, situation: Situation) -> Situation:
        """Called with what it sees: add what only your game knows, such as weather or hunger, with
        ``dataclasses.replace(situation, notes=("It rains.",))``."""
        return situation

    def at_ai_say(self, text: str) -> str:
        """Called with the words the character is about to say; returns them, changed or not."""
        return text

    def at_ai_thinking(self, seconds: float) -> str | None:
        """Called once where an answer takes long: return what the character does meanwhile, such
        as "rubs her chin.", or None for nothing. Takes the lines of the Attribute ``ai_fillers``
        in turn, or some of ours where there is none; an empty list is for nothing."""
        number = self.ndb.ai_fillers_shown or 0
        self.ndb.ai_fillers_shown = number + 1
        return choose_filler(read_attribute(self, "ai_fillers"), number)

    def return_appearance(self, looker: Any, **kwargs: Any) -> str:
        """What whoever looks at the character sees: where it sleeps, that too."""
        appearance = super().return_appearance(looker, **kwargs)
        line = sleeper_line(self, looker) if appearance else ""
        return f"{appearance}\n{line}" if line else appearance

    def at_object_post_creation(self) -> None:
        """A character made with a persona, by code or prototype, gets its mind at once."""
        super().at_object_post_creation()
        if self.attributes.has("ai_persona"):
            self.attach_assistant()

    def at_msg_receive(self, text: Any = None, from_obj: Any = None, **kwargs: Any) -> bool:
        """Evennia sends the character a line: hear it, if it is for the ears."""
        passed: bool = super().at_msg_receive(text=text, from_obj=from_obj, **kwargs)
        if from_obj and from_obj is not self and hasattr(from_obj, "dbref") and self.assistant:
            line, message_type = split_message(text)
            if message_type in KINDS:
                kind = KINDS[message_type]
                self.assistant.hear(kind, words_of(kind, line, from_obj), from_obj)
            elif message_type in MOVES:
                self.assistant.notice_move(from_obj)
            elif not message_type:
                self.assistant.notice_presence()
        return passed

    def at_object_receive(
        self, moved_obj: Any, source_location: Any, move_type: str = "move", **kwargs: Any
    ) -> None:
        """Something came into the character's hands: a gift is heard like words."""
        super().at_object_receive(moved_obj, source_location, move_type=move_type, **kwargs)
        if move_type == "give" and source_location and self.assistant:
            self.assistant.hear("give", display_name(moved_obj, self), source_location)

    def at_post_move(self, source_location: Any, move_type: str = "move", **kwargs: Any) -> None:
        """The character has come somewhere, by its own feet or not."""
        super().at_post_move(source_location, move_type=move_type, **kwargs)
        if self.assistant:
            self.assistant.notice_place()

    def at_post_unpuppet(self, account: Any = None, session: Any = None, **kwargs: Any) -> None:
        """Who steered the character left it: it stays where it is and thinks for itself again."""
        if self.assistant is None:
            super().at_post_unpuppet(account, session=session, **kwargs)
        else:
            self.assistant.wake()


class AssistantCharacter(AssistantMixin, DefaultCharacter):
    """A character with a mind. Give it the Attribute ``ai_persona`` when you create it."""


class SpeakerMixin(Mixed):
    """Optional, for players' characters: assistants hear the raw words and know the receivers, and
    the player may mute one of them."""

    @property
    def muted_assistants(self) -> tuple[str, ...]:
        """Dbrefs of the characters with minds that this player does not want to hear."""
        stored = read_attribute(self, "ai_muted") or ()
        return tuple(known for known in stored if DBREF.fullmatch(str(known)))

    def toggle_mute(self, dbref: str) -> bool:
        """Mute a character or end that; returns whether it is muted now."""
        muted = [known for known in self.muted_assistants if known != dbref]
        is_new = len(muted) == len(self.muted_assistants)
        write_attribute(self, "ai_muted", [*muted, dbref] if is_new else muted)
        return is_new

    def at_msg_receive(self, text: Any = None, from_obj: Any = None, **kwargs: Any) -> bool:
        """Let nothing through that a muted character says or does."""
        if from_obj and getattr(from_obj, "dbref", None) in self.muted_assistants:
            return False
        return bool(super().at_msg_receive(text=text, from_obj=from_obj, **kwargs))

    def at_post_puppet(self, **kwargs: Any) -> None:
        """A player enters the game: to those present that is an arrival."""
        super().at_post_puppet(**kwargs)
        tell_minds(self, "arrive")

    def at_post_unpuppet(self, account: Any = None, session: Any = None, **kwargs: Any) -> None:
        """A player leaves the game: to those present that is a departure."""
        if not self.sessions.count():
            tell_minds(self, "leave")
        super().at_post_unpuppet(account, session=session, **kwargs)

    def at_say(self, message: str, *args: Any, **kwargs: Any) -> None:
        """Leave the words where those who hear them can find them while they are spoken."""
        receivers = kwargs.get("receivers") or ()
        listed = tuple(receivers) if isinstance(receivers, (list, tuple, set)) else (receivers,)
        self.ndb.ai_utterance = Utterance(message, listed, bool(kwargs.get("whisper")))
        try:
            super().at_say(message, *args, **kwargs)
        finally:
            self.ndb.ai_utterance = None


def tell_minds(player: Any, kind: str) -> None:
    """Let every assistant in a player's place notice that he came or went."""
    for obj in player.location.contents if player.location else ():
        script = getattr(obj, "assistant", None)
        if script is not None and obj is not player:
            script.hear(kind, "", player)
            if kind == "arrive":
                script.note_arrival(player)


def composed_path(path: str) -> str:
    """The typeclass path of another typeclass with ears added, so that any character can have a
    mind and keeps everything it was; raises ValueError where the path cannot be spelled so."""
    if "__" in path:
        raise ValueError(f"the typeclass path '{path}' holds two underscores in a row")
    return f"{__name__}.{COMPOSED}{path.replace('.', '__')}"


def path_with_mixin(base: type) -> str:
    """The path of a typeclass with `AssistantMixin` added; raises ConfigError."""
    try:
        return composed_path(f"{base.__module__}.{base.__name__}")
    except ValueError as error:
        raise ConfigError(f"Ears cannot be added: {error}. Add AssistantMixin to it.") from error


def add_assistant_mixin(character: Any) -> None:
    """Make sure the character's typeclass has `AssistantMixin`, keeping everything it was."""
    if not isinstance(character, AssistantMixin):
        swap(character, path_with_mixin(type(character)))


def remove_assistant_mixin(character: Any) -> None:
    """Give the character the typeclass back that it had before `add_assistant_mixin`."""
    before = original_path(character.db_typeclass_path)
    character.ndb.ai_assistant = None
    if before:
        swap(character, before)


def swap(character: Any, path: str) -> None:
    """Change the typeclass and nothing else: no hook of creation runs."""
    character.swap_typeclass(path, clean_attributes=False, run_start_hooks=None, no_default=True)


def original_path(path: str) -> str | None:
    """The typeclass path that `composed_path` was given, None where it is none of ours."""
    prefix = f"{__name__}.{COMPOSED}"
    return path[len(prefix) :].replace("__", ".") if path.startswith(prefix) else None


def __getattr__(name: str) -> type:
    """Make the composed typeclasses when Evennia looks them up by their path."""
    if not name.startswith(COMPOSED):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    base = class_from_module(name[len(COMPOSED) :].replace("__", "."))
    made: type = type(base)(name, (AssistantMixin, base), {"__module__": __name__})
    globals()[name] = made
    return made
