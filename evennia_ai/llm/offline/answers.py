"""Answers to questions: from the persona, the lore, what it sees, and what others said."""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import re

from evennia_ai.llm.offline.actions import exit_parts, match_exit, match_name
from evennia_ai.llm.offline.knowledge import Found, Passage, fitting
from evennia_ai.llm.offline.memory import Statement
from evennia_ai.llm.offline.mind import Mind, seen_parts
from evennia_ai.llm.offline.recollection import (
    back_to,
    from_others,
    from_statements,
    nearest,
    speaker_named,
    who_gave,
)
from evennia_ai.llm.offline.understanding import Reading
from evennia_ai.llm.offline.words import (
    an,
    capital,
    content,
    ended,
    listed,
    sentences,
    stem,
    with_article,
    words,
)

SECOND = 0.62
SHORT = 110
BRIEF = 125
WANTING = frozenset(content("want wish goal need like"))
FRESH = 0.75
PAST = re.compile(r"\b(?:was|were|did|happen\w*)\b", re.I)
PRONOUNS = tuple(
    re.compile(rf"\b(?:{group})\b", re.I)
    for group in ("he|him|his", "she|her|hers", "they|them|their|theirs")
)
VERBAL = re.compile(
    r"\b(?:is|are|was|were|do|does|did|can|could|will|would|have|has|had|am|what|who|where|when|why|how)\b",
    re.I,
)
LEANING = re.compile(
    r"\b(?:he|she|it|they|him|her|them|his|their|its|that|there|this|those|these|then)\b", re.I
)
LONGEST = 230
DESCRIBED_PLACE = re.compile(r"\bExits: ")
TOPIC_LEAD = re.compile(
    r"^(?:.*?\b(?:about|of|is|are|was|were|like|love|trust|fear|hate)\s+)?(?:the |a |an |your |this |that |my )?",
    re.I,
)
TALKING = frozenset(
    "tell speak say repeat reveal talk discuss mention betray lie share pass gossip answer".split()
)
EVERYDAY = frozenset(
    "give take go let make have do be get put leave use want keep see know".split()
)


def from_knowledge(mind: Mind, question: str, speaker: str, *, shown: bool = True) -> str:
    """The best of what is known, without what is merely seen where ``shown`` is False; "" where
    nothing comes near. What was said before gives way to what is nearly as near."""
    found = [item for item in mind.rank(question) if is_sayable(item, shown)]
    if not found:
        return ""
    fresh = [
        i for i in found if i.score >= FRESH * found[0].score and not mind.was_said(i.passage.text)
    ]
    if not fresh:
        following = "" if fitting(question) else sequel(mind, found[0].passage)
        return following or mind.told(found[0].passage.text, mind.called(speaker))
    if fitting(question) and fresh[0] is not found[0]:
        return mind.told(found[0].passage.text, mind.called(speaker))
    words_out = [unsaid_part(mind, fresh[0].passage.text)]
    second = next_part(mind, fresh[0].passage) or _second(mind, fresh)
    second = " ".join(part for part in sentences(second) if part not in words_out[0])
    if second and len(words_out[0]) + len(second) <= room_for(mind):
        words_out.append(second)
    return " ".join(words_out)


def room_for(mind: Mind) -> int:
    """How many characters it says at once; one of few words says less."""
    return BRIEF if mind.character.tone == "terse" else LONGEST


def is_sayable(item: Found, shown: bool) -> bool:
    """False for what it never does, unless just that is asked, and for sights not wanted."""
    if item.passage.source == "never":
        return item.cover > 0.6
    return shown or item.passage.source not in {"seen", "saw"}


def unsaid_part(mind: Mind, text: str) -> str:
    """A passage without those of its sentences that were spoken before, if any are left."""
    fresh = [part for part in sentences(text) if not mind.repeats(part)]
    return ended(" ".join(fresh) or text)


def next_part(mind: Mind, passage: Passage) -> str:
    """The next piece of lore where this one alone says little."""
    return sequel(mind, passage) if passage.source == "lore" and len(passage.text) < SHORT else ""


def sequel(mind: Mind, passage: Passage) -> str:
    """The next piece of the same lore that was not told yet; "" where there is none."""
    if passage not in mind.passages or not passage.title:
        return ""
    after = mind.passages[mind.passages.index(passage) + 1 :]
    same = [item for item in after if item.title == passage.title and not mind.was_said(item.text)]
    return ended(same[0].text) if same else ""


def _second(mind: Mind, found: list[Found]) -> str:
    """Another passage almost as near, that adds something."""
    first = set(content(found[0].passage.text))
    for item in found[1:3]:
        text = item.passage.text
        news = set(content(text)) - first
        if (
            item.score >= SECOND * found[0].score
            and len(news) > 1
            and not first <= set(content(text))
        ):
            return ended(text)
    return ""


def answer(mind: Mind, reading: Reading, speaker: str) -> str:
    """An answer to any question, honest where there is none."""
    text = reading.text
    text = whole_question(mind, text, speaker)
    past = re.search(r"\b(?:was|were|did)\b", text, re.I) and not re.search(r"\byou\b", text, re.I)
    mine = past or re.search(r"\b(?:my|mine|did i|have i|i (?:said|told|mentioned))\b", text, re.I)
    if mine and (told := from_statements(mind, text, speaker)):
        return told
    other = speaker_named(mind, text)
    if other and other not in {speaker, mind.name} and (told := from_others(mind, text, speaker)):
        return told
    return (
        who_gave(mind, text)
        or person_here(mind, reading)
        or from_knowledge(mind, text, speaker)
        or (from_knowledge(mind, reading.topic, speaker) if reading.topic != text else "")
        or seen(mind, reading, speaker)
        or in_context(mind, reading, speaker)
        or from_others(mind, text, speaker)
        or from_statements(mind, text, speaker)
        or unknown(mind, reading, speaker)
    )


def whole_question(mind: Mind, text: str, speaker: str) -> str:
    """A question of few words ("And a bowl of stew?") with the frame of the one before it."""
    if len(text.split()) > 5 or VERBAL.search(text) or not text.endswith("?"):
        return text
    asked = [item.text for item in mind.memory.told_by(speaker, "asked") if item.text not in text]
    earlier = [item for item in asked if text not in item]
    return f"{' '.join(earlier[-1].split()[:3])} {text}" if earlier else text


def in_context(mind: Mind, reading: Reading, speaker: str) -> str:
    """A question that leans on what was said just before ("Is she strict?"): something more about
    that; "" where it does not lean or nothing more is known."""
    if not LEANING.search(reading.text) or len(content(reading.text)) > 2 or not mind.past.own:
        return ""
    earlier = mind.past.own[-1]
    told = [item for item in mind.memory.told_by(speaker) if item.text not in reading.text]
    about = of_the_same(reading.text, told)
    if about and "you" in words(earlier):
        return back_to(mind, about, reading.text, speaker)
    if told and not content(reading.text) and PAST.search(reading.text):
        return back_to(mind, told[-1], reading.text, speaker)
    subject = " ".join(word for word in words(earlier) if stem(word) not in WANTING)
    found = [item for item in mind.rank(subject) if is_sayable(item, True)]
    fresh = [item for item in found if not mind.was_said(item.passage.text)]
    if fresh:
        return unsaid_part(mind, fresh[0].passage.text)
    return mind.told(found[0].passage.text, mind.called(speaker)) if found else ""


def of_the_same(question: str, told: list[Statement]) -> Statement | None:
    """The latest statement about the "he", "she" or "it" of a question."""
    for group in PRONOUNS:
        if group.search(question):
            return next((item for item in reversed(told) if group.search(item.text)), None)
    return None


def person_here(mind: Mind, reading: Reading) -> str:
    """Answer "Is Ben here?" where he is."""
    found = re.search(
        r"^(?:and )?(?:(?:is|have you seen) (\w[\w ]*?)(?: here| around| about| in)|(?:where is|where's) (\w[\w ]*?))\W*$",
        reading.text,
        re.I,
    )
    if found and "'s" in (found[1] or found[2]):
        return ""
    name = (
        match_name(found[1] or found[2], mind.scene.situation.people, loose=False) if found else ""
    )
    return f"{name} is right here." if name else ""


def seen(mind: Mind, reading: Reading, speaker: str) -> str:
    """A thing that lies here or is carried, where the question names it."""
    situation, who = mind.scene.situation, mind.called(speaker)
    carried = match_name(reading.topic, situation.carrying, loose=False)
    if carried:
        return mind.phrase("have", item=with_article(carried), who=who)
    lying = match_name(reading.topic, situation.things, loose=False)
    return mind.phrase("lies_here", item=with_article(lying), who=who) if lying else ""


def topic_of(reading: Reading) -> str:
    """What is asked about, short enough to be named in the answer; "" where it cannot be told."""
    text = reading.slots.get("topic", "")
    if not text:
        found = re.search(r"\b(?:about|of)\s+((?:the |a |an )?[\w' -]{2,30})\W*$", reading.text)
        text = found[1] if found else ""
    text = re.sub(r"^(?:any|some|your|my)\s+", "", text.strip(" ?.!,"))
    clear = (
        0 < len(text.split()) <= 4
        and content(text)
        and not re.search(
            r"\b(?:you|i|me|my|we|your|it|he|she|they|him|her|them|is|are|to)\b", text, re.I
        )
    )
    return text if clear else ""


def unknown(mind: Mind, reading: Reading, speaker: str) -> str:
    """Say that it does not know, and now and then what it does know about."""
    who, topic = mind.called(speaker), topic_of(reading)
    if re.search(r"\byou(?:r|rs|rself)?\b", reading.text, re.I) and not topic:
        return mind.phrase("personal", who=who)
    words_out = (
        mind.phrase("unknown_topic", topic=topic, who=who)
        if topic
        else mind.phrase("unknown", who=who)
    )
    offers = [offer for offer in mind.offers() if offer.lower() not in reading.text.lower()]
    if offers and mind.character.tone != "terse" and mind.seed % 3 != 0:
        offer = mind.phrase("offer", offer=offers[mind.seed % len(offers)])
        if not mind.was_said(offer):
            return f"{words_out} {offer}"
    return words_out


def opinion(mind: Mind, reading: Reading, speaker: str) -> str:
    """What it holds of something: what it says of it, else no firm opinion."""
    known = from_knowledge(mind, reading.text, speaker)
    if known:
        return known
    topic = _bare_topic(reading.text)
    if not topic:
        return unknown(mind, reading, speaker)
    return mind.phrase("opinion", topic=topic, who=mind.called(speaker))


def _bare_topic(text: str) -> str:
    found = re.search(
        r"\b(?:of|about|on|for|like|love|trust|fear|hate|dislike|enjoy|in|respect|mind|to)\s+([\w' -]{2,40})\W*$",
        text,
        re.I,
    )
    topic = re.sub(r"^your\b", "my", found[1].strip()) if found else ""
    return (
        topic
        if 0 < len(topic.split()) <= 4
        and topic.lower() not in {"me", "it", "that", "this", "him", "her"}
        else ""
    )


def never_clause(mind: Mind, text: str) -> str:
    """The thing it never does that a request asks for; "" where it asks for none."""
    wanted = {stem(word) for word in words(text)}
    for clause in mind.character.nevers:
        stems = content(re.sub(r"^I never", "", clause))
        if not stems:
            continue
        verb, things = stems[0], stems[1:]
        shared = [item for item in things if item in wanted]
        talk = verb in {stem(word) for word in TALKING}
        common = verb in {stem(word) for word in EVERYDAY}
        if talk and shared and len(shared) * 3 >= len(things):
            return clause
        if verb in wanted and not common and (shared or not things or len(things) == 1):
            return clause
        if len(shared) >= 2 or (common and verb in wanted and shared):
            return clause
    return ""


def doing(mind: Mind, speaker: str) -> str:
    """What it is at work on: a thing it says it is doing, else a goal that is a deed."""
    busy = re.compile(r"^I am (?:\w+ )?\w+ing\b|\b(?:finish|done|complete|build|make)\b")
    found = [text for text in (*mind.character.facts, *mind.character.wants) if busy.search(text)]
    fresh = mind.untold(found)
    return " ".join(fresh[:2]) if fresh else goals(mind, speaker)


def asked_for(mind: Mind, reading: Reading, speaker: str) -> str:
    """A request for which there is no tool: what it never does in this, what it knows of it, or a
    plain no."""
    who, wanted = mind.called(speaker), set(content(reading.text))
    for clause in mind.character.nevers:
        if wanted & set(content(clause)[1:]):
            return mind.phrase("never", fact=clause, who=who)
    known = from_knowledge(mind, reading.text, speaker, shown=False)
    return known or mind.phrase("request_not", who=who)


def self_portrait(mind: Mind, speaker: str) -> str:
    """Who it is, and one thing more that it has not told yet."""
    character, who = mind.character, mind.called(speaker)
    identity = character.identity or f"I am {mind.name}."
    if mind.name.lower() not in identity.lower():
        described = re.match(r"I am (?=an? |the )", identity)
        rest = f", {identity[described.end() :]}" if described else f"; {identity}"
        identity = f"I am {mind.name}{rest}"
    more = [
        fact
        for fact in mind.untold(character.facts)
        if fact != character.identity and fact not in character.wants
    ]
    tail = f" {more[0]}" if more and character.tone != "terse" and len(more[0]) < 160 else ""
    return mind.told(identity, who) + tail


def goals(mind: Mind, speaker: str) -> str:
    """What it wants: what was not told yet comes first."""
    who, wants = mind.called(speaker), mind.character.wants
    if not wants:
        return from_knowledge(mind, "want need goal wish", speaker) or mind.phrase(
            "no_goals", who=who
        )
    fresh = mind.untold(wants)
    if not fresh:
        return mind.told(wants[mind.seed % len(wants)], who)
    both = " ".join(fresh[:2])
    return both if len(both) <= 200 and mind.character.tone != "terse" else fresh[0]


def tale(mind: Mind, speaker: str) -> str:
    """A piece of lore or of itself that was not told yet."""
    who = mind.called(speaker)
    lore = [p.text for p in mind.passages if p.source == "lore"]
    own = [
        p.text for p in mind.passages if p.source == "self" and p.text != mind.character.identity
    ]
    past = re.compile(r"\b(?:have|took|was|were|had|there is|lost|found|\w+ed|want|goal|wish)\b")
    own = sorted([*own, *mind.character.wants], key=lambda text: not past.search(text))
    fresh = mind.untold([*lore, *own])
    return (
        mind.phrase("story", fact=fresh[0], who=who) if fresh else mind.phrase("no_story", who=who)
    )


def people(mind: Mind, speaker: str) -> str:
    """Who is here beside itself and whoever asks."""
    others = [name for name in mind.scene.situation.people if name not in {speaker, mind.name}]
    who = mind.called(speaker)
    if not others:
        return mind.phrase("alone", who=who)
    return mind.phrase("here", people=listed([*others, "you"]), who=who)


def things(mind: Mind, speaker: str) -> str:
    """What lies here."""
    seen_things = [an(name) for name in mind.scene.situation.things]
    who = mind.called(speaker)
    return (
        mind.phrase("things", things=listed(seen_things), who=who)
        if seen_things
        else mind.phrase("no_things", who=who)
    )


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
        return mind.phrase("lies_here", item=with_article(lying), who=who)
    return known or answer(mind, reading, speaker)


def place(mind: Mind, speaker: str) -> str:
    """Where this is, with a sentence of what it looks like."""
    situation, who = mind.scene.situation, mind.called(speaker)
    if not situation.place:
        return mind.phrase("unknown", who=who)
    fresh = mind.untold(p.text for p in mind.passages if p.source == "seen")
    here = mind.phrase("place", who=who)
    return f"{here} {fresh[0]}" if fresh and len(fresh[0]) < 200 else here


def exits(mind: Mind, reading: Reading, speaker: str) -> str:
    """Where the ways lead: the one that was named, else all of them."""
    situation, who = mind.scene.situation, mind.called(speaker)
    topic = reading.slots.get("topic") or reading.slots.get("topic2") or ""
    named = match_exit(topic, situation.exits) if topic else ""
    if named:
        name, leads = exit_parts(named)
        return mind.phrase("exit", exit=name, place=leads or with_article(name), who=who)
    known = from_knowledge(mind, reading.text, speaker) if topic else ""
    if known or not situation.exits:
        return known or mind.phrase("no_exits", who=who)
    ways = [
        f"{name} to {leads}" if leads else name for name, leads in map(exit_parts, situation.exits)
    ]
    return mind.phrase("exits", exits=listed(ways, "or"), who=who)


def way_to(mind: Mind, reading: Reading, speaker: str) -> str:
    """The way to a place, a thing or a person."""
    situation, who = mind.scene.situation, mind.called(speaker)
    here = match_name(reading.topic, situation.people, loose=False)
    if here and "'s" not in reading.topic:
        return f"{here} is right here."
    named = match_exit(reading.topic, situation.exits)
    known = from_knowledge(mind, reading.topic, speaker)
    if named:
        name, leads = exit_parts(named)
        line = mind.phrase("exit", exit=name, place=leads or with_article(name), who=who)
        return line if not known or mind.was_said(known) or len(known) > 160 else f"{line} {known}"
    if reading.topic and match_name(reading.topic, (situation.place,), loose=False) and not known:
        return place(mind, speaker)
    return known or answer(mind, reading, speaker)


def time(mind: Mind, speaker: str) -> str:
    """The time as the prompt tells it."""
    if not mind.past.time:
        return mind.phrase("unknown", who=mind.called(speaker))
    return mind.phrase("time", time=mind.past.time, who=mind.called(speaker))


def about(mind: Mind, reading: Reading, speaker: str) -> str:
    """As in "Tell me about X", "who is X": of itself where X is itself."""
    if re.fullmatch(rf"(?:you|yourself|{re.escape(mind.name)})", reading.topic.strip(), re.I):
        return self_portrait(mind, speaker)
    return answer(mind, reading, speaker)


def looked(mind: Mind, result: str, question: str) -> str:
    """What a look showed, as many of its sentences as may be said at once."""
    text = result.partition(": ")[2] or result
    fact = ""
    for part in sentences(text):
        if fact and len(fact) + len(part) > LONGEST:
            break
        fact = f"{fact} {ended(part)}".strip()
    return capital(fact)


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
    situation, who = mind.scene.situation, mind.called(speaker)
    way = match_exit(reading.topic, situation.exits)
    if way:
        name, leads = exit_parts(way)
        return mind.phrase("exit", exit=name, place=leads or with_article(name), who=who)
    here = seen(mind, reading, speaker)
    known = from_knowledge(mind, reading.topic, speaker)
    return here or known or answer(mind, reading, speaker)
