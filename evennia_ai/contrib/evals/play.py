"""Play the scenes of ``evennia ai_check`` in this process's reactor, and judge the answers.

Each line of a scene is a dry turn of a mind in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from twisted.internet.defer import Deferred, inlineCallbacks, maybeDeferred
from twisted.internet.task import deferLater
from twisted.python.failure import Failure

from evennia_ai.config import AssistantConfig, ModelProfile, resolve_profile
from evennia_ai.config.declared import known_setting
from evennia_ai.config.profiles import DEFAULT_PROFILE, Profiles
from evennia_ai.contrib.evals import results as shown
from evennia_ai.contrib.evals.format import EvalScene, EvalStep, read_scenes
from evennia_ai.contrib.evals.results import (
    EvalAnswer,
    EvalResult,
    EvalRun,
    EvalStepResult,
    EvalToolCall,
)
from evennia_ai.contrib.evals.stage import EvalStage, cast_of
from evennia_ai.contrib.evals.toolbox import SPOKEN, EvalCast
from evennia_ai.errors import AssistantError, ConfigError, ProviderUnavailable, TurnAborted
from evennia_ai.extension import Tool
from evennia_ai.game.model_access import ModelAccess
from evennia_ai.game.settings import SettingReader, T, effective_settings, game_setting
from evennia_ai.messages import NOOP
from evennia_ai.policy.conversation.persona_and_lore import render_persona
from evennia_ai.policy.conversation.tool_call_rules import read_arguments
from evennia_ai.policy.replies.output_checks import CheckContext
from evennia_ai.policy.sanitize import one_line
from evennia_ai.ports import Gateway
from evennia_ai.scheduling import Clock, Coroutine
from evennia_ai.tools.registry import load_game_tools
from evennia_ai.turn.react_loop import ANSWERED, NOTED, Outcome
from evennia_ai.turn.tool_executor import REFUSED

PASSED, FAILED, BROKEN, INTERRUPTED = 0, 1, 2, 130
EVENING_S = 20 * 3_600.0  # prompts tell the time of day: each check begins at the same

Tell = Callable[[str], None]


def check(file: str, profile: str, repeat: int | None, character: str, tell: Tell) -> int:
    results: list[EvalResult] = []
    try:
        scenes = load_scenes(file, character)
    except ConfigError as error:
        tell(str(error))
        return BROKEN

    def play(main: Any) -> Deferred[None]:
        clock, tools = _CheckClock(main), load_game_tools().tools
        player = EvalPlayer(tools.values(), _open_models(clock, main), clock, profile, repeat)
        return player.play_all([(scene, cast_of(scene)) for scene in scenes], tell, results)

    outcome = _in_reactor(play)
    for result in (result_failed for result_failed in results if not result_failed.holds):
        for line in (f"\n{one_line(result.scene.scene)}:", *shown.failure_lines(result)):
            tell(line)
    for line in ["", *shown.table(results)] if results else []:
        tell(line)
    return _ending(outcome, results, len(scenes), tell)


def load_scenes(file: str, character: str = "") -> list[EvalScene]:
    """Return a file's scenes, all with a ``character`` of the game; raises ConfigError."""
    try:
        data = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}.") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{file} is no YAML: {' '.join(str(error).split())}.") from error
    if character and isinstance(data, dict) and isinstance(data.get("scenes"), list):
        for part in (
            scene_data for scene_data in (data, *data["scenes"]) if isinstance(scene_data, dict)
        ):
            for entry in ("name", "persona", "character"):
                part.pop(entry, None)
        data["character"] = character
    return read_scenes(data, file)


def _in_reactor(work: Callable[[Any], Deferred[None]]) -> object:
    """Run the reactor until work is done; return None, a Failure or `INTERRUPTED`."""
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


def _ending(outcome: object, results: Sequence[EvalResult], scenes: int, tell: Tell) -> int:
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


class _Strict(SettingReader):
    """Reads the game-wide entries; raises what is wrong with one instead of its default."""

    def read(self, name: str, make: Callable[[Any], T], default: Any, _wrong: Any = None) -> T:
        try:
            return make(game_setting(name, default))
        except (ConfigError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError(f"AI_ASSISTANT['{name}']: {error}") from error


def _open_models(clock: Clock, reactor: Any) -> CheckModels:
    """Return the game's models, whose clients stop with the reactor; raises ConfigError."""
    opened = ModelAccess(clock, os.environ, _Strict(), reactor.callFromThread, is_apart=True)
    opened.loop_thread.start()

    def close() -> None:
        opened.gateway.close()  # first, so that the turn in flight is dropped
        opened.loop_thread.stop()

    reactor.addSystemEventTrigger("during", "shutdown", close)
    return CheckModels(opened.gateway, opened.profiles, opened.endpoints)


GUESSED_PROMPT = 1_600  # tokens
CERTAIN = frozenset({"unavailable", "circuit", "misconfigured", "quota", "rejected", "busy"})
LATE = "deadline"  # of a model that answered before, a late reply is the scene's failure


@dataclass
class EvalPlayer:
    """Plays scenes with the same tools, models and clock: an inbox, the engine, the checks.

    ``profile`` and ``repeat`` are used instead of what a scene says.
    """

    tools: Collection[Tool]
    models: CheckModels
    clock: Any
    profile: str = ""
    repeat: int | None = None

    @inlineCallbacks
    def play_all(
        self, scenes: Sequence[tuple[EvalScene, EvalCast]], tell: Tell, results: list[EvalResult]
    ) -> Coroutine[None]:
        """Play scenes, tell each result at once and add it to ``results``; fails like one."""
        for scene, cast in scenes:  # so that a mistake is told before anything is paid for
            self.ensure_playable(scene, cast)
        for number, (scene, cast) in enumerate(scenes, 1):
            result: EvalResult = yield self.play_scene(scene, cast)
            results.append(result)
            tell(shown.progress_line(result, f"{number}/{len(scenes)}"))

    def ensure_playable(self, scene: EvalScene, cast: EvalCast) -> None:
        """Raise ConfigError for what would only show in the middle of a check, or never."""
        self.models.choose(scene, cast.settings, self.profile)
        known = {item.name: item.arguments.model_fields for item in self.tools}
        answers = [step.answer for step in scene.steps]
        calls = [call for answer in answers for call in (*answer.must_do, *answer.must_not_do)]
        for name in (*scene.tools, *scene.results, *(call.tool for call in calls)):
            if name not in known:
                raise ConfigError(
                    f"{scene.scene}: there is no tool '{name}'. There are: {', '.join(known)}."
                )
        for call in calls:
            if strange := sorted(set(call.arguments) - set(known[call.tool])):
                raise ConfigError(
                    f"{scene.scene}: the tool '{call.tool}' has no argument '{strange[0]}'. "
                    f"It has: {', '.join(known[call.tool]) or 'none'}."
                )

    @inlineCallbacks
    def play_scene(self, scene: EvalScene, cast: EvalCast) -> Coroutine[EvalResult]:
        """Play a scene as often as it says; fails with ConfigError, ProviderError."""
        chosen = self.models.choose(scene, cast.settings, self.profile)
        runs: list[EvalRun] = []
        for _ in range(self.repeat or scene.repeat):
            stage = EvalStage(scene, cast, self.tools, self.models.gateway, self.clock, chosen)
            runs.append((yield self._play_once(stage)))
            yield deferLater(self.clock, 0, int)  # so that Ctrl-C is noticed
        return EvalResult(scene, tuple(runs))

    @inlineCallbacks
    def _play_once(self, stage: EvalStage) -> Coroutine[EvalRun]:
        began = self.clock.seconds()
        played: list[EvalStepResult] = []
        for step in stage.scene.steps:
            if step.overheard:
                stage.overhear(step)
                continue
            answer: EvalAnswer = yield self._answer(stage, step)
            around = CheckContext(
                name=stage.cast.name,
                persona=render_persona(stage.cast.persona),
                tools=frozenset(stage.toolbox.tools),
                people=frozenset(stage.people),
                heard=[step.text],
            )
            verdicts = shown.judge_answer(step.answer, answer, around)
            played.append(EvalStepResult(step, answer, tuple(verdicts)))
        return EvalRun(tuple(played), self.clock.seconds() - began)

    @inlineCallbacks
    def _answer(self, stage: EvalStage, step: EvalStep) -> Coroutine[EvalAnswer]:
        """Let the engine answer a line; fails with ProviderUnavailable."""
        outcome: Outcome = yield stage.answer(step)
        for call in stage.turns.costs:
            if call.error_kind in CERTAIN or (call.error_kind == LATE and not self.models.answered):
                where = f"The model '{call.model}' of the profile '{call.profile}'"
                raise ProviderUnavailable(f"{where} gives no answers: {call.error}")
            self.models.answered = self.models.answered or not call.error_kind
        acts = [(item.call, item.result.state, item.result.text) for item in stage.turns.calls]
        return EvalAnswer(
            spoken=tuple(stage.toolbox.spoken),
            acts=tuple(
                EvalToolCall(call.name, read_arguments(call) or {}, state)
                for call, state, _ in acts
                if call.name != NOOP and not (state == REFUSED and call.name in SPOKEN)
            ),
            refused=tuple(
                text for call, state, text in acts if state == REFUSED and call.name in SPOKEN
            ),
            problem="" if outcome.state in (ANSWERED, NOTED) else outcome.detail or outcome.state,
        )


@dataclass
class CheckModels:
    """The gateway to all models of the game, and the settings for a scene."""

    gateway: Gateway
    profiles: Profiles
    endpoints: Any  # with ``told(profile)``, a profile with what is known of its endpoint
    answered: bool = False  # whether any model call succeeded

    def choose(
        self, scene: EvalScene, own: Mapping[str, Any], profile: str
    ) -> tuple[ModelProfile, AssistantConfig]:
        """Return profile and settings of a scene; ``profile`` beats its own. Raises ConfigError."""
        for setting in scene.settings:
            known_setting(setting)
        layers = {**own, **scene.settings}
        name = profile or scene.profile
        if name:
            layers |= {"profile": name, "llm_model": scene.settings.get("llm_model")}
        wanted = str(layers.get("profile") or game_setting("profile", DEFAULT_PROFILE))
        resolve_profile(wanted, self.profiles)
        config, stated, complaints = effective_settings(self, layers, lambda _: GUESSED_PROMPT)
        if complaints:
            raise ConfigError(" ".join(complaints))
        return stated, config
