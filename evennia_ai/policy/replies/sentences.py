"""Sentences of a reply that still arrives, each as soon as it is known to be finished."""

from __future__ import annotations

import re

FIRST_CHARS = 24  # a shorter first piece waits for the next sentence
ABBREVIATIONS = frozenset(
    "mr mrs ms dr st sr jr prof capt lt sgt no vs etc mme mlle hr fr nr bzw usw ca evtl ggf sog "
    "resp vgl inkl str sra srta ud approx".split()
)
OPENINGS = "([\"'“‘„«»*_¡¿"
# An end is known only with the first letter behind it: 'Go!" he said' and "Oui ! » dit-il" go on.
END = re.compile(
    r"""(?<![.!?…])[.!?…]++(?:["”“’'*_)\]»«]|\s»(?=\s))*+"""
    rf"(?=\s+(?!»\s)[{re.escape(OPENINGS)}]*+[^{re.escape(OPENINGS)}])"
    r"|(?<![。！？])[。！？]++[」』”’）】]*+(?=[^」』”’）】。！？])"
)
MAY_BELONG_TO_END = OPENINGS + ".!?…。！？”’)]»「」』）】"
LAST_WORD = re.compile(r"(?<![^\W_])([^\W_]++)\.\Z")


class SentenceSplitter:
    """An incremental splitter: the pieces of a text do not depend on how it is fed.

    All pieces and the rest, joined, are the whole text up to white space. The first piece has at
    least `FIRST_CHARS` characters.
    """

    def __init__(self) -> None:
        self._text = ""  # not yet returned
        self._scanned = 0  # no sentence ends before this position
        self._first = True

    def feed(self, text: str) -> list[str]:
        """Add a part of the text; return the sentences that are finished now."""
        self._text += text
        pieces = []
        while (end := self._find_end()) is not None:
            pieces.append(self._text[:end].strip())
            self._text, self._scanned = self._text[end:].lstrip(), 0
            self._first = False
        return pieces

    def rest(self) -> str:
        """Return what is left at the end of the text, and forget it; may be empty."""
        left, self._text, self._scanned = self._text.strip(), "", 0
        return left

    def _find_end(self) -> int | None:
        for found in END.finditer(self._text, self._scanned):
            self._scanned = found.end()
            too_short = self._first and len(self._text[: found.end()].strip()) < FIRST_CHARS
            if not too_short and self._ends_sentence(found.start(), found.end()):
                return found.end()
        self._scanned = max(self._scanned, settled_length(self._text))
        return None

    def _ends_sentence(self, start: int, end: int) -> bool:
        """Return False behind an abbreviation or a number, or before a lower-case letter."""
        following = self._text[end:].lstrip()
        if self._text[start] not in "。！？" and following.lstrip(OPENINGS)[:1].islower():
            return False
        word = LAST_WORD.search(self._text, max(0, start - 24), start + 1)
        if self._text[start] != "." or self._text[start : start + 2] == ".." or word is None:
            return True
        return not is_abbreviation(word[1])


def settled_length(text: str) -> int:
    """Return the length of a text without what may belong to a sentence end at its end."""
    length = len(text)
    while length and (text[length - 1].isspace() or text[length - 1] in MAY_BELONG_TO_END):
        length -= 1
    return length


def is_abbreviation(word: str) -> bool:
    """Return True if a full stop after this word may not end a sentence: "Dr.", "B.", "3."."""
    if word.isdigit():
        return len(word) <= 2
    return word.lower() in ABBREVIATIONS or (len(word) == 1 and word != "I")
