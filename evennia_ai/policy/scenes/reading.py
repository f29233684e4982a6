"""Read scenes from plain data, and say what is wrong with a file, and where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from evennia_ai.errors import ConfigError
from evennia_ai.policy.scenes.format import (
    MANNERS,
    Call,
    Expected,
    Line,
    Lore,
    Memory,
    Part,
    PersonaCheck,
    Place,
    Scene,
    Setting,
    Step,
)

ONE_MANNER = f"a line has one of {', '.join(MANNERS)}"
MOST_PROBLEMS = 5
P = TypeVar("P", bound=Part)
# The model that an entry of a list or a mapping belongs to.
INNER: Mapping[str, type[Part]] = {
    "place": Place, "lore": Lore, "memories": Memory, "earlier": Line, "steps": Step,
    "answer": Expected, "in_persona": PersonaCheck, "must_do": Call, "must_not_do": Call,
}  # fmt: skip


def read_scenes(data: Any, file: str) -> list[Scene]:
    """Return the scenes of a file; raises ConfigError that names file, scene, step and entry."""
    if not isinstance(data, Mapping) or not isinstance(data.get("scenes"), list):
        raise ConfigError(f"{file}: a scene file is a mapping with a list 'scenes'.")
    shared = {name: value for name, value in data.items() if name != "scenes"}
    validate(Setting, shared, file)
    found = []
    for number, raw in enumerate(data["scenes"], 1):
        title = raw.get("scene", "") if isinstance(raw, Mapping) else ""
        where = f"{file}, scene {number}" + (f" ({title})" if title else "")
        if not isinstance(raw, Mapping):
            raise ConfigError(f"{where}: a scene is a mapping with 'scene' and 'steps'.")
        scene = validate(Scene, {**shared, **raw}, where)
        found.append(scene)
        check_scene(scene, where)
    if not found:
        raise ConfigError(f"{file}: 'scenes' is empty.")
    return found


def check_scene(scene: Scene, where: str) -> None:
    """Raise ConfigError for what no single entry shows to be wrong."""
    if not scene.character and not (scene.name and scene.persona):
        raise ConfigError(
            f"{where}: whose scene is it? Give the 'character' of the game, or a 'name' and a "
            "'persona'."
        )
    if not any(not step.overheard for step in scene.steps):
        raise ConfigError(f"{where}, steps: there must be one at least that is answered.")
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


def validate(model: type[P], data: Mapping[str, Any], where: str) -> P:
    """Return data as a part of a scene file; raises ConfigError with all that is wrong."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = [describe(model, item) for item in error.errors(include_url=False)]
        raise ConfigError(
            "\n".join(f"{where}{problem}" for problem in problems[:MOST_PROBLEMS])
        ) from error


def describe(model: type[Part], problem: Mapping[str, Any]) -> str:
    """Return where a problem is, what it is, and what is allowed."""
    *path, last = problem["loc"]
    if problem["type"] == "extra_forbidden":
        allowed = ", ".join(name for name in owner(model, path).model_fields if name != "rules")
        return f"{place_of(path)}: there is no entry '{last}'. Use {allowed}."
    told = problem["msg"].removeprefix("Value error, ").rstrip(".")
    if problem["type"] == "missing":
        told = "it is missing"
    elif isinstance(problem["input"], bool) and problem["type"] == "string_type":
        told = "YAML reads this word as true or false; put it in quotes"
    elif not told.startswith(repr(problem["input"])):
        told = f"{told}, not {problem['input']!r:.60}"
    return f"{place_of([*path, last])}: {told}."


def owner(model: type[Part], path: Sequence[Any]) -> type[Part]:
    """Return the model whose entry a path leads to."""
    return next((INNER[name] for name in reversed(path) if name in INNER), model)


def place_of(path: Iterable[Any]) -> str:
    """Return a path as ", step 2, answer, must_mention"."""
    words: list[str] = []
    for part in path:
        if not isinstance(part, int):
            words.append(str(part))
        elif words and words[-1] == "steps":
            words[-1] = f"step {part + 1}"
        elif words:
            words[-1] = f"{words[-1]} {part + 1}"
    return "".join(f", {word}" for word in words)
