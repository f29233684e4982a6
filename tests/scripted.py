"""A model with scripted replies, as an `LLMClient` or instead of a gateway."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from twisted.internet.defer import Deferred, fail, succeed

from evennia_ai.config import ModelProfile
from evennia_ai.messages import LLMReply, ToolCallRequest
from evennia_ai.ports import LLMRequest

Calls = Sequence[ToolCallRequest] | Mapping[str, Mapping[str, Any]]
Reply = str | LLMReply | ToolCallRequest | Calls
Answer = Reply | Exception | Deferred[Any]
Line = Answer | Callable[[LLMRequest], Answer]


def call(name: str, /, **arguments: Any) -> ToolCallRequest:
    """Return a tool call for a script: ``call("say", text="hi")``. The reply gives it an id."""
    return ToolCallRequest("", name, json.dumps(arguments, ensure_ascii=False))


class ScriptedLLM:
    """A model that replies from a list, one entry for each call, and keeps every request.

    An entry is one of: a text; one `call`, or several in a tuple; a mapping from a tool's name to
    its arguments (``{"say": {"text": "hi"}}``); an `LLMReply`; an exception, with which the call
    fails; a Deferred that fires with any of these; a function from the request to any of these.
    """

    def __init__(self, script: Iterable[Line] = ()) -> None:
        self.script: list[Line] = list(script)
        self.requests: list[LLMRequest] = []
        self.deadlines: list[float | None] = []
        self._calls = 0

    def add(self, *lines: Line) -> None:
        """Append entries to the script."""
        self.script.extend(lines)

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float | None = None
    ) -> Deferred[LLMReply]:
        """Fire with the script's next reply; fail with AssertionError if none is left.

        As the stand-in it surely knows nothing.
        """
        if request.certain:
            return succeed(LLMReply(""))
        self.requests.append(request)
        self.deadlines.append(deadline_at)
        if not self.script:
            return fail(AssertionError(self._exhausted()))
        line = self.script.pop(0)
        return self._answer(line(request) if callable(line) else line)

    def _answer(self, answer: Answer) -> Deferred[LLMReply]:
        if isinstance(answer, Exception):
            return fail(answer)
        if isinstance(answer, Deferred):
            return answer.addCallback(self._answer)
        return succeed(self._reply(answer))

    def _reply(self, answer: Reply) -> LLMReply:
        if isinstance(answer, LLMReply):
            return answer
        if isinstance(answer, str):
            return LLMReply(answer)
        calls = [answer] if isinstance(answer, ToolCallRequest) else list_calls(answer)
        return LLMReply("", tuple(self._numbered(item) for item in calls), "tool_calls")

    def _numbered(self, item: ToolCallRequest) -> ToolCallRequest:
        self._calls += 1
        return item if item.id else replace(item, id=f"call_{self._calls}")

    def _exhausted(self) -> str:
        last = self.requests[-1].messages
        words = str(last[-1].get("content", ""))[-200:] if last else ""
        return f"The script has no reply left for request {len(self.requests)}, ending in: {words}"


def list_calls(answer: Calls) -> list[ToolCallRequest]:
    """Return the calls of an entry that holds several calls or a mapping."""
    if isinstance(answer, Mapping):
        return [call(name, **arguments) for name, arguments in answer.items()]
    return list(answer)
