"""Moderate words before a prompt holds them, and before they are spoken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from twisted.internet.defer import inlineCallbacks

from evennia_ai.messages import EMOTE, SPEECH, InboxEvent, ToolCallRequest
from evennia_ai.policy import moderation
from evennia_ai.ports import Script
from evennia_ai.scheduling import Steps
from evennia_ai.turn.speech_check import text_of

REFUSED = "refuses_words"
UNSPOKEN = "the game's moderation refused it"


def is_screened(script: Script) -> bool:
    """Return True if heard words are checked before a prompt holds them."""
    return script.config.game_topics_only or script.services.moderation is not None


@inlineCallbacks
def judge_events(
    script: Script, events: Sequence[InboxEvent]
) -> Steps[Mapping[int, tuple[str, str]]]:
    """Fire with the refused events: the key of the line for the speaker, and the reason, by id."""
    verdicts: dict[int, tuple[str, str]] = {}
    if script.config.game_topics_only:
        for event in events:
            if key := moderation.find_topic(event.heard.text):
                verdicts[event.id] = (key, f"topic: {key}")
    asked = [event for event in events if event.id not in verdicts and event.heard.text]
    if script.services.moderation is not None and asked:
        texts = [event.heard.text for event in asked]
        reasons = yield script.services.moderation.check(moderation.HEARD, texts)
        for event, reason in zip(asked, reasons, strict=True):
            if reason:
                verdicts[event.id] = (REFUSED, f"moderation: {reason}")
    return verdicts


@inlineCallbacks
def may_be_said(script: Script, words: str, written_by_staff: bool = False) -> Steps[bool]:
    """Fire with True if words may be spoken without a model's turn.

    What the staff wrote is refused by a verdict only, not because moderation is not available.
    """
    if script.services.moderation is None or not words:
        return bool(words)
    (reason,) = yield script.services.moderation.check(moderation.SPOKEN, [words])
    return not reason or (written_by_staff and reason == moderation.DOWN)


@inlineCallbacks
def judge_speech(script: Script, call: ToolCallRequest) -> Steps[str]:
    """Fire with why the words of a call may not be spoken or shown, "" if they may."""
    text = text_of(call) if call.name in (*SPEECH, EMOTE) else None
    if script.services.moderation is None or not text:
        return ""
    (reason,) = yield script.services.moderation.check(moderation.SPOKEN, [text])
    return UNSPOKEN if reason else ""
