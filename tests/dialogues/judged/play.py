"""Plays the twenty judged dialogues and prints their transcripts."""

from pathlib import Path
from typing import Any

import pytest

from tests.dialogues.conftest import game, model, offline_game, service  # noqa: F401
from tests.dialogues.runner import Stage, load_cast

HERE = Path(__file__).parent
HEADERS = ("cast", "players", "carries")

pytestmark = pytest.mark.game


def load(file: Path) -> dict[str, Any]:
    """Return a dialogue in the form that the stage plays."""
    pairs = [line.split(": ", 1) for line in file.read_text(encoding="utf-8").splitlines() if line]
    heads = {key: value for key, value in pairs if key in HEADERS}
    lines = [line_of(key, value) for key, value in pairs if key not in HEADERS]
    names = heads.get("players", lines[0]["speaker"]).split(", ")
    players: list[dict[str, Any]] = [{"name": name} for name in names]
    things = heads["carries"].split(", ") if "carries" in heads else []
    players[0]["carries"] = [{"name": thing, "desc": ""} for thing in things]
    return {"id": file.stem, "cast": heads["cast"], "players": players, "lines": lines}


def line_of(head: str, text: str) -> dict[str, Any]:
    """Return a line with its kind; ``Ann (emote)`` is a head that names another kind than say."""
    speaker, _, kind = head.rstrip(")").partition(" (")
    return {"speaker": speaker, "kind": kind or "say", "text": text}


def walk_after(stage: Any, gone: set[str]) -> None:
    """Let the players follow an assistant that left, as anybody would who goes on talking."""
    for name, player in stage.players.items():
        if name not in gone and player.character.location is not stage.assistant.location:
            player.character.move_to(stage.assistant.location, quiet=True, move_hooks=False)


def played_lines(stage: Any, dialogue: dict[str, Any]) -> list[str]:
    """Return the transcript of a dialogue."""
    told: list[str] = []
    gone: set[str] = set()
    for number, line in enumerate(dialogue["lines"], start=1):
        told.append(f"{number:2} {line['speaker']} ({line['kind']}): {line['text']}")
        gone |= {line["speaker"]} if line["kind"] == "go" else set()
        walk_after(stage, gone)
        came = stage.play(line)
        acts = [f"[{call.name} {call.arguments} {call.state}]" for call in came.calls
                if call.world and call.name not in ("say", "whisper", "emote")]  # fmt: skip
        words = [
            f"{u.text}" if u.kind == "say" else f"<{u.kind}> {u.text}" for u in came.utterances
        ]
        told.append("      -> " + (" | ".join([*words, *acts]) or "(nothing)"))
    return told


@pytest.mark.timeout(600)
def test_print_the_transcripts(offline_game, capsys):  # noqa: F811
    for file in sorted(HERE.glob("*.txt")):
        dialogue = load(file)
        stage = Stage(offline_game, dialogue, load_cast(dialogue["cast"]))
        try:
            told = played_lines(stage, dialogue)
        finally:
            stage.strike()
        with capsys.disabled():
            print(f"\n=== {dialogue['id']}", *told, sep="\n")
