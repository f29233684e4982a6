"""A line as it reaches a character: its type, its raw words, and the event it makes.

The line that a character is sent holds neither the raw words of speech nor the receivers of a
whisper, so `SpeakerMixin` leaves both on the speaker while they are spoken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evennia_ai.config import AssistantConfig
from evennia_ai.game.perception import display_name, is_assistant, plain
from evennia_ai.game.room_lines import RoomLine, utterance_of
from evennia_ai.game.rp_names import bare_words
from evennia_ai.messages import WHISPER, Authors, Heard
from evennia_ai.policy.sanitize import cut_text, storable

KINDS = {"say": "say", "whisper": "whisper", "pose": "emote"}
MOVES = frozenset({"move", "traverse", "teleport", "follow"})
QUOTED = re.compile(r'[^"“«„]*+["“«„](.*)["”»“]', re.DOTALL)
# Words in a colour, as in "|rStop!|n"; a lone pipe, as in "red|green", is no colour.
COLOURED = re.compile(r"(?<![\w|])\|\[?(?:[a-zA-Z]|[0-5]{3}|#[0-9a-f]{6})(?=\S)([^|]*)\|n(?!\w)")
LINE_CHARS = 20_000


@dataclass(frozen=True)
class Utterance:
    """What a speaker with `SpeakerMixin` is saying at this moment."""

    words: str
    receivers: Sequence[Any]
    whisper: bool


@dataclass(frozen=True)
class Said:
    """The arguments of `AssistantHearingMixin.hear`."""

    kind: str
    words: str
    speaker: Any
    item: str
    authors: Authors

    @property
    def speaker_name(self) -> str:
        """The speaker's key, for the log."""
        return str(self.speaker)


def split_message(text: Any) -> tuple[str, str]:
    """Return the words and the type of what `msg` got: a string or (string, options)."""
    if isinstance(text, (tuple, list)):
        words = text[0] if text else ""
        options = text[1] if len(text) > 1 and isinstance(text[1], dict) else {}
        return str(words or ""), str(options.get("type") or "")
    return str(text or ""), ""


def words_of(kind: str, line: str, speaker: Any) -> str:
    """Return the raw words if the speaker has them, else those in the line.

    Of Evennia's markup only words in a colour are taken for it: nobody can tell other markup from
    pipes that were meant.
    """
    if kind == "emote":
        # An assistant's emote is escaped for clients.
        return plain(line, LINE_CHARS) if is_assistant(speaker) else uncoloured(line)
    utterance = utterance_of(speaker)
    found = QUOTED.match(line)  # as in: Ann says, "hello"; a whisper has resets around it
    said = found[1].removeprefix("|n").removesuffix("|n") if found else line
    return uncoloured(bare_words(utterance.words if utterance else said))


def uncoloured(line: str) -> str:
    """Return a line with its coloured words in no colour."""
    return COLOURED.sub(r"\1", storable(str(line))[:LINE_CHARS])


def perceive(line: RoomLine, words: str, character: Any, config: AssistantConfig) -> Heard:
    """Make an event of a line that a character hears; ``words`` may name what was given."""
    speaker, said, address = line.speaker, line.line, line.verdict.of(character.dbref)
    is_whisper = said.kind == WHISPER
    return Heard(
        kind=said.kind,
        speaker=speaker.dbref,
        speaker_name=display_name(speaker, character),
        text=cut_text(words, config.max_heard_chars),
        audience=line.everybody - {character.dbref},
        private=is_whisper or (said.from_assistant and bool(speaker.ndb.ai_in_confidence)),
        repeatable=is_whisper and not said.from_assistant and config.discretion == "trusting",
        addressed=address.addressed,
        hops=said.hops,
        reason=address.reason,
        authors=authors_behind(speaker) if said.from_assistant else frozenset({speaker.dbref}),
    )


def authors_behind(speaker: Any) -> Authors:
    """Return the authors of an assistant's act: those of its turn, else the character itself."""
    return frozenset(speaker.ndb.ai_authors or {speaker.dbref})
