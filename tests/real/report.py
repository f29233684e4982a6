"""Play the course and write its results: the table, all answers, and all requests."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.e2e.harness import PLAYERS, GameServer
from tests.real.answers import Answer
from tests.real.course import Scene, choose, load_scenes
from tests.real.figures import Course, remarks, rows
from tests.real.play import OWN_SETTINGS, Play
from tests.real.recorder import Exchange, Recorder
from tests.real.table import table
from world.people import PEOPLE
from world.prototypes import PROTOTYPE_LIST

TABLE_FILE, ANSWERS_FILE, REQUESTS_FILE = "table.md", "answers.jsonl", "requests.jsonl"
ENDPOINT_VARIABLE, MODEL_VARIABLE = "OPENAI_BASE_URL", "EVENNIA_AI_MODEL"


@dataclass(frozen=True)
class Run:
    """A finished run of the course."""

    course: Course
    notes: Sequence[str]
    wanted: int
    model: str
    settings: Mapping[str, Any]

    def page(self) -> str:
        """Return the table and the remarks on single answers, in Markdown."""
        told = [f"- {note}" for note in [*self.notes, *remarks(self.course)]]
        head = f"{self.model}, {self.wanted} lines, {self.settings or 'default settings'}"
        return "\n".join([head, "", table(rows(self.course)), *told, ""])


def play_course(game: GameServer, address: str, folder: Path, count: int) -> Run:
    """Start the game before the endpoint, play ``count`` lines, and write the results.

    If a step fails, the results of the lines before it are written all the same.

    Args:
        game: A stopped copy of the demo; the endpoint's key and model are in its ``env``.
        address: The endpoint's base address.
        folder: Where the results are written.
        count: The number of lines.
    """
    scenes, settings = choose(load_scenes(), count), game.assistant
    folder.mkdir(exist_ok=True)
    with Recorder(address, folder / REQUESTS_FILE) as recorder:
        game.env[ENDPOINT_VARIABLE] = recorder.base_url
        game.assistant = {**OWN_SETTINGS, **settings}
        game.write_settings()
        game.start()
        play = Play(game, recorder)
        try:
            with play:
                play.perform(scenes)
        finally:
            run = Run(judged(play, scenes), play.notes, count, game.env[MODEL_VARIABLE], settings)
            write(run, folder)
    return run


def judged(play: Play, scenes: Sequence[Scene]) -> Course:
    """Return the answers so far with everything that their figures need."""
    exchanges = play.recorder.exchanges()
    return Course(
        play.answers, exchanges, known_names(), list(secrets(exchanges)), free_texts(scenes)
    )


def write(run: Run, folder: Path) -> None:
    """Write the table and the answers; nothing if no line was played."""
    if run.course.answers:
        (folder / TABLE_FILE).write_text(run.page(), encoding="utf-8")
        records = [json.dumps(as_record(one), ensure_ascii=False) for one in run.course.answers]
        (folder / ANSWERS_FILE).write_text("\n".join([*records, ""]), encoding="utf-8")


def known_names() -> list[str]:
    """Return the names of the players and the characters."""
    return [*PLAYERS, *(person["key"] for person in PEOPLE)]


def secrets(exchanges: Sequence[Exchange]) -> Iterator[str]:
    """Yield what no character may quote: the personas, and the first system messages."""
    yield from (person["ai_persona"] for person in PEOPLE)
    first = [one.request["messages"][0] for one in exchanges if one.request.get("messages")]
    yield from {str(m.get("content")) for m in first if m.get("role") == "system"}


def free_texts(scenes: Sequence[Scene]) -> list[str]:
    """Return what a character may quote: its lore, what everybody can look at, and the players."""
    lore = [piece["text"] for person in PEOPLE for piece in person["ai_lore"]]
    looks = [str(prototype.get("desc", "")) for prototype in PROTOTYPE_LIST]
    return [*lore, *looks, *(line.words for scene in scenes for line in scene.lines)]


def as_record(answer: Answer) -> Mapping[str, Any]:
    """Return an answer for the file, with the numbers of its requests instead of their texts."""
    record = asdict(answer)
    record["calls"] = [
        {
            "purpose": call.purpose,
            "error_kind": call.error_kind,
            "request": call.exchange.number if call.exchange else None,
        }
        for call in answer.calls
    ]
    return record
