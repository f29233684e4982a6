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
    wanted = reading.slots.get("who") or reading.slots.get("who2") or ""
    if wanted.lower() in {"i", "we"}:
        return from_statements(view, reading.text) or everything_about(view)
    other = speaker_named(view, wanted)
    told = view.speaker_facts.told_by(other) if other and not reading.slots.get("topic") else []
    if told and reading.slots.get("who2"):
        return quoted(view, told[0 if "first" in words(reading.text) else -1])
    text = re.sub(r"\bme\b", f"{view.who} {view.speaker}", reading.text)
    found = of_speaker(view, text, other) if other else ""
    if found or told:
        return found or quoted(view, told[-1])
    return view.phrase("said_nothing", other=other or wanted)


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
    names = "|".join(re.escape(name) for name in {other, *words(view.called(other))})
    about = re.sub(rf"\b(?:{names})\b", "", question, flags=re.I)
    asked = in_own_mouth(question, names)
    told, questions = (view.speaker_facts.told_by(other, *k) for k in (("told", "did"), ("asked",)))
    on_side = fitting_of(about, told[::-1], lambda item: item.text, aspects_of(asked))
    found = on_side[0] if on_side else nearest(view, about, told) or nearest(view, about, questions)
    found = found or slot_of(view, asked, other)
    return quoted(view, found) if found else ""


def in_own_mouth(question: str, names: str) -> str:
    """Return a question about somebody as that person would ask it.

    "what does Ben do" becomes "what do I do".
    """
    asked = re.sub(rf"\b(?:{names})'s\b", "my", question, flags=re.I)
    asked = re.sub(rf"\b(?:does|do) (?:{names})\b", "do I", asked, flags=re.I)
    asked = re.sub(rf"\b(?:is|are|was) (?:{names})\b", "am I", asked, flags=re.I)
    return re.sub(rf"\b(?:{names}) (?:is|was)\b", "I am", asked, flags=re.I)


def slot_of(view: RequestView, asked: str, other: str) -> Statement | None:
    """Return the statement with a named fact that answers a question, or None."""
    slot, facts = SLOT_OF.get(read_part(asked).intent, ""), view.speaker_facts.of(other)
    value = facts.get(slot) or (facts.get("does") if slot == "trade" else None)
    told = reversed(view.speaker_facts.told_by(other))
    return next((item for item in told if value and value in item.text), None)


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
    if not re.search(r"\bwho\b.{0,60}?\b(?:gave|brought|handed|give|bring)\b", question, re.I):
        return ""
    gifts = [item for item in view.speaker_facts.statements if item.kind == "did"]
    found = nearest(view, question, gifts) or (gifts[-1] if gifts else None)
    return deed(view, found) if found else ""
