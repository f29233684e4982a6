"""The work of ``evennia ai_check``: read the file, run the reactor, show and write the results."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.python.failure import Failure

from evennia_ai.errors import AssistantError, ConfigError, TurnAborted
from evennia_ai.game.settings import game_setting
from evennia_ai.policy.sanitize import one_line
from evennia_ai.policy.scenes.format import Scene
from evennia_ai.policy.scenes.reading import read_scenes
from evennia_ai.policy.scenes.results import SceneResult, failure_lines, junit, table
from evennia_ai.testing.scenes.casting import cast_of
from evennia_ai.testing.scenes.check_models import open_models
from evennia_ai.testing.scenes.play import Player, play_all
from evennia_ai.testing.scenes.recording import record_scene
from evennia_ai.tools.registry import load_registry

PASSED, FAILED, BROKEN, INTERRUPTED = 0, 1, 2, 130
EVENING_S = 20 * 3_600.0  # prompts tell the time of day: each check begins at the same

Tell = Callable[[str], None]


class CheckClock:
    """The reactor's clock, which begins in the evening."""

    def __init__(self, reactor: Any) -> None:
        self._start = reactor.seconds() - EVENING_S
        self._seconds, self.callLater = reactor.seconds, reactor.callLater

    def seconds(self) -> float:
        """Return the seconds since midnight of the first day."""
        return float(self._seconds() - self._start)


def check(
    file: str, profile: str, repeat: int | None, report: str, character: str, tell: Tell
) -> int:
    """Play a file's scenes in this process's reactor; return the exit code.

    ``report`` is the JUnit file to write, "" for none.
    """
    results: list[SceneResult] = []
    try:
        scenes = load_scenes(file, character)
    except ConfigError as error:
        tell(str(error))
        return BROKEN
    outcome = in_reactor(lambda reactor: play_file(reactor, scenes, tell, results, profile, repeat))
    show(results, tell)
    written = write_file(report, junit(results, file), tell) if report and results else PASSED
    return ending(outcome, results, len(scenes), tell) or written


def load_scenes(file: str, character: str = "") -> list[Scene]:
    """Return the scenes of a YAML file, all with a character of the game if one is given.

    Raises ConfigError for what cannot be read.
    """
    try:
        data = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}.") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{file} is no YAML: {' '.join(str(error).split())}.") from error
    if character and isinstance(data, dict) and isinstance(data.get("scenes"), list):
        for part in (one for one in (data, *data["scenes"]) if isinstance(one, dict)):
            for entry in ("name", "persona", "character"):
                part.pop(entry, None)
        data["character"] = character
    return read_scenes(data, file)


def in_reactor(work: Callable[[Any], Deferred[None]]) -> object:
    """Run the reactor until work is done or somebody stops it; return None or a Failure.

    If it was stopped, the Failure is of TurnAborted, or the result is `INTERRUPTED`.
    """
    from twisted.internet import reactor

    main: Any = reactor
    outcome: list[object] = []

    def end(result: object) -> None:
        outcome.append(result)
        if main.running:
            main.stop()

    main.callWhenRunning(lambda: maybeDeferred(work, main).addBoth(end))
    main.run()
    return outcome[0] if outcome else INTERRUPTED


def play_file(
    reactor: Any,
    scenes: Sequence[Scene],
    tell: Tell,
    results: list[SceneResult],
    profile: str,
    repeat: int | None,
) -> Deferred[None]:
    """Play scenes. Fires when all are done; fails as `play_all`."""
    clock = CheckClock(reactor)
    models, close = open_models(clock, os.environ, reactor.callFromThread)
    reactor.addSystemEventTrigger("during", "shutdown", close)
    tools = load_registry(game_setting("TOOLS", ())).tools.values()
    cast = [(scene, cast_of(scene)) for scene in scenes]
    player = Player(tools, models, clock)
    for scene, who in cast:  # so that a mistake is told before anything is paid for
        player.ensure_playable(scene, who, profile)
    return play_all(player, cast, tell, results, profile, repeat)


def show(results: Sequence[SceneResult], tell: Tell) -> None:
    """Tell the first failed run of each scene, and the table."""
    for result in results:
        if not result.holds:
            tell(f"\n{one_line(result.scene.scene)}:")
            for line in failure_lines(result):
                tell(line)
    if results:
        tell("")
    for line in table(results) if results else ():
        tell(line)


def ending(outcome: object, results: Sequence[SceneResult], scenes: int, tell: Tell) -> int:
    """Tell how the check ended; return the exit code."""
    failure = outcome if isinstance(outcome, Failure) else None
    if outcome == INTERRUPTED or (failure and failure.check(TurnAborted)):
        tell(f"Stopped: {len(results)} of {scenes} scenes were played.")
        return INTERRUPTED
    if failure:
        if not failure.check(AssistantError):
            failure.raiseException()
        tell(failure.getErrorMessage())
        return BROKEN
    passed = sum(result.holds for result in results)
    tell(f"{passed} of {scenes} scenes passed.")
    return PASSED if passed == scenes else FAILED


def write_file(file: str, text: str, tell: Tell) -> int:
    """Write a text into a file, and tell where it is; return the exit code."""
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        tell(f"{file} cannot be written: {error}.")
        return BROKEN
    tell(f"{file} written.")
    return PASSED


def record(character: str, turns: str, whispers: bool, out: str, tell: Tell) -> int:
    """Write logged turns as a scene; return the exit code."""
    return keep(partial(record_scene, character, turns, whispers), out, tell)


def keep(make: Callable[[], str], out: str, tell: Tell) -> int:
    """Write what is made into a file, or tell it; return the exit code."""
    try:
        text = make()
    except AssistantError as error:
        tell(str(error))
        return BROKEN
    if out:
        return write_file(out, text, tell)
    tell(text)
    return PASSED
