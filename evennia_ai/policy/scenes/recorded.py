"""A scene file from logged turns, with checks proposed from the answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evennia_ai.policy.facts.sources import sentences_of
from evennia_ai.policy.facts.terms import find_terms
from evennia_ai.policy.sanitize import one_line
from evennia_ai.policy.scenes.checks import Act, Spoken
from evennia_ai.policy.scenes.format import MANNERS
from evennia_ai.policy.scenes.matching import mentions
from evennia_ai.policy.scenes.results import manner

VERBS = {kind: name for name, kind in MANNERS.items()}
MOST_PROPOSED = 4


@dataclass(frozen=True)
class LoggedLine:
    """Something that the character heard; ``kind`` as in the log."""

    who: str
    kind: str
    text: str
    private: bool = False


@dataclass(frozen=True)
class LoggedTurn:
    """One turn: what was heard, what was said, and the other acts that were done."""

    number: int
    heard: tuple[LoggedLine, ...]
    spoken: tuple[Spoken, ...]
    acts: tuple[Act, ...] = ()


def scene_text(character: str, earlier: Sequence[LoggedTurn], turns: Sequence[LoggedTurn]) -> str:
    """Return turns as YAML: lines as steps, answers as comments, and proposed checks."""
    numbers = f"{turns[0].number}-{turns[-1].number}"
    lines = [
        f"# Recorded from turns {numbers} of {one_line(character)}.",
        "# The checks are proposed from the answers: delete those that do not matter.",
        f"character: {quoted(character)}",
        "scenes:",
        f"  - scene: {quoted(f'{character}, turns {numbers}')}",
    ]
    before = [entry for turn in earlier for entry in talk_of(turn, character)]
    lines += ["    earlier:", *before] if before else []
    lines.append("    steps:")
    names = {line.who for turn in (*earlier, *turns) for line in turn.heard} | {character}
    return (
        "\n".join([*lines, *(line for turn in turns for line in steps_of(turn, character, names))])
        + "\n"
    )


def quoted(text: str) -> str:
    """Return a text in quotes, as JSON and YAML both read it, on one line."""
    return json.dumps(one_line(text), ensure_ascii=False)


def entry_of(who: str, kind: str, text: str) -> list[str]:
    """Return a line of talk as an entry of a list."""
    return [f"      - who: {quoted(who)}", f"        {VERBS[kind]}: {quoted(text)}"]


def talk_of(turn: LoggedTurn, character: str) -> Iterator[str]:
    """Yield the entries of a turn's lines and answers, as earlier talk."""
    for line in turn.heard:
        if line.kind in VERBS:
            yield from entry_of(line.who, line.kind, line.text)
    for item in turn.spoken:
        yield from entry_of(character, "whisper" if item.private else item.kind, item.text)


def steps_of(turn: LoggedTurn, character: str, names: set[str]) -> Iterator[str]:
    """Yield the steps of a turn: its last line with the checks, those before as overheard."""
    said = [line for line in turn.heard if line.kind in VERBS]
    yield f"      # turn {turn.number}"
    for line in turn.heard:
        if line not in said:
            yield f"      # {one_line(line.who)}: {one_line(f'{line.kind} {line.text}')}"
    for number, line in enumerate(said, 1):
        yield from entry_of(line.who, line.kind, line.text)
        if number < len(said):
            yield "        overheard: true"
    for item in turn.spoken:
        told = f"{character} {manner(item.kind, item.private)}: {item.text}"
        yield f"        # {one_line(told)}"
    checks = list(proposed(turn, names)) if said else []
    if checks:
        yield "        answer:"
        yield from (f"          {check}" for check in checks)


def proposed(turn: LoggedTurn, names: set[str]) -> Iterator[str]:
    """Yield checks that the recorded answer passes."""
    words = "\n".join(item.text for item in turn.spoken)
    known = {name.casefold() for name in names}
    found = (term for sentence in sentences_of(words) for term in find_terms(sentence))
    terms = [term for term in dict.fromkeys(found) if term.casefold() not in known]
    kept = [one_line(term) for term in terms if mentions(one_line(term), words)][:MOST_PROPOSED]
    if kept:
        yield f"must_mention: [{', '.join(map(quoted, kept))}]"
    if turn.acts:
        yield f"must_do: [{', '.join(call_text(act.name, act.arguments) for act in turn.acts)}]"
    if turn.spoken and all(item.private for item in turn.spoken):
        yield "private: true"
    if not (turn.spoken or turn.acts):
        yield "answered: false"


def call_text(name: str, arguments: Mapping[str, object]) -> str:
    """Return a tool call as YAML on one line, without empty arguments."""
    given = {key: one_line(str(value)) for key, value in arguments.items() if value is not None}
    return json.dumps({name: {k: v for k, v in given.items() if v}}, ensure_ascii=False)
