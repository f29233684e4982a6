"""Which lines of a talk belong together: question and answer, parts of a sentence, corrections.

A line that fits a question is often no answer by itself: "Frogs." answers "The best bait?", and
"no wait, the red one" takes back what was said three lines before. The cue words are English,
German, French, Spanish and Russian.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from evennia_ai.policy.retrieval.languages import COUNTS, MONTHS, NIGHTS, UNIT_DAYS, WEEKDAYS
from evennia_ai.policy.retrieval.words import WORD, find_words, language_of
from evennia_ai.policy.texts import one_of

BEFORE, AFTER = 4, 8  # lines around one that may belong to it
NEAR = 4  # lines from a question to its answer, at most
ANSWERS = 2
WIDE_NEAR, WIDE_ANSWERS = 6, 3  # for the lines that fit a question best
MOST_OF_A_RUN = 3  # lines before one, and behind it, that are one sentence with it
SAME_TALK_S = 900.0
SHORT_WORDS = 6  # a line of no more may answer the question before it
# Shares of content words that lines on one subject have in common: of both, and of the shorter one.
LIKE, LIKE_CHANGED, LIKE_CORRECTED = 0.5, 1 / 3, 1 / 4
TEXTS_KNOWN = 1_024  # a talk recalls the same lines turn after turn: about 1 MB

QUESTION_MARKS = frozenset("?？؟")
SENTENCE_ENDS = re.compile(r"[.!…。！](?=\s|$)")
# It takes something back, or gives a new value for it.
CORRECTION = re.compile(
    r"^\W*+(?:(?:oh|ah|well|hm+|ach|äh|euh|bah|eh|ой|ах|ну)\W++){0,4}(?:"
    r"no,? (?:wait|sorry|not|the|it|he|she|they|i|make|that)\b|wait\b|hold on\b|actually\b|rather\b"
    r"|i mean\b|i meant\b|sorry\b|pardon\b|correction\b|scratch that\b|make that\b|i misspoke\b"
    r"|i was wrong\b|my (?:mistake|bad)\b|nope\b|nvm\b|oops\b|not \w++[!,.;]"
    r"|on second thought|come to think|change of plan|not the\b"
    r"|i told you\b|forget what i\b"
    r"|nein\b|moment\b|halt\b|quatsch\b|ich meine?\b|besser gesagt|vielmehr\b|entschuldigung\b"
    r"|verzeihung\b|doch nicht\b|stimmt nicht\b"
    r"|non\b|attends?\b|attendez\b|en fait\b|je veux dire|plutôt\b|je me trompe|je me suis tromp"
    r"|no,? espera|espera\b|perdón\b|perdona\b|mejor dicho|quiero decir|en realidad\b|me equivoqu"
    r"|нет\b|постой|погоди|точнее|вернее|то есть|извини|ошиб|я хотела? сказать|на самом деле"
    r")"
    r"|^\W*+(?:\w++\W++){1,4}(?:actually|rather|i mean|i meant)\b|\bactually\W*+$"
    r"|^\s*+\*\w[^*]*+$"  # "*friday", as players correct a typing mistake
    # A value and nothing before it: "Five, I forgot the youngest."
    r"|^\W*+(?:\d++|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s*[,.;!–-]",
    re.IGNORECASE,
)
CHANGES = re.compile(
    r"\b(?:now|no longer|not any ?more|anymore|instead|these days|changed|since then"
    r"|(?:has|have|was|were|is|are|['’]s|been) (?:moved|sold|renamed|postponed|put off|called off)"
    r"|(?:moved|switched) to|turned into|no more|any longer"
    r"|jetzt|inzwischen|nicht mehr|stattdessen|maintenant|désormais|ne .{1,30} plus|à la place"
    r"|ahora|ya no|en vez|теперь|больше не|вместо)\b",
    re.IGNORECASE,
)
# It goes on with what the line before began.
CONTINUATION = re.compile(
    r"^\W*+(?:and|but|or|because|which|who|that|it|its|it's|he|he's|his|she|she's|her|they|they're|"
    r"their|this|there|so|then|und|aber|oder|weil|er|sie|es|sein|ihr|das|der|die|dort|"
    r"et|mais|ou|parce|il|elle|ils|elles|c'est|son|sa|y|pero|porque|él|ella|es|está|su|allí|"
    r"и|но|а|или|потому|он|она|оно|они|его|её|это|там)\b",
    re.IGNORECASE,
)
FIRST_PERSON = re.compile(
    r"\b(?:i|i['’](?:m|d|ll|ve)|me|my|mine|myself|ich|mich|mir|mein(?:e[mnrs]?)?|je|j|moi|mon|ma"
    r"|yo|mí|mi|mis|mío|я|меня|мне|мной|мой|моя|моё|мои|моего|моей|моих|моему|мою)\b",
    re.IGNORECASE,
)
ENDED = re.compile(r"[.!?…。！？\"”»)]\s*$")


# What the words of a line show about the lines around it; plain numbers, since they are compared
# hundreds of times for one prompt.
ASKS = 1  # it is one question and nothing else
ENDS_ASKING = 2
SHORT = 4  # it says little by itself
CORRECTS = 8
GOES_ON = 16  # it begins like the second half of something
OPEN = 32  # it ends like the first half of something


class DialogueLine(NamedTuple):
    """One line of a talk: a number for its speaker, its signs, its time in unix seconds."""

    speaker: int
    signs: int
    at: float


def ends_with_question(words: str) -> bool:
    """Return True if a question mark stands behind the last word."""
    # No regular expression: one that looks from each mark to the end takes 0.2 s for 4,000 marks.
    end = takewhile(lambda char: not (char.isalnum() or char == "_"), reversed(words))
    return not QUESTION_MARKS.isdisjoint(end)


def signs_of(words: str) -> int:
    ends_asking = ends_with_question(words)
    return (
        ENDS_ASKING * ends_asking
        | ASKS * (ends_asking and not SENTENCE_ENDS.search(words))
        | SHORT * (len(WORD.findall(words)) <= SHORT_WORDS)
        | CORRECTS * bool(CORRECTION.search(words))
        | GOES_ON * bool(CONTINUATION.search(words))
        | OPEN * (not ENDED.search(words))
    )


def companions(lines: Sequence[DialogueLine], place: int, wide: bool = False) -> list[int]:
    """Return the places of the lines that belong to the one at ``place``, in order."""
    # They are its question or its answer, the rest of its sentence, and its corrections. If
    # ``wide``, more of what follows counts: the speaker's next line even if others spoke between.
    line = lines[place]
    # A line whose time is unknown (NaN) is near.
    near = [n for n, other in enumerate(lines) if not abs(other.at - line.at) > SAME_TALK_S]
    before = [n for n in near if place - BEFORE <= n < place]
    after = [n for n in near if place < n <= place + AFTER]
    return sorted(
        {
            *_question(lines, place, before),
            *_answer(lines, place, after, wide),
            *_rest(lines, place, before, after, wide),
            *_corrections(lines, place, before, after),
        }
    )


def _question(lines: Sequence[DialogueLine], place: int, before: Iterable[int]) -> list[int]:
    line = lines[place]
    if not line.signs & SHORT or line.signs & ASKS:
        return []
    questions = (n for n in before if place - n <= NEAR and lines[n].speaker != line.speaker)
    return [n for n in questions if lines[n].signs & ENDS_ASKING][-1:]


def _answer(
    lines: Sequence[DialogueLine], place: int, after: Iterable[int], wide: bool
) -> list[int]:
    """Return the first lines of others that may answer a question."""
    line = lines[place]
    if not line.signs & ASKS:
        return []
    reach, most = (WIDE_NEAR, WIDE_ANSWERS) if wide else (NEAR, ANSWERS)
    others = (n for n in after if n - place <= reach and lines[n].speaker != line.speaker)
    return [n for n in others if not lines[n].signs & ASKS][:most]


def _rest(
    lines: Sequence[DialogueLine],
    place: int,
    before: Sequence[int],
    after: Sequence[int],
    wide: bool,
) -> list[int]:
    """Return the speaker's lines that this one goes on with, and those that go on with it."""
    speaker = lines[place].speaker
    last = [n for n in before if lines[n].speaker == speaker]
    following = [n for n in after if lines[n].speaker == speaker]
    run = [*_run(lines, place, last[::-1]), *_run(lines, place, following)]
    # Nobody said more than a few words between them.
    run += [n for n in last[-1:] if place - n <= NEAR and _is_all_short(lines[n + 1 : place])]
    near = (n for n in following[:1] if n - place <= NEAR)
    return run + [n for n in near if wide or _is_all_short(lines[place + 1 : n])]


def _run(lines: Sequence[DialogueLine], place: int, others: Iterable[int]) -> list[int]:
    """Return the lines of one sentence with a line, from it on: each goes on with the one before,
    and nobody said more than a few words between them."""
    run: list[int] = []
    for other in others:
        first, second = sorted((run[-1] if run else place, other))
        goes_on = lines[first].signs & OPEN or lines[second].signs & GOES_ON
        is_near = second - first <= NEAR and (not run or _is_all_short(lines[first + 1 : second]))
        if len(run) == MOST_OF_A_RUN or not (goes_on and is_near):
            break
        run.append(other)
    return run


def _is_all_short(lines: Iterable[DialogueLine]) -> bool:
    return all(line.signs & SHORT and not line.signs & ENDS_ASKING for line in lines)


def _corrections(
    lines: Sequence[DialogueLine], place: int, before: Iterable[int], after: Iterable[int]
) -> list[int]:
    """Return the speaker's later corrections, and of a correction what it corrects."""
    line = lines[place]
    numbers = [n for n in after if lines[n].speaker == line.speaker and lines[n].signs & CORRECTS]
    if line.signs & CORRECTS:
        numbers += [n for n in before if lines[n].speaker == line.speaker][-1:]
    return numbers


@lru_cache(maxsize=TEXTS_KNOWN)
def subject_of(text: str) -> tuple[frozenset[str], float]:
    """Return a text's content words, none if it only asks, and the share of them that it must have
    in common with what it replaces; 0 if it tells of no change."""
    only_asks = ends_with_question(text) and not SENTENCE_ENDS.search(text)
    changed = LIKE_CHANGED * bool(CHANGES.search(text))
    share = LIKE_CORRECTED if CORRECTION.search(text) else changed
    return frozenset(() if only_asks else find_words(text)), share


def same_subject(words: frozenset[str], later: frozenset[str], share: float) -> bool:
    """Return True if a later line may replace what an earlier one of the same speaker said."""
    # Both are the lines' content words; ``share`` is that of `subject_of`. Two of one form with
    # other values share more (Dice's coefficient); lines on different subjects do not (measured).
    shared, least = len(words & later), min(len(words), len(later))
    if share and shared >= share * least > 0:
        return True
    return least > 1 and 2 * shared > LIKE * (len(words) + len(later))


DAY_S = 86_400.0
_MONTH = one_of("|".join(MONTHS))
_UNIT = one_of("|".join(UNIT_DAYS))
_WHAT = one_of("|".join((*UNIT_DAYS, NIGHTS, *WEEKDAYS)))
_DAY = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th|er|\.)?"
_CUE = one_of("in|of|since|until|during|last|this|on|around|early|late|mid|im|seit|en|depuis|desde")
_COUNT = rf"(\d{{1,3}}|{one_of('|'.join(COUNTS))})"

# They mean something else, too, and count as months only next to a number or a word of time.
AMBIGUOUS = ("may", "march", "mars", "julio")
DATE = re.compile(
    rf"\b(?:(?P<cue>{_CUE})\s++)?"
    rf"(?:{_DAY.format('before')}\s++(?:(?:of|de)\s++)?)?(?P<month>{_MONTH})\b"
    rf"(?:\s+{_DAY.format('after')}(?!\d))?(?:,?\s+(?:del?\s+)?(?P<year>\d{{4}})\b)?",
    re.I,
)
YEAR = re.compile(r"\b(?:19|20)\d\d\b")
AGO = re.compile(
    rf"\b(?:{_COUNT}\s++({_UNIT})\s++(?:ago|назад)|(?:vor|il y a|hace)\s++{_COUNT}\s++({_UNIT}))\b|"
    r"\b(неделю|месяц|год)\s+назад\b",
    re.I,
)
LAST = re.compile(
    rf"\b(?:(?:last|letzte[nrs]?|vorige[nrs]?|прошл\w+)\s++({_WHAT})|"
    rf"({_WHAT})\s++(?:derni(?:er|ère)|passée?|pasad[oa]))\b",
    re.I,
)
NEAR_DAYS = {
    r"today|tonight|this morning|heute|aujourd['’]hui|ce matin|ce soir|hoy|esta noche|сегодня": 0,
    r"yesterday|(?<!vor)gestern|ayer|anoche|вчера": 1,
    r"vorgestern|avant-hier|anteayer|позавчера": 2,
}
NEAR_TIME = {re.compile(rf"\b(?:{words})\b", re.I): days for words, days in NEAR_DAYS.items()}
YESTERDAY_IN_FRENCH = re.compile(r"(?<!-)\bhier\b", re.I)  # in German it means "here"


class Span(NamedTuple):
    """A span of time from ``start`` up to ``end``, in Unix seconds."""

    start: float
    end: float

    @property
    def is_short(self) -> bool:
        """True for days and weeks, False for months and years."""
        return self.end - self.start <= 8 * DAY_S


def find_spans(text: str, now: float | None = None) -> tuple[Span, ...]:
    """Return the spans that a text names; without ``now`` only dates that have a year."""
    if now is not None and not -6e10 < now < 2e11:  # outside the range of datetime
        now = None
    return (*_dates(text, now), *(_relative(text, now) if now is not None else ()))


def _dates(text: str, now: float | None) -> Iterator[Span]:
    """Yield the days, months and years that a text names."""
    dated = False
    for match in DATE.finditer(text):
        day = match["before"] or match["after"]
        if match["month"].lower() in AMBIGUOUS and not (match["cue"] or day or match["year"]):
            continue
        month = _number_in(MONTHS, match["month"]) + 1
        today = datetime.fromtimestamp(now or 0.0, UTC)
        latest = today.year - (month > today.month) if now is not None else 0
        span = _calendar_span(int(match["year"] or latest), month, int(day or 0))
        if span is not None:
            dated = True
            yield span
    if not dated:
        for match in YEAR.finditer(text):
            year = int(match[0])
            yield Span(_start_of_month(year, 1), _start_of_month(year + 1, 1))


def _number_in(table: Iterable[str], word: str) -> int:
    """Return the place of the first pattern that matches the word, -1 for none."""
    places = (place for place, names in enumerate(table) if re.fullmatch(names, word, re.I))
    return next(places, -1)


def _calendar_span(year: int, month: int, day: int) -> Span | None:
    """Return a day, or a month if ``day`` is 0; None for an impossible date."""
    try:
        start = datetime(year, month, day or 1, tzinfo=UTC).timestamp()
        following = (year, month + 1) if month < 12 else (year + 1, 1)
        return Span(start, start + DAY_S if day else _start_of_month(*following))
    except ValueError:
        return None


def _relative(text: str, now: float) -> Iterator[Span]:
    """Yield the spans counted back from the moment of speaking."""
    midnight = now - now % DAY_S
    for near, days in NEAR_TIME.items():
        yield from (_days_back(midnight, days, 1) for _ in near.finditer(text))
    if YESTERDAY_IN_FRENCH.search(text) and language_of(text) == "fr":
        yield _days_back(midnight, 1, 1)
    for match in AGO.finditer(text):
        count, word = match[1] or match[3] or "1", match[2] or match[4] or match[5]
        number = int(count) if count.isdigit() else COUNTS[count.lower()]
        unit = _unit_days(word)
        yield _days_back(midnight, number * unit + unit // 2, unit)
    for match in LAST.finditer(text):
        yield _last(match[1] or match[2], midnight)


def _unit_days(word: str) -> int:
    """Return the days of a unit; 1 for a night."""
    place = _number_in(UNIT_DAYS, word)
    return 1 if place < 0 else list(UNIT_DAYS.values())[place]


def _last(word: str, midnight: float) -> Span:
    weekday = _number_in(WEEKDAYS, word)
    if weekday >= 0:
        today = datetime.fromtimestamp(midnight, UTC).weekday()
        return _days_back(midnight, (today - weekday - 1) % 7 + 1, 1)
    days = _unit_days(word)
    return _days_back(midnight, days + (days > 1) * (days // 2), days + (days > 1) * (days // 2))


def _days_back(midnight: float, back: int, length: int) -> Span:
    start = midnight - back * DAY_S
    return Span(start, start + length * DAY_S)


def _start_of_month(year: int, month: int) -> float:
    return datetime(year, month, 1, tzinfo=UTC).timestamp()
