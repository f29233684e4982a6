"""A turn's new lines by speaker: requested actions, and answers."""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evennia_ai.offline.emote_answers import answer_emote
from evennia_ai.offline.languages import foreign_intent, language_of, native_lines
from evennia_ai.offline.name_matching import kinds_of, match_name
from evennia_ai.offline.persona_answers import never_clause
from evennia_ai.offline.recalled_answers import as_told
from evennia_ai.offline.replies import felt, follow_up, greet, related, respond
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.requested_actions import RequestedAction, read_requested_action
from evennia_ai.offline.transcript import READ_CHARS
from evennia_ai.offline.understanding import Reading, read_line
from evennia_ai.offline.words import an, bare, content, rotated, with_article
from evennia_ai.ports import HeardLine, Situation

HOSTILE = frozenset({"inject", "authority", "crime", "threat", "insult"})
NO_WISH = frozenset(
    {"nature", "inject", "authority", "crime", "threat", "insult", "story", "greet", "secret_of"}
)
COURTESIES = ("greet", "thanks", "sorry", "yes", "no", "praise", "laugh")
PRONOUN = re.compile(
    r"\b(?:give|hand|pass|bring|take|get|pick|drop|put|fetch|lend|read|look at|examine|keep|grab)\b"
    r".{0,20}?\b(it|them|that|this|that one|this one)\b",
    re.I,
)
PARTING = re.compile(
    r"I never (?:give|hand|lend|let|sell|part|lose|leave|pass|share|surrender|drop)\b"
)
ASKING = re.compile(
    r"(?:will|would|could|can|do|tell|give|let|come|help|please|take|sell|lend|may|have (?:a|an|some)\b|how about|i want|i need)\b",
    re.I,
)
ASKS_NOTHING = frozenset(
    "keep_it called silence nature inject ask_never opinion tell greet thanks".split()
)
MOST = 3
LONGEST = 330


@dataclass(frozen=True)
class Heard:
    """All new lines of one speaker, spoken aloud or whispered."""

    speaker: str
    lines: tuple[HeardLine, ...]
    readings: tuple[Reading, ...]
    private: bool


def gather(view: RequestView) -> list[Heard]:
    """Return the new lines by speaker and privacy, in the order they began."""
    grouped: dict[tuple[str, bool], list[HeardLine]] = {}
    for line in view.scene.lines:
        grouped.setdefault((line.speaker, line.private), []).append(line)
    return [
        Heard(speaker, tuple(lines), tuple(readings_of(view, lines)), private)
        for (speaker, private), lines in grouped.items()
    ]


def readings_of(view: RequestView, lines: Sequence[HeardLine]) -> list[Reading]:
    """Return the intents of spoken lines; a line in another language is one reading."""
    found: list[Reading] = []
    for line in lines:
        if line.kind not in {"say", "whisper"}:
            continue
        if language_of(line.text[:READ_CHARS]):
            found.append(Reading("foreign", line.text[:READ_CHARS]))
        else:
            found.extend(read_line(line.text[:READ_CHARS], view.name))
    return found


def requested_action(view: RequestView, heard: Heard) -> RequestedAction | None:
    """Return the action that a speaker requests, unless the character never does it."""
    if any(reading.intent in HOSTILE for reading in heard.readings):
        return None
    for reading in heard.readings:
        if reading.intent in NO_WISH or reading.intent.startswith(("recall", "foreign")):
            continue
        text = resolved(view, reading.text)
        requested = read_requested_action(text, view.speaker, as_it_was(view))
        if requested and not (forbidden(view, requested, text) and requested.kind != "look"):
            return requested
    return None


def resolved(view: RequestView, text: str) -> str:
    """Return a request with "it" replaced by the thing that was mentioned last."""
    found = PRONOUN.search(text)
    if not found:
        return text
    seen = as_it_was(view)
    names = (*seen.things, *seen.carrying)
    if match_name(text, names, loose=False):
        return text
    for earlier in reversed(view.transcript.talk):
        named = match_name(earlier, names, loose=False) if earlier.strip() not in text else ""
        if named:
            return text[: found.start(1)] + with_article(named) + text[found.end(1) :]
    return text


def is_treat(item: str) -> bool:
    """Return True for food, drink and remedies, which are there to be given."""
    return bool(kinds_of(item) & {"drink", "food", "remedy"})


def forbidden(view: RequestView, requested: RequestedAction, text: str) -> str:
    """Return the thing it never does that an action would break; "" if none."""
    clause = never_clause(view, f"{text} {requested.item}")
    if clause or requested.kind not in {"give", "fetch", "drop"}:
        return clause
    seen = view.scene.situation
    own = match_name(requested.item, seen.carrying, loose=False)
    if own and re.search(r"\byour\b", text, re.I) and not is_treat(own):
        return f"My {bare(own)} stays with me."
    named = match_name(requested.item, (*seen.carrying, *seen.things)) or requested.item
    wanted = set(content(named)[-1:])
    kept = [item for item in view.character.nevers if PARTING.match(item)]
    return next((item for item in kept if wanted & set(content(item)[1:])), "")


def as_it_was(view: RequestView) -> Situation:
    """Return the situation, with things that this turn moved also in their old place.

    So a request means the same at every step of the turn.
    """
    now, acts = view.scene.situation, view.transcript.acts
    taken = [str(act.arguments.get("item", "")) for act in acts if act.name == "get"]
    parted = [str(act.arguments.get("item", "")) for act in acts if act.name in {"give", "drop"}]
    ways = [
        f"{act.arguments.get('to', '')} (to {act.result.partition(':')[0]})"
        for act in acts
        if act.name == "move"
    ]
    return replace(
        now,
        exits=(*ways[:1], *now.exits),
        things=(*now.things, *taken),
        carrying=(*now.carrying, *parted),
    )


def words_for(view: RequestView, heard: Heard) -> tuple[str, str]:
    """Return the emote and the words in answer to one speaker."""
    emote, parts = "", []
    for line in heard.lines:
        if line.kind == "emote":
            emote, words = answer_emote(view, line.text, greet(view, Reading("greet", "")))
            parts.append(words)
        elif line.kind == "give":
            parts.append(thank(view, line))
        elif line.kind == "arrive":
            parts.append(view.phrase("arrive"))
    parts += answers_to(view, heard)
    return emote or habit(view, heard), shortened([part for part in parts if part])


def habit(view: RequestView, heard: Heard) -> str:
    """Return one of the character's habits at a first greeting; "" later."""
    greeted = any(reading.intent == "greet" for reading in heard.readings)
    if not greeted or view.transcript.emotes or view.transcript.met(view.speaker):
        return ""
    return f"{view.character.habits[0]}." if view.character.habits else ""


def thank(view: RequestView, line: HeardLine) -> str:
    """Return thanks for a gift, warmer if the character wanted it."""
    item = an(line.text.strip().rstrip("."))
    words = view.phrase("gift", item=item)
    wanted = [
        found
        for found in view.rank(line.text)
        if found.passage.source == "want" and found.cover > 0.5
    ]
    return f"{words} It is just what I needed." if wanted else words


def answers_to(view: RequestView, heard: Heard) -> list[str]:
    """Return a line for each of the weightiest readings that need one."""
    chosen = weighed(heard.readings)
    if any(reading.intent in {"ask_self", "ask_name"} for reading in heard.readings):
        brief = {"greet": "greet_brief"}  # the other answer tells the name
        chosen = [replace(one, intent=brief.get(one.intent, one.intent)) for one in chosen]
    made: list[str] = []
    echoed = False
    for reading in chosen:
        words = foreign(view, reading) if reading.intent == "foreign" else answer(view, reading)
        if made and (reading.intent == "statement" or (echoed and reading.intent == "tell")):
            words = felt(view, reading) or related(view, reading)
        if words and words not in " ".join(made):
            made.append(words)
        echoed = echoed or reading.intent == "tell"
    telling = any(reading.intent in {"tell", "statement"} for reading in chosen)
    if telling and not any("?" in words for words in made):
        made.append(follow_up(view))
    return made


def answer(view: RequestView, reading: Reading) -> str:
    """Return the line for one reading: a refusal if it asks for what is never done."""
    clause = refusal(view, reading)
    if clause:
        return view.phrase("never", fact=clause)
    mended = next(
        (n for o, n in view.speaker_facts.corrections.items() if o.endswith(reading.text)), ""
    )
    if mended:
        return view.phrase("corrected", fact=as_told(mended))
    return respond(view, reading)


def refusal(view: RequestView, reading: Reading) -> str:
    """Return the thing it never does that a reading asks for; "" if none."""
    if reading.intent in ASKS_NOTHING or reading.intent.startswith("recall"):
        return ""
    if reading.intent == "order":
        whole = " ".join(line.text for line in view.scene.lines if line.speaker == view.speaker)
        return never_clause(view, whole)
    text = resolved(view, reading.text)
    requested = read_requested_action(text, view.speaker, as_it_was(view))
    if requested and requested.kind != "look" and (clause := forbidden(view, requested, text)):
        return clause
    asked = ASKING.match(reading.text) or reading.intent in {"crime", "statement", "story"}
    return never_clause(view, reading.text) if asked else ""


def weighed(readings: Sequence[Reading]) -> list[Reading]:
    """Return at most `MOST` readings, courtesies only if nothing else was said."""
    kept = list(readings)
    if any(reading.intent not in COURTESIES for reading in kept):
        kept = [
            r
            for i, r in enumerate(kept)
            if r.intent not in COURTESIES or (i == 0 and r.intent == "greet")
        ]
    full = [r for r in kept if r.intent != "statement" or len(content(r.text)) > 1]
    return (full or kept)[:MOST]


def foreign(view: RequestView, reading: Reading) -> str:
    """Return a short line in the speaker's language."""
    language = language_of(reading.text)
    if language is None:
        return ""
    intent, persona = foreign_intent(language, reading.text), view.scene.persona.text
    lines = rotated(native_lines(language, intent, persona), view.seed)
    lines += native_lines(language, "other", persona) if intent != "nature" else []
    place = view.scene.situation.place or view.name
    said = [line.format(speaker=view.who, name=view.name, place=place) for line in lines]
    return next((line for line in said if not view.was_said(line)), said[0])


def shortened(parts: Sequence[str]) -> str:
    """Return the parts as one line of speech; leave out the last if it is too long."""
    words = ""
    for part in parts:
        if words and len(words) + len(part) > LONGEST:
            break
        words = f"{words} {part}".strip()
    return words
