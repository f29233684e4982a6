"""The named parts of a prompt, line by line, each with where it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evennia_ai.messages import Message, WireMessage, prompt_text
from evennia_ai.policy import author_note
from evennia_ai.policy.explanation.call_record import KeptCall, Origin, as_shown, dumped
from evennia_ai.policy.facts.sources import words_of_calls

RULES, TOOLS, SCHEMA, PERSONA, SUMMARY = "rules", "tools", "answer form", "persona", "summary"
TALK, SITUATION, NEW, ACTS, QUESTION = "talk", "situation", "new lines", "own acts", "question"
RECALLED, LORE, PEOPLE, KEPT, GOALS = "recalled", "lore", "people", "pins", "goals"
MATERIALS, NOTE = "materials", "author's note"
# The parts of the situation by the label of their lines; all other labels are the situation.
BY_LABEL = {
    "You remember": RECALLED,
    "You know": LORE,
    "Of those here": PEOPLE,
    "Keep in mind": KEPT,
    "You are after": GOALS,
    "You are about": GOALS,
    "At hand": MATERIALS,
    author_note.LABEL: NOTE,
}
# Nothing that a character says of itself or the world comes from these.
INSTRUCTIONS = frozenset({RULES, TOOLS, SCHEMA, QUESTION})
# What the character knows, as opposed to what was said just now.
MEMORIES = frozenset({SUMMARY, RECALLED, PEOPLE, KEPT, GOALS, MATERIALS})
LABELLED = re.compile(r"(?P<label>[A-Z][a-z]+(?: [a-z]+){0,3}):(?: (?P<text>.*))?")
BULLET = "- "


@dataclass(frozen=True)
class Line:
    """One line of a prompt, with the memory, message or title that it comes from, if known."""

    text: str
    source: str = ""
    score: float = 0.0  # of the search that recalled it
    own: bool = False  # True for the character's own words


@dataclass(frozen=True)
class Part:
    """One part of a prompt."""

    name: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """Return the part as one text."""
        return "\n".join(line.text for line in self.lines)


def parts_of(
    kept: KeptCall, marker: Message | None, talk: Sequence[Message], own: Sequence[Message]
) -> list[Part]:
    """Return the parts of a prompt in their order, without empty ones."""
    trace, sent = kept.trace, kept.sent
    if not trace.step:
        return parts_apart(kept, marker, talk)
    first, *others = [str(message["content"]) for message in trace.opening] or [""]
    persona = "\n".join(filter(None, (first[trace.rules_chars :].strip(), *others)))
    found = [
        (RULES, [Line(line) for line in first[: trace.rules_chars].splitlines()]),
        (TOOLS, [Line(dumped(tool)) for tool in sent.tools] if sent.form == "tools" else []),
        (SCHEMA, [Line(dumped(sent.schema))] if sent.schema else []),
        (PERSONA, [Line(line) for line in persona.splitlines()]),
        (SUMMARY, [Line(line) for line in (marker["content"] if marker else "").splitlines()]),
        (TALK, [*talk_lines(talk), *map(wire_line, trace.unlogged)]),
        *situation_parts(trace.scene[0] if trace.scene else "", trace.origins, trace.lore),
        (NEW, [Line(line) for line in trace.scene[1:]]),
        (ACTS, [*talk_lines(own), *map(wire_line, (*trace.unlogged_own, *kept.extra))]),
        (QUESTION, [Line(line) for line in trace.ending]),
    ]
    return [Part(name, lines) for name, many in found if (lines := filled(many))]


def parts_apart(kept: KeptCall, marker: Message | None, talk: Sequence[Message]) -> list[Part]:
    """Return the parts of the prompt of a call apart from any turn, without empty ones."""
    trace = kept.trace
    rules, *material = [str(message["content"]).splitlines() for message in kept.extra]
    previous = marker["content"] if marker else trace.previous
    shown = talk if trace.with_results else [one for one in talk if one["role"] != "tool"]
    found = [
        (RULES, map(Line, rules)),
        (SUMMARY, map(Line, previous.splitlines())),
        (TALK, talk_lines(as_shown(shown, trace))),
        (MATERIALS, [Line(line) for lines in material for line in lines]),
    ]
    return [Part(name, lines) for name, many in found if (lines := filled(many))]


def filled(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return the lines that have a text."""
    return tuple(line for line in lines if line.text.strip())


def talk_lines(messages: Iterable[Message]) -> Iterator[Line]:
    """Yield messages as lines, each with its number in the log."""
    for message in messages:
        own = message["role"] == "assistant"
        said = [prompt_text(message), *words_of_calls(message)]
        text = " ".join(filter(None, said))
        if own and not text:
            calls = message.get("tool_calls") or ()
            text = " ".join(call["function"]["name"] for call in calls)
        yield Line(text, f"message {message['metadata'].get('seq', '')}", own=own)


def wire_line(message: WireMessage) -> Line:
    """Return a wire message that no log has as a line."""
    calls = [call["function"]["name"] for call in message.get("tool_calls") or ()]
    return Line(" ".join(filter(None, (str(message.get("content") or ""), *calls))))


def situation_parts(
    scene: str, origins: Sequence[Origin], lore: Sequence[str]
) -> list[tuple[str, list[Line]]]:
    """Return the situation, and what is known and recalled, as parts."""
    sources = {label: [o for o in origins if o.label == label] for label in BY_LABEL}
    sources["You know"] = [Origin("You know", title) for title in lore]
    parts: dict[str, list[Line]] = {}
    for label, text in labelled_lines(scene):
        name = BY_LABEL.get(label, SITUATION)
        origin = sources[label].pop(0) if sources.get(label) else Origin(label)
        shown = text if name != SITUATION else f"{label}: {text}"
        parts.setdefault(name, []).append(Line(shown, origin.source, origin.score))
    return list(parts.items())


def labelled_lines(scene: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a situation, each with its label (`turn.prompt_contexts`)."""
    label, rows = "", list[tuple[str, str]]()
    for line in scene.splitlines()[1:-1]:
        found = LABELLED.fullmatch(line)
        if line.startswith(BULLET):
            rows.append((label, line.removeprefix(BULLET)))
        elif found:
            label = found["label"]
            rows += [(label, found["text"])] if found["text"] else []
        elif rows:  # a text of several lines goes on
            rows[-1] = (rows[-1][0], f"{rows[-1][1]}\n{line}")
    yield from rows
