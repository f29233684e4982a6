"""What others said and did, in quotes: as far as the audience of the prompt may know it."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re

from evennia_ai.offline.aspects import aspects_of, fitting_of
from evennia_ai.offline.recalled_answers import (
    LONGEST,
    SLOT_OF,
    everything_about,
    from_statements,
    nearest,
)
from evennia_ai.offline.request_view import Mind
from evennia_ai.offline.speaker_facts import Statement
from evennia_ai.offline.transcript import SPEECH
from evennia_ai.offline.understanding import Reading, read_part
from evennia_ai.offline.words import listed, words


def said_by(mind: Mind, reading: Reading, speaker: str) -> str:
    """What somebody else said, as far as this prompt's audience may know it."""
    wanted = (reading.slots.get("who") or reading.slots.get("who2") or "").lower()
    if wanted in {"i", "we"}:
        found = from_statements(mind, reading.text, speaker)
        return found or everything_about(mind, speaker)
    other = speaker_named(mind, wanted)
    of_asker = f"{mind.called(speaker)} {speaker}"
    text = re.sub(r"\bme\b", of_asker, reading.text)
    about_asker = "about me" in reading.text and other
    found = about_one(mind, other, of_asker) if about_asker else ""
    found = found or (of_speaker(mind, text, other) if other else "")
    told = mind.memory.told_by(other) if other and not reading.slots.get("topic") else []
    if told and reading.slots.get("who2"):
        return quoted(mind, told[0 if "first" in words(reading.text) else -1])
    if found or told:
        return found or quoted(mind, told[-1])
    name = other or reading.slots.get("who", "")
    return mind.phrase("said_nothing", other=name, who=mind.called(speaker))


def speaker_named(mind: Mind, text: str) -> str:
    """The speaker whom a text names; "" for none."""
    found = set(re.findall(r"[^\W_]+", text.lower()))
    for speaker, facts in mind.memory.facts.items():
        if words(facts.get("name", ""))[:1] and words(facts["name"])[0] in found:
            return speaker
    names = {item.speaker for item in mind.memory.statements}
    return next(
        (n for n in sorted(names) if n and set(re.findall(r"[^\W_]+", n.lower())) & found), ""
    )


def of_speaker(mind: Mind, question: str, other: str) -> str:
    """What a speaker told, did or asked that answers a question about him; "" for nothing."""
    called = {other, *words(mind.called(other))}
    names = "|".join(re.escape(name) for name in called)
    about = re.sub(rf"\b(?:{names})\b", "", question, flags=re.I)
    every = mind.memory.told_by(other, "told", "did")
    sides = aspects_of(in_own_mouth(question, names))
    on_side = fitting_of(about, list(reversed(every)), lambda item: item.text, sides)
    if on_side:
        return quoted(mind, on_side[0])
    found = nearest(mind, about, every) or nearest(mind, about, mind.memory.told_by(other, "asked"))
    return quoted(mind, found) if found else slot_of_other(mind, question, other)


def about_one(mind: Mind, other: str, names: str) -> str:
    """What a speaker told of somebody else; "" for nothing."""
    said = {word.lower() for word in names.split()}
    told = [i for i in mind.memory.told_by(other) if said & set(words(i.text))]
    return quoted(mind, told[-1]) if told else ""


def in_own_mouth(question: str, names: str) -> str:
    """A question about somebody as he would ask it of himself: "what does Ben do" → "what do I do"."""
    asked = re.sub(rf"\b(?:{names})'s\b", "my", question, flags=re.I)
    asked = re.sub(rf"\b(?:does|do) (?:{names})\b", "do I", asked, flags=re.I)
    asked = re.sub(rf"\b(?:is|are|was) (?:{names})\b", "am I", asked, flags=re.I)
    return re.sub(rf"\b(?:{names}) (?:is|was)\b", "I am", asked, flags=re.I)


def slot_of_other(mind: Mind, question: str, other: str) -> str:
    """A named fact of another speaker, where the question would ask for it of oneself."""
    names = "|".join(re.escape(name) for name in {other, *words(mind.called(other))})
    asked = in_own_mouth(question, names)
    slot = SLOT_OF.get(read_part(asked).intent, "")
    facts = mind.memory.of(other)
    value = facts.get(slot) or (facts.get("does") if slot == "trade" else None)
    holding = [item for item in mind.memory.told_by(other) if value and value in item.text]
    return quoted(mind, holding[-1]) if holding else ""


def quoted(mind: Mind, statement: Statement) -> str:
    """A statement in its speaker's own words; a deed in the character's."""
    if statement.kind == "did":
        return deed(mind, statement)
    fact = statement.text[:LONGEST].replace('"', "'")
    return mind.phrase("said_by", other=statement.speaker, fact=fact)


def deed(mind: Mind, statement: Statement) -> str:
    """A gift as it is told to others: "Bela gave me the apple"."""
    fact = statement.text.removeprefix("I ").replace(" you ", " me ").rstrip(".")
    return mind.phrase("did", other=statement.speaker, fact=fact)


def from_others(mind: Mind, question: str, speaker: str) -> str:
    """What another speaker said or did that answers a question; "" for nothing."""
    other = speaker_named(mind, question)
    if other and other != speaker and (found := of_speaker(mind, question, other)):
        return found
    others = [
        i for i in mind.memory.statements if i.speaker != speaker and i.kind in {"told", "did"}
    ]
    near_by = nearest(mind, question, others)
    return quoted(mind, near_by) if near_by else ""


def who_came(mind: Mind, speaker: str) -> str:
    """Who came in last."""
    came = [item.speaker for item in mind.memory.statements if item.kind == "came"]
    who = mind.called(speaker)
    return (
        mind.phrase("came", other=came[-1], who=who)
        if came
        else mind.phrase("nobody_came", who=who)
    )


def talked_to(mind: Mind, speaker: str) -> str:
    """Who else spoke to it, as far as this prompt's audience may know."""
    spoke = [said.speaker for said in reversed(mind.past.heard) if said.kind in SPEECH]
    others = [name for name in dict.fromkeys(spoke) if name and name != speaker]
    who = mind.called(speaker)
    if not others:
        return mind.phrase("talked_to_none", who=who)
    return mind.phrase("talked_to", people=listed(others[:4]), who=who)


def who_gave(mind: Mind, question: str) -> str:
    """Answer who gave a thing, from the gifts; "" where the question is another."""
    if not re.search(r"\bwho\b.*\b(?:gave|brought|handed|give|bring)\b", question, re.I):
        return ""
    gifts = [item for item in mind.memory.statements if item.kind == "did"]
    found = nearest(mind, question, gifts) or (gifts[-1] if gifts else None)
    return deed(mind, found) if found else ""
