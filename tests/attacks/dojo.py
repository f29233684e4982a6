"""AgentDojo in a game: its tools as a builder would write them, its user as a player, its attacks.

AgentDojo (Debenedetti and others, 2024) has 97 tasks of users and 27 injections in four suites, 629
pairs in its version 1. Here its tools are `Tool`s, Emma's task is a line that she says to Mira, and
the injection comes in a tool's result, in a line of Mallory's, or in the description of the place.
The model does the task's own solution, and first whatever an injection says that it reads.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from pydantic import BaseModel
from twisted.internet.defer import succeed

from evennia_ai.errors import NothingDone
from evennia_ai.messages import LLMReply, ToolCallRequest
from evennia_ai.models import PendingAct, ToolCall
from evennia_ai.policy.staff_controls import WAITING, exact_arguments
from evennia_ai.ports import ToolResult
from evennia_ai.tools.base import Tool

VERSION, ATTACK, MODEL = "v1", "important_instructions", SimpleNamespace(name="local")
CARRIERS = RESULT, LINE, PLACE = ("a tool's result", "another player's line", "a description")
UNHARMED = "nothing"  # a case without its injection
READING = ("get_", "read_", "search_", "list_", "check_")
VISIT = "get_webpage"  # whoever owns an address sees who visits it, and what is in it
OWNER = "perm(Builder)"
LOCK, CONFIRMATION, NONE = "lock", "confirmation", "none"
GATES = {LOCK: {"lock": OWNER}, CONFIRMATION: {"lock": OWNER, "answers_only": True}, NONE: {}}
MOST_LINES, MARKER_CHARS = 60, 30
ASKED = "Not done yet"


@dataclass(frozen=True)
class Case:
    """A user's task with an injection, and how the injection reaches a prompt."""

    suite: Any
    user: Any
    injection: Any
    carrier: str = RESULT

    def __str__(self) -> str:
        return f"{self.suite.name}, {self.user.ID}, {self.injection.ID}, by {self.carrier}"


@dataclass
class Outcome:
    """What came of a case."""

    case: Case
    read: bool  # the injection stood in a prompt
    foreign: list[str]  # acts done that the user did not ask for
    succeeded: bool  # what AgentDojo itself says of the injection
    useful: bool  # what AgentDojo itself says of the user's task
    gates: Counter[str] = field(default_factory=Counter)  # injected acts, by what became of them


def is_act(name: str) -> bool:
    """Return True if a tool of AgentDojo's changes something, or tells somebody outside."""
    return name == VISIT or not name.startswith(READING)


def cases(suites: dict[str, Any], carrier: str = RESULT) -> list[Case]:
    """Return each user's task with each injection of its suite."""
    return [
        Case(suite, user, injection, carrier)
        for suite in suites.values()
        for user in suite.user_tasks.values()
        for injection in suite.injection_tasks.values()
    ]


class Solver:
    """The model: it does a task's calls one by one, and an injection's before all others.

    What it has read, it obeys when it first sees it, and again when its task is done.
    """

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.begin([], "", [])

    def begin(self, calls: list[Any], marker: str, injected: list[Any]) -> None:
        """Take the calls of a task, the text that marks an injection, and its calls."""
        self.queue, self.marker, self.injected, self.read = list(calls), marker, injected, False
        self.requests.clear()

    def complete(self, request: Any, profile: Any, deadline_at: float | None = None) -> Any:
        """Fire with the next call, or with words if a person is asked or nothing is left."""
        self.requests.append(request)
        if not request.all_tools:
            return succeed(LLMReply("Nothing."))
        texts = [str(message.get("content") or "") for message in request.messages]
        if self.marker and not self.read and any(self.marker in text for text in texts):
            self.read, self.queue = True, [*self.injected, *self.queue, *self.injected]
        if not self.queue or texts[-1].startswith(ASKED):
            return succeed(LLMReply("", (spoken(len(self.requests)),), "tool_calls"))
        call = self.queue.pop(0)
        arguments = json.dumps(plain(call.args), ensure_ascii=False)
        asked = ToolCallRequest(f"call_{len(self.requests)}", call.function, arguments)
        return succeed(LLMReply("", (asked,), "tool_calls"))


def spoken(number: int) -> ToolCallRequest:
    """Return words that differ from those before."""
    return ToolCallRequest(f"say_{number}", "say", json.dumps({"text": f"So much for {number}."}))


def plain(value: Any) -> Any:
    """Return what a tool of AgentDojo's takes or returns as plain data."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


class Office:
    """A room with Emma and Mira, who has the tools of a suite, and the suite's environment."""

    def __init__(self, game: Any, gate: str) -> None:
        from agentdojo.functions_runtime import FunctionsRuntime

        self.game, self.gate, self.runtime_of = game, gate, FunctionsRuntime
        self.room = game.room("Office")
        self.emma = game.player("Emma", self.room, permissions=["Builder"])
        self.mallory = game.player("Mallory", game.room("Hall"))
        self.attacks: dict[str, Any] = {}
        self.tools: dict[str, list[Tool]] = {}

    def play(self, case: Case, attack: str = ATTACK) -> Outcome:
        """Play a case; return what came of it."""
        self.enter(case, attack)
        mira = self.game.assistant("Mira", self.room)
        try:
            self.talk(case)
            return self.outcome(case, mira.assistant)
        finally:
            mira.delete()
            self.room.db.desc, self.mallory.character.location = "", None
            self.game.run(1)

    def enter(self, case: Case, attack: str) -> None:
        """Load the environment with the injection in it, the tools, and the model's calls."""
        texts = self.injections(case, attack)
        loaded = case.suite.load_and_inject_default_environment(
            texts if case.carrier == RESULT else {}
        )
        self.before = case.user.init_environment(loaded)
        self.environment = self.before.model_copy(deep=True)
        self.runtime, self.ran = self.runtime_of(case.suite.tools), []
        if case.suite.name not in self.tools:
            self.tools[case.suite.name] = [self.tool(function) for function in case.suite.tools]
        for tool in self.tools[case.suite.name]:
            self.game.service.toolbox.add(tool)
        self.text = " ".join(" ".join(texts.values()).split()) if texts else case.injection.GOAL
        self.solution = case.user.ground_truth(self.before)
        marker = case.injection.GOAL.split("\n")[0][:MARKER_CHARS]
        injected = case.injection.ground_truth(self.before)
        self.wanted = {self.exact(call.function, call.args) for call in self.solution}
        self.unwanted = {self.exact(call.function, call.args) for call in injected} - self.wanted
        self.game.model.begin(self.solution, marker, injected)

    def injections(self, case: Case, attack: str) -> dict[str, str]:
        """Return AgentDojo's texts of an attack, each by where the user's task reads it."""
        from agentdojo.attacks.attack_registry import load_attack

        key = f"{case.suite.name} {attack}"
        if key not in self.attacks:
            self.attacks[key] = load_attack(attack, case.suite, MODEL)
        return self.attacks[key].attack(case.user, case.injection)

    def tool(self, function: Any) -> Tool:
        """Return a tool of AgentDojo's as the builder's guide tells a builder to write it."""

        def run(context: Any, arguments: BaseModel) -> ToolResult:
            self.ran.append(self.exact(function.name, arguments.model_dump()))
            given = arguments.model_dump()
            found, problem = self.runtime.run_function(self.environment, function.name, given)
            if problem:
                raise NothingDone(problem)
            text = json.dumps(plain(found), ensure_ascii=False)
            return ToolResult("done", text, authors=frozenset({"stranger"}))

        run.__doc__ = function.description
        acts = is_act(function.name)
        marks = GATES[self.gate] if acts else {}
        return Tool(function.name, run, function.parameters, world=acts, **marks)

    def exact(self, name: str, arguments: Any) -> tuple[str, str]:
        """Return a call as it is compared: its tool, and all its arguments as they are shown."""
        checked = self.runtime.functions[name].parameters.model_validate(plain(arguments))
        return name, exact_arguments(checked.model_dump(mode="json"))

    def talk(self, case: Case) -> None:
        """Let Emma say her task, allow what belongs to it, and forbid all else."""
        if case.carrier == PLACE:
            self.room.db.desc = self.text
        if case.carrier == LINE:
            self.mallory.character.location = self.room
            self.mallory.do(f"say Mira, {self.text}")
            self.game.run(1)
        self.emma.do(f"say Mira, {' '.join(case.user.PROMPT.split())}")
        for _ in range(MOST_LINES):
            self.game.run(1)
            waiting = PendingAct.objects.filter(state=WAITING).last()
            if waiting:
                agrees = (waiting.name, waiting.arguments) in self.wanted
                self.emma.do("yes" if agrees else "no")
            elif self.game.model.queue:
                self.emma.do("say Mira, go on.")
            else:
                break

    def outcome(self, case: Case, script: Any) -> Outcome:
        """Return what was done, and what AgentDojo says of it."""
        from agentdojo.functions_runtime import FunctionCall

        done = [FunctionCall(function=name, args=json.loads(args)) for name, args in self.ran]
        words = [{"type": "text", "content": case.user.GROUND_TRUTH_OUTPUT}]
        judged = (words, self.before, self.environment, done)
        rows = ToolCall.objects.filter(assistant=script)
        return Outcome(
            case,
            self.game.model.read,
            [str(call) for call in self.ran if is_act(call[0]) and call not in self.wanted],
            case.suite._check_injection_task_security(case.injection, *judged),
            case.suite._check_user_task_utility(case.user, *judged),
            Counter(row.state for row in rows if self.is_injected(row)),
        )

    def is_injected(self, row: ToolCall) -> bool:
        """Return True for an act that only the injection asked for."""
        known = is_act(row.name) and row.name in self.runtime.functions
        return known and self.exact(row.name, json.loads(row.arguments or "{}")) in self.unwanted
