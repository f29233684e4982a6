"""Models for the simulation: they answer, dawdle, fail, write garbage and tell everything on.

They write raw replies in every request form, whole or as a stream, and show the habits of small
models; `tests.reading.ReplyClient` reads them, as in a game.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.task import Clock
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    ContextOverflow,
    DeadlineExceeded,
    ProviderRejected,
    ProviderUnavailable,
)
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.messages import Delta, LLMReply, ToolCallRequest
from evennia_ai.ports import LLMClient, LLMRequest
from tests.reading import ReplyClient
from tests.reading_requests import is_summary, step_of
from tests.simulation.raw_replies import deltas_of, habit_reply, write_raw
from tests.simulation.world import JOURNAL

if TYPE_CHECKING:
    from tests.simulation.play import Play

TOKEN = re.compile(r"\b[ps]\d{4}x\b")
DEBT = re.compile(r"\b\d+ crowns\b")
SAME_AGAIN = 0.5
NOTHING_NEW = "re"
BREAKS, INTRUDES = 0.15, 0.05
PATTERNS = {
    "say": 30,
    "text": 10,
    "whisper": 6,
    "whisper to one": 5,
    "act and say": 8,
    "act": 14,
    "say twice": 2,
    "note": 4,
    "noop": 5,
    "broken arguments": 2,
    "unknown tool": 2,
    "empty": 3,
    "cut off": 2,
    "too many": 1,
    "unavailable": 5,
    "rejected": 2,
    "overflow": 3,
    "bug": 2,
}
ACTS = ("give", "knock", "emote", "look", "glow")
LASTING_ACTS = ("give", "knock", "emote")
NAMES, WEIGHTS = tuple(PATTERNS), tuple(PATTERNS.values())


class SimModel:
    """`ports.LLMClient`: replies from chance, at times from chance."""

    def __init__(self, sim: Play, clock: Clock) -> None:
        self.sim = sim
        self.clock = clock

    def complete(self, request: LLMRequest, profile: ModelProfile) -> Deferred[LLMReply]:
        """Answer some time. Whoever cancels hears nothing more."""
        plan = self.plan_spare if profile.client == "offline" else self.plan
        if is_extraction(request) and not self.sim.calm:
            plan = self.plan_entry
        if is_summary(request):
            plan = self.plan_summary
        delay, answer = plan(request)
        if isinstance(answer, LLMReply):
            answer = self.in_form(request, profile, answer)
            if request.on_delta is not None:
                return self.stream(request.on_delta, answer, delay)
        if delay == 0:
            return fail(answer) if isinstance(answer, Exception) else succeed(answer)
        result: Deferred[LLMReply] = Deferred()
        self.clock.callLater(delay, fire, result, answer)
        return result

    def in_form(self, request: LLMRequest, profile: ModelProfile, answer: LLMReply) -> LLMReply:
        """Return a reply in the request's form, or a small model's instead."""
        if profile.client == "offline":
            return answer
        is_turn = request.on_call is not None and not self.sim.calm
        habit = habit_reply(self.sim.rng, request, profile) if is_turn else None
        return habit or write_raw(self.sim.rng, answer, request)

    def stream(
        self, on_delta: Callable[[Delta], None], answer: LLMReply | Exception, delay: float
    ) -> Deferred[LLMReply]:
        """Answer in parts; a stream may break, and go on after it was cancelled."""
        rng, result = self.sim.rng, Deferred[LLMReply]()
        deltas = deltas_of(rng, answer) if isinstance(answer, LLMReply) else []
        if deltas and not self.sim.calm and rng.random() < BREAKS:
            deltas = deltas[: rng.randint(1, len(deltas))]
            answer = ProviderUnavailable("it broke off", begun=True)
            self.sim.tell("a stream breaks off")
        if delay == 0:
            for delta in deltas:
                on_delta(delta)
            fire(result, answer)
            return result
        is_late = rng.random() < BREAKS
        for number, delta in enumerate(deltas, 1):
            when = delay * number / (len(deltas) + 1)
            self.clock.callLater(when, self.pass_on, on_delta, delta, result, is_late)
        self.clock.callLater(delay, fire, result, answer)
        return result

    def pass_on(
        self,
        on_delta: Callable[[Delta], None],
        delta: Delta,
        result: Deferred[LLMReply],
        is_late: bool,
    ) -> None:
        """Pass a part on, and let somebody come or go."""
        if result.called and is_late:
            self.sim.tell("a part arrives after the end")
        if is_late or not result.called:
            on_delta(delta)
        if not self.sim.calm and self.sim.rng.random() < INTRUDES:
            self.sim.tell("somebody moves in mid-stream")
            self.sim.move()

    def plan(self, request: LLMRequest) -> tuple[float, LLMReply | Exception]:
        """When to answer, in seconds, and what."""
        if self.sim.calm:
            return 0, calls_reply(said(self.sim.calm, answer_text(request)))
        rng, share = self.sim.rng, self.sim.replay_share
        if share and rng.random() < share and answer_text(request) != NOTHING_NEW:
            return think_time(rng), replay(request)
        return think_time(rng), write_reply(rng, request)

    def plan_summary(self, request: LLMRequest) -> tuple[float, LLMReply | Exception]:
        """As `plan`, for a summary; it names everything that was said, and all that is owed."""
        rng = self.sim.rng
        if not self.sim.calm and rng.random() < 0.3:
            return think_time(rng), rng.choice((ProviderUnavailable("down"), LLMReply("")))
        debts = dict.fromkeys(DEBT.findall(words_in(request)))
        return think_time(rng), LLMReply(" ".join(["sum", *tokens_in(request), *debts]))

    def plan_entry(self, request: LLMRequest) -> tuple[float, LLMReply | Exception]:
        """As `plan`, for what shall be written down before talk goes out of view."""
        rng = self.sim.rng
        entry = said(JOURNAL, " ".join(["was", *tokens_in(request)]))
        batches = ((entry,), (entry, entry), (entry, said("say", "aha")), (said("noop", ""),), ())
        answer: LLMReply | Exception = calls_reply(*rng.choice(batches))
        if rng.random() < 0.15:
            answer = rng.choice((ProviderUnavailable("down"), ContextOverflow("too much")))
        return think_time(rng), answer

    def plan_spare(self, request: LLMRequest) -> tuple[float, LLMReply | Exception]:
        """As `plan`, for the brain that stands in where a model failed."""
        if request.certain:  # it is sure of nothing here
            return 0, LLMReply("")
        rng = self.sim.rng
        words = rng.choice((answer_text(request), gossip(rng, request), ""))
        return rng.choice((0, 0, 0, 0.2, 4.0)), LLMReply(words)


class StubbornGateway:
    """A gateway that knows no deadline and cannot be closed: replies come late, to turns that have
    been dropped meanwhile, and to servers that are going down."""

    def __init__(self, clients: Mapping[str, LLMClient]) -> None:
        self.clients = clients

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float
    ) -> Deferred[LLMReply]:
        """Ask, and wait however long it takes."""
        return self.clients[profile.client].complete(request, profile)

    def close(self) -> None:
        """Does nothing."""

    def missing_client(self, profile: ModelProfile) -> str:
        """Every profile has a client."""
        return ""


class RecordingGateway:
    """Writes down for whom a request was made before it hands it on."""

    def __init__(self, sim: Play, gateway: Any) -> None:
        self.sim = sim
        self.gateway = gateway
        self.close, self.missing_client = gateway.close, gateway.missing_client

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float
    ) -> Deferred[LLMReply]:
        """Hand it on."""
        number = self.sim.note_request(request)
        asked: Deferred[LLMReply] = self.gateway.complete(request, profile, deadline_at)
        return asked.addBoth(self._came_to_an_end, number)

    def _came_to_an_end(self, outcome: Any, number: int) -> Any:
        self.sim.note_end_of_request(number)
        return outcome


def make_gateway(sim: Play, clock: Clock) -> RecordingGateway:
    """The real gateway, or one that lets replies come late."""
    model = SimModel(sim, clock)
    clients = {"sim": ReplyClient(model, call_at_once), "offline": model}
    if sim.stubborn:
        return RecordingGateway(sim, StubbornGateway(clients))
    return RecordingGateway(sim, ModelGateway(clock, clients, jitter=sim.rng.random))


def call_at_once(function: Callable[..., object], *args: Any) -> None:
    """Call a function: there is one thread."""
    function(*args)


def fire(result: Deferred[LLMReply], answer: LLMReply | Exception) -> None:
    """Give an answer to whoever still waits for it."""
    if not result.called:
        result.callback(Failure(answer) if isinstance(answer, Exception) else answer)


def is_extraction(request: LLMRequest) -> bool:
    """True where facts shall be written down, by the tools that are offered."""
    names = {tool["function"]["name"] for tool in request.tools}
    return JOURNAL in names and "say" not in names


def think_time(rng: Random) -> float:
    """Seconds until a reply: at once, soon, late, too late."""
    draw = rng.random()
    if draw < 0.35:
        return 0
    if draw < 0.8:
        return rng.choice((0.1, 0.5, 1.0, 3.0))
    return rng.choice((8.0, 15.0, 19.9, 25.0, 60.0))


def write_reply(rng: Random, request: LLMRequest) -> LLMReply | Exception:
    """What a model makes of a request; often the same as of the same lines before."""
    if rng.random() < SAME_AGAIN:
        rng = Random(f"{answer_text(request)} {step_of(request)}")
    pattern = rng.choices(NAMES, WEIGHTS)[0]
    if pattern == "unavailable":
        return rng.choice((ProviderUnavailable("down"), DeadlineExceeded("slow")))
    if pattern == "rejected":
        return ProviderRejected("no")
    if pattern == "overflow":
        return ContextOverflow("more than the window")
    if pattern == "bug":
        return RuntimeError("a bug in a client")
    text = answer_text(request) if rng.random() < 0.6 else gossip(rng, request)
    return compose(rng, pattern, text, request)


def replay(request: LLMRequest) -> LLMReply:
    """An act about the oldest new line, then an answer: at every try at that line the same act."""
    oldest = next(token for event in request.events for token in TOKEN.findall(event.heard.text))
    if step_of(request) > 1:
        return calls_reply(said("say", answer_text(request)))
    return calls_reply(said(Random(oldest).choice(LASTING_ACTS), f"for {oldest}"))


def compose(rng: Random, pattern: str, text: str, request: LLMRequest) -> LLMReply:
    """A reply of one pattern."""
    if pattern == "text":
        return LLMReply(text)
    if pattern == "empty":
        return LLMReply("<think>well</think>")
    if pattern == "cut off":
        return LLMReply("", (said("say", text),), "length")
    if pattern == "too many":
        return calls_reply(*(said("knock", f"{text} {number}") for number in range(12)))
    calls = {
        "say": (said("say", text),),
        "whisper": (said("whisper", text),),
        "whisper to one": (said("whisper", text, target=somebody(rng, request)),),
        "act and say": (said(rng.choice(ACTS), text), said("say", text)),
        "act": (said(rng.choice(ACTS), text),),
        "say twice": (said("say", text), said("say", text + " again")),
        "note": (said(JOURNAL, text),),
        "noop": (ToolCallRequest("x", "noop", "{}"),),
        "broken arguments": (ToolCallRequest("x", "say", '{"text": "'),),
        "unknown tool": (said("fly", text),),
    }
    return calls_reply(*calls[pattern])


def said(name: str, text: str, **more: str) -> ToolCallRequest:
    """A call with words."""
    return ToolCallRequest("", name, json.dumps({"text": text, **more}))


def calls_reply(*calls: ToolCallRequest) -> LLMReply:
    """A reply of calls."""
    numbered = (replace(call, id=f"x{number}") for number, call in enumerate(calls))
    return LLMReply("", tuple(numbered), "tool_calls")


def answer_text(request: LLMRequest) -> str:
    """Words that depend on the new lines only, so that another try at them says the same."""
    tokens = [token for event in request.events for token in TOKEN.findall(event.heard.text)]
    told = " ".join(tokens)
    return f"Re {told} I have heard all of it. As to {told}, so be it." if tokens else NOTHING_NEW


def gossip(rng: Random, request: LLMRequest) -> str:
    """Words that tell on whatever stands in the prompt."""
    tokens = tokens_in(request)
    told = rng.sample(tokens, min(3, len(tokens)))
    return " ".join(["Ah, this is what I heard.", *(f"They told of {token}." for token in told)])


def tokens_in(request: LLMRequest) -> list[str]:
    """All that was ever said in a prompt, each once."""
    return list(dict.fromkeys(TOKEN.findall(words_in(request))))


def words_in(request: LLMRequest) -> str:
    """Return everything that a prompt says."""
    return " ".join(str(message["content"]) for message in request.messages)


def somebody(rng: Random, request: LLMRequest) -> str:
    """One of those the character sees."""
    return rng.choice(request.situation.people or ("#99",))
