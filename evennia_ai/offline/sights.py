"""Answers about what is seen: people, things, ways, the place, and what a walk showed."""

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
from evennia_ai.offline.naming import exit_parts, match_exit, match_name
from evennia_ai.offline.presence import lies_here, person_here, seen
from evennia_ai.offline.request_view import Mind, seen_parts
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
# Short, and neither a person nor something between people.
THINGLIKE = re.compile(
    r"(?!.*\b(?:you|your|me|my|i|to|that|who|what|how|idea|clue|about|secrets?)\b)[\w'-]+(?: [\w'-]+){0,2}",
    re.I,
)
DESCRIBED_PLACE = re.compile(r"\bExits: ")


def people(mind: Mind, speaker: str) -> str:
    """Who is here beside itself and whoever asks."""
    others = [name for name in mind.scene.situation.people if name not in {speaker, mind.name}]
    who = mind.called(speaker)
    if not others:
        return mind.phrase("alone", who=who)
    return mind.phrase("here", people=listed(others), who=who)


def things(mind: Mind, speaker: str) -> str:
    """What lies here."""
    seen_things = [an(name) for name in mind.scene.situation.things]
    who = mind.called(speaker)
    return (
        mind.phrase("things", things=listed(seen_things), who=who)
        if seen_things
        else mind.phrase("no_things", who=who)
    )


def count(mind: Mind, reading: Reading, speaker: str) -> str:
    """How many people, ways or things there are, where that is what is asked; else any answer."""
    situation, who = mind.scene.situation, mind.called(speaker)
    topic, text = reading.topic, reading.text
    if PEOPLE.search(topic):
        others = [name for name in situation.people if name not in {speaker, mind.name}]
        if not others:
            return mind.phrase("count_two", who=who)
        people_here = listed([*others, "you", "I"])
        return counted(mind, "people", len(others) + 2, people_here, who)
    if WAYS.search(topic):
        ways = listed(ways_of(situation.exits))
        return counted(mind, "things", len(situation.exits), ways, who)
    if THINGS.search(topic):
        seen_things = situation.carrying if YOU.search(text) else situation.things
        return counted(mind, "things", len(seen_things), listed([an(n) for n in seen_things]), who)
    numbers = fitting(text)
    known = [
        item
        for item in mind.rank(text)
        if item.cover > TOLD_BY_LORE and numbers and numbers.search(item.passage.text)
    ]
    if known:
        return answer(mind, reading, speaker)
    found = [name for name in (*situation.things, *situation.carrying) if of_kind(topic, name)]
    if found and not YOU.search(text.replace("do you see", "").replace("can you see", "")):
        if len(found) == 1 and is_plural(found[0]):
            return mind.phrase("lies_here", item=found[0], be="are", who=who)
        return counted(mind, "things", len(found), listed([an(name) for name in found]), who)
    return answer(mind, reading, speaker)


def of_kind(topic: str, name: str) -> bool:
    """True where a thing's name is of what is counted: "saddles" of "three saddles"."""
    return stem(words(topic)[-1]) in {stem(word) for word in words(name)} if words(topic) else False


def counted(mind: Mind, key: str, number: int, what: str, who: str) -> str:
    """A number with what it counts."""
    if number == 0:
        return mind.phrase("count_none", who=who)
    said = SMALL_NUMBERS[number] if number < len(SMALL_NUMBERS) else str(number)
    return mind.phrase(f"count_{key}", number=said, who=who, **{key: what})


def carrying(mind: Mind, speaker: str) -> str:
    """What it has with it."""
    held = [an(name) for name in mind.scene.situation.carrying]
    who = mind.called(speaker)
    return (
        mind.phrase("carry", things=listed(held), who=who)
        if held
        else mind.phrase("carry_nothing", who=who)
    )


def having(mind: Mind, reading: Reading, speaker: str) -> str:
    """Answer whether it has a thing."""
    situation, who = mind.scene.situation, mind.called(speaker)
    carried = match_name(reading.topic, situation.carrying)
    if carried:
        return mind.phrase("have", item=with_article(carried), who=who)
    lying = match_name(reading.topic, situation.things)
    known = from_knowledge(mind, reading.topic, speaker, shown=False)
    if lying and not known:
        return lies_here(mind, lying, who)
    thing = bare(reading.topic)
    if known or not THINGLIKE.fullmatch(thing):
        return known or answer(mind, reading, speaker)
    return mind.phrase("have_none", thing=thing, who=who)


def place(mind: Mind, reading: Reading, speaker: str) -> str:
    """Where this is and what it looks like; what lies here too, where that is asked."""
    situation, who = mind.scene.situation, mind.called(speaker)
    if not situation.place:
        return mind.phrase("unknown", who=who)
    fresh = mind.untold(p.text for p in mind.passages if p.source == "seen")
    shown = [text for text in fresh if len(text) < 200][
        : 2 if len(" ".join(fresh[:2])) < 190 else 1
    ]
    parts = [mind.phrase("place", who=who), *shown]
    if LOOKING.search(reading.text) and situation.things:
        parts.append(things(mind, speaker))
    return " ".join(parts)


def exits(mind: Mind, reading: Reading, speaker: str) -> str:
    """Where the ways lead: the one that was named, else all of them."""
    situation, who = mind.scene.situation, mind.called(speaker)
    topic = "" if reading.topic == reading.text else reading.topic
    named = match_exit(topic, situation.exits) if topic else ""
    if named:
        return words_for_exit(mind, named, who)
    known = from_knowledge(mind, reading.text, speaker) if topic else ""
    if known or not situation.exits:
        return known or mind.phrase("no_exits", who=who)
    return mind.phrase("exits", exits=listed(ways_of(situation.exits), "or"), who=who)


def way_to(mind: Mind, reading: Reading, speaker: str) -> str:
    """The way to a place, a thing or a person."""
    situation, who = mind.scene.situation, mind.called(speaker)
    here = match_name(reading.topic, situation.people, loose=False)
    if here and "'s" not in reading.topic and set(content(reading.topic)) <= set(content(here)):
        return f"{capital(here)} is right here."
    named = match_exit(reading.topic, situation.exits)
    known = from_knowledge(mind, f"where {reading.topic}", speaker)
    if named:
        line = words_for_exit(mind, named, who)
        return line if not known or mind.was_said(known) or len(known) > 160 else f"{line} {known}"
    if reading.topic and match_name(reading.topic, (situation.place,), loose=False) and not known:
        return place(mind, reading, speaker)
    asks_way = re.search(r"\b(?:how (?:do|can|would)|which|way|directions?)\b", reading.text, re.I)
    if known or not situation.exits or not asks_way:
        return known or answer(mind, reading, speaker)
    return mind.phrase(
        "way_unknown", exits=listed(ways_of(situation.exits), "or"), who=mind.called(speaker)
    )


def words_for_exit(mind: Mind, seen_exit: str, who: str) -> str:
    """Where an exit leads."""
    name, leads = exit_parts(seen_exit)
    if leads and set(content(name)) <= set(content(leads)):
        return mind.phrase("exit_so_called", place=leads, who=who)
    return mind.phrase("exit", exit=said_exit(name), place=leads or with_article(name), who=who)


def said_exit(name: str) -> str:
    """An exit's name in a sentence: "the stairs", but "the way up"."""
    return f"the way {name}" if name.lower() in OPPOSITES else with_article(name)


def ways_of(exits_seen: Sequence[str]) -> list[str]:
    """The exits as they are said: "down to Saltmarket Quay", "by the front door to Ferry Road"."""
    return [way_of(*exit_parts(seen_exit)) for seen_exit in exits_seen]


def way_of(name: str, leads: str) -> str:
    """One exit as it is said."""
    if not leads:
        return name
    if set(content(name)) <= set(content(leads)):
        return f"to {leads}"
    return f"{name} to {leads}" if name.lower() in OPPOSITES else f"by the {name} to {leads}"


def time(mind: Mind, speaker: str) -> str:
    """The time as the prompt tells it."""
    if not mind.past.time:
        return mind.phrase("unknown", who=mind.called(speaker))
    return mind.phrase("time", time=mind.past.time, who=mind.called(speaker))


def looked(mind: Mind, result: str, question: str) -> str:
    """What a look showed, as many of its sentences as may be said at once; where that is not all of
    them, those that touch the question come before the others."""
    parts = sentences(result.partition(": ")[2] or result)
    wanted = set(content(question))
    chosen: list[str] = []
    for part in sorted(parts, key=lambda text: -len(wanted & set(content(text)))):
        if not chosen or sum(map(len, chosen)) + len(part) <= LONGEST:
            chosen.append(part)
    return capital(" ".join(ended(part) for part in parts if part in chosen))


def saw(mind: Mind, reading: Reading, speaker: str) -> str:
    """What it saw where it went last."""
    who, here = mind.called(speaker), mind.scene.situation.place
    elsewhere = [
        s for s in mind.past.sights if DESCRIBED_PLACE.search(s) and s.partition(": ")[0] != here
    ]
    topic = reading.slots.get("topic", "")
    if not elsewhere:
        return answer(mind, reading, speaker)
    parts = seen_parts(elsewhere[-1].partition(": ")[2])
    if topic and not re.match(r"(?:any|some)?(?:thing|body|one)\b", topic):
        wanted = set(content(topic))
        near_by = [part for part in parts if wanted & set(content(part))]
        return (
            mind.phrase("there_is", fact=near_by[0], who=who)
            if near_by
            else mind.phrase("saw_not", who=who)
        )
    fresh = mind.untold(parts) or parts
    return (
        mind.phrase("saw", fact=" ".join(fresh[-2:]), who=who)
        if fresh
        else mind.phrase("saw_not", who=who)
    )


def is_there(mind: Mind, reading: Reading, speaker: str) -> str:
    """Answer whether there is such a thing: a way, a thing, a person, or something known."""
    if OF_SPEAKER.search(reading.text):
        return answer(mind, reading, speaker)
    situation, who = mind.scene.situation, mind.called(speaker)
    person = match_name(reading.topic, situation.people, loose=False)
    if person and set(content(reading.topic)) <= set(content(person)):
        return f"{capital(person)} is right here."
    seat = match_name(reading.topic, situation.things) if SITTING.search(reading.topic) else ""
    if seat:
        return lies_here(mind, seat, who)
    way = match_exit(reading.topic, situation.exits)
    if way:
        return words_for_exit(mind, way, who)
    here = seen(mind, reading, speaker) or person_here(mind, reading)
    known = from_knowledge(mind, reading.topic, speaker)
    if here or known:
        return here or known
    topic = bare(re.sub(r"\b(?:in )?here\b.*|\?", "", reading.topic)).strip()
    if not content(topic) or len(topic.split()) > 4 or " to " in f" {topic} ":
        return answer(mind, reading, speaker)
    return mind.phrase("see_none", thing=topic, be=being(topic), who=who)
