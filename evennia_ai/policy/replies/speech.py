"""The speech of a reply: its sentences, each a call as soon as it ends, all with the same id."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from evennia_ai.messages import SAY, ToolCallRequest
from evennia_ai.policy.sanitize import cut_text

FIRST_CHARS = 24  # a shorter first piece waits for the next sentence
ABBREVIATIONS = frozenset(
    "mr mrs ms dr st sr jr prof capt lt sgt no vs etc mme mlle hr fr nr bzw usw ca evtl ggf sog "
    "resp vgl inkl str sra srta ud approx".split()
)
OPENINGS = "([\"'“‘„«»*_¡¿"
# An end is known only with the first letter behind it: 'Go!" he said' and "Oui ! » dit-il" go on.
END = re.compile(
    r"""(?<![.!?…])[.!?…]++(?:["”“’'*_)\]»«]|\s»(?=\s))*+"""
    rf"(?=\s++(?!»\s)[{re.escape(OPENINGS)}]*+[^{re.escape(OPENINGS)}])"
    r"|(?<![。！？])[。！？]++[」』”’）】]*+(?=[^」』”’）】。！？])"
)
BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001))))
MAY_BELONG_TO_END = BLANKS + OPENINGS + ".!?…。！？”’)]»「」』）】"
LAST_WORD = re.compile(r"(?<![^\W_])([^\W_]++)\.\Z")
WORDS = "text"
SPEECH_ID = "speech"
ENDED = re.compile(r"[.!?…。！？][\"'”’»)*_」』）]*\Z")
WITHOUT_SPACE = "。！？」』）"


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
        self._scanned = max(self._scanned, len(self._text.rstrip(MAY_BELONG_TO_END)))
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


def is_abbreviation(word: str) -> bool:
    """Return True if a full stop after this word may not end a sentence: "Dr.", "B.", "3."."""
    if word.isdigit():
        return len(word) <= 2
    return word.lower() in ABBREVIATIONS or (len(word) == 1 and word != "I")


class Speech:
    """Words that arrive in parts; ``begun`` is True if a sentence was said."""

    def __init__(self, name: str = SAY, target: str = "", call_id: str = SPEECH_ID) -> None:
        self.begun = False
        self._id, self._name = call_id, name
        self._more = {"target": target} if target else {}
        self._splitter = SentenceSplitter()

    def add(self, text: str) -> list[ToolCallRequest]:
        """Add words; return a call for each finished sentence."""
        calls = [self._call(sentence) for sentence in self._splitter.feed(text)]
        self.begun = self.begun or bool(calls)
        return calls

    def end(self, unfinished: bool = False) -> list[ToolCallRequest]:
        """Return the call for the last words; of an unfinished speech only whole sentences."""
        # If not even one sentence is whole, an ellipsis ends the words.
        rest = self._splitter.rest()
        if unfinished and not ENDED.search(rest):
            rest = "" if self.begun else cut_text(rest, max(1, len(rest) - 1))
        return [self._call(rest)] if rest else []

    def _call(self, words: str) -> ToolCallRequest:
        return spoken(words, self._id, self._name, **self._more)


def spoken(words: str, call_id: str = SPEECH_ID, name: str = SAY, **more: str) -> ToolCallRequest:
    """Return the call that speaks words."""
    arguments = json.dumps({WORDS: words, **more}, ensure_ascii=False)
    return ToolCallRequest(call_id, name, arguments)


def joined(calls: Iterable[ToolCallRequest]) -> list[ToolCallRequest]:
    """Return the calls with the sentences of a speech in one call."""
    whole: dict[str, ToolCallRequest] = {}
    for call in calls:
        whole[call.id] = with_sentence(whole[call.id], call) if call.id in whole else call
    return list(whole.values())


def with_sentence(before: ToolCallRequest, call: ToolCallRequest) -> ToolCallRequest:
    """Return a call that speaks the words of two."""
    first, more = json.loads(before.arguments), json.loads(call.arguments)
    words = first.pop(WORDS)
    space = "" if words.endswith(tuple(WITHOUT_SPACE)) else " "
    return spoken(f"{words}{space}{more[WORDS]}", before.id, before.name, **first)
