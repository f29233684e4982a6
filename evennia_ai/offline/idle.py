"""What the character does unasked: greet, notice, make an emote, seldom a remark.

It keeps no state and uses no randomness: the conversation shows what it did before. It does not
repeat its last act, and does nothing if its own emote was the last thing that happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from evennia_ai.messages import SPEECH
from evennia_ai.offline.actions import Calls
from evennia_ai.offline.languages import ENGLISH, language_of, read, table
from evennia_ai.offline.view import View
from evennia_ai.offline.words import ended, rotated, seed_of, with_article
from evennia_ai.ports import Situation

# The order of the kinds of emotes: own habits and work come more often than common emotes.
ROUND = ("habit", "work", "thing", "work", "habit", "anybody")
RECENT = 3
QUIET_ACTS = ["emote", "emote"]  # the acts before a remark
LONGEST_REMARK = 160
PLANNED = re.compile(r"(?P<what>.+?)(?P<elsewhere>, at [^,]+)?, until \d\d:\d\d")


def act_autonomously(view: View) -> Calls:
    """Return the calls of one small act, or a ``noop``."""
    if not view.others:
        return still("nobody is near")
    view = in_language_here(view)
    reaction = welcome(view) or notice(view)
    last = view.transcript.deeds[-1][0] if view.transcript.deeds else ""
    if not reaction and last == "emote" and not view.transcript.since:
        return still("I did something just now")
    act = reaction or remark(view) or shown(view, "emote", pastime(view))
    return act or still("nothing fits")


def in_language_here(view: View) -> View:
    """Return the view in the persona's language; English gives way to the last line's."""
    said = [s.text for s in view.transcript.heard if s.kind in SPEECH]
    own = view.character.language
    spoken = language_of(said[-1]) if said and own == ENGLISH else ""
    return replace(view, code=spoken or own)


def still(reason: str) -> Calls:
    """Return a ``noop`` with a reason."""
    return (("noop", {"reason": reason}),)


def shown(view: View, tool: str, text: str) -> Calls:
    """Return an emote or a line of speech, if there is a text and the tool for it."""
    return ((tool, {"text": text}),) if text and tool in view.tools else ()


def welcome(view: View) -> Calls:
    """Return a greeting for those who have arrived and not spoken since."""
    since = view.transcript.since
    spoke = {said.speaker for said in since if said.kind in SPEECH}
    came = dict.fromkeys(said.speaker for said in since if said.kind == "arrives")
    new = [name for name in came if name in view.others and name not in spoke]
    if not new:
        return ()
    names = view.listed(map(view.called, new))
    if view.character.terse or len(new) > 2:
        return shown(view, "emote", view.emote("nods", who=names))
    known = all(map(view.transcript.met, new))
    return shown(view, "say", view.phrase("greet_again" if known else "arrive", who=names))


def notice(view: View) -> Calls:
    """Return an emote that reacts to an event that nobody here caused."""
    known = {*view.others, *(said.speaker for said in view.transcript.heard if said.speaker)}
    seen = [said.text for said in view.transcript.since if said.kind == "seen"]
    events = [text for text in seen if not text.startswith(tuple(known))]
    if not events:
        return ()
    english = view.code == ENGLISH
    deeds = emotes_of("events", events[-1]) if english else view.language.phrases["idle"]
    return shown(view, "emote", first_fresh(view, rotated(deeds, view.seed)))


def pastime(view: View) -> str:
    """Return the next idle emote: day plan, habits, work or things here; "" if none.

    Every second emote belongs to the day plan's entry, if that can be shown.
    """
    number = len(view.transcript.emotes)
    start = (number + seed_of(view.name)) % len(ROUND)
    planned = ("plan",) if number % 2 == 0 else ()
    kinds, order = deeds_by_kind(view), dict.fromkeys([*planned, *ROUND[start:], *ROUND[:start]])
    return first_fresh(view, [d for kind in order for d in rotated(kinds.get(kind, ()), number)])


def deeds_by_kind(view: View) -> dict[str, Sequence[str]]:
    """Return the emotes that fit the character, the place and the language, by their kinds."""
    persona, meanwhile = view.scene.persona, view.language.pattern("patterns", "meanwhile")
    planned = occupation_deeds(view.transcript.about)
    kinds: dict[str, Sequence[str]] = {"anybody": view.language.phrases["idle"], "plan": planned}
    if view.character.language == view.code:
        habits = (meanwhile.sub("", habit) for habit in view.character.habits)
        kinds["habit"] = [habit.rstrip(" .,") + "." for habit in habits]
    if view.code == ENGLISH:
        kinds["work"] = work_of(f"{persona.text} {' '.join(persona.knows)}", view.situation)
        kinds["thing"] = deeds_with(view.situation)
    return kinds


def first_fresh(view: View, choices: Iterable[str]) -> str:
    """Return the first choice that was not done yet, else not lately; "" if none."""
    done, deeds = [text.strip().lower() for text in view.transcript.emotes], list(choices)
    for before in (done, done[-RECENT:], done[-1:]):
        fresh = [text for text in deeds if text.lower() not in before]
        if fresh:
            return fresh[0]
    return ""


def remark(view: View) -> Calls:
    """Return a line after some emotes: an example of the persona, or a fact."""
    last = [name for name, _ in view.transcript.deeds if name != "noop"][-len(QUIET_ACTS) :]
    silent = view.character.terse and view.seed % 2
    if last != QUIET_ACTS or silent or view.code != view.character.language:
        return ()
    own = [ended(e) for e in view.character.examples if not view.was_said(e)]
    own = rotated(own, view.seed)
    musings = [view.phrase("musing", fact=text) for text in to_muse_on(view)]
    choices = [*own, *musings] if view.seed % 2 else [*musings[:1], *own, *musings]
    return shown(view, "say", choices[0]) if choices else ()


def to_muse_on(view: View) -> list[str]:
    """Return facts to remark on that were not told, are short, and need not be kept secret."""
    facts = dict.fromkeys(p.text for p in view.passages if p.source in {"lore", "self"})
    own = (text for text in rotated(facts, view.seed) if text != view.character.identity)
    fit = [text for text in own if len(text) < LONGEST_REMARK and len(text.split()) > 4]
    safe = [text for text in fit if not view.language.finds("secretive", text)]
    return [text for text in safe if not view.was_said(text)]


def work_of(text: str, situation: Situation) -> Sequence[str]:
    """Return emotes of the persona's first trade, if this is the place for it."""
    found = (
        (re.search(rf"\b(?:{row['trade']})\b", text, re.I), row) for row in table("idle")["work"]
    )
    placed = [(match.start(), row["where"], row["emotes"]) for match, row in found if match]
    _, where, deeds = min(placed, key=lambda row: row[0], default=(0, "", ()))
    around = " ".join((situation.place, situation.description, *situation.things))
    fits = not where or re.search(rf"\b(?:{where})\b", around, re.I)
    return tuple(deeds) if fits else ()


def deeds_with(situation: Situation) -> list[str]:
    """Return emotes with the things here and carried; the emotes move none of them."""
    named = [(name, emotes_of("things", name or "?")) for name in situation.things]
    named += [(name, table("idle")["carried"]) for name in situation.carrying]
    return [deed.format(thing=with_article(name)) for name, deeds in named for deed in deeds]


def emotes_of(name: str, text: str) -> Sequence[str]:
    """Return the emotes of the first row of a table that matches a text."""
    rows = table("idle")[name]
    return next((row["emotes"] for row in rows if re.search(row["match"], text, re.I)), ())


def occupation_deeds(about: str) -> Sequence[str]:
    """Return emotes for a day plan's entry in the prompt's words, none for another place."""
    planned = PLANNED.fullmatch(about)
    if planned is None or planned["elsewhere"]:
        return ()
    verb, _, rest = planned["what"].partition(" ")
    plain = re.fullmatch(r"[a-z]{2,}(?<!ing)", verb) and ":" not in rest
    third = read(ENGLISH).rewritten("third", verb, most=1)
    own = [ended(f"{third} {rest}".strip())] if plain else []
    return [*own, *emotes_of("plans", planned["what"])]
