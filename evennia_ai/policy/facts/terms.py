"""Terms of a sentence: names, numbers with nouns, times, places, things.

Works by word order alone: a run of plain words without a verb or function word names something.
Scripts without capitals or spaces are searched for distinctive patterns.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from evennia_ai.policy.facts.vocabulary import (
    BREAKS,
    DETERMINERS,
    FUNCTION_WORDS,
    NAME_BREAKS,
    NAME_JOINTS,
    NUMBER_WORDS,
    PAST,
    PLACING,
    SCALES,
    STARTERS,
    TIMES,
    TITLES,
    VAGUE_TIMES,
    VERB_FORMS,
)
from evennia_ai.policy.token_estimate import MARKS

NAME, NUMBER, TIME, PLACE, THING, QUOTED = "name", "number", "time", "place", "thing", "quoted"

TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*(?:st|nd|rd|th)?(?![^\W\d_])"
    rf"|[^\W_](?:[\w{MARKS}'’-]*[\w{MARKS}])?|[,;:()\"“”«»„]"
)
QUOTATION = re.compile(r"[\"“„«‘]([^\"“”„«»‘’]{2,48})[\"”“»’]|(?<!\w)'([^']{2,48})'(?!\w)")
WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]")
WIDE_TERMS = (
    (QUOTED, re.compile('[「『“《"]([^」』”》"]{1,24})[」』”》"]')),
    (NAME, re.compile("([\u30a1-\u30ff]{2,}(?:・[\u30a1-\u30ff]+)*)")),
    (NAME, re.compile("(?:名叫|叫做|我叫|叫)([\u4e00-\u9fff]{2,4})")),
    (
        NAME,
        re.compile(
            "([\u4e00-\u9fff\uac00-\ud7a3]{1,4})"
            " ?(?:さん|様|殿|先生|小姐|姑娘|大人|掌柜|掌櫃|伯爵|公主|씨|님)"
        ),
    ),
    (
        TIME,
        re.compile("(明天|昨天|今晚|天亮|黎明|午夜|中午|黄昏|夜明け|明日|真夜中|새벽|내일|자정)"),
    ),
    (
        NUMBER,
        re.compile(
            "([0-9０-９一二三四五六七八九十百千万萬两兩]+"
            "[枚个個块塊只隻把瓶封匹条條本件年月日天点點人頭羽つ개마리닢병자루명][^\\W\\d_]{0,3})"
        ),
    ),
    (NUMBER, re.compile("(\\d+(?:[.,:]\\d+)*(?:\\s?[\u4e00-\u9fff\uac00-\ud7a3]{1,4})?)")),
)
# An unknown word after one of these is a verb.
BEFORE_VERBS = frozenset(
    """i you he she we they it who that which must should could can will would shall might may i'll
    you'll he'll she'll we'll they'll it'll i'd you'd he'd she'd we'd they'd let's don't doesn't
    didn't can't cannot couldn't won't wouldn't shouldn't gonna wanna gotta please""".split()
)
OBJECTS = frozenset("me you him her it us them myself yourself up by".split()) | DETERMINERS
NEXT_TO_NAMES = (
    frozenset(verb for verb in VERB_FORMS if verb.endswith(("s", "ed")))
    | PAST
    | frozenset("is was has had will would can could does did and are were who must".split())
)
LONGEST_RUN = 4
OPENING = frozenset(['"', "“", "«", "„", ":", "("])
NO_ADVERBS = frozenset("family jelly lily belly bully ally assembly monopoly gully folly".split())


@dataclass(frozen=True, slots=True)
class Term:
    """Words of a sentence, unchanged, and their kind."""

    text: str
    kind: str


def tokens_of(sentence: str) -> list[str]:
    """Return words, numbers, and the punctuation that separates them."""
    return TOKEN.findall(sentence)


def find_terms(sentence: str, tokens: list[str], known: Collection[str] = ()) -> list[Term]:
    """Return the terms of a sentence, in order; ``known`` are names in lower case."""
    if not sentence.isascii() and WIDE.search(sentence):
        return _wide_terms(sentence, known) + [
            term for term in Reader(tokens, known).read() if not WIDE.search(term.text)
        ]
    words = [token.lower() for token in tokens] if sentence.isupper() else tokens
    terms = Reader(words, known).read()
    if any(mark in sentence for mark in "\"'“„«‘"):
        quoted = (first or second for first, second in QUOTATION.findall(sentence))
        terms += [Term(text.strip(" .,!?"), QUOTED) for text in quoted if text.strip(" .,!?")]
    return list(dict.fromkeys(terms))


def _wide_terms(sentence: str, known: Collection[str]) -> list[Term]:
    """Return terms of Chinese, Japanese, Korean and Thai, which have no capitals."""
    found = [Term(name, NAME) for name in known if name and name in sentence.lower()]
    for kind, pattern in WIDE_TERMS:
        found += [Term(text.strip(), kind) for text in pattern.findall(sentence)]
    return list(dict.fromkeys(found))


class Reader:
    """A reader of one sentence's tokens from left to right."""

    def __init__(self, tokens: list[str], known: Collection[str]) -> None:
        self.tokens = tokens
        self.lower = [token.lower().replace("’", "'") for token in tokens]
        self.known = known
        self.terms: list[Term] = []

    def read(self) -> list[Term]:
        """Return all terms of the sentence."""
        index, end = 0, len(self.tokens)
        while index < end:
            low = self.lower[index]
            if low in FUNCTION_WORDS and low not in self.known:
                index += 1
            else:
                index = max(self._step(index), index + 1)
        return self.terms

    def _step(self, index: int) -> int:
        """Read what begins here; return the index after it, or this one for nothing."""
        token, low = self.tokens[index], self.lower[index]
        if is_number(low):
            return self._number(index)
        if token[0].isupper() and self._is_name(index):
            return self._name(index)
        if not token[0].isalpha() or low in FUNCTION_WORDS:
            return index
        before = self.lower[index - 1] if index else ""
        if low in BREAKS and before not in DETERMINERS:
            return index
        if self._is_verb(index, before):
            return index
        return self._thing(index)

    def _is_verb(self, index: int, before: str) -> bool:
        """Return True if an unknown word stands in the place of a verb."""
        if before in BEFORE_VERBS or (self.terms and self._follows_name(index)):
            return True
        if before in DETERMINERS:
            return False
        if before == "to":
            return index < 2 or self.lower[index - 2] in BREAKS
        after = self.lower[index + 1] if index + 1 < len(self.lower) else ""
        return after in OBJECTS or (self.lower[index].endswith("ed") and not after[:1].isalpha())

    def _follows_name(self, index: int) -> bool:
        term = self.terms[-1]
        return term.kind == NAME and term.text.split()[-1] == self.tokens[index - 1]

    def _is_name(self, index: int) -> bool:
        low = bare(self.lower[index])
        if low in self.known:
            return True
        begins = index == 0 or self.tokens[index - 1] in OPENING
        after = self.tokens[index + 1] if index + 1 < len(self.tokens) else ""
        followed = bool(after) and after[0].isupper() and after.lower() not in FUNCTION_WORDS
        if low in TITLES and followed:
            return True
        if low in TIMES or low in FUNCTION_WORDS:
            return False
        if not begins:
            return low.split("'")[0] not in FUNCTION_WORDS
        if low in STARTERS or low.split("'")[0] in STARTERS or is_adverb(low):
            return False
        if not low.isascii():
            return len(low) > 2  # no list of verbs tells what follows, and a lost name costs more
        if low.endswith("ing") and not followed:
            return False
        return followed or after.lower() in NEXT_TO_NAMES or low != self.lower[index]

    def _name(self, index: int) -> int:
        words = [self.tokens[index]]
        end = index + 1
        while end < len(self.tokens) and bare(words[-1]) == words[-1]:
            token = self.tokens[end]
            capital = token[0].isupper() and self.lower[end] not in FUNCTION_WORDS
            if not capital and not self._joins(end):
                break
            words.append(token)
            end += 1
        self.terms.append(Term(bare(" ".join(words)), NAME))
        return end

    def _joins(self, index: int) -> bool:
        """Return True for the "of" in "Isle of Glass"."""
        rest = self.tokens[index + 1 : index + 3]
        if self.lower[index] not in NAME_JOINTS or not rest:
            return False
        upper = rest[0][0].isupper() and rest[0].lower() not in FUNCTION_WORDS
        return upper or (rest[0].lower() in NAME_JOINTS and len(rest) > 1 and rest[1][0].isupper())

    def _number(self, index: int) -> int:
        end = index + 1
        while self._goes_on_counting(end):
            end += 1
        noun_end = self._run_end(end, 3, capitals=True)
        words = self.tokens[index:noun_end]
        if noun_end == end:
            before = self.tokens[index - 1] if index else ""
            if before[:1].isalpha() and before.lower() not in BREAKS:
                words = [before, *words]
            elif not words[0][0].isdigit():
                return end
        lower = {word.lower() for word in words}
        is_time = not lower.isdisjoint(TIMES) or ":" in words[0] or words[0][-2:] in ORDINALS
        self.terms.append(Term(bare(" ".join(words)), TIME if is_time else NUMBER))
        return noun_end

    def _goes_on_counting(self, index: int) -> bool:
        """Return True within "three hundred and five"."""
        word, after = [*self.lower[index : index + 2], "", ""][:2]
        return is_number(word) or (word == "and" and is_number(after))

    def _thing(self, index: int) -> int:
        end = self._run_end(index + 1, LONGEST_RUN - 1)
        words = self.tokens[index:end]
        lower = [bare(word) for word in self.lower[index:end]]
        placed = self._is_placed(index)
        vague = VAGUE_TIMES if not placed else ()
        if all(word in STARTERS or word in vague or is_adverb(word) for word in lower):
            return end
        plain = PLACE if placed else THING
        kind = plain if TIMES.isdisjoint(lower) else TIME
        self.terms.append(Term(bare(" ".join(words)), kind))
        return end

    def _is_placed(self, index: int) -> bool:
        before = self.lower[max(0, index - 2) : index]
        return bool(before) and (
            before[-1] in PLACING or (before[-1] in DETERMINERS and before[0] in PLACING)
        )

    def _run_end(self, start: int, most: int, capitals: bool = False) -> int:
        """Return the end of a run of words that name one thing, with an "of" part."""
        end = start
        while end < min(len(self.tokens), start + most):
            token, low = self.tokens[end], self.lower[end]
            if not token[0].isalpha() or (token[0].isupper() and not capitals):
                break
            if low in NAME_BREAKS or is_adverb(low) or is_number(low):
                break
            if low[-1] == "s" and not DETERMINERS.isdisjoint(self.lower[end + 1 : end + 2]):
                break  # a verb: "the bridge troll demands a riddle"
            end += 1
            if bare(token) != token:
                return end
        return self._of_end(end)

    def _of_end(self, end: int) -> int:
        """Return the end of "of silver" or "of the Reeve" after a thing."""
        if "".join(self.lower[end : end + 1]) != "of":
            return end
        at = end + 1
        while at < len(self.tokens) and self.lower[at] in DETERMINERS:
            at += 1
        stop = at
        while stop < min(len(self.tokens), at + 2) and (
            self.tokens[stop][0].isalpha()
            and self.lower[stop] not in NAME_BREAKS
            and not is_number(self.lower[stop])
        ):
            stop += 1
        return stop if stop > at else end


ORDINALS = frozenset({"st", "nd", "rd", "th"})


def is_number(word: str) -> bool:
    """Return True for digits and numbers in words, but not for "one"."""
    if word[:1].isdigit():
        return True
    if "-" in word:
        return all(
            part in NUMBER_WORDS or part in SCALES or part == "one" for part in word.split("-")
        )
    return word in NUMBER_WORDS or word in SCALES


def is_adverb(word: str) -> bool:
    """Return True for "slowly", False for "family"."""
    return word.endswith("ly") and len(word) > 4 and word not in NO_ADVERBS


def bare(word: str) -> str:
    """Return a word without the possessive."""
    return word.removesuffix("'s").removesuffix("’s")
