"""The form of a scene file; `reading` checks plain data, as YAML gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from evennia_ai.errors import ConfigError
from evennia_ai.messages import EMOTE, SAY, WHISPER
from evennia_ai.policy.conversation.persona import read_persona
from evennia_ai.policy.scenes.matching import compiled

MANNERS = {"says": SAY, "whispers": WHISPER, "emotes": EMOTE}


def as_list(value: Any) -> Any:
    """Return a list; a single value is a list of one, None an empty one."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def as_alternatives(value: Any) -> Any:
    """Return each entry of a list as a list of alternatives."""
    return [as_list(entry) for entry in as_list(value)]


def as_calls(value: Any) -> Any:
    """Return tool calls as mappings with ``tool`` and ``arguments``; a name alone is enough."""
    calls: list[Any] = []
    for entry in as_list(value):
        named = entry.items() if isinstance(entry, Mapping) else [(entry, {})]
        calls += [{"tool": name, "arguments": arguments or {}} for name, arguments in named]
    return calls


def as_text_entry(value: Any) -> Any:
    """Return a mapping with ``text`` for a text alone."""
    return {"text": value} if isinstance(value, str) else value


def as_persona_check(value: Any) -> Any:
    """Return the fields of ``in_persona``: True is all rules, False none."""
    return {"rules": value} if isinstance(value, bool) else value


def checked_by(check: Callable[[Any], object]) -> AfterValidator:
    """Return a validator that passes on what raises no ConfigError."""

    def checked(value: Any) -> Any:
        try:
            check(value)
        except ConfigError as error:
            raise ValueError(str(error)) from error
        return value

    return AfterValidator(checked)


# YAML reads 4 as a number and yes as a truth value: both count as the words they were.
Text = Annotated[
    str, BeforeValidator(lambda value: str(value) if type(value) in (int, float) else value)
]
Words = Annotated[Text, checked_by(compiled)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(as_list)]
Alternatives = Annotated[tuple[tuple[Words, ...], ...], BeforeValidator(as_alternatives)]


class Part(BaseModel):
    """A part of a scene file, without any other entries."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Place(Part):
    """What the character sees."""

    name: Text = ""
    description: Text = ""
    exits: Texts = ()
    things: Texts = ()
    carrying: Texts = ()


class Lore(Part):
    """One piece of lore."""

    title: Text = ""
    text: Text


class Memory(Part):
    """One journal entry; ``private`` if only ``told_by`` may know it."""

    text: Text
    told_by: Text = ""
    private: bool = False


class Call(Part):
    """A tool call that is looked for; each argument must mention the words."""

    tool: Text
    arguments: Mapping[str, Words] = {}


class PersonaCheck(Part):
    """What ``in_persona`` asks: the rules, and a model's verdict if ``judge`` names a profile."""

    rules: bool = True
    language: Literal["", "en", "de", "fr", "es", "ru"] = ""
    most_words: int = Field(default=0, ge=0)  # of an answer; 0 for any number
    judge: Text = ""
    question: Text = "Is the answer in the voice of this persona, and true to it?"


AsEntry, AsList = BeforeValidator(as_text_entry), BeforeValidator(as_list)
Calls = Annotated[tuple[Call, ...], BeforeValidator(as_calls)]


class Expected(Part):
    """The checks of one answer."""

    answered: bool = True
    must_mention: Alternatives = ()
    must_not_mention: Alternatives = ()
    must_do: Calls = ()
    must_not_do: Calls = ()
    in_persona: Annotated[PersonaCheck, BeforeValidator(as_persona_check)] = PersonaCheck()
    private: bool | None = None


class Line(Part):
    """Something that somebody said, whispered or acted out."""

    who: Text
    says: Text = ""
    whispers: Text = ""
    emotes: Text = ""

    @property
    def kind(self) -> str:
        """Return the kind of event that it is."""
        return next(kind for name, kind in MANNERS.items() if getattr(self, name))

    @property
    def text(self) -> str:
        """Return the words."""
        return self.says or self.whispers or self.emotes


class Step(Line):
    """A line that the character answers, unless it only overhears it before the next one."""

    overheard: bool = False
    answer: Expected = Expected()


class Setting(Part):
    """Who the character is, and what stands behind a scene; a file gives it for all its scenes."""

    character: Text = ""  # one of the game's characters, whose persona, lore and place are used
    name: Text = ""
    persona: Annotated[Any, checked_by(read_persona)] = None
    lore: Annotated[tuple[Annotated[Lore, AsEntry], ...], AsList] = ()
    place: Place | None = None
    people: Texts = ()
    memories: Annotated[tuple[Annotated[Memory, AsEntry], ...], AsList] = ()
    earlier: tuple[Line, ...] = ()
    profile: Text = ""
    settings: Mapping[str, Any] = {}
    tools: Texts = ()  # tools that not everybody may use, allowed here
    results: Mapping[str, Text] = {}  # what a tool answers in this scene
    repeat: int = Field(default=1, ge=1, le=1_000)
    least: float = Field(default=1.0, gt=0, le=1)


class Scene(Setting):
    """One scene."""

    scene: Text
    steps: tuple[Step, ...]

    @property
    def everybody(self) -> tuple[str, ...]:
        """Return the names of all people in the scene, the character left out."""
        speaking = [line.who for line in (*self.earlier, *self.steps)]
        own = self.name or self.character
        return tuple(dict.fromkeys(who for who in (*self.people, *speaking) if who != own))
