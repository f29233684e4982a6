"""Names, numbers and times in a sentence, and numbers in words as digits."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from evennia_ai.policy.retrieval.words import find_words, name_words

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
ONE_NUMBER = "|".join(sorted(VALUES, key=len, reverse=True))
RUN = re.compile(
    rf"\b(?:{ONE_NUMBER})(?:(?: and |[ -])(?:{ONE_NUMBER}|one)){{0,7}}\b", re.IGNORECASE
)
ACCENTS = re.compile("[\u0300-\u036f]")
GROUPED = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")
TIMES = frozenset(
    """dawn dusk noon midday midnight sunrise sunset sundown nightfall tonight tomorrow
    yesterday monday tuesday wednesday thursday friday saturday sunday january february
    april june july august september october november december spring summer autumn winter
    midsummer midwinter fortnight o'clock morgen mittag mitternacht gestern übermorgen
    montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz juni
    juli oktober dezember frühling sommer herbst demain midi minuit aube lundi mardi
    mercredi jeudi vendredi samedi dimanche hiver printemps automne mañana ayer mediodía
    medianoche lunes martes miércoles jueves viernes sábado domingo verano invierno
    primavera otoño завтра вчера полдень полночь рассвет понедельник вторник среду четверг
    пятницу пятницы субботу воскресенье весной летом осенью зимой""".split()
)
SPANS = frozenset("hours days weeks months years minutes hour month year week day".split())
TOKEN = re.compile(r"\d+(?:[.,:]\d+)*[^\W\d_]*|[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]|_")
JOINTS = frozenset("of the de du da des del di la le von van der den al".split())
OPENING = frozenset('"“«„:(')
AFTER_NAMES = frozenset(
    "is was has had will can must told gave took stole hid left went came died lost found bought"
    " sold met knew wore ist hat war est a es era".split()
)
DAYTIME = re.compile(r"\d{1,2}:\d\d|\d+(?:st|nd|rd|th)")
LONGEST_NAME = 6  # words


def with_digits(text: str) -> str:
    """Return a text with numbers in words as digits: "three hundred and five" is 305."""
    return GROUPED.sub("", RUN.sub(lambda found: str(_value(found[0])), text))


@lru_cache(maxsize=8_192)
def normal_words(text: str) -> tuple[str, ...]:
    """Return the stems of a text's words that carry meaning, numbers as digits, no accents."""
    text = with_digits(unicodedata.normalize("NFKC", text))
    return tuple(find_words(ACCENTS.sub("", unicodedata.normalize("NFD", text))))


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


def is_number(word: str) -> bool:
    """Return True for digits and numbers in words, but not for "one"."""
    return word[:1].isdigit() or bool(RUN.fullmatch(word))


def find_terms(sentence: str) -> dict[str, str]:
    """Return the names, numbers with their noun, and times as they were said, with their kind."""
    tokens = TOKEN.findall(sentence.lower() if sentence.isupper() else sentence)
    terms: dict[str, str] = {}
    at = 0
    while at < len(tokens):
        low = tokens[at].lower()
        if is_number(low):
            end = _end_of_number(tokens, at)
            is_time = bool(DAYTIME.match(low)) or tokens[end - 1].lower() in SPANS | TIMES
            kind = TIME if is_time else NUMBER
        elif low in TIMES:
            end, kind = at + 1, TIME
        elif _is_name(tokens, at):
            end, kind = _end_of_name(tokens, at), NAME
        else:
            at += 1
            continue
        terms[bare(" ".join(tokens[at:end]))] = kind
        at = end
    return terms


def bare(word: str) -> str:
    """Return a word without the possessive."""
    return word.removesuffix("'s").removesuffix("’s")


def _end_of_number(tokens: list[str], at: int) -> int:
    """Return the end of a number and the noun that it counts."""
    end = at + 1
    while end < len(tokens) and is_number(tokens[end].lower()):
        end += 1
    if end + 1 < len(tokens) and tokens[end] == "and" and is_number(tokens[end + 1].lower()):
        return _end_of_number(tokens, end + 1)
    return end + 1 if end < len(tokens) and name_words(tokens[end]) else end


def _is_name(tokens: list[str], at: int) -> bool:
    token = tokens[at]
    if not (token[0].isupper() and name_words(token)):
        return False
    if at and tokens[at - 1] not in OPENING:
        return True
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    verb = after in AFTER_NAMES or (len(after) > 3 and after.endswith(("s", "ed", "et")))
    return verb or bare(token) != token or (after[:1].isupper() and bool(name_words(after)))


def _end_of_name(tokens: list[str], at: int) -> int:
    """Return the end of a run of capitalised words, with the "of" in "Isle of Glass"."""
    end = at + 1
    while end < min(len(tokens), at + LONGEST_NAME) and bare(tokens[end - 1]) == tokens[end - 1]:
        joined = end
        while joined < len(tokens) and tokens[joined].lower() in JOINTS:
            joined += 1
        rest = tokens[joined] if joined < len(tokens) else ""
        if not (rest[:1].isupper() and name_words(rest)):
            break
        end = joined + 1
    return end
