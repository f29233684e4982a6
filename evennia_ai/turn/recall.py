"""What comes to mind of long ago: memories near to what is being said."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from evennia_ai.messages import Audience
from evennia_ai.policy.audience import KnownLine, speakers_in
from evennia_ai.policy.compaction.journal_summary import is_synthesis, nearest_lines
from evennia_ai.policy.facts.recall import Talk
from evennia_ai.policy.facts.sources import HEARD
from evennia_ai.policy.records.entity_profiles import ATTRIBUTE
from evennia_ai.policy.records.journal_entry import normalised
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.records.shared_memory import HEARSAY
from evennia_ai.policy.retrieval.relevance import is_small_talk
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.ports import Script

MOST_LINES = 6
LINE_CHARS = 300
LABEL_TOKENS = 4  # "You remember: " before each line


def memory_query(lines: Sequence[str]) -> str:
    """What memory is asked because of some lines: who said what, without the verb between."""
    return " ".join(
        f"{found['speaker']} {spoken(line)}" if (found := HEARD.match(line)) else line
        for line in lines
    )


def spoken(line: str) -> str:
    """The words of a line, without who said them."""
    found = HEARD.match(line)
    return line[found.end() :] if found else line


def remembered(
    script: Script, audience: Audience, talk: Talk, budget_tokens: int, told: Collection[str]
) -> list[KnownLine]:
    """Memories near to the talk that this audience may know of (P9), a line each, the nearest
    first.

    Args:
        script: the assistant.
        audience: dbrefs of everybody who will hear the answer.
        talk: what is being said; small talk calls nothing to mind.
        budget_tokens: the room for all of it.
        told: lines that stand in the prompt already: what one of them says is not said again.
    """
    words = " ".join(spoken(line) for line in talk.asked)
    if budget_tokens <= 0 or is_small_talk(words, [script.character_name]):
        return []
    strict = script.config.discretion == "strict"
    now = script.services.now()
    known = "\n".join(map(normalised, told))
    found = script.memories.search(
        memory_query(talk.asked),
        MOST_LINES,
        audience,
        now,
        script.config.discretion,
        keep=is_episode,
    )
    lines: list[KnownLine] = []
    for item in found:
        record = item.record
        if normalised(text_of(record)) in known:
            continue
        line = memory_line(script, record)
        budget_tokens -= estimate_tokens(line) + LABEL_TOKENS
        if budget_tokens < 0:
            break
        private = strict and record["audience"] is not None
        lines.append(KnownLine(line, private, speakers_in([record])))
    return lines


def is_episode(record: Record) -> bool:
    """True for what is not in the prompt in another shape: pins are, and the summary."""
    return not is_synthesis(record) and not record.get("pinned")


def text_of(record: Record) -> str:
    """What a record says."""
    return str(record["value"] if record.get("kind") == ATTRIBUTE else record["content"])


def memory_line(
    script: Script, record: Record, most_chars: int = LINE_CHARS, words: str = ""
) -> str:
    """A memory on one line: since when it is known, by whom, and what it is; of a long one what is
    nearest to the words that were looked for."""
    world, character = script.services.world, script.character
    source = world.name_of(character, record["source_entity"])
    told = f", from {source}" if source else ""
    if record.get("kind") == HEARSAY:
        told = f", {world.name_of(character, record['teller']) or 'somebody'} told you{told}"
    day = (record.get("timestamp") or record["confirmed_at"])[:10]
    text = text_of(record)
    if record.get("kind") == ATTRIBUTE:
        text = f"{world.name_of(character, record['subject'])}: {record['attribute']}: {text}"
    if is_synthesis(record):
        text = nearest_lines(text, words, most_chars)
    return f"{day}{told}: {clean_heard(text, most_chars)}"
