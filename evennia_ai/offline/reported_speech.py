"""What others said and did, quoted as far as the prompt's audience may know it."""

# a pattern is read best in one piece

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
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.speaker_facts import Statement
from evennia_ai.offline.transcript import SPEECH
from evennia_ai.offline.understanding import Reading, read_part
from evennia_ai.offline.words import listed, words


def said_by(view: RequestView, reading: Reading) -> str:
    """Return what somebody else said, as a line."""
    wanted = (reading.slots.get("who") or reading.slots.get("who2") or "").lower()
    if wanted in {"i", "we"}:
        found = from_statements(view, reading.text)
        return found or everything_about(view)
    other = speaker_named(view, wanted)
    of_asker = f"{view.who} {view.speaker}"
    text = re.sub(r"\bme\b", of_asker, reading.text)
    about_asker = "about me" in reading.text and other
    found = about_one(view, other, of_asker) if about_asker else ""
    found = found or (of_speaker(view, text, other) if other else "")
    told = view.speaker_facts.told_by(other) if other and not reading.slots.get("topic") else []
    if told and reading.slots.get("who2"):
        return quoted(view, told[0 if "first" in words(reading.text) else -1])
    if found or told:
        return found or quoted(view, told[-1])
    name = other or reading.slots.get("who", "")
    return view.phrase("said_nothing", other=name)


def speaker_named(view: RequestView, text: str) -> str:
    """Return the speaker that a text names; "" if none."""
    found = set(re.findall(r"[^\W_]+", text.lower()))
    for speaker, facts in view.speaker_facts.facts.items():
        if words(facts.get("name", ""))[:1] and words(facts["name"])[0] in found:
            return speaker
    names = {item.speaker for item in view.speaker_facts.statements}
    return next(
        (n for n in sorted(names) if n and set(re.findall(r"[^\W_]+", n.lower())) & found), ""
    )


def of_speaker(view: RequestView, question: str, other: str) -> str:
    """Return what a speaker told, did or asked that answers a question, or ""."""
    called = {other, *words(view.called(other))}
    names = "|".join(re.escape(name) for name in called)
    about = re.sub(rf"\b(?:{names})\b", "", question, flags=re.I)
    every = view.speaker_facts.told_by(other, "told", "did")
    sides = aspects_of(in_own_mouth(question, names))
    on_side = fitting_of(about, list(reversed(every)), lambda item: item.text, sides)
    if on_side:
        return quoted(view, on_side[0])
    found = nearest(view, about, every) or nearest(
        view, about, view.speaker_facts.told_by(other, "asked")
    )
    return quoted(view, found) if found else slot_of_other(view, question, other)


def about_one(view: RequestView, other: str, names: str) -> str:
    """Return what a speaker told about somebody else; "" if nothing."""
    said = {word.lower() for word in names.split()}
    told = [i for i in view.speaker_facts.told_by(other) if said & set(words(i.text))]
    return quoted(view, told[-1]) if told else ""


def in_own_mouth(question: str, names: str) -> str:
    """Return a question about somebody as that person would ask it.

    "what does Ben do" becomes "what do I do".
    """
    asked = re.sub(rf"\b(?:{names})'s\b", "my", question, flags=re.I)
    asked = re.sub(rf"\b(?:does|do) (?:{names})\b", "do I", asked, flags=re.I)
    asked = re.sub(rf"\b(?:is|are|was) (?:{names})\b", "am I", asked, flags=re.I)
    return re.sub(rf"\b(?:{names}) (?:is|was)\b", "I am", asked, flags=re.I)


def slot_of_other(view: RequestView, question: str, other: str) -> str:
    """Return a named fact of another speaker that answers a question; "" if none."""
    names = "|".join(re.escape(name) for name in {other, *words(view.called(other))})
    asked = in_own_mouth(question, names)
    slot = SLOT_OF.get(read_part(asked).intent, "")
    facts = view.speaker_facts.of(other)
    value = facts.get(slot) or (facts.get("does") if slot == "trade" else None)
    holding = [item for item in view.speaker_facts.told_by(other) if value and value in item.text]
    return quoted(view, holding[-1]) if holding else ""


def quoted(view: RequestView, statement: Statement) -> str:
    """Return a statement in its speaker's words, or a gift in the character's."""
    if statement.kind == "did":
        return deed(view, statement)
    fact = statement.text[:LONGEST].replace('"', "'")
    return view.phrase("said_by", other=statement.speaker, fact=fact)


def deed(view: RequestView, statement: Statement) -> str:
    """Return a gift as a line for others: "Bela gave me the apple"."""
    fact = statement.text.removeprefix("I ").replace(" you ", " me ").rstrip(".")
    return view.phrase("did", other=statement.speaker, fact=fact)


def from_others(view: RequestView, question: str) -> str:
    """Return what another speaker said or did that answers a question; "" if nothing."""
    other = speaker_named(view, question)
    if other and other != view.speaker and (found := of_speaker(view, question, other)):
        return found
    others = [
        i
        for i in view.speaker_facts.statements
        if i.speaker != view.speaker and i.kind in {"told", "did"}
    ]
    near_by = nearest(view, question, others)
    return quoted(view, near_by) if near_by else ""


def who_came(view: RequestView) -> str:
    """Return who came in last, as a line."""
    came = [item.speaker for item in view.speaker_facts.statements if item.kind == "came"]
    return view.phrase("came", other=came[-1]) if came else view.phrase("nobody_came")


def talked_to(view: RequestView) -> str:
    """Return who else spoke to the character, as a line."""
    spoke = [said.speaker for said in reversed(view.transcript.heard) if said.kind in SPEECH]
    others = [name for name in dict.fromkeys(spoke) if name and name != view.speaker]
    if not others:
        return view.phrase("talked_to_none")
    return view.phrase("talked_to", people=listed(others[:4]))


def who_gave(view: RequestView, question: str) -> str:
    """Answer who gave a thing; "" if the question is another one."""
    if not re.search(r"\bwho\b.*\b(?:gave|brought|handed|give|bring)\b", question, re.I):
        return ""
    gifts = [item for item in view.speaker_facts.statements if item.kind == "did"]
    found = nearest(view, question, gifts) or (gifts[-1] if gifts else None)
    return deed(view, found) if found else ""
