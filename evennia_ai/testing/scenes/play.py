"""Play scenes: put each line into the inbox, let the engine answer, and judge the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import ConfigError, ProviderError, ProviderUnavailable
from evennia_ai.messages import NOOP
from evennia_ai.policy.conversation.persona import Persona, render_persona
from evennia_ai.policy.conversation.react import read_arguments
from evennia_ai.policy.replies.artefacts import Surroundings
from evennia_ai.policy.sanitize import strip_reasoning
from evennia_ai.policy.scenes.checks import Act, Answer, Verdict, judge_answer
from evennia_ai.policy.scenes.format import Scene, Step
from evennia_ai.policy.scenes.results import PlayedStep, Run, SceneResult, progress_line
from evennia_ai.ports import LLMRequest
from evennia_ai.ports import Scene as PromptScene
from evennia_ai.scheduling import Steps
from evennia_ai.testing.memory_stores import MemoryTurns, StoredTurn
from evennia_ai.testing.scenes.check_models import CheckModels
from evennia_ai.testing.scenes.stage import Cast, Stage
from evennia_ai.tools.base import Tool
from evennia_ai.turn.answer_events import answer_events
from evennia_ai.turn.react_loop import ANSWERED, NOTED

CERTAIN = frozenset({"unavailable", "circuit", "misconfigured", "quota", "rejected", "busy"})
LATE = "deadline"  # of a model that answered before, a late reply is the scene's failure
JUDGE = (
    "You judge one answer of a character in a text game. Read the persona, the talk and the "
    "question. Reply with one word: yes or no."
)
JUDGE_S = 120.0
JUDGE_TOKENS = 2_000  # a model may think before its one word


class Player:
    """Plays scenes with the same tools, models and clock."""

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
        for judge in filter(None, (answer.in_persona.judge for answer in answers)):
            self.models.judge(judge)

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
            runs.append((yield self.play_once(scene, cast, chosen)))
            breath: Deferred[None] = Deferred()
            self.clock.callLater(0, breath.callback, None)  # so that Ctrl-C is noticed
            yield breath
        return SceneResult(scene, tuple(runs))

    @inlineCallbacks
    def play_once(
        self, scene: Scene, cast: Cast, chosen: tuple[ModelProfile, AssistantConfig]
    ) -> Steps[Run]:
        """Play a scene once. Fires with the run; fails as `play_scene`."""
        stage = Stage(scene, cast, self.tools, self.models.gateway, self.clock, chosen)
        began = self.clock.seconds()
        played: list[PlayedStep] = []
        for step in scene.steps:
            stage.script.inbox.put(stage.heard(step, not step.overheard))
            if step.overheard:
                continue
            answer: Answer = yield self.answer(stage)
            around = surroundings(stage, step)
            verdicts = judge_answer(step.answer, answer, around)
            if step.answer.in_persona.judge and answer.words:
                verdicts.append((yield self.ask_judge(cast, step, answer)))
            played.append(PlayedStep(step, answer, tuple(verdicts)))
        return Run(tuple(played), self.clock.seconds() - began)

    @inlineCallbacks
    def answer(self, stage: Stage) -> Steps[Answer]:
        """Let the engine answer what is in the inbox. Fires with what came of it."""
        turns: MemoryTurns = stage.script.turns
        turns_before, acts_before = len(turns.turns), len(turns.acts)
        stage.toolbox.spoken.clear()
        yield answer_events(stage.script)
        new = turns.turns[turns_before:]
        self.ensure_answering(new)
        acts = turns.acts[acts_before:]
        failed = [turn for turn in new if turn.outcome not in (ANSWERED, NOTED)]
        return Answer(
            spoken=tuple(stage.toolbox.spoken),
            acts=tuple(
                Act(act.call.name, read_arguments(act.call) or {}, act.state)
                for act in acts
                if act.call.name != NOOP and not is_refusal(act)
            ),
            refused=tuple(act.result for act in acts if is_refusal(act)),
            problem=failed[-1].detail or failed[-1].outcome if failed else "",
        )

    def ensure_answering(self, turns: Sequence[StoredTurn]) -> None:
        """Raise ProviderUnavailable if a turn failed because of the endpoint."""
        for call in (call for turn in turns for call in turn.model_calls):
            if call.error_kind in CERTAIN or (call.error_kind == LATE and not self.models.answered):
                where = f"The model '{call.model}' of the profile '{call.profile}'"
                raise ProviderUnavailable(f"{where} gives no answers: {call.error}")
            self.models.answered = self.models.answered or not call.error_kind

    @inlineCallbacks
    def ask_judge(self, cast: Cast, step: Step, answer: Answer) -> Steps[Verdict]:
        """Ask a judging model. Fires with the verdict: only a plain yes counts as one."""
        wanted = step.answer.in_persona
        told = (
            f"<persona>\nYou are {cast.name}.\n{render_persona(cast.persona)}\n</persona>\n"
            f"<talk>\n{step.who}: {step.text}\n{cast.name}: {answer.words}\n</talk>\n"
            f"{wanted.question}"
        )
        messages = [{"role": "system", "content": JUDGE}, {"role": "user", "content": told}]
        request = LLMRequest(messages, PromptScene("", Persona(), ()), max_tokens=JUDGE_TOKENS)
        deadline_at = self.clock.seconds() + JUDGE_S
        profile = self.models.judge(wanted.judge)
        try:
            reply = yield self.models.gateway.complete(request, profile, deadline_at)
        except ProviderError as error:
            raise ProviderUnavailable(f"The judging model gives no answers: {error}") from error
        said = strip_reasoning(reply.content).strip(" .!*\"'\n").lower()
        why = "it said no" if said == "no" else f"it said neither yes nor no: {said[:80]!r}"
        return Verdict(f"in_persona judge: {wanted.question}", said == "yes", why)


def is_refusal(act: Any) -> bool:
    """Return True for words that the engine did not let the character speak."""
    return act.state == "refused" and act.call.name in ("say", "whisper", "emote")


def surroundings(stage: Stage, step: Step) -> Surroundings:
    """Return what the words of an answer are judged against."""
    return Surroundings(
        name=stage.cast.name,
        persona=render_persona(stage.cast.persona),
        tools=frozenset(stage.toolbox.tools),
        people=frozenset(stage.people),
        heard=[step.text],
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
