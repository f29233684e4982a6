"""What it does when nobody asked: a welcome, a glance up, a bit of work, seldom a remark.

It keeps no state and draws no lots. What it did before stands in the conversation; what it did last
it does not do again, and where its own gesture is the last thing that happened it keeps still.
"""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re
from collections.abc import Sequence

from evennia_ai.offline.languages import Tongue, native_lines, tongue_of
from evennia_ai.offline.occupation import occupation_deeds
from evennia_ai.offline.pastimes import (
    ANYBODY,
    deeds_with,
    habits_in,
    noticing,
    without_meanwhile,
    work_of,
)
from evennia_ai.offline.request_view import Mind
from evennia_ai.offline.words import ended, listed, rotated, seed_of

Calls = tuple[tuple[str, dict[str, str]], ...]
# Which kind of pastime comes when: its own habits and work more often than anybody's fidgeting.
ROUND = ("habit", "work", "thing", "work", "habit", "anybody")
RECENT = 3
PLANNED_RECENT = 6
QUIET_ACTS = 2
LONGEST_REMARK = 160
# Not to be blurted out unasked.
SECRETIVE = re.compile(
    r"\b(?:secret\w*|nobody (?:knows|must|may)|hid(?:e|es|den)|murder\w*|kill\w*|stole|steal\w*|guilt\w*|ashamed|"
    r"afraid|fears?|confid\w+|spy|poison\w*|betray\w*|pretend\w*|never)\b", re.I
)  # fmt: skip


def act_autonomously(mind: Mind) -> Calls:
    """One small thing, or nothing."""
    if not others_here(mind):
        return still("nobody is near")
    tongue = tongue_here(mind)
    reaction = welcome(mind, tongue) or notice(mind, tongue)
    if reaction:
        return reaction
    last = mind.past.deeds[-1][0] if mind.past.deeds else ""
    if last == "emote" and not mind.past.since:
        return still("I did something just now")
    return remark(mind, tongue) or gesture(mind, pastime(mind, tongue)) or still("nothing fits")


def still(reason: str) -> Calls:
    """Nothing, and why."""
    return (("noop", {"reason": reason}),)


def gesture(mind: Mind, text: str) -> Calls:
    """Something shown, if it can show anything."""
    return (("emote", {"text": text}),) if text and "emote" in mind.tools else ()


def spoken(mind: Mind, text: str) -> Calls:
    """Something said, if it can speak."""
    return (("say", {"text": text}),) if text and "say" in mind.tools else ()


def others_here(mind: Mind) -> list[str]:
    """Everybody it sees beside itself."""
    return [name for name in mind.scene.situation.people if name and name != mind.name]


def tongue_here(mind: Mind) -> Tongue | None:
    """The language of its persona, else of those it hears; None for English."""
    said = [line.text for line in mind.past.heard if line.kind in {"say", "whisper"}]
    persona = mind.scene.persona
    own = tongue_of(f"{persona.text} {persona.manner}") if mind.character.facts else None
    return own or (tongue_of(said[-1]) if said else None)


def welcome(mind: Mind, tongue: Tongue | None) -> Calls:
    """A word or a nod to those who have just come and have not spoken since; none to nobody."""
    here, since = set(others_here(mind)), mind.past.since
    came = [said.speaker for said in since if said.kind == "arrives" and said.speaker in here]
    spoke = {said.speaker for said in since if said.kind in {"say", "whisper"}}
    new = [name for name in dict.fromkeys(came) if name not in spoke]
    if not new:
        return ()
    names = listed([mind.called(name) for name in new])
    if mind.character.tone == "terse" or len(new) > 2:
        return gesture(mind, f"looks up and nods to {names}.")
    if tongue:
        lines = [
            line.format(speaker=names, name=mind.name)
            for line in native_lines(tongue, "greet", mind.scene.persona.text)
        ]
        return spoken(mind, first_fresh(mind.past.own, rotated(lines, mind.seed)))
    known = all(mind.past.met(name) for name in new)
    return spoken(mind, mind.phrase("greet_again" if known else "arrive", who=names))


def notice(mind: Mind, tongue: Tongue | None) -> Calls:
    """A sign that it noticed what happened, where that was nobody's doing."""
    known = {*others_here(mind), *(said.speaker for said in mind.past.heard if said.speaker)}
    events = [
        said.text
        for said in mind.past.since
        if said.kind == "seen" and not any(said.text.startswith(name) for name in known)
    ]
    if not events:
        return ()
    deeds = tongue.lines["idle"] if tongue else noticing(events[-1])
    return gesture(mind, first_fresh(mind.past.emotes, rotated(deeds, mind.seed)))


def pastime(mind: Mind, tongue: Tongue | None) -> str:
    """The next of its habits, its work and what lies around, none of them twice if it can be
    helped; "" where it knows nothing to do."""
    if tongue:
        return next_of(mind, {"anybody": [*foreign_habits(mind, tongue), *tongue.lines["idle"]]})
    persona = mind.scene.persona
    about = f"{persona.text} {' '.join(persona.knows)}"
    kinds: dict[str, Sequence[str]] = {
        "habit": [*without_meanwhile(mind.character.habits), *habits_in(persona.text)],
        "work": work_of(about, mind.scene.situation),
        "thing": deeds_with(mind.scene.situation),
        "anybody": ANYBODY,
    }
    return planned(mind) or next_of(mind, kinds)


def planned(mind: Mind) -> str:
    """What its day has planned for now, every other time, so that it has its habits too; "" where
    that was all shown lately."""
    number = len(mind.past.emotes)
    if number % 2:
        return ""
    deeds = occupation_deeds(mind.past.about)
    lately = {text.strip().lower() for text in mind.past.emotes[-PLANNED_RECENT:]}
    return next((deed for deed in rotated(deeds, number // 2) if deed.lower() not in lately), "")


def next_of(mind: Mind, kinds: dict[str, Sequence[str]]) -> str:
    """One deed that was not shown yet, of the kind whose turn it is or the next; where all were,
    one that was not shown lately."""
    number = len(mind.past.emotes)
    start = (number + seed_of(mind.name)) % len(ROUND)
    order = dict.fromkeys([*ROUND[start:], *ROUND[:start]])
    choices = [rotated(kinds.get(kind, ()), number) for kind in order]
    every = [deed for deeds in choices for deed in deeds]
    return first_fresh(mind.past.emotes, every) if every else ""


def first_fresh(done: Sequence[str], choices: Sequence[str]) -> str:
    """The first of the choices that was not done yet, else that was not done lately."""
    for shown in (done, done[-RECENT:], done[-1:]):
        before = {text.strip().lower() for text in shown}
        fresh = [text for text in choices if text.lower() not in before]
        if fresh:
            return fresh[0]
    return ""


def foreign_habits(mind: Mind, tongue: Tongue) -> list[str]:
    """The parts of a German manner that can be shown; other tongues' verbs cannot be told."""
    if tongue.name != "German":
        return []
    parts = re.split(r"[,;.]\s*(?:und )?|\s+und\s+", mind.scene.persona.manner)
    verb = re.compile(
        r"^(?!ist\b|hat\b|spricht\b|redet\b|sagt\b|nicht\b|oft\b)[a-zäöü]{3,}t\b(?! nie)"
    )
    return [ended(part.strip()) for part in parts if verb.match(part.strip())]


def remark(mind: Mind, tongue: Tongue | None) -> Calls:
    """Seldom, after some quiet gestures: a line of its own, or something it knows."""
    last = [name for name, _ in mind.past.deeds if name != "noop"][-QUIET_ACTS:]
    if last != ["emote"] * QUIET_ACTS or (mind.character.tone == "terse" and mind.seed % 2):
        return ()
    own = rotated(map(ended, mind.untold(mind.character.examples)), mind.seed)
    if tongue:
        return spoken(mind, own[0]) if own else ()
    musings = [mind.phrase("musing", fact=text) for text in to_muse_on(mind)]
    choices = [*own, *musings] if mind.seed % 2 else [*musings[:1], *own, *musings]
    return spoken(mind, choices[0]) if choices else ()


def to_muse_on(mind: Mind) -> list[str]:
    """What it knows of the world, then what it wants, then what it says of itself; nothing told
    before, long or better kept."""
    character, persona = mind.character, mind.scene.persona
    lore = [p.text for p in mind.passages if p.source == "lore"]
    knows = list(character.facts[len(character.facts) - len(persona.knows) :])
    own = [text for text in character.facts if text not in {character.identity, *knows}]
    every = [*rotated([*lore, *knows], mind.seed), *character.wants, *own]
    fit = [
        text
        for text in every
        if len(text) < LONGEST_REMARK and len(text.split()) > 4 and not SECRETIVE.search(text)
    ]
    return mind.untold(dict.fromkeys(fit))
