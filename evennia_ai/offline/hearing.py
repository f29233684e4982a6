"""A turn's new lines by speaker: requested actions, and answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evennia_ai.offline.answers import answer
from evennia_ai.offline.languages import ENGLISH, Language, read
from evennia_ai.offline.permitted import meant_request, refusal
from evennia_ai.offline.requests import RequestedAction
from evennia_ai.offline.transcript import READ_CHARS, SPEECH
from evennia_ai.offline.view import View
from evennia_ai.offline.words import capitals, sentences, words
from evennia_ai.ports import HeardLine

HOSTILE = frozenset({"inject", "authority", "crime", "threat"})
# Intents that stand aside for something weightier.
COURTESIES = frozenset("greet thanks sorry yes no praise laugh silence plead kidding".split())
COURTESY = r"(?:master |mistress |sister |brother |dear |frau |herr )?"
MOST = 2
LONGEST = 330


@dataclass(frozen=True)
class Heard:
    """All new lines of one speaker, spoken aloud or whispered, and the view to answer them."""

    speaker: str
    lines: tuple[HeardLine, ...]
    sentences: tuple[str, ...]
    private: bool
    view: View

    @property
    def assistant(self) -> bool:
        """Return True if another assistant speaks."""
        return self.speaker in self.view.scene.assistants

    @property
    def keys(self) -> list[str]:
        """Return the keys of the sentences' intents."""
        return [self.view.language.key_of(text) for text in self.sentences]


def gather(view: View) -> list[Heard]:
    """Return the new lines by speaker and privacy, in the order they began."""
    grouped: dict[tuple[str, bool], list[HeardLine]] = {}
    for line in view.scene.lines:
        grouped.setdefault((line.speaker, line.private), []).append(line)
    return [heard_of(view, speaker, private, lines) for (speaker, private), lines in grouped.items()]  # fmt: skip


def heard_of(view: View, speaker: str, private: bool, lines: Sequence[HeardLine]) -> Heard:
    """Return one speaker's lines with the sentences in them."""
    spoken = [line.text[:READ_CHARS] for line in lines if line.kind in SPEECH]
    own = view.answering(speaker, " ".join(spoken or [line.text for line in lines]), private)
    parts = [p for text in spoken for p in sentences(own.language.plain(text))]
    bare = [without_name(part, own) for part in parts]
    return Heard(speaker, tuple(lines), tuple(p for p in bare if p.strip()), private, own)


def without_name(sentence: str, view: View) -> str:
    """Return a sentence without the character's name as an address; "..." if it is only that."""
    own = "|".join(re.escape(part) for part in {view.name, *view.name.split()} if len(part) > 1)
    if not own or set(words(sentence)) <= set(words(view.name)):
        return "..." if own else sentence
    start = re.sub(rf"^{COURTESY}(?:{own})\b\s*[,:!.—-]*\s*(?!'|is\b|ist\b)", "", sentence, flags=re.I)  # fmt: skip
    end = re.sub(rf"(?:,|(?<![\s,]))\s*\b{COURTESY}(?:{own})(?=\s*[?!.…,]*$)", "", start, flags=re.I)  # fmt: skip
    spoken_of = view.language.finds("before_name", end.rstrip("?!. …"))
    return (start if spoken_of else end).strip()


def requested_action(heard: Heard) -> RequestedAction | None:
    """Return the action that a speaker requests, unless the character never does it."""
    if heard.assistant or not heard.view.language.full or HOSTILE & set(heard.keys):
        return None
    found = (meant_request(heard.view, text) for text in heard.sentences)
    return next(filter(None, found), None)


def words_for(heard: Heard) -> tuple[str, str]:
    """Return the emote and the words in answer to one speaker."""
    view = heard.view
    if heard.assistant:
        return "", polite(view)
    emote, parts = "", list[str]()
    for line in heard.lines:
        if line.kind == "emote":
            emote, said = answer_emote(view, line.text)
            parts.append(said)
        elif line.kind == "give":
            parts.append(thank(view, line))
        elif line.kind == "arrive":
            parts.append(view.phrase("arrive"))
    parts += answers_to(heard)
    return emote or habit(heard), shortened([part for part in parts if part])


def polite(view: View) -> str:
    """Return one polite line for another assistant, and none after it."""
    return "" if view.speaker.lower() in view.own_talk else view.phrase("assistant")


def answer_emote(view: View, text: str) -> tuple[str, str]:
    """Return the emote and the words that answer an emote; either may be ""."""
    deed = text.removeprefix(view.speaker).strip()
    rows = view.language.data.get("emotes", ()) or read(ENGLISH).data["emotes"]
    row = next((row for row in rows if re.search(row["match"], deed, re.I)), {})
    emote = row.get("emote", "").replace("{who}", view.speaker)
    return emote, view.phrase(row["say"]) if "say" in row else ""


def habit(heard: Heard) -> str:
    """Return one of the character's habits at a first greeting; "" later."""
    view = heard.view
    first = not (view.transcript.emotes or view.transcript.met(view.speaker))
    shown = view.character.habits if first and "greet" in heard.keys else ()
    return f"{shown[0]}." if shown else ""


def thank(view: View, line: HeardLine) -> str:
    """Return thanks for a gift, warmer if the character wanted it."""
    said = view.phrase("gift", item=view.thing(line.text))
    wanted = view.rank(line.text, ("want",), 0.5)
    return f"{said} {view.phrase('gift_wanted')}" if wanted else said


def answers_to(heard: Heard) -> list[str]:
    """Return a line for each of the weightiest sentences."""
    made: list[str] = []
    parts = weighed(heard.view.language, heard.sentences)
    for text in parts if heard.view.language.full else heard.sentences[:1]:
        said = refusal(heard.view, text) or answer(heard.view, text)
        if said and said not in " ".join(made):
            made.append(said)
    return made


def weighed(language: Language, parts: Sequence[str]) -> list[str]:
    """Return at most `MOST` sentences, courtesies only if nothing else was said.

    A greeting stays at the beginning.
    """
    keys = {part: language.key_of(part) for part in parts}
    weighty = [part for part in parts if keys[part] not in COURTESIES]
    weighty = [p for p in weighty if len(words(p)) > 1 or "?" in p or len(parts) == 1]
    if not weighty:
        return list({keys[part]: part for part in parts}.values())[:MOST]
    greeting = [part for part in parts[:1] if keys[part] == "greet"]
    questions = [part for part in weighty if part.rstrip().endswith("?")]
    return [*greeting, *(questions or weighty)][:MOST]


def shortened(parts: Sequence[str]) -> str:
    """Return the parts as one line of speech, as many as are not too long."""
    said = ""
    for part in parts:
        if said and len(said) + len(part) > LONGEST:
            break
        said = f"{said} {part}".strip()
    return capitals(said)
