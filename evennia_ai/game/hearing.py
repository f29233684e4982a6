"""From what Evennia sends an object to what a character heard.

Hearing needs no session: `at_msg_receive` gets every line with its type. A whisper carries no
receivers and a line of speech only its finished sentence, so `SpeakerMixin` leaves the raw words
and receivers on the speaker while they are spoken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evennia_ai.config import AssistantConfig
from evennia_ai.game.perception import (
    display_name,
    is_assistant,
    listening_objects,
    plain,
    without_article,
)
from evennia_ai.messages import Heard
from evennia_ai.policy.conversation.addressing import (
    Candidate,
    Hearing,
    choose_responder,
    judge_address,
)
from evennia_ai.policy.conversation.persona import render_persona
from evennia_ai.policy.retrieval.relevance import score_texts
from evennia_ai.policy.sanitize import clean_heard

KINDS = {"say": "say", "whisper": "whisper", "pose": "emote"}
MOVES = frozenset({"move", "traverse", "teleport", "follow"})
QUOTED = re.compile(r'["“«„](.*)["”»“]', re.DOTALL)


@dataclass(frozen=True)
class Utterance:
    """What a speaker with `SpeakerMixin` is saying at this moment."""

    words: str
    receivers: Sequence[Any]
    whisper: bool


def split_message(text: Any) -> tuple[str, str]:
    """The words and the type of what `msg` was given, which is a string or (string, options)."""
    if isinstance(text, (tuple, list)):
        words = text[0] if text else ""
        options = text[1] if len(text) > 1 and isinstance(text[1], dict) else {}
        return str(words or ""), str(options.get("type") or "")
    return str(text or ""), ""


def spoken_part(line: str) -> str:
    """The words inside a finished sentence such as ``Ann says, "hello"``; else the whole line."""
    found = QUOTED.search(line)
    return found.group(1) if found else line


def words_of(kind: str, line: str, speaker: Any) -> str:
    """What was said, raw where the speaker tells, else out of the finished line."""
    utterance = getattr(speaker.ndb, "ai_utterance", None)
    if kind == "emote":
        return plain(line, 20_000)
    if utterance:
        return plain(utterance.words, 20_000)
    return spoken_part(plain(line, 20_000))


def hearers_of(kind: str, speaker: Any, character: Any) -> list[Any]:
    """Everybody but the character who heard it, the speaker first.

    A whisper's are its speaker and, where the speaker tells, its other receivers.
    """
    if kind == "whisper":
        utterance = getattr(speaker.ndb, "ai_utterance", None)
        others = utterance.receivers if utterance else ()
    else:
        others = listening_objects(character)
    return [speaker, *(obj for obj in others if obj is not speaker and obj is not character)]


def names_of(character: Any) -> tuple[str, ...]:
    """What a character may be called by: its key, with or without an article, the key's first and
    last word, its aliases."""
    bare = without_article(character.key)
    parts = bare.split()
    names = [character.key, bare, *parts[:1], *parts[-1:], *character.aliases.all()]
    return tuple(name for name in dict.fromkeys(names) if len(name) > 1)


def is_chosen(character: Any, colleagues: Sequence[Any], speaker: Any, words: str) -> bool:
    """True where this character answers what is meant for nobody in particular."""
    if not colleagues:
        return True
    everyone = [character, *colleagues]
    near = score_texts(words, [render_persona(obj.assistant.persona) for obj in everyone])
    candidates = [
        Candidate(obj.dbref, obj.assistant.last_exchange_with(speaker.dbref), score)
        for obj, score in zip(everyone, near, strict=True)
    ]
    return bool(choose_responder(candidates) == character.dbref)


def perceive(
    kind: str,
    words: str,
    speaker: Any,
    character: Any,
    config: AssistantConfig,
) -> Heard:
    """Make an event of something heard, and judge whether it calls for an answer."""
    hearers = hearers_of(kind, speaker, character)
    others = [obj for obj in hearers if obj is not speaker]
    colleagues = [obj for obj in others if is_assistant(obj)]
    from_assistant = is_assistant(speaker)
    hops = (speaker.ndb.ai_hops or 0) if from_assistant else 0
    players = len(others) - len(colleagues)
    address = judge_address(
        Hearing(
            kind=kind,
            text=words,
            names=names_of(character),
            other_names=tuple(name for obj in others for name in names_of(obj)),
            alone=not players,
            in_conversation=character.assistant.is_in_conversation(speaker.dbref),
            chosen=is_chosen(character, colleagues, speaker, words),
            from_assistant=from_assistant,
            players_listen=bool(players) or not from_assistant,
            hops=hops,
            max_hops=config.max_hops,
        )
    )
    return Heard(
        kind=kind,
        speaker=speaker.dbref,
        speaker_name=display_name(speaker, character),
        text=clean_heard(words, config.max_heard_chars),
        audience=frozenset(obj.dbref for obj in hearers),
        private=kind == "whisper" or (from_assistant and bool(speaker.ndb.ai_in_confidence)),
        addressed=address.addressed,
        hops=hops,
        reason=address.reason,
    )
