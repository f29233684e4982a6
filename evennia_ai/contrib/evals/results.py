"""Which checks of a scene's step hold for an answer."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evennia_ai.contrib.evals import format as scene_file
from evennia_ai.contrib.evals.format import (
    EvalLine,
    EvalScene,
    Expected,
    ExpectedCall,
    PersonaCheck,
    mentions,
)
from evennia_ai.policy.replies.output_checks import CheckContext, find_artefact
from evennia_ai.policy.replies.speech import is_ai
from evennia_ai.policy.retrieval.words import language_of
from evennia_ai.policy.sanitize import one_line
from evennia_ai.policy.texts import filled, fitting

# What no character says of itself or its story.
OUTSIDE = re.compile(
    r"\b(?:AI|A\.I\.|artificial intelligence|language model|chat ?bot|(?:virtual|digital) assistant"
    r"|system prompt|training data|openai|chatgpt|role-?play(?:ing)?|fictional character"
    r"|knowledge cutoff|content polic(?:y|ies)|safety guidelines|Sprachmodell"
    r"|(?:stay|remain|break|be) (?:in|out of)? ?character)\b",
    re.IGNORECASE,
)
OWN_NAME = re.compile(
    r"\b(?i:my name(?: is|'s)|i am called|they call me|folk call me|ich heiße|mein name ist)"
    r" ([^\W\d_][\w'-]+)"
)
WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class EvalUtterance:
    """Words or a gesture that others noticed; ``private`` if whispered."""

    kind: str
    text: str
    private: bool = False


@dataclass(frozen=True)
class EvalToolCall:
    """A tool call; ``state`` as in the log."""

    name: str
    arguments: Mapping[str, Any]
    state: str


@dataclass(frozen=True)
class EvalAnswer:
    """What followed one line: words, tool calls, replies that were refused, and how it ended."""

    spoken: tuple[EvalUtterance, ...] = ()
    acts: tuple[EvalToolCall, ...] = ()
    refused: tuple[str, ...] = ()
    problem: str = ""  # why there was no answer but the fallback line, "" if there was one

    @property
    def words(self) -> str:
        """Return all that was said and shown, "" for a fallback line."""
        return "" if self.problem else "\n".join(item.text for item in self.spoken)


@dataclass(frozen=True)
class CheckResult:
    """One check's result; ``why`` it does not hold."""

    check: str
    holds: bool
    why: str = ""


def judge_answer(expected: Expected, answer: EvalAnswer, around: CheckContext) -> list[CheckResult]:
    noticed = bool(answer.spoken) or any(act.state == "done" for act in answer.acts)
    verdicts = [CheckResult("answered: false", not answer.spoken, "it was not silent")]
    if expected.answered:
        answered = noticed and not answer.problem
        verdicts = [CheckResult("answered", answered, answer.problem or "it was silent")]
    if expected.answered and not answer.problem:
        verdicts += _persona_verdicts(expected.in_persona, answer, around)
    for either in expected.must_mention:
        holds = bool(scene_file.mentioned(either, answer.words))
        verdicts.append(CheckResult(f"must_mention {' | '.join(either)}", holds, "not mentioned"))
    for either in expected.must_not_mention:
        wrong = scene_file.mentioned(either, answer.words)
        why = f"mentioned: {', '.join(wrong)}"
        verdicts.append(CheckResult(f"must_not_mention {' | '.join(either)}", not wrong, why))
    verdicts += [_did(call, answer, True) for call in expected.must_do]
    verdicts += [_did(call, answer, False) for call in expected.must_not_do]
    if expected.private is not None:
        aloud = [item.text for item in answer.spoken if not item.private]
        verdicts.append(
            CheckResult("private", bool(answer.spoken) and not aloud, f"said aloud: {aloud}")
            if expected.private
            else CheckResult("private: false", bool(aloud), "it was only whispered")
        )
    return verdicts


def _did(call: ExpectedCall, answer: EvalAnswer, wanted: bool) -> CheckResult:
    """Return whether a call was made; one that must not be made may not even be tried."""
    named = [act for act in answer.acts if act.name == call.tool]
    tried = [
        act
        for act in named
        if all(
            mentions(words, str(act.arguments.get(k, ""))) for k, words in call.arguments.items()
        )
    ]
    label = f"{call.tool} {_arguments_text(call.arguments)}".strip()
    if not wanted:
        return CheckResult(f"must_not_do {label}", not tried, "it was tried")
    done = any(act.state in ("done", "asked") for act in tried)
    states = ", ".join(f"{_arguments_text(act.arguments)} ({act.state})" for act in named)
    return CheckResult(f"must_do {label}", done, f"called with {states}" if named else "not called")


def _arguments_text(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in arguments.items())


def _persona_verdicts(
    wanted: PersonaCheck, answer: EvalAnswer, around: CheckContext
) -> Iterator[CheckResult]:
    if wanted.rules:
        whys = filter(None, (leaves_persona(item.text, around) for item in answer.spoken))
        why = next(whys, "")
        yield CheckResult("in_persona", not why, why)
    if wanted.language:
        code = language_of(answer.words)
        why = f"it looks like {code}"
        yield CheckResult(
            f"in_persona language {wanted.language}", code in ("", wanted.language), why
        )
    if wanted.most_words:
        count = len(WORD.findall(answer.words))
        label = f"in_persona most_words {wanted.most_words}"
        yield CheckResult(label, count <= wanted.most_words, f"it has {count}")


def leaves_persona(words: str, around: CheckContext) -> str:
    """Return why words are not the character's, "" if they are."""
    artefact = find_artefact(words, around)
    if artefact:
        return artefact
    known_text = scene_file.plain(" ".join(around.heard))
    outside = [] if is_ai(around.persona) else OUTSIDE.findall(words)
    strange = next((word for word in outside if scene_file.plain(word) not in known_text), "")
    if strange:
        return f"it spoke of what is outside the story: {strange}"
    own = set(WORD.findall(f"{around.name} {around.persona}".casefold()))
    names = (own_name for own_name in OWN_NAME.findall(words) if own_name.casefold() not in own)
    name = next(names, "")
    return f"it called itself {name}" if name else ""


WIDTH = 78
LONGEST_LINE = 400
FIGURES = "{}{:>7}{:>8}{:>7}  {}"
HEAD = FIGURES.format(filled("scene", 47), "runs", "passed", "least", "")


@dataclass(frozen=True)
class EvalStepResult:
    """A line, its answer, and the verdicts on it."""

    line: EvalLine
    answer: EvalAnswer
    verdicts: tuple[CheckResult, ...]


@dataclass(frozen=True)
class EvalRun:
    """One playing of a scene."""

    steps: tuple[EvalStepResult, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        return all(verdict.holds for step in self.steps for verdict in step.verdicts)


@dataclass(frozen=True)
class EvalResult:
    """All runs of a scene."""

    scene: EvalScene
    runs: tuple[EvalRun, ...]

    @property
    def passed(self) -> int:
        return sum(run.passed for run in self.runs)

    @property
    def holds(self) -> bool:
        return self.passed / len(self.runs) >= self.scene.least

    def rates(self) -> dict[tuple[int, str], tuple[int, int]]:
        """Return by step and check how often it held, and how often it was asked."""
        rates: dict[tuple[int, str], tuple[int, int]] = {}
        for run in self.runs:
            for number, step in enumerate(run.steps, 1):
                for verdict in step.verdicts:
                    held, tries = rates.get((number, verdict.check), (0, 0))
                    rates[number, verdict.check] = held + verdict.holds, tries + 1
        return rates


def table(results: Sequence[EvalResult]) -> list[str]:
    """Return the results as lines of at most `WIDTH` columns: scenes, and checks that failed."""
    lines = [HEAD.rstrip(), "-" * WIDTH]
    for result in results:
        title = filled(one_line(result.scene.scene), 47)
        least, state = f"{result.scene.least:.0%}", "" if result.holds else "FAILED"
        row = FIGURES.format(title, len(result.runs), result.passed, least, state)
        lines.append(row.rstrip())
        for (number, check), (held, tries) in result.rates().items():
            if held < tries:
                label = filled(one_line(f"step {number}: {check}"), 59)
                lines.append(f"  {label}{f'{held} of {tries}':>15}")
    return lines


def _shown(text: str, columns: int) -> str:
    return fitting(one_line(text), columns)


def _transcript(scene: EvalScene, run: EvalRun) -> Iterator[str]:
    name = scene.name or scene.character
    for number, step in enumerate(run.steps, 1):
        yield f"{number}. {step.line.who} {_manner(step.line.kind, False)}: {step.line.text}"
        yield from (f"   {name} {_manner(s.kind, s.private)}: {s.text}" for s in step.answer.spoken)
        for act in step.answer.acts:
            if act.name not in ("say", "whisper", "emote"):
                arguments = _arguments_text(act.arguments)
                yield f"   {name} calls {act.name} ({arguments}): {act.state}"
        yield from (f"   a reply was refused: {why}" for why in step.answer.refused)
        for verdict in step.verdicts:
            if not verdict.holds:
                yield f"   FAILED {verdict.check}: {verdict.why}"


def _manner(kind: str, private: bool) -> str:
    return "whispers" if private or kind == "whisper" else {"emote": "acts out"}.get(kind, "says")


def failure_lines(result: EvalResult) -> list[str]:
    """Return the transcript of the first run that failed, safe for a terminal."""
    failed = next((run for run in result.runs if not run.passed), None)
    lines = _transcript(result.scene, failed) if failed else ()
    insets = ((line, len(line) - len(line.lstrip(" "))) for line in lines)
    return [" " * inset + _shown(line, LONGEST_LINE) for line, inset in insets]


def progress_line(result: EvalResult, number: str) -> str:
    state = "ok" if result.holds else "FAILED"
    took_s = sum(run.seconds for run in result.runs)
    ending = f"{result.passed} of {len(result.runs)} passed, {took_s:.1f} s  {state}"
    return f"{number} {_shown(result.scene.scene, WIDTH - len(number) - len(ending) - 3)}  {ending}"
