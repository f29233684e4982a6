"""What a talk costs by the size of the window: tokens sent, tokens that no cache holds, recall.

docs/models.md has the figures of all windows; the test measures the defaults and their neighbours.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import REPLY_TOKENS, WORKING_WINDOWS
from evennia_ai.messages import LLMReply, WireMessage
from evennia_ai.ports import LLMRequest
from evennia_ai.turn.prompt_building import PromptRequest
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.bench.figures import Sheet
from tests.bench.planted import PLAYERS, Talk, make_talk
from tests.bench.remembering import (
    EVERYBODY,
    OURS,
    TURN_S,
    Offline,
    ask_all,
    at_once,
    log_of,
    make_script,
)

# Tools or acts in tokens, such that the first prompt has about 1,500 and 700.
TOOL_TOKENS = {"tools": 1_205, "plain": 405}
LARGEST = 100_000
LINES, FACTS_PER_LINE = 190, 1 / 6
MOST_MISSED = 5.0  # percent


@dataclass
class Cost:
    """The cost of a whole talk, in tokens."""

    sent: list[int] = field(default_factory=list)  # by prompt
    read: list[float] = field(default_factory=list)  # by prompt: what no cache held
    background: int = 0  # of requests for summaries
    compactions: int = 0
    missed: float = 0.0  # percent of the facts that did not stand in the prompt of a question


class Counting(Offline):
    """The stand-in behind a counter of tokens."""

    def __init__(self) -> None:
        self.tokens = 0

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float | None = None
    ) -> Deferred[LLMReply]:
        """Count and answer at once."""
        self.tokens += request.tokens
        return super().complete(request, profile, deadline_at)


def in_text(messages: Sequence[WireMessage]) -> str:
    """A prompt as an endpoint's cache compares it."""
    return "\n".join(json.dumps(message) for message in messages)


def cached(text: str, before: str) -> int:
    """How many characters a prompt has in common with the beginning of the one before."""
    pairs = enumerate(zip(text, before, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(text), len(before)))


def cost_of(talk: Talk, form: str, window: int) -> Cost:
    """What a talk costs with a window, one prompt a line; the cache knows the prompt before."""
    gateway, cost, before = Counting(), Cost(), ""
    script = make_script(gateway, window)
    usual = script.config.max_reply_tokens
    script.config = replace(script.config, max_reply_tokens=REPLY_TOKENS.get(form, usual))
    asking = PromptRequest(tool_tokens=TOOL_TOKENS[form])
    for line, (heard, *answer) in zip(talk.lines, log_of(talk), strict=True):
        result = at_once(script.mind.emergency.make_room())
        cost.compactions += bool(result and result.get("success"))
        script.services.clock.advance(TURN_S)
        script.conversation.append([heard])
        listeners = frozenset({PLAYERS[line.speaker]}) if line.private else EVERYBODY
        at_once(script.memories.prepare(script.services))
        prompt = script.mind.prompts.build(CONTEXT_TICK_EVENT, listeners, asking)
        script.log.show(prompt.scenes)
        text = in_text(prompt.messages)
        new = 1 - cached(text, before) / len(text)
        cost.sent.append(prompt.tokens)
        cost.read.append((prompt.tokens - TOOL_TOKENS[form]) * new)
        script.conversation.append(answer)
        before = text
    cost.background = gateway.tokens
    cost.missed = 100 - ask_all(script, talk.facts, (OURS,)).percent(OURS)
    return cost


@pytest.mark.parametrize("form", sorted(TOOL_TOKENS))
def test_the_default_window_bounds_a_prompt_and_loses_few_facts(
    form: str, sheet: Callable[[str], Sheet]
) -> None:
    talk = make_talk(turns=LINES, facts=int(LINES * FACTS_PER_LINE), seed=1)
    paper = sheet(f"a talk of {LINES} lines, {form}")
    default = WORKING_WINDOWS[form]
    for window in (default // 2, default, LARGEST):
        cost = cost_of(talk, form, window)
        name = f"window {window:,}: "
        bar = MOST_MISSED if window == default else None
        paper.add(f"{name}facts missed in the prompt", cost.missed, "%", bar)
        bar = 0.8 * default if window == default else None
        paper.add(f"{name}largest prompt", max(cost.sent), "tokens", bar)
        paper.add(f"{name}sent a line", mean(cost.sent), "tokens")
        paper.add(f"{name}read anew a line", mean(cost.read), "tokens")
        paper.add(f"{name}summaries", cost.background, "tokens")
        paper.add(f"{name}compactions", cost.compactions)
    paper.check()
