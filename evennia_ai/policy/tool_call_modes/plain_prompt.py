"""What a model of the mode `PLAIN` is shown beside the talk: a short persona, examples, notes.

The template and its figures: a real 1.5B model answers 38 of 60 fresh lines sensibly with it, and
22 with rules and a JSON object (judged blind). Notes by code stand behind the line that they are
about, where small models follow them: 15 of 16, before the line 9 of 16 (Qwen2.5-Coder 1.5B).
"""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from evennia_ai.messages import MARK, Situation, WireMessage, as_name, quoted, unmarked
from evennia_ai.policy.audience import BUILDER, KnownLine
from evennia_ai.policy.context.situation_updates import LORE, REMEMBERED, Row
from evennia_ai.policy.conversation.persona_and_lore import Persona
from evennia_ai.policy.sanitize import cut_text
from evennia_ai.policy.texts import sentences
from evennia_ai.policy.tool_call_modes.form import answer_in

PERSONA_WORDS, PLACE_CHARS = 70, 60
# The least nearness to a line of what stands before it, and how much less may stand there with it:
# the cosine of what answers strangers' questions is above .3 for 17 of 20, of what does not for 1
# of 5 lines (MiniLM).
LEAST_FIT, CLOSE = 0.3, 0.05
PAIR = 2  # rows that fit equally well: a memory, and what changes it
ANSWERING_FIT = 0.4  # of a memory that surely answers a line
# The least nearness to lines of a kind, and how much nearer than they are a row must be that is
# shown instead of the note on the kind.
LIKE_KIND, FITS_BETTER = 0.3, 0.08
NEAREST = 2  # lines of a kind that a line is compared with
STRANGER = "Eve"  # who speaks in the examples
REQUEST = "request"  # the kind of lines that want something done
ABOUT = ""  # the label of what the persona tells


class Exchange(NamedTuple):
    """What stands before a line to the character, the line, what code notes, and the answer."""

    before: str
    words: str
    note: str
    answer: str


class LineKind(NamedTuple):
    """A kind of lines: what code tells of one, "" for nothing, and some of them."""

    lines: list[str]
    note: str = ""


def _read_examples() -> tuple[list[Exchange], list[Exchange], dict[str, LineKind]]:
    file = Path(__file__).with_name("plain_examples.toml")
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    always, languages = (
        [Exchange(*(text.format(stranger=STRANGER) for text in texts)) for texts in tables[name]]
        for name in ("always", "languages")
    )
    return always, languages, {name: LineKind(**kind) for name, kind in tables["kinds"].items()}


ALWAYS, IN_LANGUAGES, KINDS = _read_examples()
KIND_LINES = [line for kind in KINDS.values() for line in kind.lines]


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
    return [(ABOUT, KnownLine(text, authors=authors, score=near)) for text, near in pairs]


def kind_of(cosines: Sequence[float]) -> tuple[str, float]:
    """Return the name of the kind of lines that a line is most like, and how near it is to them.

    ``cosines`` are those of the line with `KIND_LINES`; none without an embedder, "" then.
    """
    rest, best = iter(cosines), ("", 0.0)
    for name, kind in KINDS.items() if cosines else ():
        nearest = sorted(value for _line, value in zip(kind.lines, rest, strict=False))
        best = max(best, (name, sum(nearest[-NEAREST:]) / NEAREST), key=itemgetter(1))
    return best


def kind_note(words: str, speaker: str, cosines: Sequence[float], answers: Sequence[Row]) -> str:
    """Return what code tells of a line's kind, "" for nothing; ``answers`` may answer the line.

    A line that ends as a question asks for an answer, whatever it is like.
    """
    kind, near = kind_of(cosines)
    best = max((line.score for _label, line in answers), default=0.0)
    is_asked = words.rstrip().endswith("?")
    if not kind or is_asked or near < max(LIKE_KIND, best - FITS_BETTER):
        return ""
    return KINDS[kind].note.format(speaker=as_name(speaker))


def line_examples(language: str, notes: Sequence[LineNote]) -> list[WireMessage]:
    """Return the examples that belong to a line: one in its language, and those of its notes.

    The language is as `answer_in` tells it. They would be copied in other talk.
    """
    shown = messages_of(in_language(language)[:1])
    for item in notes:
        shown += exchange_messages([f"{STRANGER} says: {item.words}", note(item.fact)], item.answer)
    return shown


def in_language(language: str) -> list[Exchange]:
    """Return the examples in a language, as `answer_in` tells it."""
    return [item for item in IN_LANGUAGES if language and answer_in([item.words], "") == language]


def messages_of(exchanges: Iterable[Exchange]) -> list[WireMessage]:
    """Return exchanges as messages of a prompt; they are the same for all characters."""
    shown = list[WireMessage]()
    for before, words, noted, answer in exchanges:
        rows = [note(before)] if before else []
        behind = [note(noted)] if noted else []
        shown += exchange_messages([*rows, f"{STRANGER} says: {words}", *behind], answer)
    return shown


def exchange_messages(rows: Sequence[str], answer: str) -> list[WireMessage]:
    return [{"role": "user", "content": "\n".join(rows)}, {"role": "assistant", "content": answer}]


def parted(
    rows: Iterable[Row], recalled: Sequence[Row], persona: Sequence[Row] = ()
) -> tuple[list[Row], list[Row]]:
    """Return what a prompt tells of the moment, and the few rows that may answer its line.

    These are the best of lore, sentences of the persona, and memories: what fits as well as the
    best one. More makes a small model speak of something else. Memories stand in the order of
    their time; one and what changes it fit equally well.
    """
    listed = list(rows)
    lore = [row for row in listed if row[0] == LORE]
    candidates = [*persona, *lore, *recalled]
    best = max((line.score for _label, line in candidates), default=0.0)
    least = max(LEAST_FIT, best - CLOSE)
    answers = [row for row in candidates if row[1].score >= least][-PAIR:]
    return [row for row in listed if row not in lore], answers


def plain_scene(rows: Iterable[Row], speaker: str = "") -> str:
    """Return what a scene tells in few words: the situation in one line, each memory in its own.

    Lore is told as what the ``speaker`` may be told: a small model says it sooner then.
    """
    seen, apart = list[str](), list[str]()
    for label, line in rows:
        if label == REMEMBERED:
            # The mark of what the game told stands once: a second one could be a player's.
            apart.append(note(f"{label}, {line.text.replace(f'{MARK} ', '')}"))
        elif label == ABOUT:
            apart.append(note(line.text))
        elif label == LORE:
            text = quoted(line.text.removeprefix(f"{line.source}: "))
            hearer = as_name(unmarked(speaker)) if speaker else "them"
            apart.append(note(f"You can tell {hearer}: {text}"))
        else:
            seen.append(f"{label}: {line.text.rstrip('.')}")
    return "\n".join([*([note(f"{'; '.join(seen)}.")] if seen else []), *apart])


def short_scene(situation: Situation) -> Situation:
    """Return what a plain prompt tells of the situation: of the place less."""
    exits = tuple(name.partition(" (")[0] for name in situation.exits)
    return replace(situation, description=cut_text(situation.description, PLACE_CHARS), exits=exits)
