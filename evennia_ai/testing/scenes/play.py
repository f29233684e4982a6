"""Play scenes: put each line into the inbox, let the engine answer, and judge the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.config import AssistantConfig, ModelProfile, choose_settings, fit_settings
from evennia_ai.config.fields import known_setting
from evennia_ai.config.profiles import DEFAULT_PROFILE, Profiles, resolve_profile
from evennia_ai.errors import ConfigError, ProviderUnavailable
from evennia_ai.game.settings import game_setting, game_settings
from evennia_ai.messages import NOOP
from evennia_ai.policy.conversation.character import render_persona
from evennia_ai.policy.conversation.react import read_arguments
from evennia_ai.policy.replies.artefacts import Surroundings
from evennia_ai.policy.scenes.format import Scene
from evennia_ai.policy.scenes.results import (
    Act,
    Answer,
    PlayedStep,
    Run,
    SceneResult,
    judge_answer,
    progress_line,
)
from evennia_ai.ports import Gateway
from evennia_ai.scheduling import Steps
from evennia_ai.testing.scenes.stage import SPOKEN, Cast, Stage
from evennia_ai.tools.base import Tool
from evennia_ai.turn.react_loop import ANSWERED, NOTED

GUESSED_PROMPT = 1_600  # tokens
CERTAIN = frozenset({"unavailable", "circuit", "misconfigured", "quota", "rejected", "busy"})
LATE = "deadline"  # of a model that answered before, a late reply is the scene's failure


class Player:
    """Plays scenes with the same tools, models and clock: an inbox, the engine, the checks."""

    def __init__(self, tools: Iterable[Tool], models: CheckModels, clock: Any) -> None:
        self.tools, self.models, self.clock = list(tools), models, clock

    def ensure_playable(self, scene: Scene, cast: Cast, profile: str) -> None:
        """Raise ConfigError for what would only show in the middle of a check, or never."""
        self.models.choose(scene, cast.settings, profile)
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
    def play_scene(
        self, scene: Scene, cast: Cast, profile: str = "", repeat: int | None = None
    ) -> Steps[SceneResult]:
        """Play a scene as often as it says, each time from its beginning.

        Fires with the result; fails with ConfigError, and with ProviderError if no model answers.
        """
        chosen = self.models.choose(scene, cast.settings, profile)
        runs: list[Run] = []
        for _ in range(repeat or scene.repeat):
            stage = Stage(scene, cast, self.tools, self.models.gateway, self.clock, chosen)
            runs.append((yield self._play_once(stage)))
            breath: Deferred[None] = Deferred()
            self.clock.callLater(0, breath.callback, None)  # so that Ctrl-C is noticed
            yield breath
        return SceneResult(scene, tuple(runs))

    @inlineCallbacks
    def _play_once(self, stage: Stage) -> Steps[Run]:
        began = self.clock.seconds()
        played: list[PlayedStep] = []
        for step in stage.scene.steps:
            stage.script.mind.inbox.put(stage.heard(step, not step.overheard))
            if step.overheard:
                continue
            answer: Answer = yield self._answer(stage)
            around = Surroundings(
                name=stage.cast.name,
                persona=render_persona(stage.cast.persona),
                tools=frozenset(stage.toolbox.tools),
                people=frozenset(stage.people),
                heard=[step.text],
            )
            verdicts = judge_answer(step.answer, answer, around)
            played.append(PlayedStep(step, answer, tuple(verdicts)))
        return Run(tuple(played), self.clock.seconds() - began)

    @inlineCallbacks
    def _answer(self, stage: Stage) -> Steps[Answer]:
        """Let the engine answer what is in the inbox. Fires with what came of it.

        Fails with ProviderUnavailable if a turn failed because of the endpoint.
        """
        log = stage.script.mind.turns
        turns_before, acts_before = len(log.turns), len(log.acts)
        stage.toolbox.spoken.clear()
        yield stage.script.mind.answering.answer_all()
        turns, acts = log.turns[turns_before:], log.acts[acts_before:]
        for call in (call for turn in turns for call in turn.model_calls):
            if call.error_kind in CERTAIN or (call.error_kind == LATE and not self.models.answered):
                where = f"The model '{call.model}' of the profile '{call.profile}'"
                raise ProviderUnavailable(f"{where} gives no answers: {call.error}")
            self.models.answered = self.models.answered or not call.error_kind
        unspoken = [act for act in acts if act.state == "refused" and act.call.name in SPOKEN]
        done = [act for act in acts if act.call.name != NOOP and act not in unspoken]
        failed = [turn for turn in turns if turn.outcome not in (ANSWERED, NOTED)]
        return Answer(
            spoken=tuple(stage.toolbox.spoken),
            acts=tuple(Act(a.call.name, read_arguments(a.call) or {}, a.state) for a in done),
            refused=tuple(act.result for act in unspoken),
            problem=failed[-1].detail or failed[-1].outcome if failed else "",
        )


@inlineCallbacks
def play_all(
    player: Player,
    scenes: Sequence[tuple[Scene, Cast]],
    tell: Callable[[str], None],
    results: list[SceneResult],
    profile: str = "",
    repeat: int | None = None,
) -> Steps[None]:
    """Play scenes one after the other, and tell each result at once. Fails as `play_scene`.

    The results are added to ``results``, so that a caller who stops has those before.
    """
    for number, (scene, cast) in enumerate(scenes, 1):
        result: SceneResult = yield player.play_scene(scene, cast, profile, repeat)
        results.append(result)
        tell(progress_line(result, f"{number}/{len(scenes)}"))


class CheckModels:
    """The gateway to all models of the game, and the settings for a scene."""

    def __init__(self, gateway: Gateway, profiles: Profiles, told: Callable[..., ModelProfile]):
        self.gateway, self.profiles = gateway, profiles
        self._told = told
        self.answered = False  # whether any model call succeeded

    def choose(
        self, scene: Scene, own: Mapping[str, Any], profile: str
    ) -> tuple[ModelProfile, AssistantConfig]:
        """Return profile and settings for a scene; ``profile`` beats the scene's and its own.

        Raises ConfigError if any of them is wrong.
        """
        for setting in scene.settings:
            known_setting(setting)
        layers = {**own, **scene.settings}
        name = profile or scene.profile
        if name:
            layers |= {"profile": name, "llm_model": scene.settings.get("llm_model")}
        wanted = str(layers.get("profile") or game_setting("profile", DEFAULT_PROFILE))
        resolve_profile(wanted, self.profiles)
        chosen = choose_settings(game_settings(), layers, self.profiles)
        if chosen.complaints:
            raise ConfigError(" ".join(chosen.complaints))
        told = self._told(chosen.profile)
        return told, fit_settings(chosen.values, told, lambda _: GUESSED_PROMPT)
