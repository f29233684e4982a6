"""What the character does unasked: greet, notice, make an emote, seldom a remark.

It keeps no state and uses no randomness: the conversation shows what it did before. It does not
repeat its last act, and does nothing if its own emote was the last thing that happened.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from evennia_ai.offline.languages import DATA, ENGLISH, language_of
from evennia_ai.offline.view import View
from evennia_ai.offline.words import ended, rotated, seed_of, with_article
from evennia_ai.ports import Situation

Calls = tuple[tuple[str, dict[str, str]], ...]
# The order of the kinds of emotes: own habits and work come more often than common emotes.
ROUND = ("habit", "work", "thing", "work", "habit", "anybody")
RECENT = 3
PLANNED_RECENT = 6
QUIET_ACTS = 2
LONGEST_REMARK = 160
SECRETIVE = re.compile(r"\b(?:secret\w*|hid(?:e|es|den)|murder\w*|kill\w*|stole|steal\w*|guilt\w*|ashamed|afraid|fears?|confid\w+|spy|poison\w*|betray\w*|pretend\w*|never|nobody|geheim\w*|niemand)\b", re.I)  # fmt: skip
MEANWHILE = re.compile(r"(?<!\s)\s*+\b(?:while|when|whenever|as|if|before|and (?:you|she|he|they)|während|wenn)\b.*$", re.I)  # fmt: skip
PLANNED = re.compile(r"(?P<what>.+?)(?P<elsewhere>, at [^,]+)?, until \d\d:\d\d")


@cache
def tables() -> Mapping[str, Any]:
    """Return the tables of idle emotes."""
    return tomllib.loads((DATA / "idle.toml").read_text(encoding="utf-8"))


def act_autonomously(view: View) -> Calls:
    """Return the calls of one small act, or a ``noop``."""
    if not view.others:
        return still("nobody is near")
    view = in_language_here(view)
    reaction = welcome(view) or notice(view)
    if reaction:
        return reaction
    last = view.transcript.deeds[-1][0] if view.transcript.deeds else ""
    if last == "emote" and not view.transcript.since:
        return still("I did something just now")
    return remark(view) or shown(view, "emote", pastime(view)) or still("nothing fits")


def in_language_here(view: View) -> View:
    """Return the view in the persona's language, else in that of the last line."""
    said = [s.text for s in view.transcript.heard if s.kind in {"say", "whisper"}]
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
    """Greet those who have just arrived and not spoken since."""
    here, since = set(view.others), view.transcript.since
    came = [said.speaker for said in since if said.kind == "arrives" and said.speaker in here]
    spoke = {said.speaker for said in since if said.kind in {"say", "whisper"}}
    new = [name for name in dict.fromkeys(came) if name not in spoke]
    if not new:
        return ()
    names = view.listed([view.called(name) for name in new])
    if view.character.terse or len(new) > 2:
        return shown(view, "emote", view.emote("nods", who=names))
    known = all(view.transcript.met(name) for name in new)
    return shown(view, "say", view.phrase("greet_again" if known else "arrive", who=names))


def notice(view: View) -> Calls:
    """Show that an event was noticed that nobody here caused."""
    known = {*view.others, *(said.speaker for said in view.transcript.heard if said.speaker)}
    seen = [said.text for said in view.transcript.since if said.kind == "seen"]
    events = [text for text in seen if not any(text.startswith(name) for name in known)]
    if not events:
        return ()
    deeds = noticing(events[-1]) if view.language.code == ENGLISH else view.language.phrases["idle"]
    return shown(view, "emote", first_fresh(view.transcript.emotes, rotated(deeds, view.seed)))


def pastime(view: View) -> str:
    """Return the next idle emote: day plan, habits, work or things here; "" if none."""
    persona = view.scene.persona
    own = [MEANWHILE.sub("", habit).rstrip(" .,") + "." for habit in view.character.habits]
    kinds: dict[str, Sequence[str]] = {"anybody": view.language.phrases["idle"]}
    if view.character.language == view.language.code:
        kinds["habit"] = own
    if view.language.code == ENGLISH:
        kinds["work"] = work_of(f"{persona.text} {' '.join(persona.knows)}", view.situation)
        kinds["thing"] = deeds_with(view.situation)
    return planned(view) or next_of(view, kinds)


def planned(view: View) -> str:
    """Return an emote for the day plan's current entry, every second time; "" between."""
    number = len(view.transcript.emotes)
    if number % 2:
        return ""
    deeds = occupation_deeds(view.transcript.about)
    lately = {text.strip().lower() for text in view.transcript.emotes[-PLANNED_RECENT:]}
    return next((deed for deed in rotated(deeds, number // 2) if deed.lower() not in lately), "")


def next_of(view: View, kinds: Mapping[str, Sequence[str]]) -> str:
    """Return an emote not shown yet, of the kind whose turn it is or the next."""
    number = len(view.transcript.emotes)
    start = (number + seed_of(view.name)) % len(ROUND)
    order = dict.fromkeys([*ROUND[start:], *ROUND[:start]])
    every = [deed for kind in order for deed in rotated(kinds.get(kind, ()), number)]
    return first_fresh(view.transcript.emotes, every) if every else ""


def first_fresh(done: Sequence[str], choices: Sequence[str]) -> str:
    """Return the first choice that was not done yet, else not lately; "" if none."""
    for before in (done, done[-RECENT:], done[-1:]):
        said = {text.strip().lower() for text in before}
        fresh = [text for text in choices if text.lower() not in said]
        if fresh:
            return fresh[0]
    return ""


def remark(view: View) -> Calls:
    """After some emotes, return a line: an example of the persona, or a fact."""
    last = [name for name, _ in view.transcript.deeds if name != "noop"][-QUIET_ACTS:]
    if last != ["emote"] * QUIET_ACTS or (view.character.terse and view.seed % 2):
        return ()
    if view.language.code != view.character.language:
        return ()
    own = [ended(e) for e in view.character.examples if not view.was_said(e)]
    own = rotated(own, view.seed)
    musings = [view.phrase("musing", fact=text) for text in to_muse_on(view)]
    choices = [*own, *musings] if view.seed % 2 else [*musings[:1], *own, *musings]
    return shown(view, "say", choices[0]) if choices else ()


def to_muse_on(view: View) -> list[str]:
    """Return facts to remark on that were not told, are short, and need not be kept secret."""
    facts = [p.text for p in view.passages if p.source in {"lore", "self"}]
    fit = [
        text
        for text in rotated(dict.fromkeys(facts), view.seed)
        if len(text) < LONGEST_REMARK
        and len(text.split()) > 4
        and not SECRETIVE.search(text)
        and text != view.character.identity
    ]
    return [text for text in fit if not view.was_said(text)]


def work_of(text: str, situation: Situation) -> Sequence[str]:
    """Return emotes of the persona's first trade, if this is the place for it."""
    found = ((re.search(rf"\b(?:{row['trade']})\b", text, re.I), row) for row in tables()["work"])
    placed = [(match.start(), row["where"], row["emotes"]) for match, row in found if match]
    if not placed:
        return ()
    _, where, deeds = min(placed, key=lambda row: row[0])
    around = " ".join((situation.place, situation.description, *situation.things))
    fits = not where or re.search(rf"\b(?:{where})\b", around, re.I)
    return tuple(deeds) if fits else ()


def deeds_with(situation: Situation) -> list[str]:
    """Return emotes with the things here and in hand that move none of them."""
    found = []
    for name in situation.things:
        found += [
            deed.format(thing=with_article(name)) for deed in emotes_of("things", name or "?")
        ]
    for name in situation.carrying:
        found += [deed.format(thing=with_article(name)) for deed in tables()["carried"]]
    return found


def noticing(event: str) -> Sequence[str]:
    """Return emotes that show an event was noticed."""
    return emotes_of("events", event)


def emotes_of(table: str, text: str) -> Sequence[str]:
    """Return the emotes of the first row of a table that matches a text."""
    rows = tables()[table]
    return next((row["emotes"] for row in rows if re.search(row["match"], text, re.I)), ())


def occupation_deeds(about: str) -> Sequence[str]:
    """Return emotes for a day plan's entry, as the prompt words it; none if it is for elsewhere."""
    planned = PLANNED.fullmatch(about)
    if planned is None or planned["elsewhere"]:
        return ()
    verb, _, rest = planned["what"].partition(" ")
    plain = re.fullmatch(r"[a-z]{2,}(?<!ing)", verb) and ":" not in rest
    kind = (r for r in tables()["plans"] if re.search(r["match"], planned["what"], re.I))
    own = [ended(f"{third_form(verb)} {rest}".strip())] if plain else []
    return [*own, *(emote for row in kind for emote in row["emotes"])]


def third_form(verb: str) -> str:
    """Return an English verb's third person: carry gives carries."""
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else verb + "s"
