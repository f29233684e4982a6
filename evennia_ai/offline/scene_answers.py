"""Answers about the scene: people, things, exits, the place, past walks."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re
from collections.abc import Sequence

from evennia_ai.offline.actions import OPPOSITES
from evennia_ai.offline.answers import (
    LONGEST,
    answer,
    from_knowledge,
)
from evennia_ai.offline.knowledge import fitting
from evennia_ai.offline.name_matching import exit_parts, match_exit, match_name
from evennia_ai.offline.nearby import lies_here, person_here, seen
from evennia_ai.offline.request_view import RequestView, seen_parts
from evennia_ai.offline.understanding import Reading
from evennia_ai.offline.words import (
    an,
    bare,
    being,
    capital,
    content,
    ended,
    is_plural,
    listed,
    sentences,
    stem,
    with_article,
    words,
)

LOOKING = re.compile(r"\b(?:see|look|around|describe|interest\w*)\b", re.I)
PEOPLE = re.compile(
    r"\b(?:people|persons?|guests?|folks?|of (?:us|them|you)|souls|customers|men|others)\b", re.I
)
TOLD_BY_LORE = 0.6
SITTING = re.compile(r"\b(?:sit|seat)\b", re.I)
WAYS = re.compile(r"\b(?:exits?|ways?(?: out)?|doors?|paths?|roads?)\b", re.I)
THINGS = re.compile(r"^(?:\w+ )?(?:things?|objects?|items?)\b", re.I)
YOU = re.compile(r"\byou\b", re.I)
SMALL_NUMBERS = "none one two three four five six seven eight nine ten eleven twelve".split()
OF_SPEAKER = re.compile(
    r"\bI (?:can't|cannot|don't|must|should|need|have|said|told|like|may not)\b", re.I
)
# Short, and neither a person nor a relation between people.
THINGLIKE = re.compile(
    r"(?!.*\b(?:you|your|me|my|i|to|that|who|what|how|idea|clue|about|secrets?)\b)[\w'-]+(?: [\w'-]+){0,2}",
    re.I,
)
DESCRIBED_PLACE = re.compile(r"\bExits: ")


def people(view: RequestView, speaker: str) -> str:
    """Return who is here besides the character and the speaker."""
    others = [name for name in view.scene.situation.people if name not in {speaker, view.name}]
    who = view.called(speaker)
    if not others:
        return view.phrase("alone", who=who)
    return view.phrase("here", people=listed(others), who=who)


def things(view: RequestView, speaker: str) -> str:
    """Return what lies here."""
    seen_things = [an(name) for name in view.scene.situation.things]
    who = view.called(speaker)
    return (
        view.phrase("things", things=listed(seen_things), who=who)
        if seen_things
        else view.phrase("no_things", who=who)
    )


def count(view: RequestView, reading: Reading, speaker: str) -> str:
    """Answer how many people, exits or things there are; other questions as usual."""
    situation, who = view.scene.situation, view.called(speaker)
    topic, text = reading.topic, reading.text
    if PEOPLE.search(topic):
        others = [name for name in situation.people if name not in {speaker, view.name}]
        if not others:
            return view.phrase("count_two", who=who)
        people_here = listed([*others, "you", "I"])
        return counted(view, "people", len(others) + 2, people_here, who)
    if WAYS.search(topic):
        ways = listed(ways_of(situation.exits))
        return counted(view, "things", len(situation.exits), ways, who)
    if THINGS.search(topic):
        seen_things = situation.carrying if YOU.search(text) else situation.things
        return counted(view, "things", len(seen_things), listed([an(n) for n in seen_things]), who)
    numbers = fitting(text)
    known = [
        item
        for item in view.rank(text)
        if item.cover > TOLD_BY_LORE and numbers and numbers.search(item.passage.text)
    ]
    if known:
        return answer(view, reading, speaker)
    found = [name for name in (*situation.things, *situation.carrying) if of_kind(topic, name)]
    if found and not YOU.search(text.replace("do you see", "").replace("can you see", "")):
        if len(found) == 1 and is_plural(found[0]):
            return view.phrase("lies_here", item=found[0], be="are", who=who)
        return counted(view, "things", len(found), listed([an(name) for name in found]), who)
    return answer(view, reading, speaker)


def of_kind(topic: str, name: str) -> bool:
    """Return True if a thing is of the counted kind: "saddles" for "three saddles"."""
    return stem(words(topic)[-1]) in {stem(word) for word in words(name)} if words(topic) else False


def counted(view: RequestView, key: str, number: int, what: str, who: str) -> str:
    """Return a line with a number and what it counts."""
    if number == 0:
        return view.phrase("count_none", who=who)
    said = SMALL_NUMBERS[number] if number < len(SMALL_NUMBERS) else str(number)
    return view.phrase(f"count_{key}", number=said, who=who, **{key: what})


def carrying(view: RequestView, speaker: str) -> str:
    """Return what the character carries."""
    held = [an(name) for name in view.scene.situation.carrying]
    who = view.called(speaker)
    return (
        view.phrase("carry", things=listed(held), who=who)
        if held
        else view.phrase("carry_nothing", who=who)
    )


def having(view: RequestView, reading: Reading, speaker: str) -> str:
    """Answer whether the character has a thing."""
    situation, who = view.scene.situation, view.called(speaker)
    carried = match_name(reading.topic, situation.carrying)
    if carried:
        return view.phrase("have", item=with_article(carried), who=who)
    lying = match_name(reading.topic, situation.things)
    known = from_knowledge(view, reading.topic, speaker, shown=False)
    if lying and not known:
        return lies_here(view, lying, who)
    thing = bare(reading.topic)
    if known or not THINGLIKE.fullmatch(thing):
        return known or answer(view, reading, speaker)
    return view.phrase("have_none", thing=thing, who=who)


def place(view: RequestView, reading: Reading, speaker: str) -> str:
    """Return where this is and how it looks, with the things here if that is asked."""
    situation, who = view.scene.situation, view.called(speaker)
    if not situation.place:
        return view.phrase("unknown", who=who)
    fresh = view.untold(p.text for p in view.passages if p.source == "seen")
    shown = [text for text in fresh if len(text) < 200][
        : 2 if len(" ".join(fresh[:2])) < 190 else 1
    ]
    parts = [view.phrase("place", who=who), *shown]
    if LOOKING.search(reading.text) and situation.things:
        parts.append(things(view, speaker))
    return " ".join(parts)


def exits(view: RequestView, reading: Reading, speaker: str) -> str:
    """Return where the named exit leads, else all exits."""
    situation, who = view.scene.situation, view.called(speaker)
    topic = "" if reading.topic == reading.text else reading.topic
    named = match_exit(topic, situation.exits) if topic else ""
    if named:
        return words_for_exit(view, named, who)
    known = from_knowledge(view, reading.text, speaker) if topic else ""
    if known or not situation.exits:
        return known or view.phrase("no_exits", who=who)
    return view.phrase("exits", exits=listed(ways_of(situation.exits), "or"), who=who)


def way_to(view: RequestView, reading: Reading, speaker: str) -> str:
    """Return the way to a place, a thing or a person."""
    situation, who = view.scene.situation, view.called(speaker)
    here = match_name(reading.topic, situation.people, loose=False)
    if here and "'s" not in reading.topic and set(content(reading.topic)) <= set(content(here)):
        return f"{capital(here)} is right here."
    named = match_exit(reading.topic, situation.exits)
    known = from_knowledge(view, f"where {reading.topic}", speaker)
    if named:
        line = words_for_exit(view, named, who)
        return line if not known or view.was_said(known) or len(known) > 160 else f"{line} {known}"
    if reading.topic and match_name(reading.topic, (situation.place,), loose=False) and not known:
        return place(view, reading, speaker)
    asks_way = re.search(r"\b(?:how (?:do|can|would)|which|way|directions?)\b", reading.text, re.I)
    if known or not situation.exits or not asks_way:
        return known or answer(view, reading, speaker)
    return view.phrase(
        "way_unknown", exits=listed(ways_of(situation.exits), "or"), who=view.called(speaker)
    )


def words_for_exit(view: RequestView, seen_exit: str, who: str) -> str:
    """Return where an exit leads."""
    name, leads = exit_parts(seen_exit)
    if leads and set(content(name)) <= set(content(leads)):
        return view.phrase("exit_so_called", place=leads, who=who)
    return view.phrase("exit", exit=said_exit(name), place=leads or with_article(name), who=who)


def said_exit(name: str) -> str:
    """Return an exit's name for a sentence: "the stairs", but "the way up"."""
    return f"the way {name}" if name.lower() in OPPOSITES else with_article(name)


def ways_of(exits_seen: Sequence[str]) -> list[str]:
    """Return exits as they are said: "down to Saltmarket Quay", "by the door to ..."."""
    return [way_of(*exit_parts(seen_exit)) for seen_exit in exits_seen]


def way_of(name: str, leads: str) -> str:
    """Return one exit as it is said."""
    if not leads:
        return name
    if set(content(name)) <= set(content(leads)):
        return f"to {leads}"
    return f"{name} to {leads}" if name.lower() in OPPOSITES else f"by the {name} to {leads}"


def time(view: RequestView, speaker: str) -> str:
    """Return the time that the prompt gives."""
    if not view.transcript.time:
        return view.phrase("unknown", who=view.called(speaker))
    return view.phrase("time", time=view.transcript.time, who=view.called(speaker))


def looked(view: RequestView, result: str, question: str) -> str:
    """Return what a look showed, as many sentences as fit one line.

    If not all fit, sentences that share words with the question come first.
    """
    parts = sentences(result.partition(": ")[2] or result)
    wanted = set(content(question))
    chosen: list[str] = []
    for part in sorted(parts, key=lambda text: -len(wanted & set(content(text)))):
        if not chosen or sum(map(len, chosen)) + len(part) <= LONGEST:
            chosen.append(part)
    return capital(" ".join(ended(part) for part in parts if part in chosen))


def saw(view: RequestView, reading: Reading, speaker: str) -> str:
    """Return what the character saw on its last walk."""
    who, here = view.called(speaker), view.scene.situation.place
    elsewhere = [
        s
        for s in view.transcript.sights
        if DESCRIBED_PLACE.search(s) and s.partition(": ")[0] != here
    ]
    topic = reading.slots.get("topic", "")
    if not elsewhere:
        return answer(view, reading, speaker)
    parts = seen_parts(elsewhere[-1].partition(": ")[2])
    if topic and not re.match(r"(?:any|some)?(?:thing|body|one)\b", topic):
        wanted = set(content(topic))
        near_by = [part for part in parts if wanted & set(content(part))]
        return (
            view.phrase("there_is", fact=near_by[0], who=who)
            if near_by
            else view.phrase("saw_not", who=who)
        )
    fresh = view.untold(parts) or parts
    return (
        view.phrase("saw", fact=" ".join(fresh[-2:]), who=who)
        if fresh
        else view.phrase("saw_not", who=who)
    )


def is_there(view: RequestView, reading: Reading, speaker: str) -> str:
    """Answer whether there is such an exit, thing or person, or known topic."""
    if OF_SPEAKER.search(reading.text):
        return answer(view, reading, speaker)
    situation, who = view.scene.situation, view.called(speaker)
    person = match_name(reading.topic, situation.people, loose=False)
    if person and set(content(reading.topic)) <= set(content(person)):
        return f"{capital(person)} is right here."
    seat = match_name(reading.topic, situation.things) if SITTING.search(reading.topic) else ""
    if seat:
        return lies_here(view, seat, who)
    way = match_exit(reading.topic, situation.exits)
    if way:
        return words_for_exit(view, way, who)
    here = seen(view, reading, speaker) or person_here(view, reading)
    known = from_knowledge(view, reading.topic, speaker)
    if here or known:
        return here or known
    topic = bare(re.sub(r"\b(?:in )?here\b.*|\?", "", reading.topic)).strip()
    if not content(topic) or len(topic.split()) > 4 or " to " in f" {topic} ":
        return answer(view, reading, speaker)
    return view.phrase("see_none", thing=topic, be=being(topic), who=who)
