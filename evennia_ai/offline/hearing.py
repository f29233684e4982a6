"""The new lines of a turn by speaker: requested actions, emotes and answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from evennia_ai.messages import SPEECH
from evennia_ai.offline.answers import answer
from evennia_ai.offline.languages import ENGLISH, Language, read
from evennia_ai.offline.requests import RequestedAction, meant_request, refusal
from evennia_ai.offline.transcript import READ_CHARS
from evennia_ai.offline.view import View
from evennia_ai.offline.words import capitals, in_sentence, sentences, words
from evennia_ai.policy.facts.check import without_address
from evennia_ai.ports import HeardLine

HOSTILE = frozenset({"inject", "authority", "crime", "threat"})
# Intents that need no answer if something else was said.
COURTESIES = frozenset("greet thanks sorry yes no praise laugh silence plead kidding".split())
CALLED = "..."  # stands for a sentence that is only the character's name
MOST = 2
LONGEST = 330  # characters of two answers


def gather(view: View) -> list[View]:
    """Return a view for each speaker, and another for their whispers, in order."""
    grouped: dict[tuple[str, bool], list[HeardLine]] = {}
    for line in view.scene.lines:
        grouped.setdefault((line.speaker, line.private), []).append(line)
    return [heard_of(view, lines) for lines in grouped.values()]


def heard_of(view: View, lines: Sequence[HeardLine]) -> View:
    """Return the view of one speaker's lines, without the character's name in them."""
    spoken = [line.text[:READ_CHARS] for line in lines if line.kind in SPEECH]
    own = view.answering(lines[0], " ".join(spoken or [line.text for line in lines]))
    every = [part for text in spoken for part in sentences(own.language.plain(text))]
    bare = [without_address(part, view.name).strip() for part in every]
    called = set(words(view.name))
    parts = [part if set(words(part)) - called else CALLED for part in bare]
    return replace(own, lines=tuple(lines), sentences=tuple(parts))


def requested_action(view: View) -> RequestedAction | None:
    """Return the action that a speaker requests, unless the character never does it."""
    if view.assistant or not view.language.full or HOSTILE & set(view.keys):
        return None
    found = (meant_request(view, text) for text in view.sentences)
    return next(filter(None, found), None)


def words_for(view: View) -> tuple[str, str]:
    """Return the emote and the words in answer to one speaker."""
    if view.assistant:
        return "", polite(view)
    emote, parts = "", list[str]()
    for line in view.lines:
        if line.kind == "emote":
            emote, said = answer_emote(view, line.text)
            parts.append(said)
        elif line.kind == "give":
            parts.append(thank(view, line))
        elif line.kind == "arrive":
            parts.append(view.phrase("arrive"))
    parts += answers_to(view)
    return emote or habit(view), capitals(" ".join(filter(None, parts)))


def polite(view: View) -> str:
    """Return a polite line for another assistant, "" if it had one before."""
    spoken = view.speaker.lower() in view.own_talk or view.transcript.met(view.speaker)
    return "" if spoken else view.phrase("assistant")


def answer_emote(view: View, text: str) -> tuple[str, str]:
    """Return an emote and words in answer to an emote; either may be ""."""
    deed = text.removeprefix(view.speaker).strip()
    rows = view.language.data.get("emotes", ()) or read(ENGLISH).data["emotes"]
    row = next((row for row in rows if re.search(row["match"], deed, re.I)), dict[str, str]())
    emote = row.get("emote", "").replace("{who}", in_sentence(view.speaker))
    return emote, view.phrase(row["say"]) if "say" in row else ""


def habit(view: View) -> str:
    """Return one of the character's habits at a first greeting; "" later."""
    first = not (view.transcript.emotes or view.transcript.met(view.speaker))
    shown = view.character.habits if first and "greet" in view.keys else ()
    return f"{shown[0]}." if shown else ""


def thank(view: View, line: HeardLine) -> str:
    """Return thanks for a gift, warmer if the character wanted it."""
    said = view.phrase("gift", item=view.thing(line.text))
    wanted = view.rank(line.text, ("want",), 0.5)
    return f"{said} {view.phrase('gift_wanted')}" if wanted else said


def answers_to(view: View) -> list[str]:
    """Return a refusal or an answer for each of the most important sentences."""
    if not view.language.full:
        return [answer(view, text) for text in view.sentences[:1]]
    made: list[str] = []
    for text in weighed(view.language, view.sentences):
        said = refusal(view, text) or answer(view, text)
        fits = not made or len(" ".join([*made, said])) <= LONGEST
        if said and fits and said not in " ".join(made):
            made.append(said)
    return made


def weighed(language: Language, parts: Sequence[str]) -> list[str]:
    """Return at most `MOST` sentences, questions first.

    Courtesies are left out if anything else was said, but for a greeting at the beginning.
    """
    keys = {part: language.key_of(part) for part in parts}
    weighty = [part for part in parts if keys[part] not in COURTESIES]
    weighty = [p for p in weighty if len(words(p)) > 1 or "?" in p or len(parts) == 1]
    if not weighty:
        return list({keys[part]: part for part in parts}.values())[:MOST]
    greeting = [part for part in parts[:1] if keys[part] == "greet"]
    questions = [part for part in weighty if part.rstrip().endswith("?")]
    return [*greeting, *(questions or weighty)][:MOST]
