"""The game of `mud_world`, lived through: real characters on a real database write it down day by
day and sleep each night; at its end they are asked.

What a player tells is written as the tools write it, past the model: a journal entry, and of a fact
also an observation of its teller, both with their source and their ears. No model is asked: the
brain is the offline one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from twisted.internet.defer import Deferred, gatherResults

from evennia_ai.game.memory_reading import find_memories
from evennia_ai.messages import Audience, InboxEvent, IncomingEvent
from evennia_ai.policy.records.entity_profiles import ATTRIBUTE
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.retrieval.relevance import score_texts
from evennia_ai.turn.prompt_building import PromptRequest
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.bench.mud_world import (
    IDLE,
    PROMISED,
    WHISPER,
    Happening,
    MudWorld,
    Question,
    wrong_audiences,
)

HOURS = 12  # of a day, in which something happens
HOUR_S = 3_600.0
Way = Callable[[Question, Audience], list[Record]]
Judge = Callable[[Question, Sequence[Record]], bool]

SHOWN = 8  # as many as `search_memory` tells
OURS = "search_memory"
WORDS, NEWEST, MEANING = "BM25 alone", "recency alone", "cosine alone"


@dataclass(frozen=True)
class Leak:
    """A secret that was told to an audience which must not hear it, and where it stood."""

    question: Question
    audience: Audience
    where: str


class Lived:
    """A game's characters in a game's database, on a service whose clock is a fake."""

    def __init__(self, world: MudWorld, service: Any) -> None:
        from evennia.objects.objects import DefaultCharacter, DefaultRoom
        from evennia.utils.create import create_object

        from evennia_ai.assistant_character import AssistantCharacter

        self.world, self.service = world, service
        self.minds: dict[str, Any] = {}
        for name in world.assistants:
            room = create_object(DefaultRoom, key=f"House of {name}")
            persona = [("ai_persona", f"You are {name}.")]
            self.minds[name] = create_object(
                AssistantCharacter, key=name, location=room, attributes=persona
            )
        self.players = {name: create_object(DefaultCharacter, key=name) for name in world.players}
        self.dbrefs = {name: player.dbref for name, player in self.players.items()}
        self.slept: list[Mapping[str, Any]] = []

    # --- living ----------------------------------------------------------------------------------

    def live(self) -> None:
        """All days, and the night after each."""
        for day in range(1, self.world.days + 1):
            happenings = self.world.of_day(day)
            a_while = max(1, -(-len(happenings) // HOURS))
            for hour in range(HOURS):
                for happening in happenings[hour * a_while : (hour + 1) * a_while]:
                    self.note(happening)
                self.service.clock.advance(HOUR_S)
            self.sleep()
            self.service.clock.advance((24 - HOURS) * HOUR_S)

    def note(self, happening: Happening) -> None:
        """Write something down, as `add_journal_entry` and `update_entity_observation` do."""
        mind, teller = self.minds[happening.assistant], self.dbrefs[happening.teller]
        origin: dict[str, Any] = {
            "source_type": "observation" if happening.kind == IDLE else "direct",
            "source_entity": "" if happening.kind == IDLE else teller,
            "speakers": [] if happening.kind == IDLE else [teller],
            "audience": [teller] if happening.kind == WHISPER else None,
        }
        mind.journal.add(happening.text, **origin)
        if happening.kind not in (IDLE, PROMISED):
            mind.ai_profiles.observe(self.dbrefs[happening.about], happening.text, **origin)

    def sleep(self) -> None:
        """A pass of sleep for everybody."""
        passes = [mind.assistant.mind.sleep_pass.run() for mind in self.minds.values()]
        self.slept += self.wait(gatherResults(passes))

    def wait(self, done: Deferred[Any]) -> Any:
        """Let the clock go on until something has come; returns it."""
        came: list[Any] = []
        done.addCallback(came.append)
        while not came:
            self.service.clock.advance(0.01)
        return came[0]

    # --- asking ----------------------------------------------------------------------------------

    def ears(self, names: Iterable[str]) -> Audience:
        """Players as an audience."""
        return frozenset(self.dbrefs[name] for name in names)

    def search(self, question: Question, audience: Audience) -> list[Record]:
        """What `search_memory` finds, best first."""
        mind = self.minds[question.assistant].assistant.mind
        asked = find_memories(mind.memories(), mind.log, self.service, question.text, audience)
        return [hit.record for hit in self.wait(asked)]

    def prompt(self, question: Question, audience: Audience) -> str:
        """All that a model would be shown where this is asked in front of an audience."""
        script = self.minds[question.assistant].assistant
        self.wait(script.mind.memories().prepare(script.services, [question.text]))
        speaker = min(audience, default="")
        heard = IncomingEvent("say", speaker, "Somebody", question.text, audience, addressed=True)
        event = InboxEvent(0, script.services.now(), heard)
        built = script.mind.prompts.build(CONTEXT_TICK_EVENT, audience, PromptRequest([event]))
        return "\n".join(str(message["content"]) for message in built.messages)

    def baseline(self, name: str, question: Question, audience: Audience) -> list[Record]:
        """Its journal's entries as far as they may be known, in a simple order."""
        entries = [
            entry
            for entry in self.minds[question.assistant].journal.all()
            if entry["audience"] is None or (audience and audience <= set(entry["audience"]))
        ]
        texts = [entry["content"] for entry in entries]
        scores: Sequence[float] | np.ndarray = range(len(entries))
        if name == WORDS:
            scores = score_texts(question.text, texts)
        elif name == MEANING:
            rows = unit(self.service.memory.embedder.embed([question.text, *texts]))
            scores = rows[1:] @ rows[0]
        order = np.argsort(-np.array(scores, dtype=float), kind="stable")
        return [entries[place] for place in order[:SHOWN]]

    # --- judging ---------------------------------------------------------------------------------

    def answers(self, question: Question, record: Record) -> bool:
        """True for the note that answers, and for a value that was made of it."""
        return record.get("content") == question.answer or self.values(question, record) == {
            question.key.casefold()
        }

    def misleads(self, question: Question, record: Record) -> bool:
        """True for what is not so any more, and for what others say."""
        wrong = {*question.outdated, *question.rumoured}
        return record.get("content") in wrong or bool(
            self.values(question, record) & {key.casefold() for key in question.past}
        )

    def values(self, question: Question, record: Record) -> set[str]:
        """Which of the answers, right once or now, a value of who is asked about holds."""
        if record.get("kind") != ATTRIBUTE or record["subject"] != self.dbrefs[question.about]:
            return set()
        keys = {key.casefold() for key in (question.key, *question.past)}
        return keys & set(record["value"].casefold().split())

    def is_shown(self, question: Question, found: Sequence[Record]) -> bool:
        """True where the answer is among the first that are told."""
        return any(self.answers(question, record) for record in found[:SHOWN])

    def is_first(self, question: Question, found: Sequence[Record]) -> bool:
        """True where the very first that is found answers."""
        return bool(found) and self.answers(question, found[0])

    def is_newest_first(self, question: Question, found: Sequence[Record]) -> bool:
        """True where the answer is told, and nothing outdated or rumoured of the same before it."""
        for record in found[:SHOWN]:
            if self.answers(question, record):
                return True
            if self.misleads(question, record):
                return False
        return False

    def missed(self, way: Way, judge: Judge, kind: str) -> float:
        """Return the failures of a kind of question in per cent."""
        failed, asked = self.failures(way, judge, kind)
        return 100 * failed / asked

    def failures(self, way: Way, judge: Judge, kind: str, retold: bool = False) -> tuple[int, int]:
        """Return how many questions of a kind fail a judgement, and how many there are.

        The player a question is about asks it.
        """
        asked = [q for q in self.world.questions if q.kind == kind and q.retold == retold]
        failed = sum(not judge(q, way(q, self.ears([q.about]))) for q in asked)
        return failed, len(asked)

    def unprompted(self, kind: str) -> float:
        """The share, in per cent, of the questions of a kind whose answer is not in the prompt
        when who it is about asks."""
        asked = [question for question in self.world.questions if question.kind == kind]
        told = sum(q.key in self.prompt(q, self.ears([q.about])) for q in asked)
        return 100 * (1 - told / len(asked))

    def leaks(self, one_in: int = 1) -> tuple[list[Leak], int]:
        """Return the secrets that a wrong audience is told, and how often was looked.

        Each look is a search or a prompt. ``one_in`` leaves audiences out, by turns.
        """
        found: list[Leak] = []
        looked_at = 0
        secrets = [question for question in self.world.questions if question.kind == WHISPER]
        for number, question in enumerate(secrets):
            audiences = wrong_audiences(question.about, self.world.players)
            for names in audiences[number % one_in :: one_in]:
                ears = self.ears(names)
                looked_at += 2
                searched = str(self.search(question, ears))
                if question.key in searched:
                    found.append(Leak(question, ears, "search"))
                if question.key in self.prompt(question, ears):
                    found.append(Leak(question, ears, "prompt"))
        return found, looked_at


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length one."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths, lengths, 1))
