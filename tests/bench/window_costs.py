"""What a talk costs by the size of the working window: tokens sent, tokens cached, facts recalled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.messages import LLMReply, WireMessage
from evennia_ai.ports import LLMRequest
from evennia_ai.sleep.emergency import compact_in_emergency
from evennia_ai.testing.stand_ins import StandInScript
from evennia_ai.turn.prompt_building import build_prompt
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.bench.planted import PLAYERS, Talk, make_talk
from tests.bench.remembering import EVERYBODY, OURS, Offline, ask_all, at_once, log_of

# Tokens of a request's tools or acts, by request form.
TOOL_TOKENS = {"tools": 800, "schema": 150}
WINDOWS = (4_000, 6_000, 8_000, 12_000, 16_000, 32_000, 100_000)
FACTS_PER_TURN = 1 / 6


class PrefixCache:
    """An endpoint's cache that knows the beginning of one earlier prompt, byte for byte."""

    def __init__(self) -> None:
        self._known = ""

    def cached_share(self, messages: Sequence[WireMessage]) -> float:
        """Return the share of a prompt that equals the beginning of the one before, and keep it."""
        text = "\n".join(json.dumps(message) for message in messages)
        pairs = zip(text, self._known, strict=False)
        same = next(
            (n for n, (a, b) in enumerate(pairs) if a != b), min(len(text), len(self._known))
        )
        self._known = text
        return same / len(text)


@dataclass
class Cost:
    """The cost of a whole talk, in tokens."""

    sent: list[int] = field(default_factory=list)  # by prompt of a turn
    read: list[float] = field(default_factory=list)  # of these, those that no cache held
    background: int = 0  # of requests for summaries and journal entries
    compactions: int = 0
    recalled: float = 0.0  # percent of the facts that stood in the prompt of a question

    @property
    def all_read(self) -> float:
        """Return the tokens read anew, background calls included."""
        return sum(self.read) + self.background


class Counting(Offline):
    """The offline brain behind a counter of tokens."""

    def __init__(self) -> None:
        self.tokens = 0

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float | None = None
    ) -> Deferred[LLMReply]:
        """Count and answer at once."""
        self.tokens += request.tokens
        return super().complete(request, profile, deadline_at)


def cost_of(talk: Talk, form: str, window: int, **settings: Any) -> Cost:
    """Return what a talk costs with a working window, one prompt for each line that is answered."""
    gateway, cache, cost = Counting(), PrefixCache(), Cost()
    config = AssistantConfig(max_context_tokens=window, **settings)
    script = StandInScript(gateway, config)
    script.services.world.present = EVERYBODY
    for line, turn in zip(talk.lines, log_of(talk), strict=True):
        result = at_once(compact_in_emergency(script))
        cost.compactions += bool(result and result.get("success"))
        heard, *answer = turn
        script.conversation.append([heard])
        dbref = PLAYERS[line.speaker]
        listeners = frozenset({dbref}) if line.private else EVERYBODY
        prompt = build_prompt(script, CONTEXT_TICK_EVENT, listeners, tool_tokens=TOOL_TOKENS[form])
        cost.sent.append(prompt.tokens)
        shared = cache.cached_share(prompt.messages) if prompt.messages else 0.0
        new = (prompt.tokens - TOOL_TOKENS[form]) * (1 - shared)
        cost.read.append(new)
        script.conversation.append(answer)
    cost.background = gateway.tokens
    cost.recalled = ask_all(script, talk.facts, (OURS,)).percent(OURS)
    return cost


def table(turns: int, form: str) -> list[str]:
    """Return a row of figures for each window."""
    talk = make_talk(turns=turns, facts=int(turns * FACTS_PER_TURN), seed=1)
    rows = []
    for window in WINDOWS:
        cost = cost_of(talk, form, window)
        rows.append(
            f"| {window:,} | {mean(cost.sent):,.0f} | {max(cost.sent):,} | {sum(cost.sent):,}"
            f" | {mean(cost.read):,.0f} | {cost.background:,} | {cost.compactions}"
            f" | {cost.recalled:.0f} % |"
        )
    return rows


if __name__ == "__main__":
    for form in TOOL_TOKENS:
        for turns in (190, 600):
            print(f"{form}, {turns} lines")
            print(
                "| window | mean sent | most | sum | read anew a line | background | compactions | recalled |"
            )
            print("\n".join(table(turns, form)))
