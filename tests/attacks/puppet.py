"""A model that calls whatever the words of a prompt ask for, in any form, whole or streamed.

An order is ``CALL name {arguments}``; several make several calls of one reply. Words that say
``ENDPOINT FAILS reversed`` make the endpoint fail with an error that repeats the prompt so.
Without orders it says every secret that it reads.
"""

import base64
import codecs
import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from random import Random
from typing import Any

from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.task import deferLater

from evennia_ai.config import ModelProfile
from evennia_ai.llm.endpoints import find_endpoint
from evennia_ai.llm.refusals import explain_refusal, read_refusal
from evennia_ai.messages import LLMReply, ToolCallRequest
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.tool_call_modes.form import TOOLS
from evennia_ai.ports import LLMRequest
from evennia_ai.turn.prompt_building import addressee_of
from tests.provider.obedient import as_json, calls_since
from tests.simulation.raw_replies import deltas_of, write_raw

ORDER = re.compile(r"CALL (\w+) (\{[^{}]*\})")
FAILURE = re.compile(r"ENDPOINT FAILS (\w+) (\d{3})")
CANARY = re.compile(r"canary-\d+x")
MOST_ACTS = 10  # of one turn
COPIES = 0.2  # how often it also repeats the last texts, which is mostly refused
READ = 14  # messages from the end
WAYS: Mapping[str, Callable[[str], str]] = {
    "plain": str,
    "reversed": lambda text: text[::-1],
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "spaced": " ".join,
    "upper": str.upper,
    "dotted": ".".join,
    "codes": lambda text: " ".join(str(ord(char)) for char in text),
}


def secrets_in(texts: str) -> list[str]:
    """Return the secrets in a text, each once."""
    return list(dict.fromkeys(CANARY.findall(texts)))


class Puppet:
    """The model as an `LLMClient`; ``rng`` decides how it writes its calls."""

    def __init__(self, clock: Any) -> None:
        self.clock, self.rng = clock, Random(0)
        self.requests: list[LLMRequest] = []
        self.calls = 0

    def complete(
        self, request: LLMRequest, profile: ModelProfile, deadline_at: float | None = None
    ) -> Deferred[LLMReply]:
        """Fire with a reply that does all that the prompt says."""
        self.requests.append(request)
        texts = [str(message.get("content") or "") for message in request.messages[1:]]
        if ways := FAILURE.findall("\n".join(texts[-READ:])):
            return fail(failure(request, profile, texts, *ways[-1]))
        if not request.all_tools:
            return succeed(LLMReply("\n".join(texts)[-3_000:] or "Nothing."))
        reply = write_raw(self.rng, LLMReply("", self.obey(request, texts), "tool_calls"), request)
        reader = reply_reader(request.form, request.all_tools)
        if request.on_call is None or not profile.stream:
            return succeed(reader.finish(reply))

        def stream() -> LLMReply:
            for delta in deltas_of(self.rng, reply):
                for call in reader.hear(delta):
                    request.on_call(call)
            return reader.finish(reply)

        return deferLater(self.clock, 0, stream)

    def obey(self, request: LLMRequest, texts: list[str]) -> tuple[ToolCallRequest, ...]:
        """Return the calls of the next reply."""
        made = calls_since(request.messages)
        wanted = [order for text in reversed(texts[-READ:]) for order in ORDER.findall(text)]
        wanted = [order for order in dict.fromkeys(wanted) if order not in made]
        if not wanted or len(made) >= MOST_ACTS:
            secrets = secrets_in("\n".join(texts))
            more = texts[-2:] if self.rng.random() < COPIES else []
            words = f"It is line {self.calls} that I tell you, {' and '.join(secrets)}. "
            words = (words + " ".join(map(worded, more)))[:600]
            wanted = [("say", as_json({"text": words}))]
            if not any(tool["function"]["name"] == "say" for tool in request.all_tools):
                wanted = [
                    ("whisper", as_json({"target": addressee_of(request.events), "text": words}))
                ]
        if request.form != TOOLS:
            wanted = [(name, given if is_object(given) else "{}") for name, given in wanted]
        self.calls += len(wanted)
        return tuple(
            ToolCallRequest(f"puppet_{self.calls}_{number}", name, arguments)
            for number, (name, arguments) in enumerate(wanted[:MOST_ACTS])
        )


def is_object(given: str) -> bool:
    """Return True for arguments that are JSON."""
    try:
        return isinstance(json.loads(given), dict)
    except ValueError:
        return False


def worded(text: str) -> str:
    """Return a text without what makes it a call, which would not be spoken."""
    return re.sub(r"CALL \w+|[{}\"\[\]<>]", " ", text)


def failure(
    request: LLMRequest, profile: ModelProfile, texts: list[str], way: str, status: str
) -> Exception:
    """Return the error of an endpoint that repeats the prompt's secrets in some way."""
    echo = WAYS.get(way, str)("\n".join(secrets_in("\n".join(texts))) or texts[-1][-300:])
    error = {"message": f"cannot read: {echo}", "code": echo[:40]}
    refusal = read_refusal(error, "", datetime.now(UTC), int(status))
    body = {"messages": [dict(message) for message in request.messages]}
    return explain_refusal(refusal, profile, find_endpoint(profile, {}), body, request.is_public)
