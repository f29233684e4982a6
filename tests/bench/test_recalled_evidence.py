"""How much of what answers a question is recalled for the prompt.

Public dialogues are overheard, with greetings of the character between their lines, as in a game.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import cycle
from statistics import mean
from typing import Any

import pytest

from evennia_ai.config import AssistantConfig
from evennia_ai.game.memory_reading import FOUND, find_memories
from evennia_ai.memory import embedders
from evennia_ai.turn.recall import MARK_TOKENS, RecallRequest, RecentTalk, memory_query, tokens_of
from tests.bench import public_talks, retrieving
from tests.bench.figures import Sheet
from tests.bench.remembering import EVERYBODY, at_once, heard
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM

BUDGET_TOKENS = 400
GREETED_EVERY = 9  # turns
GREETINGS = (
    "Hey Mira, quick question, do you remember me?",
    "Good evening, Mira!",
    "Mira, do you have a moment?",
    "Do you remember what we talked about, Mira?",
)
DRESSES = (
    "Mira, do you remember: {0}",
    "Hey Mira, quick question. {0}",
    "{0} Please tell me, Mira.",
    "Tell me, Mira, {1}",
)
MISSED_AT_MOST = 0.2  # by the tool `search_memory`
PLAIN, DRESSED = "plain", "with name and framing"
BARS = {(PLAIN, False): 0.25, (DRESSED, False): 0.25, (PLAIN, True): 0.46}  # missing, by brief


@dataclass
class Overheard:
    """An assistant that heard a dialogue at its times, and the turn of each line of its log."""

    talk: Mapping[str, Any]
    script: MemoryMind
    turn_of: dict[int, str] = field(default_factory=dict)

    def recall(self, question: str, brief: bool = False) -> tuple[set[str], int]:
        """Return which turns are recalled for a question, and how many tokens all lines have."""
        line = f"Rowan says: {question}"
        at_once(self.script.memories.prepare(self.script.services, [memory_query([line], "Mira")]))
        lines = self.script.mind.recall.recall(
            RecentTalk([line]), RecallRequest(EVERYBODY, BUDGET_TOKENS, brief=brief)
        )
        sources = (line.source.removeprefix("line:") for line in lines)
        turns = {self.turn_of[int(source)] for source in sources if int(source) in self.turn_of}
        return turns, sum(tokens_of(line.text) + MARK_TOKENS for line in lines)


def overhear(talk: Mapping[str, Any], greeted: bool) -> Overheard:
    """Let an assistant overhear a dialogue."""
    script = MemoryMind(ScriptedLLM(()), AssistantConfig(), embedder=embedders.default())
    known, greetings = Overheard(talk, script), cycle(GREETINGS)
    turns = zip(talk["turns"], public_talks.turns_of(talk), strict=True)
    for number, (turn, messages) in enumerate(turns):
        at = datetime.fromtimestamp(retrieving.said_at(turn["at"]), UTC)
        script.conversation.now = lambda at=at: at
        for stored in script.conversation.append(messages):
            known.turn_of[stored["metadata"]["seq"]] = turn["id"]
        if greeted and number % GREETED_EVERY == 0:
            script.conversation.append([heard("Rowan", "#13", next(greetings))])
    script.services.now = lambda: at + timedelta(days=1)
    return known


@pytest.fixture(scope="module")
def talks() -> list[Overheard]:
    """The dialogues; without them there is nothing to measure."""
    file = public_talks.find_file()
    if file is None:
        pytest.skip("No LoCoMo dialogues: EVENNIA_AI_DATA names no folder with locomo-0-4.json")
    return [overhear(talk, greeted=True) for talk in public_talks.load(file)]


def dressed(questions: Sequence[str]) -> Iterator[str]:
    """Yield questions as players put them to a character."""
    for question, dress in zip(questions, cycle(DRESSES), strict=False):
        yield dress.format(question, question[0].lower() + question[1:])


def share_recalled(known: Overheard, way: str, brief: bool) -> Iterator[float]:
    """Yield for each question of a dialogue the share of its evidence that is recalled."""
    questions = retrieving.questions_of(known.talk)
    texts = [question.text for question in questions]
    for asked, question in zip(dressed(texts) if way == DRESSED else texts, questions, strict=True):
        found, _tokens = known.recall(asked, brief)
        yield len(question.evidence & found) / len(question.evidence)


@pytest.mark.parametrize(("way", "brief"), BARS)
def test_evidence_is_recalled(
    talks: Sequence[Overheard], sheet: Callable[[str], Sheet], way: str, brief: bool
) -> None:
    paper = sheet("recall: evidence of public dialogues")
    found = [share for known in talks for share in share_recalled(known, way, brief)]
    name = f"missing, {way}{', brief' * brief}, {len(found):,} questions"
    paper.add(name, 1 - mean(found), "", BARS[way, brief])
    paper.check()


def test_search_memory_finds_what_was_said(
    talks: Sequence[Overheard], sheet: Callable[[str], Sheet]
) -> None:
    paper = sheet("search_memory: evidence of public dialogues")
    values = []
    for known in talks:
        around = known.script.around
        for question in retrieving.questions_of(known.talk):
            found = find_memories(
                around.memories(), around.log, around.services, question.text, EVERYBODY
            )
            shown = [known.turn_of.get(hit.record["seq"], "") for hit in at_once(found)]
            values.append(retrieving.recall(shown, question.evidence, FOUND))
    paper.add(f"missed of recall@{FOUND}", 1 - mean(values), "", MISSED_AT_MOST)
    paper.check()
