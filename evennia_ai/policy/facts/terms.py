"""The marks of a sentence: names, numbers, times, and words for a debt or a promise.

In English and German. Numbers in words are also digits. Facts stand in a prompt after ten
compactions as often without the words for debts and promises (98.8 and 96.9 of 100); they stay for
claims, which are judged by them, and for goals.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from textwrap import wrap
from typing import NamedTuple

from evennia_ai.messages import (
    ACTS_OUT,
    CLAIMED,
    MARK,
    PERCEIVED,
    PERFORMED,
    SAYS,
    WHISPERS,
    Audience,
    ChatMessage,
)
from evennia_ai.policy.audience import audience_of
from evennia_ai.policy.retrieval.words import find_words
from evennia_ai.policy.texts import one_of, read_object, sentences

NAME, NUMBER, TIME, DEBT, PROMISE = "name", "number", "time", "debt", "promise"

# Words that English has too ("elf") are left out.
TENS = (
    "twenty zwanzig", "thirty dreißig", "forty vierzig", "fifty fünfzig", "sixty sechzig",
    "seventy siebzig", "eighty achtzig", "ninety neunzig",
)  # fmt: skip
SMALL = (
    "zero", "", "two zwei", "three drei", "four vier", "five fünf", "six sechs", "seven sieben",
    "eight acht", "nine neun", "ten zehn", "eleven", "twelve dozen zwölf dutzend",
    "thirteen dreizehn", "fourteen vierzehn", "fifteen fünfzehn", "sixteen sechzehn",
    "seventeen siebzehn", "eighteen achtzehn", "nineteen neunzehn",
)  # fmt: skip
LARGE = {100: "hundred hundert", 1000: "thousand tausend", 1_000_000: "million millionen"}
IN_WORDS = {**dict(enumerate(SMALL)), **{20 + 10 * i: w for i, w in enumerate(TENS)}, **LARGE}
VALUES = {word: value for value, words in IN_WORDS.items() for word in words.split()}
DOZENS = frozenset({"dozen", "dutzend"})
ONE_NUMBER = one_of("|".join(sorted(VALUES, key=len, reverse=True)))
RUN = re.compile(
    rf"\b(?:{ONE_NUMBER})(?:(?: and |[ -])(?:{ONE_NUMBER}|one)){{0,7}}\b", re.IGNORECASE
)
OWNED = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
ACCENTS = re.compile("[\u0300-\u036f]")
GROUPED = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")
# Without them, three of 40 sentences that players told hold no fact.
TIMES = """dawn dusk noon midday midnight sunrise sunset sundown nightfall tonight tomorrow
    yesterday monday tuesday wednesday thursday friday saturday sunday january february april
    june july august september october november december spring summer autumn winter midsummer
    midwinter fortnight o'clock morgen mittag mitternacht gestern übermorgen montag dienstag
    mittwoch donnerstag freitag samstag sonntag januar februar märz juni juli oktober dezember
    frühling sommer herbst"""
SPANS = "hours?|days?|weeks?|months?|years?|minutes?"
# Without them, 2 of 100 sentences that strangers told hold no fact.
AFTER_NAMES = "is|was|has|had|will|can|must|told|gave|took|stole|hid|left|went|came|died|lost|found"
AFTER_NAMES += "|bought|sold|met|knew|wore|ist|hat|war"
WORD = r"[^\W\d_]+(?:['’-][^\W_]+)*"
NOUN = rf"(?!(?i:{ONE_NUMBER})\b){WORD}"
CAPITAL = rf"\b[A-ZÀ-ÞŒА-ЯЁΑ-Ω]{WORD.replace('+', '*', 1)}"
LONG = r"(?=\d|\w\w)"  # a lone letter begins nothing below; it is passed over at once
TERM = re.compile(
    rf"(?P<time>{LONG}(?i:\b\d{{1,2}}:\d\d|\b\d+(?:st|nd|rd|th)\b(?: {NOUN})?"
    rf"|\b(?:\d+|{RUN.pattern}) (?:{SPANS})|\b{one_of('|'.join(TIMES.split()))}\b))"
    rf"|(?P<number>{LONG}\b(?:\d+(?:[.,]\d+)*(?![^\W_])|(?i:{RUN.pattern}))(?: {NOUN})?)"
    rf"|(?P<name>{CAPITAL}(?: {CAPITAL}){{0,5}})"
)
SAYS_NAME = re.compile(rf"['’]s\b| (?:(?:{AFTER_NAMES})\b|[^\W\d_]{{2,}}(?:s|ed|et)\b)")
OPENINGS = frozenset('"“«„:(')

PHRASES = {
    DEBT: r"""ow(?:e|es|ed|ing)|debts?|borrow(?:s|ed)?|len[dt]s?|loan|repa(?:y|id)|(?:pay|paid
|pays)(?: \w+)? back|on me|schuld(?:e|est|et|en)|geliehen|geborgt|(?:bekomm|krieg)st noch""",
    PROMISE: r"""promis(?:e|es|ed|ing)|sw(?:ear|ears|ore|orn)|vow(?:s|ed)?|oaths?|agree(?:d
|ment)?|pact|deal|bargain|guaranteed?|pledged?|my word|verspr(?:eche?|ichst?|icht|och\w*)
|schwör\w*|mein Wort""",
}  # fmt: skip
OWED = rf"(?:{'|'.join(PHRASES.values())})\b".replace("\n", "")
CUES = {
    kind: re.compile(rf"\b{one_of(phrase.replace(chr(10), ''))}\b", re.IGNORECASE)
    for kind, phrase in PHRASES.items()
}
ASKING = re.compile(
    r"\A(?:who|whom|whose|what|which|when|where|why|how|do|does|did|is|are|was|were|can|could|will"
    r"|would|shall|should|have|has|had|may)\b(?!.*[.!]$)",
    re.IGNORECASE,
)


@lru_cache(1_000)  # a prompt asks about the same lines as the last
def cues_of(sentence: str) -> frozenset[str]:
    """Return `DEBT` and `PROMISE` if a sentence has words for them."""
    return frozenset(kind for kind, pattern in CUES.items() if pattern.search(sentence))


def without_cues(sentence: str, kinds: frozenset[str]) -> str:
    """Return a sentence without the words for a debt or a promise."""
    for kind in kinds:
        sentence = CUES[kind].sub(" ", sentence)
    return sentence


def is_question(sentence: str) -> bool:
    end = sentence.rstrip(" \"”'»)")
    return end.endswith(("?", "？", "؟")) or bool(ASKING.match(end))


def with_digits(text: str) -> str:
    """Return a text with numbers in words as digits: "three hundred and five" is 305."""
    return GROUPED.sub("", RUN.sub(lambda match: str(_value(match[0])), text))


def normal_words(text: str) -> list[str]:
    """Return the stems of the words that carry meaning, numbers as digits, without accents."""
    # Each word counts by itself, since a name may stand in a text of another language.
    words = OWNED.findall(with_digits(unicodedata.normalize("NFKC", text)).lower())
    return [stem for word in words for stem in stems(word)]


@lru_cache(maxsize=16_384)
def stems(word: str) -> tuple[str, ...]:
    """Return the stem of a lower-case word without accents, none if it carries no meaning."""
    plain = ACCENTS.sub("", unicodedata.normalize("NFD", word))
    kept = find_words(word)
    return tuple(find_words(plain) if kept and plain != word else kept)


def find_terms(sentence: str) -> dict[str, str]:
    """Return the names, numbers with their noun, and times as they were said, with their kind."""
    text = sentence.lower() if sentence.isupper() else sentence
    terms: dict[str, str] = {}
    for match in TERM.finditer(text):
        kind = match.lastgroup or ""
        term = _name_in(text, match) if kind == NAME else match[0]
        if term:
            terms[term.removesuffix("'s").removesuffix("’s")] = kind
    return terms


def _value(run: str) -> int:
    total = current = 0
    for word in re.findall(r"[^\W_]+", run.lower()):
        value = VALUES.get(word, int(word == "one"))
        if value >= 100 or word in DOZENS:
            current = max(current, 1) * value
        else:
            current += value
        if value >= 1000:
            total, current = total + current, 0
    return total + current


def _name_in(text: str, match: re.Match[str]) -> str:
    """Return a run of capitalised words without common ones before it; empty if no name."""
    words = match[0].split()
    while words and not stems(words[0].lower()):
        del words[0]
    name = " ".join(words)
    begins = name == match[0] and _begins(text, match.start())
    certain = len(words) > 1 or name.endswith(("'s", "’s")) or SAYS_NAME.match(text, match.end())
    return name if certain or not begins else ""


def _begins(text: str, at: int) -> bool:
    """Return True if a sentence or a quotation begins at a position, but for other marks."""
    while at and not (text[at - 1].isalnum() or text[at - 1] == "_"):
        at -= 1
        if text[at] in OPENINGS:
            return True
    return not at


MOST_CHARS = 220
MOST_RESULT_CHARS = 240

# The result of an own act. "You gave Ann gold: ..." would be the looks of somebody of that name.
OWN_ACT = re.compile(r"You [^:]+\Z")
SPOKEN_BY_TOOL = ("say", "whisper", "emote")
HEARD = re.compile(
    rf"\A(?P<speaker>[^:\n]{{1,60}}?) (?:{SAYS}|{WHISPERS}|whispers: |asks: |(?P<acted>{ACTS_OUT}))"
)


@dataclass(frozen=True, slots=True)
class WordSource:
    """The speaker of some words, by name and dbref, and their place in the log."""

    speaker: str  # empty for what was only seen
    seq: int
    audience: Audience | None  # who alone may know them; None if public
    dbref: str = ""
    own: bool = False  # True for the character's own words
    evidence: str = CLAIMED  # or `PERFORMED`, or `PERCEIVED`


def own_utterances(message: ChatMessage, own_name: str) -> list[tuple[WordSource, str]]:
    meta, content = message["metadata"], message["content"]
    seq, audience = int(meta.get("seq") or 0), audience_of(message)
    match message["role"]:
        case "user":
            evidence = str(meta.get("evidence") or "")
            speaker, words, evidence = parse_heard_line(
                content, str(meta.get("speaker_name") or ""), evidence
            )
            dbref = str(meta.get("speaker") or "")
            own = not dbref and bool(own_name) and speaker == own_name
            return [(WordSource(speaker, seq, audience, dbref, own, evidence), words)]
        case "assistant":
            own_source = WordSource(own_name, seq, audience, own=True)
            return [(own_source, text) for text in [content, *words_of_calls(message)] if text]
        case "tool" if OWN_ACT.match(content) and len(content) <= MOST_RESULT_CHARS:
            return [(WordSource("", seq, audience, evidence=PERCEIVED), content)]
    return []


def parse_heard_line(content: str, speaker: str, evidence: str = "") -> tuple[str, str, str]:
    """Return the speaker, the words without "Ann says:", and the evidence of a heard line."""
    # What the game perceived has no speaker.
    if evidence == PERCEIVED:
        return "", content.removeprefix(MARK).strip(), PERCEIVED
    match = HEARD.match(content)
    if match and speaker in ("", match["speaker"]):
        evidence = PERFORMED if match["acted"] else CLAIMED
        return match["speaker"], content[match.end() :], evidence
    return speaker, content.removeprefix(speaker), evidence or CLAIMED


def whispered_to(line: str, name: str) -> str:
    """Return a heard line as others read it: a whisper went to the character, not to "you"."""
    match = HEARD.match(line)
    if match is None or not match[0].endswith(WHISPERS):
        return line
    return f"{match['speaker']} {WHISPERS.replace('you', name)}{line[match.end() :]}"


def heard_words(line: str) -> str:
    """Return the words of a heard line, without its speaker and the quotation marks around them."""
    return parse_heard_line(line, "")[1].strip('" ')


def words_of_calls(message: ChatMessage) -> list[str]:
    """Return what the character said by tools."""
    texts = []
    for call in message.get("tool_calls") or ():
        if call["function"]["name"] in SPOKEN_BY_TOOL:
            words = (read_object(call["function"]["arguments"]) or {}).get("text")
            texts.append(words if isinstance(words, str) else "")
    return texts


@lru_cache(maxsize=1_024)  # a compaction asks for those of a message several times
def sentences_of(text: str) -> tuple[str, ...]:
    """Return a text's sentences; a long one comes in pieces."""
    parts = [part for sentence in sentences(text) for part in sentence.strip().split("; ")]
    return tuple([piece for part in parts for piece in wrap(part.strip(), MOST_CHARS)])


class SentenceKinds(NamedTuple):
    """How likely a sentence is what each field says, from 0 to 1."""

    told: float  # a line that tells what is or was so, not a promise, a request, a guess, a refusal
    jest: float  # a line that is not meant
    deed: float  # a summary's sentence of a deed that was done


KindOf = Callable[[str], SentenceKinds | None]
# How near a text is to others, in their order; none if that is not known (`ports.Nearness`).
Cosines = Callable[[str, Sequence[str]], Sequence[float]]


def mean_of_highest(cosines: Sequence[float], most: int) -> float:
    return sum(sorted(cosines)[-most:]) / most


def means_by_group(
    groups: Iterable[Sequence[str]], cosines: Iterable[float], most: int
) -> list[float]:
    """Return the mean of the ``most`` highest cosines with each group of texts.

    ``cosines`` are those with all texts, one group behind the other.
    """
    rest = iter(cosines)
    return [mean_of_highest(list(islice(rest, len(group))), most) for group in groups]


def without_names(text: str, names: Collection[str]) -> str:
    """Return a text with one word for each name, so that only what it tells is compared."""
    if not names:
        return text
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    return re.sub(rf"\b(?:{'|'.join(longest_first)})\b", "someone", text)
