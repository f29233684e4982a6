"""The course of `make real`, in short, with a scripted model: so the suite itself keeps working."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.harness import GameServer
from tests.provider import FaultyProvider
from tests.real.figures import rows
from tests.real.report import ANSWERS_FILE, TABLE_FILE, play_course

pytestmark = pytest.mark.campaign

LINES = 5
DONE = ["compaction of Mira", "sleep pass of Mira", "reload"]


def test_a_short_course_is_played_and_measured(
    make_server: Callable[..., GameServer], stub: FaultyProvider, tmp_path: Path
) -> None:
    game = make_server(start=False, env={"EVENNIA_AI_MODEL": "stub-1"})
    results = tmp_path / "results"
    run = play_course(game, stub.base_url, results, LINES)
    answers = run.course.answers
    assert [one.line.kind for one in answers] == ["talk", "fact", "question", "after", "after"]
    # The stub repeats what it heard; what only repeats the player's question is refused.
    refused = [one for one in answers if one.state == "excused"]
    assert all(one.line.words.endswith("?") for one in refused), run.page()
    spoken = [one for one in answers if one not in refused]
    assert [one.state for one in spoken] == ["answered"] * len(spoken), run.page()
    assert len(spoken) >= LINES - 1
    for one in spoken:
        assert one.line.words.partition(".")[0] in one.words
        assert one.talk_calls and one.talk_calls[0].prompt_tokens
        assert one.first_s and one.last_s and 0 < one.first_s <= one.last_s
    assert [note.partition(":")[0] for note in run.notes] == DONE, run.notes
    table = {row.name: row for row in rows(run.course)}
    assert table["answers that show an artefact"].verdict == "pass", run.page()
    assert table["facts in the prompt"].value == "1 of 1", run.page()
    assert table["first line after the start"].value == "the model"
    assert "| figure | value | bar | |" in (results / TABLE_FILE).read_text()
    assert len((results / ANSWERS_FILE).read_text().splitlines()) == LINES
