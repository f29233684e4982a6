"""Play the scenes of ``evennia ai_check`` in this process's reactor, and show the results."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from django.db import DatabaseError
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.python.failure import Failure

from evennia_ai.config.profiles import default_profiles, merge_profiles
from evennia_ai.errors import AssistantError, ConfigError, TurnAborted
from evennia_ai.game.settings import game_setting
from evennia_ai.llm.endpoint_facts import EndpointRegistry, LearningClient
from evennia_ai.llm.endpoints import ReplyClient
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.llm.probe import Prober
from evennia_ai.offline import OfflineBrain
from evennia_ai.policy.sanitize import one_line
from evennia_ai.policy.scenes.format import Scene, read_scenes
from evennia_ai.policy.scenes.results import SceneResult, failure_lines, table
from evennia_ai.scheduling import Clock
from evennia_ai.store.server_settings import StoredFacts
from evennia_ai.testing.scenes.play import CheckModels, Player, play_all
from evennia_ai.testing.scenes.stage import cast_of
from evennia_ai.tools.registry import load_registry

PASSED, FAILED, BROKEN, INTERRUPTED = 0, 1, 2, 130
EVENING_S = 20 * 3_600.0  # prompts tell the time of day: each check begins at the same

Tell = Callable[[str], None]


def check(file: str, profile: str, repeat: int | None, character: str, tell: Tell) -> int:
    """Play a file's scenes; return the exit code."""
    results: list[SceneResult] = []
    try:
        scenes = load_scenes(file, character)
    except ConfigError as error:
        tell(str(error))
        return BROKEN
    outcome = _in_reactor(lambda main: _play_file(main, scenes, tell, results, profile, repeat))
    for line in _summary(results):
        tell(line)
    return _ending(outcome, results, len(scenes), tell)


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


def _in_reactor(work: Callable[[Any], Deferred[None]]) -> object:
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


def _play_file(
    reactor: Any,
    scenes: Sequence[Scene],
    tell: Tell,
    results: list[SceneResult],
    profile: str,
    repeat: int | None,
) -> Deferred[None]:
    clock = _CheckClock(reactor)
    models = _open_models(clock, reactor)
    player = Player(load_registry(game_setting("TOOLS", ())).tools.values(), models, clock)
    cast = [(scene, cast_of(scene)) for scene in scenes]
    for scene, who in cast:  # so that a mistake is told before anything is paid for
        player.ensure_playable(scene, who, profile)
    return play_all(player, cast, tell, results, profile, repeat)


def _summary(results: Sequence[SceneResult]) -> list[str]:
    """Return the first failed run of each scene, and the table."""
    lines: list[str] = []
    for result in results:
        if not result.holds:
            lines += [f"\n{one_line(result.scene.scene)}:", *failure_lines(result)]
    return [*lines, "", *table(results)] if results else []


def _ending(outcome: object, results: Sequence[SceneResult], scenes: int, tell: Tell) -> int:
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


class _CheckClock:
    """The reactor's clock, which begins in the evening."""

    def __init__(self, reactor: Any) -> None:
        self._start = reactor.seconds() - EVENING_S
        self._seconds, self.callLater = reactor.seconds, reactor.callLater

    def seconds(self) -> float:
        return float(self._seconds() - self._start)


def _open_models(clock: Clock, reactor: Any) -> CheckModels:
    """Return the game's models with their clients running until the reactor stops.

    Raises ConfigError if the game's profiles are wrong.
    """
    profiles = merge_profiles(default_profiles(os.environ), game_setting("PROFILES", {}))
    thread = LoopThread(reactor.callFromThread)
    client = OpenAIClient(thread, os.environ)
    endpoints = EndpointRegistry(Prober(clock, client).window, _KnownFacts())
    learning = LearningClient(ReplyClient(client, reactor.callFromThread), endpoints, clock)
    brain = OfflineBrain(game_setting("OFFLINE_LANGUAGES", ()))
    gateway = ModelGateway(clock, {"openai": learning, "offline": brain})
    thread.start()

    def close() -> None:
        gateway.close()  # first, so that the turn in flight is dropped
        thread.stop()

    reactor.addSystemEventTrigger("during", "shutdown", close)
    return CheckModels(gateway, profiles, endpoints.told)


class _KnownFacts(StoredFacts):
    """What the game's server learnt about endpoints, read only, none without a database."""

    def load(self) -> Mapping[str, Any]:
        try:
            return super().load()
        except DatabaseError:
            return {}

    def save(self, facts: Mapping[str, Any]) -> None:
        pass
