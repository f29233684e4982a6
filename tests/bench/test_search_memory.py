"""How much of what answers a question `search_memory` finds, asked as its tool asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from evennia_ai.config import AssistantConfig
from evennia_ai.game.memory_reading import FOUND, find_memories
from evennia_ai.memory import embedders
from evennia_ai.testing.minds import MemoryMind
from tests.bench import public_talks, retrieving
from tests.bench.figures import Sheet
from tests.bench.remembering import EVERYBODY, at_once
from tests.scripted import ScriptedLLM

MISSED_AT_MOST = 0.2


def overhear(talk: Mapping[str, Any], embedder: Any) -> tuple[MemoryMind, dict[int, str]]:
    """An assistant that heard a dialogue at its times, and the turn of each line of its log."""
    script = MemoryMind(ScriptedLLM(()), AssistantConfig(), embedder=embedder)
    turn_of: dict[int, str] = {}
    for turn, messages in zip(talk["turns"], public_talks.turns_of(talk), strict=True):
        at = datetime.fromtimestamp(retrieving.said_at(turn["at"]), UTC)
        script.conversation.now = lambda at=at: at
        for stored in script.conversation.append(messages):
            turn_of[stored["metadata"]["seq"]] = turn["id"]
    script.services.now = lambda: at + timedelta(days=1)
    return script, turn_of


def test_search_memory_finds_what_was_said(sheet: Callable[[str], Sheet]) -> None:
    file = public_talks.find_file()
    if file is None:
        pytest.skip("No LoCoMo dialogues: EVENNIA_AI_DATA names no folder with locomo-0-4.json")
    paper, embedder = sheet("search_memory: evidence of public dialogues"), embedders.default()
    values: list[float] = []
    for number, talk in enumerate(public_talks.load(file)):
        script, turn_of = overhear(talk, embedder)
        found = []
        for question in retrieving.questions_of(talk):
            log, services = script.mind.log, script.services
            found_later = find_memories(
                script.mind.around.memories(), log, services, question.text, EVERYBODY
            )
            hits = at_once(found_later)
            shown = [turn_of[hit.record["seq"]] for hit in hits]
            found.append(retrieving.recall(shown, question.evidence, FOUND))
        paper.add(f"dialogue {number}, recall@{FOUND}", float(np.mean(found)))
        values += found
    paper.add(f"missed of recall@{FOUND}", 1 - float(np.mean(values)), "", MISSED_AT_MOST)
    paper.check()
