"""The speech of a reply: a call for each sentence, all with the same id."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from evennia_ai.messages import SAY, ToolCallRequest
from evennia_ai.policy.replies.sentences import SentenceSplitter
from evennia_ai.policy.sanitize import cut_text

WORDS = "text"
SPEECH_ID = "speech"
ENDED = re.compile(r"[.!?…。！？][\"'”’»)*_」』）]*\Z")
WITHOUT_SPACE = "。！？」』）"


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
        """Return the call for the last words; of an unfinished speech only whole sentences.

        If not even one sentence is whole, an ellipsis ends the words.
        """
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
