"""What a model of the mode `PLAIN` is shown beside the talk: a short persona, examples, notes.

The template and its figures: a real 1.5B model answers 38 of 60 fresh lines sensibly with it, and
22 with rules and a JSON object (judged blind). Notes by code stand behind the line that they are
about, where small models follow them: 15 of 16, before the line 9 of 16 (Qwen2.5-Coder 1.5B).
"""

import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from evennia_ai.messages import MARK, Situation, WireMessage, as_name, quoted, unmarked
from evennia_ai.policy.audience import BUILDER, KnownLine
from evennia_ai.policy.context.situation_updates import LORE, REMEMBERED, Row
from evennia_ai.policy.conversation.persona_and_lore import Persona
from evennia_ai.policy.facts.terms import means_by_group, normal_words
from evennia_ai.policy.sanitize import cut_text
from evennia_ai.policy.texts import sentences
from evennia_ai.policy.tool_call_modes.form import answer_in

PERSONA_WORDS, PLACE_CHARS = 70, 60
# The least nearness to a line of what stands before it, how much less may stand there with it, and
# the most of that. Of 108 questions of four strangers 80 have the right row so, and 59 had it with
# .3, .05 and 2; a 1.5B model answered 17 of 27 right, and 12 (MiniLM).
LEAST_FIT, CLOSE, MOST_ROWS = 0.25, 0.1, 3
# How much better a row fits that is about whom the line is about, and how sharply its nearness to
# questions about somebody tells that: of 143 questions of six strangers 105 have the right row so,
# and 92 had it without (MiniLM).
ABOUT_IT, SHARPNESS, LIKE_SUBJECT = 0.2, 20, 3
# The least nearness to lines of a kind, and how much nearer than they are a row must be that is
# shown instead of the note on the kind; of lines that ask rather than tell it is more.
LIKE_KIND, FITS_BETTER, ASKING_SHARE = 0.3, 0.08, 0.5
SURE_LORE = 0.4  # the least nearness of lore that surely answers a question (19 of 19)
NEAREST = 2  # lines of a kind that a line is compared with
STRANGER = "Eve"  # who speaks in the examples
TOLD_ROW = re.compile(r"(?P<who>[^:]{1,99}) told you: \"(?P<words>.+)\"", re.DOTALL)
NAME_WORDS = 4  # of a teller's name, at most
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


TABLES = tomllib.loads(Path(__file__).with_name("plain_examples.toml").read_text(encoding="utf-8"))
ALWAYS, IN_LANGUAGES = (
    [Exchange(*(text.format(stranger=STRANGER) for text in texts)) for texts in TABLES[name]]
    for name in ("always", "languages")
)
KINDS = {name: LineKind(**kind) for name, kind in TABLES["kinds"].items()}
SUBJECTS: dict[str, list[str]] = TABLES["subjects"]
SUBJECT_LINES = [line for lines in SUBJECTS.values() for line in lines]
ASKER, CHARACTER, WORLD, OTHERS = SUBJECTS
MOCKING = frozenset({"insult", "joke"})  # such lines urge to nothing
KIND_LINES = [line for kind in KINDS.values() for line in kind.lines]


# The game's texts that answer a line in the place of a model.
NOT_KNOWN, NOT_UNDERSTOOD, REFUSES = "has_no_idea", "understands_nothing", "refuses"
KEEPS_SILENT = "keeps_silent"
IN_PLACE_OF_MODEL = (NOT_KNOWN, NOT_UNDERSTOOD, REFUSES, KEEPS_SILENT)
# On a line that asks nothing: a small model would say it again.
TELL_NOTE = "You answer {speaker} with a thought of your own."


def notes_to(speaker: str) -> list[str]:
    """Return what code may note of a speaker's line, and its parts; small models say that."""
    notes = [TELL_NOTE, *(kind.note for kind in KINDS.values() if kind.note)]
    parts = [part for text in notes for part in text.split(", and ")]
    return [text.format(speaker=as_name(speaker)) for text in dict.fromkeys([*notes, *parts])]


class Grounds(NamedTuple):
    """What a reply is held against: a ``fact`` that it must tell of, and what people ``told``.

    Of these rows each is when and who told it, "two days ago Ann", and their words. It may also
    tell of the ``talk`` before.
    """

    fact: str = ""
    told: tuple[tuple[str, str], ...] = ()
    talk: tuple[str, ...] = ()


NO_GROUNDS = Grounds()
NO_SUBJECTS: Mapping[str, float] = {}


class LineReading(NamedTuple):
    """What code makes of a line: rows of the moment, rows that may answer the line, and a note.

    ``by_code`` is the game's text that answers it in the place of a model, ``fact`` what a reply
    must tell of, ``talk`` the words of the lines before.
    """

    now: list[Row]
    answers: list[Row]
    note: str = ""
    by_code: str = ""
    fact: str = ""
    talk: Sequence[str] = ()


def note(text: str) -> str:
    """Return a line of code's own for a prompt, as no player can write it."""
    return f"{MARK} {text}"


def short_persona(name: str, persona: Persona) -> str:
    """Return the first whole sentences of a persona, about `PERSONA_WORDS` words.

    What others may not know and what it never does are left out: a small model tells it. Code
    minds them (`turn.line_notes`).
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
    near = means_by_group([kind.lines for kind in KINDS.values()], cosines, NEAREST)
    return max(zip(KINDS, near, strict=True), key=itemgetter(1)) if cosines else ("", 0.0)


def kind_note(
    words: str, speaker: str, cosines: Sequence[float], best: float, asking: float = 0.0
) -> str:
    """Return what code tells of a line's kind, "" for nothing.

    ``best`` tells how well the best row fits that may answer the line, ``asking`` how much nearer
    it is to questions than to what people tell. A line that ends as a question asks for an answer,
    whatever it is like.
    """
    kind, near = kind_of(cosines)
    least = max(LIKE_KIND, LIKE_KIND + ASKING_SHARE * asking, best - FITS_BETTER)
    if not kind or words.rstrip().endswith("?") or near < least:
        return ""
    return KINDS[kind].note.format(speaker=as_name(speaker))


def in_language(language: str) -> list[Exchange]:
    """Return the examples in a language, as `answer_in` tells it."""
    return [item for item in IN_LANGUAGES if language and answer_in([item.words], "") == language]


def messages_of(exchanges: Iterable[Exchange]) -> list[WireMessage]:
    """Return exchanges as messages of a prompt; they are the same for all characters."""
    shown = list[WireMessage]()
    for before, words, noted, answer in exchanges:
        rows = [before and note(before), f"{STRANGER} says: {words}", noted and note(noted)]
        shown.append({"role": "user", "content": "\n".join(filter(None, rows))})
        shown.append({"role": "assistant", "content": answer})
    return shown


def parted(rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """Return what a prompt tells of the moment, and its lore, which may answer the line."""
    listed = list(rows)
    return [row for row in listed if row[0] != LORE], [row for row in listed if row[0] == LORE]


def best_fit(rows: Iterable[Row]) -> float:
    """Return how well the best of some rows fits, 0 for none."""
    return max((line.score for _label, line in rows), default=0.0)


def subjects_of(cosines: Sequence[float]) -> dict[str, float]:
    """Return how likely a line is about each of `SUBJECTS`, 1 in all.

    ``cosines`` are those of the line with `SUBJECT_LINES`; none without an embedder, {} then.
    """
    if not cosines:
        return {}
    near = means_by_group(SUBJECTS.values(), cosines, LIKE_SUBJECT)
    likely = [math.exp(SHARPNESS * value) for value in near]
    return {name: value / sum(likely) for name, value in zip(SUBJECTS, likely, strict=True)}


def subject_of(row: Row, asker: str) -> str:
    """Return which of `SUBJECTS` a row is about, "" for a memory that nobody told."""
    label, line = row
    if label != REMEMBERED:
        return WORLD if label == LORE else CHARACTER
    words = TOLD_ROW.fullmatch(line.text)
    return "" if not words else ASKER if words["who"].endswith(f" {asker}") else OTHERS


def answering(
    facts: Sequence[Row],
    recalled: Sequence[Row],
    subjects: Mapping[str, float] = NO_SUBJECTS,
    asker: str = "",
) -> list[Row]:
    """Return the few rows that may answer a line; ``facts`` are of persona and lore.

    These are what fits about as well as the best one, which stands nearest to the line. Whom the
    ``asker``'s line may be about (`subjects_of`) counts. Memories stand in the order of their time;
    one and what changes it fit equally well.
    """

    def worth(row: Row) -> float:
        likely = subjects.get(subject_of(row, asker), max(subjects.values(), default=0.0))
        return row[1].score + ABOUT_IT * (likely - 1 / len(SUBJECTS)) * bool(subjects)

    def best(rows: Iterable[Row]) -> float:
        return max(map(worth, rows), default=0.0)

    rows = [*facts, *recalled]
    least = max(LEAST_FIT, best(rows) - CLOSE)
    near = sorted((row for row in rows if worth(row) >= least), key=worth)[-MOST_ROWS:]
    memories = [row for row in recalled if row in near]
    others = [row for row in near if row not in memories]
    is_remembered = best(memories) >= best(others)
    return [*others, *memories] if is_remembered else [*memories, *others]


def said_or_checked(fact: str, read: LineReading) -> tuple[str, Grounds]:
    """Return what code says in the place of a model, and what a reply is held against.

    ``fact`` surely answers the line, "" for none. If a row of the prompt or the talk before holds
    at least half of its words, the model says it. Other facts are of what is here, and code tells
    them best; so it does those of the persona, since a small model says of whoever asks what "You"
    are. Where the best row is another than the fact's, either may be wrong; lore that surely
    answers comes first.
    """
    stems = {*normal_words(fact)}

    def holds(text: str) -> bool:
        return 2 * len(stems.intersection(normal_words(text))) >= len(stems)

    rows = [row for row in read.answers if row[0] != ABOUT and holds(row[1].text)]
    is_in_talk = bool(fact) and any(map(holds, read.talk))
    is_best = bool(fact and rows) and best_fit(rows) >= best_fit(read.answers)
    code = read.by_code or fact * (not (rows or is_in_talk or read.fact))
    rows_told = (TOLD_ROW.fullmatch(line.text) for _label, line in read.answers)
    own_words = tuple((match["who"], match["words"]) for match in rows_told if match)
    return code, Grounds(fact if is_best or is_in_talk else read.fact, own_words, (*read.talk,))


def tells(words: str, fact: str, line: str, seen: str = "") -> bool:
    """Return True if words tell of a fact what the line, which they answer, does not, and no other
    number than it; or of the talk as it was ``seen``."""
    stems, new = {*normal_words(fact)}, {*normal_words(words)}.difference(normal_words(line))
    if not new.isdisjoint(normal_words(seen)):
        return True
    is_wrong = any(map(str.isdigit, stems)) and any(map(str.isdigit, new - stems))
    return not is_wrong and (stems.issubset(normal_words(line)) or not stems.isdisjoint(new))


def tells_of(sentence: str, names: Iterable[str]) -> bool:
    """Return True for a sentence about one of some people, or a row read out, whoever told it.

    That is as "Two days ago Ann told you".
    """
    before, row, _ = sentence.partition(" told you")
    _age, ago, teller = before.partition(" ago")
    if row and ago and len(teller.split()) <= NAME_WORDS:
        return True
    subjects = "|".join(map(re.escape, names))
    lead = r"\A\W*+(?:\w+, |[\w ]{1,30}? ago,? )?|(?<=[^\W\d_] )"  # "It sounds as if Ann is sad"
    subject = rf"(?:{lead})(?:{subjects})(?:['’]s)? [^\W\dA-Z]"
    return bool(subjects and re.search(subject, sentence))


def sure_lore(rows: Sequence[Row]) -> str:
    """Return the piece of lore that fits a question best and well, "" if another row does."""
    label, line = max(rows, key=lambda row: row[1].score, default=(ABOUT, KnownLine("")))
    is_sure = label == LORE and line.score >= SURE_LORE
    return line.text.removeprefix(f"{line.source}: ") if is_sure else ""


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


def unsaid(variants: str, last: Sequence[str]) -> str:
    """Return one of the lines of a text that was not said if there is one, else the oldest."""
    places = {words: number for number, words in enumerate(last)}
    return min(variants.splitlines(), key=lambda words: places.get(words, -1))
