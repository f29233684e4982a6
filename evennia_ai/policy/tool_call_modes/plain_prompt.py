"""What a model of the mode `PLAIN` is shown beside the talk: a short persona, examples, notes.

The template and its figures: a real 1.5B model answers 38 of 60 fresh lines sensibly with it, and
22 with rules and a JSON object (judged blind). Notes by code stand behind the line that they are
about, where small models follow them: 15 of 16, before the line 9 of 16 (Qwen2.5-Coder 1.5B).
"""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from evennia_ai.messages import MARK, Situation, WireMessage
from evennia_ai.policy.audience import BUILDER, KnownLine
from evennia_ai.policy.context.situation_updates import LORE, REMEMBERED, Row
from evennia_ai.policy.conversation.persona_and_lore import Persona
from evennia_ai.policy.sanitize import cut_text
from evennia_ai.policy.texts import sentences
from evennia_ai.policy.tool_call_modes.form import answer_in

PERSONA_WORDS, PLACE_CHARS = 90, 60
# What stands before a line, and the least nearness to it: the cosine of what answers strangers'
# questions is above .3 for 17 of 20, of what does not for 1 of 5 lines (MiniLM).
MOST_RECALLED, LEAST_FIT = 2, 0.3
PAIR = 2  # rows that fit equally well: a memory, and what changes it
OWN = 0.08  # how much better a sentence of the persona fits than its cosine tells
ANSWERING_FIT = 0.4  # of a memory that surely answers a line
NEAR = 2  # examples that are chosen by the line
STRANGER = "Eve"  # who speaks in the examples
ABOUT = ""  # the label of what the persona tells


class Exchange(NamedTuple):
    """What stands before a line to the character, the line, and how it answers."""

    before: str
    words: str
    answer: str


def _read_exchanges() -> tuple[list[Exchange], list[Exchange]]:
    file = Path(__file__).with_name("plain_examples.toml")
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    always, near = (
        [Exchange(before.format(stranger=STRANGER), *rest) for before, *rest in tables[name]]
        for name in ("always", "near")
    )
    return always, near


ALWAYS, EXCHANGES = _read_exchanges()
EXCHANGE_LINES = [exchange.words for exchange in EXCHANGES]


class LineNote(NamedTuple):
    """What code tells of a line, with the example that shows how to answer it.

    ``text`` names the game's own answers, for a model that does not follow.
    """

    fact: str
    words: str
    answer: str
    text: str


NOT_KNOWN = LineNote(
    "You have no idea: nobody told you.",
    "Who was my grandfather?",
    "How should I know that? Nobody told me.",
    "has_no_idea",
)
NOT_UNDERSTOOD = LineNote(
    "You do not understand these strange words.",
    "Write me a computer program.",
    "What is that? I do not know such words.",
    "understands_nothing",
)
REFUSE = LineNote("You refuse.", "Help me to rob the baker!", "No. I will not do that.", "refuses")

NOTES = (NOT_KNOWN, NOT_UNDERSTOOD, REFUSE)
# An example for a line whose act code did, where a small model repeats the order.
DONE = LineNote(
    f"You gave rope to {STRANGER}.",
    "could you give me that rope?",
    "There you are. Take good care of it.",
    "",
)


def note(text: str) -> str:
    """Return a line of code's own for a prompt, as no player can write it."""
    return f"{MARK} {text}"


def short_persona(name: str, persona: Persona) -> str:
    """Return the first whole sentences of a persona, about `PERSONA_WORDS` words.

    What others may not know and what it never does are left out: a small model tells it. Code
    minds them (`turn.plain_turns`).
    """
    texts = [persona.text, persona.voice and f"Your voice: {persona.voice}.", persona.manner]
    kept = [f"You are {name}."] if name not in persona.text else []
    left = PERSONA_WORDS
    for sentence in (part.strip() for text in texts if text for part in sentences(text)):
        left -= len(sentence.split())
        if left < 0 and len(kept) > 0:
            break
        kept.append(sentence)
    return " ".join(kept)


def persona_rows(sentences: Sequence[str], cosines: Sequence[float]) -> list[Row]:
    """Return sentences of a persona as rows, each with its nearness to the line."""
    pairs = zip(sentences, cosines, strict=False)
    authors = frozenset({BUILDER})
    return [(ABOUT, KnownLine(text, authors=authors, score=near + OWN)) for text, near in pairs]


def near_examples(
    cosines: Sequence[float], is_told: bool, language: str, notes: Sequence[LineNote]
) -> list[WireMessage]:
    """Return the examples whose lines are nearest to the new one, the nearest last.

    ``cosines`` are those of the line with `EXCHANGE_LINES`; none without an embedder. If something
    stands before the line (``is_told``), so it does in the nearest of these examples; if it is in
    another ``language``, as `answer_in` tells it, so is that. The example of a note comes with the
    note alone: it would be copied in other talk.
    """
    nearest = sorted(range(len(EXCHANGES)), key=lambda n: -cosines[n] if cosines else n)
    with_row = [EXCHANGES[n] for n in nearest if EXCHANGES[n].before]
    bare = [EXCHANGES[n] for n in nearest if not EXCHANGES[n].before]
    chosen = [*in_language(language), *with_row[:is_told], *bare][: NEAR - len(notes)]
    shown = messages_of(reversed(chosen))
    for item in notes:
        shown += exchange_messages([f"{STRANGER} says: {item.words}", note(item.fact)], item.answer)
    return shown


def in_language(language: str) -> list[Exchange]:
    """Return the examples in a language, as `answer_in` tells it."""
    return [item for item in EXCHANGES if language and answer_in([item.words], "") == language]


def messages_of(exchanges: Iterable[Exchange]) -> list[WireMessage]:
    """Return exchanges as messages of a prompt; they are the same for all characters."""
    shown = list[WireMessage]()
    for before, words, answer in exchanges:
        rows = [note(before)] if before else []
        shown += exchange_messages([*rows, f"{STRANGER} says: {words}"], answer)
    return shown


def exchange_messages(rows: Sequence[str], answer: str) -> list[WireMessage]:
    return [{"role": "user", "content": "\n".join(rows)}, {"role": "assistant", "content": answer}]


def parted(
    rows: Iterable[Row], recalled: Sequence[Row], persona: Sequence[Row] = ()
) -> tuple[list[Row], list[Row]]:
    """Return what a prompt tells of the moment, and the few rows that may answer its line.

    These are a piece of lore, sentences of the persona, and memories. More than two make a small
    model speak of something else. Memories stand in the order of their time; one and what changes
    it fit equally well, and count as one.
    """
    listed, candidates = list(rows), [*persona, *recalled]
    lore = [row for row in listed if row[0] == LORE]
    fits = {line.score for _label, line in candidates if line.score >= LEAST_FIT}
    best = sorted(fits, reverse=True)[: MOST_RECALLED - len(lore[:1])]
    alike = ([row for row in candidates if row[1].score == fit][-PAIR:] for fit in best)
    chosen = [row for rows_alike in alike for row in rows_alike]
    answers = [*lore[:1], *(row for row in candidates if row in chosen)]
    return [row for row in listed if row not in lore], answers


def plain_scene(rows: Iterable[Row]) -> str:
    """Return what a scene tells in few words: the situation in one line, each memory in its own."""
    seen, apart = list[str](), list[str]()
    for label, line in rows:
        if label == REMEMBERED:
            # The mark of what the game told stands once: a second one could be a player's.
            apart.append(note(f"{label}, {line.text.replace(f'{MARK} ', '')}"))
        elif label == ABOUT:
            apart.append(note(line.text))
        elif label == LORE:
            apart.append(note(f"{label}: {line.text.removeprefix(f'{line.source}: ')}"))
        else:
            seen.append(f"{label}: {line.text.rstrip('.')}")
    return "\n".join([*([note(f"{'; '.join(seen)}.")] if seen else []), *apart])


def short_scene(situation: Situation) -> Situation:
    """Return what a plain prompt tells of the situation: of the place less."""
    exits = tuple(name.partition(" (")[0] for name in situation.exits)
    return replace(situation, description=cut_text(situation.description, PLACE_CHARS), exits=exits)
