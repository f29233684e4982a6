"""The words of a text: those that carry meaning, as stems, and those that tell or ask for times."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from evennia_ai.policy.retrieval.time_expressions import MONTHS, WEEKDAYS

LONGEST_RUN = 4_000  # characters
LONGEST_WORD = 40
WORD = re.compile(r"[^\W_]+")
OWNERS = re.compile(r"['’](?:s|re|ve|ll|d|m|t)\b", re.I)
# Scripts without spaces between words; their text is split into pairs of characters.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
# Words without a meaning of their own; the second part opens questions and small talk.
COMMON = frozenset(
    "a an and any are as at be been but by can could did do does for from get had has have he her "
    "here him his how i if in into is it its just let like me my no not of on or our out say says "
    "she so some tell than that the their them then there they this to too up us was we were what "
    "when where which who why will with would you your yes about am oh well please know "
    "being during don doing hey hi im kind long many much often really s t thank thanks type types "
    "wow".split()
)
# Polite words in English and German; they ask for no memory.
POLITE = (
    "hello hail greetings good day morning evening afternoon night bye goodbye farewell welcome "
    "fine great nice lovely sorry pardon excuse okay ok yeah nope sure today tonight now again "
    "going feeling weather indeed ha haha hm hmm "
    "hallo guten tag abend morgen nacht gute gut danke bitte tschüss servus wie geht es dir ihnen "
    "heute schön ja nein"
)
ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("ly", ""))
ASKS_WHEN = re.compile(r"^\W*(?:and |so )?when\b|\b(?:what|which) (?:year|month|day|date)\b", re.I)
ASKS_HOW_LONG = re.compile(r"\bhow long\b", re.I)
ASKS_NUMBER = re.compile(r"\bhow (?:many|often|much|long|old|far)\b", re.I)
TELLS_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|recently|since|weekend|just|the other day|"
    r"(?:last|next) (?:night|week|month|year|weekend|summer|winter|spring|fall|autumn)|"
    r"this (?:week|month|morning|weekend|year)|for (?:\w+ )?years|few (?:days|weeks|months|years)|"
    rf"\d{{4}}|{'|'.join(MONTHS)}|{'|'.join(WEEKDAYS)})\b",
    re.I,
)
TELLS_NUMBER = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|several|few|"
    r"dozen)\b",
    re.I,
)


def find_words(text: str, leave_out: Collection[str] = ()) -> list[str]:
    """Return the stems of the words that carry meaning, in order, in any script."""
    found: list[str] = []
    for word in WORD.findall(OWNERS.sub("", text.lower())):
        if word in COMMON or word in leave_out:
            continue
        if UNSPACED.search(word):
            run = word[:LONGEST_RUN]
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        else:
            found.append(stem(word[:LONGEST_WORD]))
    return found


def name_words(name: str) -> list[str]:
    """Return the lower-case words of a name that may stand for it."""
    return [w for w in WORD.findall(OWNERS.sub("", name.lower())) if w not in COMMON and len(w) > 1]


def without_words(text: str, words: Collection[str]) -> str:
    """Return a text without these words."""
    if not words:
        return text
    kept = [part for part in text.split() if not (set(name_words(part)) & set(words))]
    return " ".join(kept)


def stem(word: str) -> str:
    """Return a word without common English endings: hiking, hiked and hikes are one.

    Lighter than Porter's stemmer (1980): a wrong cut is the same in query and memory.
    """
    if len(word) <= 3 or not word.isascii():
        return word
    for ending, instead in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] in "ey" else word


def is_small_talk(text: str, names: Iterable[str] = ()) -> bool:
    """Return True if a text is polite words and names, and nothing else."""
    return SMALL_TALK.union(find_words(" ".join(names))).issuperset(find_words(text))


SMALL_TALK = frozenset(find_words(POLITE))
