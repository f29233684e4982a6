"""Recall memories about the current conversation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

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
    """Return the search query for some lines: each speaker and their words, without the verb."""
    return " ".join(
        f"{found['speaker']} {spoken(line)}" if (found := HEARD.match(line)) else line
        for line in lines
    )


def spoken(line: str) -> str:
    """Return the words of a line without their speaker."""
    found = HEARD.match(line)
    return line[found.end() :] if found else line


def remembered(
    script: Script, audience: Audience, talk: Talk, budget_tokens: int, told: Collection[str]
) -> list[KnownLine]:
    """Return a line for each memory about the conversation that this audience may know (P9).

    The best match comes first. Small talk recalls nothing. A memory with the same content as a line
    that the prompt holds already (``told``) is left out.
    """
    words = " ".join(spoken(line) for line in talk.asked)
    if budget_tokens <= 0 or is_small_talk(words, [script.character_name]):
        return []
    known = "\n".join(map(normalised, told))
    discretion, now = script.config.discretion, script.services.now()
    query = memory_query(talk.asked)
    found = script.memories.search(
        query, MOST_LINES, audience, now, discretion, keep=is_episode, upto=0
    )
    lines: list[KnownLine] = []
    for record in (item.record for item in found):
        if normalised(text_of(record)) in known:
            continue
        line = memory_line(script, record)
        budget_tokens -= estimate_tokens(line) + LABEL_TOKENS
        if budget_tokens < 0:
            break
        private = discretion == "strict" and record["audience"] is not None
        lines.append(KnownLine(line, private, speakers_in([record])))
    return lines


def is_episode(record: Record) -> bool:
    """Return False for pins and summaries, which the prompt holds elsewhere."""
    return not is_synthesis(record) and not record.get("pinned")


def text_of(record: Record) -> str:
    """Return the content of a record."""
    return str(record["value"] if record.get("kind") == ATTRIBUTE else record["content"])


def memory_line(script: Script, record: Record, words: str = "") -> str:
    """Return a memory on one line: its day, its source and its content.

    Of a summary, the lines that fit the searched ``words`` best are shown.
    """
    name_of = partial(script.services.world.name_of, script.character)
    source = name_of(record["source_entity"])
    told = f", from {source}" if source else ""
    if record.get("kind") == HEARSAY:
        told = f", {name_of(record['teller']) or 'somebody'} told you{told}"
    day = (record.get("timestamp") or record["confirmed_at"])[:10]
    text = text_of(record)
    if record.get("kind") == ATTRIBUTE:
        text = f"{name_of(record['subject'])}: {record['attribute']}: {text}"
    if is_synthesis(record):
        text = nearest_lines(text, words, LINE_CHARS)
    return f"{day}{told}: {clean_heard(text, LINE_CHARS)}"
