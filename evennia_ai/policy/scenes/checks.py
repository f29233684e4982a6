"""Which checks of a scene's step hold for an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evennia_ai.policy.replies.artefacts import Surroundings, find_artefact
from evennia_ai.policy.replies.assistant_voice import is_ai
from evennia_ai.policy.retrieval.languages import STOP_WORDS
from evennia_ai.policy.scenes.format import Call, Expected, PersonaCheck
from evennia_ai.policy.scenes.matching import mentioned, mentions, plain

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
LEAST_HITS = 3  # function words that tell a language


@dataclass(frozen=True)
class Spoken:
    """Words or a gesture that others noticed; ``private`` if whispered."""

    kind: str
    text: str
    private: bool = False


@dataclass(frozen=True)
class Act:
    """A tool call; ``state`` as in the log."""

    name: str
    arguments: Mapping[str, Any]
    state: str


@dataclass(frozen=True)
class Answer:
    """What followed one line: words, tool calls, replies that were refused, and how it ended."""

    spoken: tuple[Spoken, ...] = ()
    acts: tuple[Act, ...] = ()
    refused: tuple[str, ...] = ()
    problem: str = ""  # why there was no answer but the fallback line, "" if there was one

    @property
    def words(self) -> str:
        """Return all that was said and shown, "" for a fallback line."""
        return "" if self.problem else "\n".join(item.text for item in self.spoken)


@dataclass(frozen=True)
class Verdict:
    """One check's result; ``why`` it does not hold."""

    check: str
    holds: bool
    why: str = ""


def judge_answer(expected: Expected, answer: Answer, around: Surroundings) -> list[Verdict]:
    """Return a verdict for each check of a step."""
    found = [_answered(expected.answered, answer)]
    if expected.answered and not answer.problem:
        found += _persona_verdicts(expected.in_persona, answer, around)
    for either in expected.must_mention:
        holds = bool(mentioned(either, answer.words))
        found.append(Verdict(f"must_mention {' | '.join(either)}", holds, "not mentioned"))
    for either in expected.must_not_mention:
        wrong = mentioned(either, answer.words)
        why = f"mentioned: {', '.join(wrong)}"
        found.append(Verdict(f"must_not_mention {' | '.join(either)}", not wrong, why))
    found += [_did(call, answer, True) for call in expected.must_do]
    found += [_did(call, answer, False) for call in expected.must_not_do]
    if expected.private is not None:
        found.append(_kept_private(expected.private, answer))
    return found


def _answered(wanted: bool, answer: Answer) -> Verdict:
    if not wanted:
        return Verdict("answered: false", not answer.spoken, "it was not silent")
    noticed = bool(answer.spoken) or any(act.state == "done" for act in answer.acts)
    return Verdict("answered", noticed and not answer.problem, answer.problem or "it was silent")


def _did(call: Call, answer: Answer, wanted: bool) -> Verdict:
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
        return Verdict(f"must_not_do {label}", not tried, "it was tried")
    done = any(act.state in ("done", "asked") for act in tried)
    states = ", ".join(f"{_arguments_text(act.arguments)} ({act.state})" for act in named)
    return Verdict(f"must_do {label}", done, f"called with {states}" if named else "not called")


def _arguments_text(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in arguments.items())


def _kept_private(wanted: bool, answer: Answer) -> Verdict:
    aloud = [item.text for item in answer.spoken if not item.private]
    if wanted:
        return Verdict("private", bool(answer.spoken) and not aloud, f"said aloud: {aloud}")
    return Verdict("private: false", bool(aloud), "it was only whispered")


def _persona_verdicts(
    wanted: PersonaCheck, answer: Answer, around: Surroundings
) -> Iterator[Verdict]:
    if wanted.rules:
        whys = filter(None, (leaves_persona(item.text, around) for item in answer.spoken))
        why = next(whys, "")
        yield Verdict("in_persona", not why, why)
    if wanted.language:
        code = language_of(answer.words)
        why = f"it looks like {code}"
        yield Verdict(f"in_persona language {wanted.language}", code in ("", wanted.language), why)
    if wanted.most_words:
        count = len(WORD.findall(answer.words))
        label = f"in_persona most_words {wanted.most_words}"
        yield Verdict(label, count <= wanted.most_words, f"it has {count}")


def leaves_persona(words: str, around: Surroundings) -> str:
    """Return why words are not the character's, "" if they are."""
    artefact = find_artefact(words, around)
    if artefact:
        return artefact
    told = plain(" ".join(around.heard))
    outside = [] if is_ai(around.persona) else OUTSIDE.findall(words)
    strange = next((word for word in outside if plain(word) not in told), "")
    if strange:
        return f"it spoke of what is outside the story: {strange}"
    own = set(WORD.findall(f"{around.name} {around.persona}".casefold()))
    names = (found for found in OWN_NAME.findall(words) if found.casefold() not in own)
    name = next(names, "")
    return f"it called itself {name}" if name else ""


def language_of(text: str) -> str:
    """Return the code of the language whose function words stand out, "" if none does."""
    words = WORD.findall(text.casefold())
    hits = {code: sum(word in known for word in words) for code, known in STOP_WORDS.items()}
    best = max(hits, key=lambda code: hits[code])
    clear = all(hits[code] < hits[best] for code in hits if code != best)
    return best if clear and hits[best] >= LEAST_HITS else ""
