"""Summaries and journal entries of the offline brain.

It understands no text, but `policy.facts.check` tells facts from chatter, word for word.
"""

from __future__ import annotations

from collections.abc import Iterable

from evennia_ai.messages import MARK, PERCEIVED, SPEECH, make_message
from evennia_ai.policy.compaction.digest import newest_within
from evennia_ai.policy.facts.check import Fact, as_bullets, extract_facts
from evennia_ai.policy.facts.notes import is_worth_noting
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.ports import LLMRequest, Scene

HEADING = "Context"
ROOM_PART = 0.65  # share of the limit
INPUT_PART = 0.5
ENTRY_TOKENS = 400
MOST_NOTED = 2
JOURNAL = "add_journal_entry"


def facts_in_lines(lines: Iterable[str], name: str) -> tuple[Fact, ...]:
    """Return the facts in lines of a prompt, such as ``Ann says: ...``."""
    natures = ((line, PERCEIVED if line.startswith(MARK) else "") for line in lines if line)
    return extract_facts([make_message("user", line, nature=n) for line, n in natures], name)


def summarise(scene: Scene) -> str:
    """Return an updated summary: the old bullets, then bullets of new facts.

    If space is short, the newest remain. It is always shorter than what it summarises.
    """
    previous, *lines = scene.material or ("",)
    known = [line for line in previous.splitlines() if line.startswith("- ")]
    input_tokens = sum(map(estimate_tokens, scene.material))
    room = int(min(ROOM_PART * scene.room_tokens, INPUT_PART * input_tokens))
    new = [f"- {bullet}" for bullet in as_bullets(facts_in_lines(lines, scene.name), room)]
    kept = newest_within(list(dict.fromkeys([*known, *new])), room)
    return "\n".join([f"{HEADING}:", *kept]) if kept else f"{HEADING}: nothing of note."


def journals_only(request: LLMRequest) -> bool:
    """Return True if the request asks for journal entries and nothing else."""
    names = {tool["function"]["name"] for tool in request.tools}
    return JOURNAL in names and "say" not in names


def worth_noting(scene: Scene) -> list[str]:
    """Return what to journal of the new lines of players, the weightiest first.

    Nothing is returned if only some of the lines were whispered.
    """
    lines = [line for line in scene.lines if line.speaker not in scene.assistants]
    if len({line.private for line in lines}) != 1:
        return []
    told = [f"{line.speaker} says: {line.text}" for line in lines if line.kind in SPEECH]
    facts = (f for f in facts_in_lines(told, scene.name) if not f.asked and is_worth_noting(f))
    return list(as_bullets(facts, ENTRY_TOKENS))[:MOST_NOTED]
