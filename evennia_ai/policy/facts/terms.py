"""Names, numbers and times in a sentence, and numbers in words as digits."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from evennia_ai.policy.retrieval.words import find_words
from evennia_ai.policy.word_patterns import one_of

NAME, NUMBER, TIME = "name", "number", "time"

# Words that English has too ("elf", "once", "seize") are left out.
VALUES = {
    word: value
    for value, words in {
        0: "zero", 2: "two zwei deux dos два две", 3: "three drei trois tres три",
        4: "four vier quatre cuatro четыре", 5: "five fünf cinq cinco пять",
        6: "six sechs seis шесть", 7: "seven sieben sept siete семь",
        8: "eight acht huit ocho восемь", 9: "nine neun neuf nueve девять",
        10: "ten zehn dix diez десять", 11: "eleven onze одиннадцать",
        12: "twelve dozen zwölf dutzend douze douzaine doce docena двенадцать дюжина",
        13: "thirteen dreizehn treize trece", 14: "fourteen vierzehn quatorze catorce",
        15: "fifteen fünfzehn quinze", 16: "sixteen sechzehn", 17: "seventeen siebzehn",
        18: "eighteen achtzehn", 19: "nineteen neunzehn",
        20: "twenty zwanzig vingt veinte двадцать", 30: "thirty dreißig trente treinta тридцать",
        40: "forty vierzig quarante cuarenta сорок", 50: "fifty fünfzig cinquante cincuenta",
        60: "sixty sechzig soixante sesenta", 70: "seventy siebzig setenta", 80: "eighty achtzig",
        90: "ninety neunzig noventa", 100: "hundred hundert cent cien сто",
        1000: "thousand tausend mille mil тысяча тысяч", 1_000_000: "million millionen",
    }.items()
    for word in words.split()
}  # fmt: skip
DOZENS = frozenset("dozen dutzend douzaine docena дюжина".split())


ONE_NUMBER = one_of("|".join(sorted(VALUES, key=len, reverse=True)))
RUN = re.compile(
    rf"\b(?:{ONE_NUMBER})(?:(?: and |[ -])(?:{ONE_NUMBER}|one)){{0,7}}\b", re.IGNORECASE
)
OWNED = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
ACCENTS = re.compile("[\u0300-\u036f]")
GROUPED = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")
TIMES = """dawn dusk noon midday midnight sunrise sunset sundown nightfall tonight tomorrow
    yesterday monday tuesday wednesday thursday friday saturday sunday january february april
    june july august september october november december spring summer autumn winter midsummer
    midwinter fortnight o'clock morgen mittag mitternacht gestern übermorgen montag dienstag
    mittwoch donnerstag freitag samstag sonntag januar februar märz juni juli oktober dezember
    frühling sommer herbst demain midi minuit aube lundi mardi mercredi jeudi vendredi samedi
    dimanche hiver printemps automne mañana ayer mediodía medianoche lunes martes miércoles
    jueves viernes sábado domingo verano invierno primavera otoño завтра вчера полдень полночь
    рассвет понедельник вторник среду четверг пятницу пятницы субботу воскресенье весной летом
    осенью зимой"""
SPANS = "hours?|days?|weeks?|months?|years?|minutes?"
JOINTS = "of|the|de|du|da|des|del|di|la|le|von|van|der|den|al"
AFTER_NAMES = "is|was|has|had|will|can|must|told|gave|took|stole|hid|left|went|came|died|lost|found"
AFTER_NAMES += "|bought|sold|met|knew|wore|ist|hat|war|est|a|es|era"
WORD = r"[^\W\d_]+(?:['’-][^\W_]+)*"
NOUN = rf"(?!(?i:{ONE_NUMBER})\b){WORD}"
CAPITAL = rf"\b[A-ZÀ-ÞŒА-ЯЁΑ-Ω]{WORD.replace('+', '*', 1)}"
LONG = r"(?=\d|\w\w)"  # a lone letter begins nothing below; it is passed over at once
TERM = re.compile(
    rf"(?P<time>{LONG}(?i:\b\d{{1,2}}:\d\d|\b\d+(?:st|nd|rd|th)\b(?: {NOUN})?"
    rf"|\b(?:\d+|{RUN.pattern}) (?:{SPANS})|\b{one_of('|'.join(TIMES.split()))}\b))"
    rf"|(?P<number>{LONG}\b(?:\d+(?:[.,]\d+)*(?![^\W_])|(?i:{RUN.pattern}))(?: {NOUN})?)"
    rf"|(?P<name>{CAPITAL}(?:(?: (?:{JOINTS}))* {CAPITAL}){{0,5}})"
)
SAYS_NAME = re.compile(rf"['’]s\b| (?:(?:{AFTER_NAMES})\b|[^\W\d_]{{2,}}(?:s|ed|et)\b)")
OPENINGS = frozenset('"“«„:(')


def with_digits(text: str) -> str:
    """Return a text with numbers in words as digits: "three hundred and five" is 305."""
    return GROUPED.sub("", RUN.sub(lambda found: str(_value(found[0])), text))


def normal_words(text: str) -> list[str]:
    """Return the stems of the words that carry meaning, numbers as digits, without accents."""
    # Each word counts by itself, since a name may stand in a text of another language.
    words = OWNED.findall(with_digits(unicodedata.normalize("NFKC", text)).lower())
    return [stem for word in words for stem in stems(word)]


@lru_cache(maxsize=16_384)
def stems(word: str) -> tuple[str, ...]:
    """Return the stem of a lower-case word without accents, none if it carries no meaning."""
    plain = ACCENTS.sub("", unicodedata.normalize("NFD", word))
    return tuple(find_words(plain)) if find_words(word) else ()


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


def find_terms(sentence: str) -> dict[str, str]:
    """Return the names, numbers with their noun, and times as they were said, with their kind."""
    text = sentence.lower() if sentence.isupper() else sentence
    terms: dict[str, str] = {}
    for found in TERM.finditer(text):
        kind = found.lastgroup or ""
        term = _name_in(text, found) if kind == NAME else found[0]
        if term:
            terms[term.removesuffix("'s").removesuffix("’s")] = kind
    return terms


def _begins(text: str, at: int) -> bool:
    """Return True if a sentence or a quotation begins at a position, but for other marks."""
    while at and not (text[at - 1].isalnum() or text[at - 1] == "_"):
        at -= 1
        if text[at] in OPENINGS:
            return True
    return not at


def _name_in(text: str, found: re.Match[str]) -> str:
    """Return a run of capitalised words without common ones before it; empty if no name."""
    words = found[0].split()
    while words and not stems(words[0].lower()):
        del words[0]
    name = " ".join(words)
    begins = name == found[0] and _begins(text, found.start())
    certain = len(words) > 1 or name.endswith(("'s", "’s")) or SAYS_NAME.match(text, found.end())
    return name if certain or not begins else ""
