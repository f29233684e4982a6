"""What a scene of `ai_check` is, and how texts match what it expects."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evennia_ai.errors import ConfigError
from evennia_ai.messages import EMOTE, SAY, WHISPER
from evennia_ai.policy.conversation.persona_and_lore import read_persona
from evennia_ai.policy.facts.terms import with_digits
from evennia_ai.policy.retrieval.words import UNSPACED

QUOTES = str.maketrans("‘’“”„«»", '\'\'"""""')
ANY_LETTERS = re.escape("*")


def plain(text: str) -> str:
    """Return a text with straight quotes and single spaces, case folded."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(QUOTES).casefold().split())


def _is_pattern(wanted: str) -> bool:
    return len(wanted) > 2 and wanted.startswith("/") and wanted.endswith("/")


@lru_cache(maxsize=1_024)
def compiled(wanted: str) -> re.Pattern[str]:
    """Return the pattern of words, of ``begin*`` or of ``/an expression/``; raises ConfigError."""
    if _is_pattern(wanted):
        try:
            return re.compile(wanted[1:-1], re.IGNORECASE)
        except re.error as error:
            raise ConfigError(f"{wanted} is no regular expression: {error}.") from error
    words = plain(wanted)
    if not words.strip("*"):
        raise ConfigError(f"{wanted!r} holds no words.")
    inner = re.escape(words).replace(ANY_LETTERS, r"\w*")
    before = r"(?<!\w)" if _joins(words[0]) else ""
    return re.compile(before + inner + (r"(?!\w)" if _joins(words[-1]) else ""))


def _joins(edge: str) -> bool:
    """Return True if a letter before or after this one would belong to the same word."""
    return (edge.isalnum() or edge == "_") and not UNSPACED.match(edge)


def mentions(wanted: str, text: str) -> bool:
    """Return True if a text holds words or matches a pattern; "four" and "4" are the same."""
    plain_text, digits = plain(text), with_digits(wanted)
    if _is_pattern(wanted):
        return bool(compiled(wanted).search(plain_text))
    match = compiled(digits).search(with_digits(plain_text))
    # In words, a number may be a part of a longer one: "two" is not in "twenty-two".
    return bool(match or (digits == wanted and compiled(wanted).search(plain_text)))


def mentioned(alternatives: Iterable[str], text: str) -> Sequence[str]:
    return [wanted for wanted in alternatives if mentions(wanted, text)]


MANNERS = {"says": SAY, "whispers": WHISPER, "emotes": EMOTE}
ONE_MANNER = f"a line has one of {', '.join(MANNERS)}"
MOST_PROBLEMS = 5


def _as_list(value: Any) -> Any:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _as_calls(value: Any) -> Any:
    calls: list[Any] = []
    for entry in _as_list(value):
        named = entry.items() if isinstance(entry, Mapping) else [(entry, {})]
        calls += [{"tool": name, "arguments": arguments or {}} for name, arguments in named]
    return calls


def _checked_by(check: Callable[[Any], object]) -> AfterValidator:
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
Words = Annotated[Text, _checked_by(compiled)]
AsList = BeforeValidator(_as_list)
# A text alone stands for a mapping with ``text``; True is all rules of a persona, False none.
AsEntry = BeforeValidator(lambda value: {"text": value} if isinstance(value, str) else value)
AsRules = BeforeValidator(lambda value: {"rules": value} if isinstance(value, bool) else value)
Texts = Annotated[tuple[Text, ...], AsList]
Alternatives = Annotated[tuple[Annotated[tuple[Words, ...], AsList], ...], AsList]


class EvalPart(BaseModel):
    """A part of a scene file, without any other entries."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EvalPlace(EvalPart):
    """What the character sees."""

    name: Text = ""
    description: Text = ""
    exits: Texts = ()
    things: Texts = ()
    carrying: Texts = ()
    prices: Mapping[str, int] = {}  # in coins, of what the character carries and sells


class EvalLore(EvalPart):
    """One piece of lore."""

    title: Text = ""
    text: Text


class EvalMemory(EvalPart):
    """One journal entry; ``private`` if only ``told_by`` may know it."""

    text: Text
    told_by: Text = ""
    private: bool = False


class ExpectedCall(EvalPart):
    """A tool call that is looked for; each argument must mention the words."""

    tool: Text
    arguments: Mapping[str, Words] = {}


class PersonaCheck(EvalPart):
    """What ``in_persona`` asks of an answer."""

    rules: bool = True
    language: Literal["", "en", "de", "fr", "es", "ru"] = ""
    most_words: int = Field(default=0, ge=0)  # of an answer; 0 for any number


Calls = Annotated[tuple[ExpectedCall, ...], BeforeValidator(_as_calls)]


class Expected(EvalPart):
    """The checks of one answer."""

    answered: bool = True
    must_mention: Alternatives = ()
    must_not_mention: Alternatives = ()
    must_do: Calls = ()
    must_not_do: Calls = ()
    in_persona: Annotated[PersonaCheck, AsRules] = PersonaCheck()
    private: bool | None = None


class EvalLine(EvalPart):
    """Something that somebody said, whispered or acted out."""

    who: Text
    says: Text = ""
    whispers: Text = ""
    emotes: Text = ""

    @property
    def kind(self) -> str:
        return next(kind for name, kind in MANNERS.items() if getattr(self, name))

    @property
    def text(self) -> str:
        return self.says or self.whispers or self.emotes


class EvalStep(EvalLine):
    """A line that the character answers, unless it only overhears it before the next one."""

    overheard: bool = False
    answer: Expected = Expected()


class EvalSetting(EvalPart):
    """Who the character is, and what stands behind a scene; a file gives it for all its scenes."""

    character: Text = ""  # one of the game's characters, whose persona, lore and place are used
    name: Text = ""
    persona: Annotated[Any, _checked_by(read_persona)] = None
    lore: Annotated[tuple[Annotated[EvalLore, AsEntry], ...], AsList] = ()
    place: EvalPlace | None = None
    people: Texts = ()
    memories: Annotated[tuple[Annotated[EvalMemory, AsEntry], ...], AsList] = ()
    earlier: tuple[EvalLine, ...] = ()
    profile: Text = ""
    settings: Mapping[str, Any] = {}
    tools: Texts = ()  # tools that not everybody may use, allowed here
    results: Mapping[str, Text] = {}  # what a tool answers in this scene
    repeat: int = Field(default=1, ge=1, le=1_000)
    least: float = Field(default=1.0, gt=0, le=1)


class EvalScene(EvalSetting):
    """One scene."""

    scene: Text
    steps: tuple[EvalStep, ...]

    @property
    def everybody(self) -> tuple[str, ...]:
        """Return the names of all people in the scene, the character left out."""
        speaking = [line.who for line in (*self.earlier, *self.steps)]
        own = self.name or self.character
        return tuple(dict.fromkeys(who for who in (*self.people, *speaking) if who != own))


# The model that an entry of a list or a mapping belongs to.
INNER: Mapping[str, type[EvalPart]] = {
    "place": EvalPlace, "lore": EvalLore, "memories": EvalMemory, "earlier": EvalLine,
    "steps": EvalStep, "answer": Expected, "in_persona": PersonaCheck, "must_do": ExpectedCall,
    "must_not_do": ExpectedCall,
}  # fmt: skip
P = TypeVar("P", bound=EvalPart)


def read_scenes(data: Any, file: str) -> list[EvalScene]:
    """Return the scenes of a file; raises ConfigError that names file, scene, step and entry."""
    if not isinstance(data, Mapping) or not isinstance(data.get("scenes"), list):
        raise ConfigError(f"{file}: a scene file is a mapping with a list 'scenes'.")
    shared = {name: value for name, value in data.items() if name != "scenes"}
    _validate(EvalSetting, shared, file)
    scenes = []
    for number, raw in enumerate(data["scenes"], 1):
        title = raw.get("scene", "") if isinstance(raw, Mapping) else ""
        where = f"{file}, scene {number}" + (f" ({title})" if title else "")
        if not isinstance(raw, Mapping):
            raise ConfigError(f"{where}: a scene is a mapping with 'scene' and 'steps'.")
        scenes.append(_validate(EvalScene, {**shared, **raw}, where))
        _check_scene(scenes[-1], where)
    if not scenes:
        raise ConfigError(f"{file}: 'scenes' is empty.")
    return scenes


def _check_scene(scene: EvalScene, where: str) -> None:
    """Raise ConfigError for what no single entry shows to be wrong."""
    if not scene.character and not (scene.name and scene.persona):
        raise ConfigError(
            f"{where}: whose scene is it? Give the 'character' of the game, or a 'name' and a "
            "'persona'."
        )
    if not any(not step.overheard for step in scene.steps):
        raise ConfigError(f"{where}, steps: there must be one at least that is answered.")
    place = scene.place or EvalPlace()
    if strange := [thing for thing in place.prices if thing not in place.carrying]:
        raise ConfigError(f"{where}, place, prices: '{strange[0]}' is not among 'carrying'.")
    for label, lines in (("step", scene.steps), ("earlier line", scene.earlier)):
        for number, line in enumerate(lines, 1):
            given = [name for name in MANNERS if getattr(line, name)]
            if len(given) != 1:
                shown = " and ".join(given) or "none"
                raise ConfigError(f"{where}, {label} {number}: {ONE_MANNER}, not {shown}.")
    own = scene.name or scene.character
    for number, step in enumerate(scene.steps, 1):
        if step.who == own:
            raise ConfigError(f"{where}, step {number}: {own} answers; somebody else must speak.")


def _validate(model: type[P], data: Mapping[str, Any], where: str) -> P:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = [_describe(model, item) for item in error.errors(include_url=False)]
        problem_lines = "\n".join(f"{where}{problem}" for problem in problems[:MOST_PROBLEMS])
        raise ConfigError(problem_lines) from error


def _describe(model: type[EvalPart], problem: Mapping[str, Any]) -> str:
    *path, last = problem["loc"]
    if problem["type"] == "extra_forbidden":
        owner = next((INNER[name] for name in reversed(path) if name in INNER), model)
        allowed = ", ".join(name for name in owner.model_fields if name != "rules")
        return f"{_place_of(path)}: there is no entry '{last}'. Use {allowed}."
    sentence = problem["msg"].removeprefix("Value error, ").rstrip(".")
    if problem["type"] == "missing":
        sentence = "it is missing"
    elif isinstance(problem["input"], bool) and problem["type"] == "string_type":
        sentence = "YAML reads this word as true or false; put it in quotes"
    elif not sentence.startswith(repr(problem["input"])):
        sentence = f"{sentence}, not {problem['input']!r:.60}"
    return f"{_place_of([*path, last])}: {sentence}."


def _place_of(path: Iterable[Any]) -> str:
    """Return a path as ", step 2, answer, must_mention"."""
    words: Sequence[str] = ()
    for part in path:
        if not isinstance(part, int):
            words = [*words, str(part)]
        elif words:
            place = "step" if words[-1] == "steps" else words[-1]
            words = [*words[:-1], f"{place} {part + 1}"]
    return "".join(f", {word}" for word in words)
