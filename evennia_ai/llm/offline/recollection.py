"""Answers out of what speakers said: one's own words back to oneself, another's in quotes."""

from __future__ import annotations

from evennia_ai.llm.offline.grammar import turned_round
from evennia_ai.llm.offline.knowledge import Passage, rank
from evennia_ai.llm.offline.memory import Statement, facts_in
from evennia_ai.llm.offline.mind import Mind
from evennia_ai.llm.offline.understanding import COURTESY, Reading, read_part
from evennia_ai.llm.offline.words import content, listed, small

SLOT_FACTS = {
    "trade": "you are {v}", "home": "you come from {v}", "age": "you are {v} years old",
    "likes": "you like {v}", "hates": "you dislike {v}", "fears": "you are afraid of {v}",
}  # fmt: skip
SLOT_OF = {
    "recall_trade": "trade", "recall_home": "home", "recall_age": "age", "recall_likes": "likes",
    "recall_hates": "hates", "recall_quest": "quest",
}  # fmt: skip
LONGEST = 220


def recall(mind: Mind, reading: Reading, speaker: str) -> str:
    """Answer a question about what the speaker told of himself."""
    who = mind.called(speaker)
    if reading.intent == "recall_name":
        return mind.phrase("told_name", value=who, who=who)
    if reading.intent == "recall_all":
        return everything_about(mind, speaker)
    return (
        from_statements(mind, reading.text, speaker)
        or from_slot(mind, SLOT_OF.get(reading.intent, ""), speaker)
        or mind.phrase("told_nothing", who=who)
    )


def from_slot(mind: Mind, slot: str, speaker: str) -> str:
    """A named fact, in the words of the statement that told it."""
    if slot not in mind.memory.of(speaker):
        return ""
    value = mind.memory.of(speaker)[slot]
    holding = [item for item in mind.memory.told_by(speaker) if value in item.text]
    if slot in SLOT_FACTS:
        fact = SLOT_FACTS[slot].format(v=turned_round(value))
    else:
        fact = as_told(holding[-1].text) if holding else turned_round(value)
    return mind.phrase("told", fact=fact, who=mind.called(speaker))


def as_told(text: str) -> str:
    """A statement turned round, to stand in the middle of a sentence."""
    return small(turned_round(text.strip())).rstrip(" .!,;")


def from_statements(mind: Mind, question: str, speaker: str) -> str:
    """The speaker's statement nearest to the question; the latest where several are near."""
    found = nearest(mind, question, mind.memory.told_by(speaker))
    if not found:
        return ""
    return mind.phrase("told", fact=as_told(found.text)[:LONGEST], who=mind.called(speaker))


def nearest(mind: Mind, question: str, statements: list[Statement]) -> Statement | None:
    """The statement that answers a question, None where none comes near."""
    telling = [
        item
        for item in statements
        if read_part(item.text).intent not in COURTESY or facts_in(item.text)
    ]
    found = rank(question, [Passage(item.text, str(item.order)) for item in telling], (mind.name,))
    if not found:
        return None
    best = [item for item in found if item.score >= 0.8 * found[0].score]
    order = max(int(item.passage.source) for item in best)
    return next(item for item in telling if item.order == order)


def everything_about(mind: Mind, speaker: str) -> str:
    """What is known of the speaker, in one sentence."""
    who, facts = mind.called(speaker), mind.memory.of(speaker)
    parts = [f"your name is {facts['name']}"] if "name" in facts else []
    parts += [
        form.format(v=turned_round(facts[slot]))
        for slot, form in SLOT_FACTS.items()
        if slot in facts
    ]
    used = " ".join(parts)
    for item in mind.memory.told_by(speaker)[::-1]:
        told = as_told(item.text)
        fresh = [word for word in content(told) if word not in content(used)]
        if (
            len(parts) >= 4
            or len(told) > 120
            or len(fresh) < 2
            or read_part(item.text).intent not in {"tell", "statement"}
        ):
            continue
        parts.append(told)
        used += " " + told
    if not parts:
        return mind.phrase("know_you", who=who)
    return mind.phrase("told", fact=listed(parts), who=who)


def said_by(mind: Mind, reading: Reading, speaker: str) -> str:
    """What somebody else said, as far as this prompt's audience may know it."""
    wanted = reading.slots.get("who", "").lower()
    names = {item.speaker for item in mind.memory.statements}
    other = next(
        (name for name in sorted(names) if wanted in {name.lower(), *name.lower().split()}), ""
    )
    if wanted in {"i", "we"}:
        return from_statements(mind, reading.text, speaker) or everything_about(mind, speaker)
    told = mind.memory.told_by(other)
    if not told:
        name = reading.slots.get("who", "")
        return mind.phrase("said_nothing", other=name, who=mind.called(speaker))
    topic = reading.slots.get("topic", "")
    found = nearest(mind, topic, told) if topic else told[-1]
    if not found:
        return mind.phrase("said_nothing", other=other, who=mind.called(speaker))
    return quoted(mind, found)


def quoted(mind: Mind, statement: Statement) -> str:
    """A statement in its speaker's own words."""
    return mind.phrase(
        "said_by", other=statement.speaker, fact=statement.text[:LONGEST].replace('"', "'")
    )


def from_others(mind: Mind, question: str, speaker: str) -> str:
    """What another speaker said that answers a question; "" for nothing."""
    others = [item for item in mind.memory.statements if item.speaker != speaker]
    found = nearest(mind, question, others)
    if found:
        return quoted(mind, found)
    names = {item.speaker for item in others}
    for name in sorted(names):
        if name.lower() in question.lower() and (facts := mind.memory.of(name)):
            return mind.phrase("said_by", other=name, fact=_own_statement(mind, name, facts))
    return ""


def _own_statement(mind: Mind, name: str, facts: dict[str, str]) -> str:
    value = next(iter(facts.values()))
    holding = [item.text for item in mind.memory.told_by(name) if value in item.text]
    return (holding[-1] if holding else value)[:LONGEST].replace('"', "'")
