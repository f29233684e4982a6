"""What stands in the next prompt after a long talk, by ours and by plainer methods."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from statistics import mean
from typing import Any

import pytest
from twisted.internet.defer import Deferred, succeed

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.memory import embedders
from evennia_ai.messages import SAID, ChatMessage, LLMReply, make_message, wire_call
from evennia_ai.policy.compaction.plan import TOO_LITTLE, WITHIN_WINDOW, CompactionOrder
from evennia_ai.policy.context.projection import visible_items
from evennia_ai.policy.tokens import estimate_tokens, stored_tokens
from evennia_ai.ports import LLMRequest
from evennia_ai.turn.llm_interaction import generate_context_summary
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.bench.planted import BARE, PLAYERS, Line, Planted, Talk
from tests.minds import MemoryMind

EVERYBODY = frozenset(PLAYERS.values())
LAST = 20
MOST_NAMED, STRAY = 40, 10
TURN_S = 20.0
NOTHING_OLD = (WITHIN_WINDOW, TOO_LITTLE)
OURS, WINDOW, ONE_SHOT = METHODS = "ours", "last-20 window", "one-shot summary"


class Offline:
    """The stand-in in a gateway's place."""

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float | None = None
    ) -> Deferred[LLMReply]:
        """Answer at once."""
        stand_in = pytest.importorskip("evennia_ai.contrib.stand_in", reason="it is left out")
        return stand_in.StandIn().complete(request, profile)


class Hostile:
    """A model whose summaries hold hardly anything: names and stray words, not what they did."""

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float | None = None
    ) -> Deferred[LLMReply]:
        """Answer at once."""
        text = str(request.messages[-1]["content"]).rpartition("<transcript>")[2]
        names = dict.fromkeys(re.findall(r"(?<=[a-z,] )[A-Z]\w+", text))
        stray: list[str] = []
        for kind in (r"\b[a-z]{4,}\b", r"\b\d+\b"):
            words = list(dict.fromkeys(re.findall(kind, text)))
            stray += words[:: max(1, len(words) // STRAY)][:STRAY]
        named = ", ".join([*[*names][:MOST_NAMED], *stray])
        return succeed(LLMReply(f"Somebody spoke of {named}."))


def at_once(deferred: Deferred[Any]) -> Any:
    """Return what a Deferred has fired with."""
    results: list[Any] = []
    deferred.addCallback(results.append)
    (result,) = results
    return result


def make_script(gateway: Any, window: int) -> MemoryMind:
    """Return an assistant with default settings, except for its window."""
    config = AssistantConfig(max_context_tokens=window)
    script = MemoryMind(gateway, config, embedder=embedders.default())
    script.services.world.present = EVERYBODY
    return script


def heard(speaker: str, dbref: str, text: str, private: bool = False) -> ChatMessage:
    """Return a player's words as the log holds them."""
    verb = "whispers to you" if private else "says"
    return make_message(
        "user", f"{speaker} {verb}: {text}", speaker=dbref, speaker_name=speaker,
        audience=[dbref] if private else sorted(EVERYBODY), private=private,
    )  # fmt: skip


def logged(line: Line, number: int) -> list[ChatMessage]:
    """Return one turn of the talk as the log holds it."""
    dbref = PLAYERS[line.speaker]
    said = heard(line.speaker, dbref, line.text, line.private)
    meta = {"audience": said["metadata"]["audience"], "private": line.private}
    messages = [said]
    for name, asked, result in (
        ("look", "{}", line.look),
        ("say", f'{{"text": "{line.reply}"}}', line.reply and SAID),
    ):
        if result:
            call = f"{name}{number}"
            messages += [
                make_message("assistant", "", tool_calls=[wire_call(call, name, asked)], **meta),
                make_message("tool", result, tool_call_id=call, **meta),
            ]
    return messages


def log_of(talk: Talk) -> list[list[ChatMessage]]:
    """Return a talk's turns as the log holds them."""
    return [logged(line, number) for number, line in enumerate(talk.lines)]


def live_through(
    script: MemoryMind,
    turns: Sequence[Sequence[ChatMessage]],
    compactions: int,
    pauses: Sequence[float] = (),
) -> None:
    """Hear the whole talk, with so many compactions at equal distances, the last at its end.

    A compaction may find too little that is old enough. ``pauses`` are the seconds before each
    turn, TURN_S if there are none.
    """
    due = {len(turns) * number // compactions for number in range(1, compactions + 1)}
    timed = zip(turns, pauses or repeat(TURN_S), strict=False)
    for number, (turn, pause) in enumerate(timed, 1):
        script.services.clock.advance(pause)
        script.conversation.append(turn)
        if number in due:
            result = at_once(script.mind.compactor.compact(CompactionOrder("manual", force=True)))
            assert result.get("success") or result["reason"] in NOTHING_OLD, result


@dataclass(frozen=True)
class Answer:
    """Whether a fact stood in the prompt for a question, or only what it replaced (``stale``)."""

    fact: Planted
    way: str
    method: str
    stands: bool
    stale: bool


@dataclass
class Asked:
    """The answers to questions about facts, what their prompts took, and secrets told to others."""

    answers: list[Answer] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    leaks: list[tuple[Planted, frozenset[str]]] = field(default_factory=list)

    def of(self, method: str, way: str = "", kind: str = "") -> list[Answer]:
        """Return the answers of a method, to one way of asking or about one kind of fact."""
        return [
            answer
            for answer in self.answers
            if answer.method == method
            and way in ("", answer.way)
            and kind in ("", answer.fact.kind)
        ]

    def percent(self, method: str, way: str = "", kind: str = "") -> float:
        """Return the share of the facts that stood there."""
        return 100 * mean(answer.stands for answer in self.of(method, way, kind))

    def add(self, other: Asked) -> None:
        """Take in what was asked elsewhere."""
        self.answers += other.answers
        self.tokens += other.tokens
        self.leaks += other.leaks


def prompt_lines(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return every line of text in messages."""
    return [line for m in messages for line in str(m.get("content") or "").splitlines()]


def ask(script: MemoryMind, question: ChatMessage, listeners: frozenset[str]) -> list[str]:
    """Return the lines of the next prompt after a question, without the rules."""
    script.conversation.append([question])
    at_once(script.memories.prepare(script.services))
    try:
        prompt = script.mind.prompts.build(CONTEXT_TICK_EVENT, listeners)
    finally:
        script.conversation.messages.pop()
    return prompt_lines(prompt.messages[1:])


def newest(messages: Sequence[ChatMessage], budget: int) -> list[ChatMessage]:
    """Return the last twenty messages, and more before them as far as the budget reaches."""
    kept: list[ChatMessage] = []
    for message in reversed(messages):
        budget -= stored_tokens(message)
        if budget < 0 and len(kept) >= LAST:
            break
        kept.append(message)
    return kept[::-1]


class Plainer:
    """The two plainer methods, for one player at a time."""

    def __init__(self, script: MemoryMind) -> None:
        self._script = script
        self._known: dict[str, list[ChatMessage]] = {}
        self._summaries: dict[str, str] = {}

    def lines(self, method: str, dbref: str, budget: int) -> list[str]:
        """Return what a method shows the model of the talk, within a budget of tokens."""
        if dbref not in self._known:
            self._prepare(dbref)
        known = self._known[dbref]
        if method == WINDOW:
            return prompt_lines(newest(known, budget))
        summary = self._summaries[dbref]
        shown = prompt_lines(newest(known, budget - estimate_tokens(summary)))
        return [*summary.splitlines(), *shown]

    def _prepare(self, dbref: str) -> None:
        log = self._script.conversation.messages
        known = visible_items(log, frozenset({dbref}))
        self._known[dbref] = known
        text = at_once(generate_context_summary(self._script, known[:-LAST]))
        self._summaries[dbref] = text or ""


def ask_all(script: MemoryMind, facts: Sequence[Planted], methods: Sequence[str]) -> Asked:
    """Ask for every fact in both ways, and look for secrets in prompts of others.

    Every other method has as many tokens for the talk as ours took, its recall included.
    """
    asked = Asked()
    plainer = Plainer(script)
    for fact in facts:
        for way, question in fact.questions.items():
            dbref = PLAYERS[question.asker]
            listeners = frozenset({dbref}) if fact.private else EVERYBODY
            lines = ask(
                script, heard(question.asker, dbref, question.text, fact.private), listeners
            )
            budget = sum(estimate_tokens(line) for line in lines)
            asked.tokens.append(budget)
            for method in methods:
                shown = lines if method == OURS else plainer.lines(method, dbref, budget)
                asked.answers.append(Answer(fact, way, method, *fact.judge(way, shown)))
        if fact.private:
            asked.leaks += leaks(script, fact)
    return asked


def leaks(script: MemoryMind, fact: Planted) -> list[tuple[Planted, frozenset[str]]]:
    """Return the audiences without right to a secret in whose prompts it stands."""
    found = []
    for name in PLAYERS.keys() - {fact.lines[0].speaker}:
        for listeners in (frozenset({PLAYERS[name]}), EVERYBODY):
            question = heard(name, PLAYERS[name], fact.questions[BARE].text)
            if fact.judge(BARE, ask(script, question, listeners))[0]:
                found.append((fact, listeners))
    return found
