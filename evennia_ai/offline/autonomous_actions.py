"""What the character does unasked: greet, notice, make an emote, seldom a remark.

It keeps no state and uses no randomness: the conversation shows what it did before. It does not
repeat its last act, and does nothing if its own emote was the last thing that happened.
"""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re
from collections.abc import Sequence

from evennia_ai.offline.idle_emotes import (
    ANYBODY,
    deeds_with,
    habits_in,
    noticing,
    occupation_deeds,
    without_meanwhile,
    work_of,
)
from evennia_ai.offline.languages import Language, language_of, native_lines
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.words import ended, listed, rotated, seed_of

Calls = tuple[tuple[str, dict[str, str]], ...]
# The order of the kinds of emotes: own habits and work come more often than common emotes.
ROUND = ("habit", "work", "thing", "work", "habit", "anybody")
RECENT = 3
PLANNED_RECENT = 6
QUIET_ACTS = 2
LONGEST_REMARK = 160
# Not to be said unasked.
SECRETIVE = re.compile(
    r"\b(?:secret\w*|nobody (?:knows|must|may)|hid(?:e|es|den)|murder\w*|kill\w*|stole|steal\w*|guilt\w*|ashamed|"
    r"afraid|fears?|confid\w+|spy|poison\w*|betray\w*|pretend\w*|never)\b", re.I
)  # fmt: skip


def act_autonomously(view: RequestView) -> Calls:
    """Return the calls of one small act, or a ``noop``."""
    if not view.others:
        return still("nobody is near")
    language = language_here(view)
    reaction = welcome(view, language) or notice(view, language)
    if reaction:
        return reaction
    last = view.transcript.deeds[-1][0] if view.transcript.deeds else ""
    if last == "emote" and not view.transcript.since:
        return still("I did something just now")
    return (
        remark(view, language)
        or shown(view, "emote", pastime(view, language))
        or still("nothing fits")
    )


def still(reason: str) -> Calls:
    """Return a ``noop`` with a reason."""
    return (("noop", {"reason": reason}),)


def shown(view: RequestView, tool: str, text: str) -> Calls:
    """Return an emote or a line of speech, if there is a text and the tool for it."""
    return ((tool, {"text": text}),) if text and tool in view.tools else ()


def language_here(view: RequestView) -> Language | None:
    """Return the language of the persona, else of the last line; None for English."""
    said = [line.text for line in view.transcript.heard if line.kind in {"say", "whisper"}]
    persona = view.scene.persona
    own = language_of(f"{persona.text} {persona.manner}") if view.character.facts else None
    return own or (language_of(said[-1]) if said else None)


def welcome(view: RequestView, language: Language | None) -> Calls:
    """Greet those who have just arrived and not spoken since."""
    here, since = set(view.others), view.transcript.since
    came = [said.speaker for said in since if said.kind == "arrives" and said.speaker in here]
    spoke = {said.speaker for said in since if said.kind in {"say", "whisper"}}
    new = [name for name in dict.fromkeys(came) if name not in spoke]
    if not new:
        return ()
    names = listed([view.called(name) for name in new])
    if view.character.terse or len(new) > 2:
        return shown(view, "emote", f"looks up and nods to {names}.")
    if language:
        lines = [
            line.format(speaker=names, name=view.name)
            for line in native_lines(language, "greet", view.scene.persona.text)
        ]
        return shown(view, "say", first_fresh(view.transcript.own, rotated(lines, view.seed)))
    known = all(view.transcript.met(name) for name in new)
    return shown(view, "say", view.phrase("greet_again" if known else "arrive", who=names))


def notice(view: RequestView, language: Language | None) -> Calls:
    """Show that an event was noticed that nobody here caused."""
    known = {*view.others, *(said.speaker for said in view.transcript.heard if said.speaker)}
    events = [
        said.text
        for said in view.transcript.since
        if said.kind == "seen" and not any(said.text.startswith(name) for name in known)
    ]
    if not events:
        return ()
    deeds = language.lines["idle"] if language else noticing(events[-1])
    return shown(view, "emote", first_fresh(view.transcript.emotes, rotated(deeds, view.seed)))


def pastime(view: RequestView, language: Language | None) -> str:
    """Return the next idle emote: day plan, habits, work or things here; "" if none."""
    if language:
        return next_of(
            view, {"anybody": [*foreign_habits(view, language), *language.lines["idle"]]}
        )
    persona = view.scene.persona
    about = f"{persona.text} {' '.join(persona.knows)}"
    kinds: dict[str, Sequence[str]] = {
        "habit": [*without_meanwhile(view.character.habits), *habits_in(persona.text)],
        "work": work_of(about, view.scene.situation),
        "thing": deeds_with(view.scene.situation),
        "anybody": ANYBODY,
    }
    return planned(view) or next_of(view, kinds)


def planned(view: RequestView) -> str:
    """Return an emote for the day plan's current entry, every second time.

    Return "" between them, so that habits have their turn, and if all were shown lately.
    """
    number = len(view.transcript.emotes)
    if number % 2:
        return ""
    deeds = occupation_deeds(view.transcript.about)
    lately = {text.strip().lower() for text in view.transcript.emotes[-PLANNED_RECENT:]}
    return next((deed for deed in rotated(deeds, number // 2) if deed.lower() not in lately), "")


def next_of(view: RequestView, kinds: dict[str, Sequence[str]]) -> str:
    """Return an emote not shown yet, of the kind whose turn it is or the next."""
    number = len(view.transcript.emotes)
    start = (number + seed_of(view.name)) % len(ROUND)
    order = dict.fromkeys([*ROUND[start:], *ROUND[:start]])
    choices = [rotated(kinds.get(kind, ()), number) for kind in order]
    every = [deed for deeds in choices for deed in deeds]
    return first_fresh(view.transcript.emotes, every) if every else ""


def first_fresh(done: Sequence[str], choices: Sequence[str]) -> str:
    """Return the first choice that was not done yet, else not lately; "" if none."""
    for shown in (done, done[-RECENT:], done[-1:]):
        before = {text.strip().lower() for text in shown}
        fresh = [text for text in choices if text.lower() not in before]
        if fresh:
            return fresh[0]
    return ""


def foreign_habits(view: RequestView, language: Language) -> list[str]:
    """Return the habits in a German manner; none for other languages."""
    if language.name != "German":
        return []
    parts = re.split(r"[,;.]\s*+(?:und )?|(?<!\s)\s++und\s+", view.scene.persona.manner)
    verb = re.compile(
        r"^(?!ist\b|hat\b|spricht\b|redet\b|sagt\b|nicht\b|oft\b)[a-zäöü]{3,}t\b(?! nie)"
    )
    return [ended(part.strip()) for part in parts if verb.match(part.strip())]


def remark(view: RequestView, language: Language | None) -> Calls:
    """After some emotes, return a line: an example of the persona, or a fact."""
    last = [name for name, _ in view.transcript.deeds if name != "noop"][-QUIET_ACTS:]
    if last != ["emote"] * QUIET_ACTS or (view.character.terse and view.seed % 2):
        return ()
    own = rotated(map(ended, view.untold(view.character.examples)), view.seed)
    if language:
        return shown(view, "say", own[0]) if own else ()
    musings = [view.phrase("musing", fact=text) for text in to_muse_on(view)]
    choices = [*own, *musings] if view.seed % 2 else [*musings[:1], *own, *musings]
    return shown(view, "say", choices[0]) if choices else ()


def to_muse_on(view: RequestView) -> list[str]:
    """Return facts to remark on: of the world, then goals, then of the character.

    Facts that were told, are long, or are better kept secret are left out.
    """
    character, persona = view.character, view.scene.persona
    lore = [p.text for p in view.passages if p.source == "lore"]
    knows = list(character.facts[len(character.facts) - len(persona.knows) :])
    own = [text for text in character.facts if text not in {character.identity, *knows}]
    every = [*rotated([*lore, *knows], view.seed), *character.wants, *own]
    fit = [
        text
        for text in every
        if len(text) < LONGEST_REMARK and len(text.split()) > 4 and not SECRETIVE.search(text)
    ]
    return view.untold(dict.fromkeys(fit))
