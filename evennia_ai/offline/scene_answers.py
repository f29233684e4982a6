"""Answers about the scene: people, things, exits, the place, sounds and smells, past walks."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re
from collections.abc import Sequence

from evennia_ai.offline.actions import OPPOSITES
from evennia_ai.offline.answers import LONGEST, answer, from_knowledge
from evennia_ai.offline.knowledge import fitting
from evennia_ai.offline.name_matching import exit_parts, match_exit, match_name
from evennia_ai.offline.nearby import lies_here, person_here, right_here, seen
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
SENSES = {
    "sound": re.compile(
        r"\b(?:sounds?|noise|nois\w+|hum\w*|ring\w*|quiet|silen\w+|murmur\w*|squeak\w*|crackl\w*|roar\w*|drip\w*|"
        r"hiss\w*|creak\w*|whisper\w*|hammer\w*|sing\w*|gulls|echo\w*|rattl\w*|slap\w*|rustl\w*|grumbl\w*|buzz\w*)\b",
        re.I,
    ),
    "smell": re.compile(
        r"\b(?:smell\w*|scent\w*|stink\w*|reek\w*|odou?r|fragran\w+|perfume|aroma)\b", re.I
    ),
    "feel": re.compile(
        r"\b(?:warm\w*|cold|cool|heat|hot|damp|draught\w*|chill\w*|dry|wet|soft|smoky|air)\b", re.I
    ),
}
SENSE_OF = {"noise": "sound", "hear": "sound", "stink": "smell", "scent": "smell"}


def people(view: RequestView) -> str:
    """Return who is here besides the character and the speaker."""
    return view.phrase("here", people=listed(view.others)) if view.others else view.phrase("alone")


def things(view: RequestView) -> str:
    """Return what lies here."""
    seen_things = [an(name) for name in view.scene.situation.things]
    return (
        view.phrase("things", things=listed(seen_things))
        if seen_things
        else view.phrase("no_things")
    )


def count(view: RequestView, reading: Reading) -> str:
    """Answer how many people, exits or things there are; other questions as usual."""
    situation = view.scene.situation
    topic, text = reading.topic, reading.text
    if PEOPLE.search(topic):
        everybody = [*view.others, "you", "I"]
        return counted(view, "people", len(everybody), listed(everybody))
    if WAYS.search(topic):
        ways = listed(ways_of(situation.exits))
        return counted(view, "things", len(situation.exits), ways)
    if THINGS.search(topic):
        seen_things = situation.carrying if YOU.search(text) else situation.things
        return counted(view, "things", len(seen_things), listed([an(n) for n in seen_things]))
    numbers = fitting(text)
    known = [
        item
        for item in view.rank(text)
        if item.cover > TOLD_BY_LORE and numbers and numbers.search(item.passage.text)
    ]
    if known:
        return answer(view, reading)
    found = [name for name in (*situation.things, *situation.carrying) if of_kind(topic, name)]
    if found and not YOU.search(text.replace("do you see", "").replace("can you see", "")):
        if len(found) == 1 and is_plural(found[0]):
            return view.phrase("lies_here", item=found[0], be="are")
        return counted(view, "things", len(found), listed([an(name) for name in found]))
    return answer(view, reading)


def of_kind(topic: str, name: str) -> bool:
    """Return True if a thing is of the counted kind: "saddles" for "three saddles"."""
    return stem(words(topic)[-1]) in {stem(word) for word in words(name)} if words(topic) else False


def counted(view: RequestView, key: str, number: int, what: str) -> str:
    """Return a line with a number and what it counts."""
    if number == 0:
        return view.phrase("count_none")
    said = SMALL_NUMBERS[number] if number < len(SMALL_NUMBERS) else str(number)
    return view.phrase(f"count_{key}", number=said, **{key: what})


def carrying(view: RequestView) -> str:
    """Return what the character carries."""
    held = [an(name) for name in view.scene.situation.carrying]
    return view.phrase("carry", things=listed(held)) if held else view.phrase("carry_nothing")


def having(view: RequestView, reading: Reading) -> str:
    """Answer whether the character has a thing."""
    situation = view.scene.situation
    carried = match_name(reading.topic, situation.carrying)
    if carried:
        return view.phrase("have", item=with_article(carried))
    lying = match_name(reading.topic, situation.things)
    known = from_knowledge(view, reading.topic, shown=False)
    if lying and not known:
        return lies_here(view, lying)
    thing = bare(reading.topic)
    if known or not THINGLIKE.fullmatch(thing):
        return known or answer(view, reading)
    return view.phrase("have_not", thing=thing)


def place(view: RequestView, reading: Reading) -> str:
    """Return where this is and how it looks, with the things here if that is asked."""
    situation = view.scene.situation
    if not situation.place:
        return view.phrase("unknown")
    fresh = view.untold(p.text for p in view.passages if p.source == "seen")
    shown = [text for text in fresh if len(text) < 200][
        : 2 if len(" ".join(fresh[:2])) < 190 else 1
    ]
    parts = [view.phrase("place"), *shown]
    if LOOKING.search(reading.text) and situation.things:
        parts.append(things(view))
    return " ".join(parts)


def exits(view: RequestView, reading: Reading) -> str:
    """Return where the named exit leads, else all exits."""
    situation = view.scene.situation
    topic = "" if reading.topic == reading.text else reading.topic
    named = match_exit(topic, situation.exits) if topic else ""
    if named:
        return words_for_exit(view, named)
    known = from_knowledge(view, reading.text) if topic else ""
    if known or not situation.exits:
        return known or view.phrase("no_exits")
    return view.phrase("exits", exits=listed(ways_of(situation.exits), "or"))


def way_to(view: RequestView, reading: Reading) -> str:
    """Return the way to a place, a thing or a person."""
    situation = view.scene.situation
    if "'s" not in reading.topic and (here := right_here(view, reading.topic)):
        return here
    named = match_exit(reading.topic, situation.exits)
    known = from_knowledge(view, f"where {reading.topic}")
    if named:
        line = words_for_exit(view, named)
        return line if not known or view.was_said(known) or len(known) > 160 else f"{line} {known}"
    if reading.topic and match_name(reading.topic, (situation.place,), loose=False) and not known:
        return place(view, reading)
    asks_way = re.search(r"\b(?:how (?:do|can|would)|which|way|directions?)\b", reading.text, re.I)
    if known or not situation.exits or not asks_way:
        return known or answer(view, reading)
    return view.phrase("way_unknown", exits=listed(ways_of(situation.exits), "or"))


def words_for_exit(view: RequestView, seen_exit: str) -> str:
    """Return where an exit leads."""
    name, leads = exit_parts(seen_exit)
    if leads and set(content(name)) <= set(content(leads)):
        return view.phrase("exit_so_called", place=leads)
    return view.phrase("exit", exit=said_exit(name), place=leads or with_article(name))


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


def time(view: RequestView) -> str:
    """Return the time that the prompt gives."""
    if not view.transcript.time:
        return view.phrase("unknown")
    return view.phrase("time", time=view.transcript.time)


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


def saw(view: RequestView, reading: Reading) -> str:
    """Return what the character saw on its last walk."""
    here = view.scene.situation.place
    elsewhere = [
        s
        for s in view.transcript.sights
        if DESCRIBED_PLACE.search(s) and s.partition(": ")[0] != here
    ]
    topic = reading.slots.get("topic", "")
    if not elsewhere:
        return answer(view, reading)
    parts = seen_parts(elsewhere[-1].partition(": ")[2])
    if topic and not re.match(r"(?:any|some)?(?:thing|body|one)\b", topic):
        wanted = set(content(topic))
        near_by = [part for part in parts if wanted & set(content(part))]
        return view.phrase("there_is", fact=near_by[0]) if near_by else view.phrase("saw_not")
    fresh = view.untold(parts) or parts
    return view.phrase("saw", fact=" ".join(fresh[-2:])) if fresh else view.phrase("saw_not")


def is_there(view: RequestView, reading: Reading) -> str:
    """Answer whether there is such an exit, thing or person, or known topic."""
    if OF_SPEAKER.search(reading.text):
        return answer(view, reading)
    situation = view.scene.situation
    person = right_here(view, reading.topic)
    if person:
        return person
    seat = match_name(reading.topic, situation.things) if SITTING.search(reading.topic) else ""
    if seat:
        return lies_here(view, seat)
    way = match_exit(reading.topic, situation.exits)
    if way:
        return words_for_exit(view, way)
    here = seen(view, reading) or person_here(view, reading)
    known = from_knowledge(view, reading.topic)
    if here or known:
        return here or known
    topic = bare(re.sub(r"\b(?:in )?here\b.*|\?", "", reading.topic)).strip()
    if not content(topic) or len(topic.split()) > 4 or " to " in f" {topic} ":
        return answer(view, reading)
    return view.phrase("see_none", thing=topic, be=being(topic))


def sensed(view: RequestView, reading: Reading) -> str:
    """Return what can be heard, smelt or felt, from the place's description."""
    sense = SENSES[SENSE_OF.get(reading.topic.lower(), reading.topic.lower())]
    found = [p.text for p in view.passages if p.source == "seen" and sense.search(p.text)]
    return view.told(found[0]) if found else view.phrase("nothing_sensed")


def other_seen(view: RequestView, reading: Reading) -> str:
    """Return how somebody looks or what they do, if known; else "see for yourself"."""
    named = next((v for k, v in reading.slots.items() if k.startswith("who")), "")
    other = match_name(named, view.scene.situation.people, loose=False)
    if not other and named[:1].isupper():
        return from_knowledge(view, named) or view.phrase("not_here", other=named)
    return from_knowledge(view, reading.text, shown=False) or view.phrase("see_yourself")
