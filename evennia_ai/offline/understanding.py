"""What a line means: each of its sentences as an intent with its slots.

The first row of the table that matches decides; lower rows are more general.
"""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re
from dataclasses import dataclass, field

from evennia_ai.offline.address import is_call, without_name
from evennia_ai.offline.intents import ROWS
from evennia_ai.offline.sentence_facts import facts_in, is_question, plain_question
from evennia_ai.offline.words import SENTENCE_END, WORD, content, plain_spelling, words

NEEDS_CAPITALS = frozenset({"said_by", "secret_of", "other_seen"})
TABLE = tuple(
    (name, re.compile(pattern, 0 if name in NEEDS_CAPITALS else re.I)) for name, pattern in ROWS
)
COURTESY = frozenset({"greet", "farewell", "thanks", "sorry", "praise", "yes", "no", "laugh"})
ASKED_ONLY = ("recall", "ask_about", "way_to", "have", "count", "identity")
LEAD = re.compile(
    r"^(?:(?:and|but|so|well|oh|ah|now|then|also|please|um|er|hm+|ok|okay|haha|hey)\b[,:]?\s+|(?:listen|look|say|wait)[,:]\s+)+",
    re.I,
)
UNSPEAKABLE = re.compile(
    r"[bcdfghjklmnpqrstvwxz]{6,}|q[bcdfghjklmnprstvwxz]|(?!kk|vv|zz)[jkqvwxz]{2}[bcdfghjklmnpqrstvwxz]|[dfgbptk][jkqvwxz]{2}"
)
VOWEL = re.compile(r"[aeiouyäöüáéíóúàèìòùâêîôûåøæ]|[^\x00-\x7f]", re.I)


@dataclass(frozen=True)
class Reading:
    """One sentence understood: ``slots`` of its pattern, and ``facts`` it tells."""

    intent: str
    text: str
    slots: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def topic(self) -> str:
        """Return the topic that the pattern found, else the whole sentence."""
        return next((v for k, v in self.slots.items() if k.startswith("topic")), self.text)


def read_line(text: str, own_name: str) -> list[Reading]:
    """Return the readings of the sentences in a line."""
    if is_call(text, own_name):
        return [Reading("called", text)]
    if not WORD.search(text):
        return [Reading("silence", text)]
    found = [reading for part in parts_of(text, own_name) if (reading := read_part(part)).text]
    full = [reading for reading in found if not is_scrap(reading)]
    return full or found


def is_scrap(reading: Reading) -> bool:
    """Return True for a few words without content: "and me?", "so,"."""
    vague = reading.intent in {"question", "statement"} and len(reading.text.split()) <= 3
    return vague and not content(reading.text)


def parts_of(text: str, own_name: str) -> list[str]:
    """Return a line's sentences without the addressed name, greetings apart."""
    found: list[str] = []
    for sentence in SENTENCE_END.split(plain_spelling(text)):
        plain = without_name(sentence.strip(), own_name)
        greeting = dict(TABLE)["greet"].match(plain)
        if greeting and len(plain) > greeting.end():
            found.append(greeting[0])
            plain = re.sub(r"^[ ,.!?…:;-]+", "", plain[greeting.end() :])
            plain = without_name(plain, own_name)
        if WORD.search(plain) or plain.strip():
            found.append(plain)
    return found


def read_part(sentence: str) -> Reading:
    """Return the reading of one sentence."""
    plain = plain_question(LEAD.sub("", sentence) or sentence)
    if is_gibberish(plain):
        return Reading("gibberish", plain)
    facts = {} if is_question(plain) else facts_in(plain)
    for name, pattern in TABLE:
        match = pattern.search(plain)
        if not match or (name.startswith(ASKED_ONLY) and not _asks(plain)):
            continue
        if facts and name not in {"inject", "authority", "crime", "threat", "insult", "nature"}:
            return Reading("tell", plain, {}, facts)
        if name == "recall_all" and len(content(plain[: match.start()])) > 0:
            return Reading("recall_topic", plain)
        slots = {key: value.strip(" ?.!,") for key, value in match.groupdict().items() if value}
        return Reading(name, plain, slots)
    if facts:
        return Reading("tell", plain, {}, facts)
    return Reading("question" if is_question(plain) else "statement", plain)


def _asks(sentence: str) -> bool:
    return is_question(sentence) or bool(
        re.match(r"(?:tell|remind|describe|explain|i(?:'d| would) like to know|i wonder|show|say|talk|"
                 r"speak|repeat|point|i(?:'ve| have) heard|i(?:'m| am) curious|name)\b", sentence, re.I)
        or re.search(r"\b(?:do you (?:remember|know)|you remember|remember)\b", sentence, re.I)
    )  # fmt: skip


def is_gibberish(text: str) -> bool:
    """Return True if nothing in a text looks like a word."""
    found = words(text)
    if not found:
        return True
    strange = [w for w in found if len(w) > 3 and (not VOWEL.search(w) or UNSPEAKABLE.search(w)
               or re.search(r"(.)\1{3,}", w) or re.search(r"(.{2,8}?)\1\1", w))]  # fmt: skip
    known = {"the", "you", "i", "a", "is", "to", "what", "me", "my", "do", "are", "of", "and"}
    return len(strange) * 2 > len(found) or (
        len(found) <= 3 and bool(strange) and not known & set(found)
    )
