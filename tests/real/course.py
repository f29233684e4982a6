"""The course of `make real`: the scenes of ``lines.toml``, or fewer lines of them. Pure."""

import tomllib
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from world.build import PLACES, WAYS
from world.people import PEOPLE
from world.prototypes import ROOMS

LINES_FILE = Path(__file__).with_name("lines.toml")
FACT, QUESTION, AFTER, AGAIN = "fact", "question", "after", "again"
FIXED = (FACT, QUESTION, AFTER)
LINES_FOR_A_FACT = 5
FEWEST_LINES = 5

ROOM_NAMES = {room["prototype_key"]: room["key"] for room in ROOMS}
HOME = {person["key"]: ROOM_NAMES[PLACES[person["prototype_key"]]] for person in PEOPLE}


@dataclass(frozen=True)
class Line:
    """One line of a player; ``lines.toml`` describes the entries."""

    by: str
    to: str
    kind: str
    say: str = ""
    whisper: str = ""
    about: str = ""
    keys: tuple[str, ...] = ()
    put: Mapping[str, str] = field(default_factory=dict)
    moves: str = ""
    target: str = ""
    way: str = ""

    @property
    def words(self) -> str:
        """Return what the player says or whispers."""
        return self.say or self.whisper

    @property
    def command(self) -> str:
        """Return what the player types."""
        return f"say {self.say}" if self.say else f"whisper {self.to} = {self.whisper}"


@dataclass(frozen=True)
class Scene:
    """Lines to one character in its own room; ``do`` is done before them."""

    character: str
    lines: tuple[Line, ...]
    do: str = ""

    @property
    def room(self) -> str:
        """Return the name of the character's own room."""
        return HOME[self.character]


def load_scenes(file: Path = LINES_FILE) -> list[Scene]:
    """Return all scenes of the file."""
    return [read_scene(raw) for raw in tomllib.loads(file.read_text(encoding="utf-8"))["scene"]]


def read_scene(raw: Mapping[str, Any]) -> Scene:
    """Return a scene from its entries; raises TypeError for an unknown entry of a line."""
    lines = tuple(read_line(raw["with"], entries) for entries in raw["lines"])
    return Scene(raw["with"], lines, raw.get("do", ""))


def read_line(to: str, raw: Mapping[str, Any]) -> Line:
    """Return a line from its entries."""
    entries = dict(raw, to=to, target=raw.get("to", ""), keys=tuple(raw.get("keys", ())))
    return Line(**entries)


def choose(scenes: Sequence[Scene], count: int) -> list[Scene]:
    """Return the scenes with ``count`` of their lines, in the same order.

    A fact and its question stay together, one pair for every five lines. The lines after sleep and
    reload always stay. Each other kind keeps its share, spread evenly over the scenes. Scenes
    without lines and without something to do are left out.

    Raises:
        ValueError: The file has fewer lines, or ``count`` is too small for a course.
    """
    lines = [line for scene in scenes for line in scene.lines]
    if not FEWEST_LINES <= count <= len(lines):
        raise ValueError(f"{count} lines: choose from {FEWEST_LINES} to {len(lines)}.")
    facts = [line.about for line in lines if line.kind == FACT]
    told = set(spread(facts, min(len(facts), count // LINES_FOR_A_FACT)))
    kept = [line for line in lines if line.about in told or line.kind == AFTER]
    others = [line for line in lines if line.kind not in FIXED]
    kept += thin_out(others, count - len(kept))
    chosen = {id(line) for line in kept}
    thinned = [
        replace(scene, lines=tuple(line for line in scene.lines if id(line) in chosen))
        for scene in scenes
    ]
    return [scene for scene in thinned if scene.lines or scene.do]


def thin_out(lines: Sequence[Line], count: int) -> list[Line]:
    """Return ``count`` of the lines, with the same share of each kind (largest remainder)."""
    sizes = Counter(line.kind for line in lines)
    quotas = {kind: size * count / len(lines) for kind, size in sizes.items()}
    counts = {kind: int(quota) for kind, quota in quotas.items()}
    by_remainder = sorted(quotas, key=lambda kind: counts[kind] - quotas[kind])
    for kind in by_remainder[: count - sum(counts.values())]:
        counts[kind] += 1
    kept: list[Line] = []
    for kind, number in counts.items():
        of_kind = [line for line in lines if line.kind == kind]
        # The same question twice: only its first lines are pairs.
        kept += of_kind[:number] if kind == AGAIN else spread(of_kind, number)
    return kept


def spread(items: Sequence[Any], count: int) -> list[Any]:
    """Return ``count`` items at even distances, the first one among them."""
    return [items[index * len(items) // count] for index in range(count)]


def way(start: str, end: str) -> list[str]:
    """Return the exits from one room to another by the shortest way, both by their names."""
    found: dict[str, list[str]] = {start: []}
    open_rooms = deque([start])
    while open_rooms and end not in found:
        room = open_rooms.popleft()
        for here, there, exit_name, _ in WAYS:
            name = ROOM_NAMES[there]
            if ROOM_NAMES[here] == room and name not in found:
                found[name] = [*found[room], exit_name]
                open_rooms.append(name)
    return found[end]
