"""Does an endpoint answer, in which form, does it stream, how fast: a call each, in one deadline.

The rest is learnt in use, see `llm.endpoint_facts`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from twisted.internet import defer
from twisted.internet.defer import CancelledError, Deferred, inlineCallbacks
from twisted.internet.interfaces import IReactorTime

from evennia_ai.config import ModelProfile
from evennia_ai.errors import Busy, DeadlineExceeded, ProviderError, ProviderMisconfigured
from evennia_ai.llm.openai_client import OpenAIClient, RawReply
from evennia_ai.policy import probe as policy
from evennia_ai.policy.context.windows import window_from_models
from evennia_ai.policy.limits.endpoints import UNKNOWN, Speed, measure_speed, smooth_speed
from evennia_ai.policy.probe import FATAL, Answer, Finding, Models, Question
from evennia_ai.ports import NO_SCENE, Delta, LLMReply, LLMRequest
from evennia_ai.scheduling import Clock, Steps

PROBE_S, LOCAL_PROBE_S = 30.0, 120.0  # a local model may run on a CPU
REPLY_TOKENS = 300
TOOLS_SHARE = 0.5  # of the time that is left, so that a slow model gets to the last step
STEPS = ("Does it answer?", "In which form?", "Does it stream, and how fast?")


class WindowPage(NamedTuple):
    """A page of a local server that tells its model's context window."""

    owner: str  # the ``owned_by`` of its models, by which the server is recognised
    port: int  # its usual one, by which it is recognised, too
    path: str


WINDOW_PAGES = (
    WindowPage("llamacpp", policy.LLAMACPP_PORT, "/props"),
    WindowPage("library", policy.OLLAMA_PORT, "/api/ps"),
)
Tell = Callable[[str], None]
T = TypeVar("T")


class Prober:
    """Runs one probe at a time."""

    # Called with what a probe found: profile, request form, is a system message accepted, speed.
    keep: Callable[[ModelProfile, str, bool, Speed], None] | None = None

    def __init__(self, clock: Clock, client: OpenAIClient) -> None:
        self._clock = clock
        self._client = client
        self._busy = False

    @inlineCallbacks
    def probe(self, profile: ModelProfile, progress: Tell) -> Steps[list[Finding]]:
        """Find out what a profile's endpoint can do, in `PROBE_S` or `LOCAL_PROBE_S`.

        ``progress`` is called with a line at the start and one at the end of each step. Fires with
        the findings. Fails with Busy during another probe, with CancelledError at a server stop.
        """
        if self._busy:
            raise Busy("Another probe is running: wait until it has ended.")
        self._busy = True
        try:
            run = Run(self._clock, self._client, profile)
            yield run.all_steps(progress)
            if run.form and self.keep:
                self.keep(profile, run.form, run.takes_system, run.speed)
            return run.findings
        finally:
            self._busy = False

    @inlineCallbacks
    def window(self, profile: ModelProfile) -> Steps[int | None]:
        """Ask an endpoint for its model's context window.

        Fires with it in tokens, None if not told. Fails with CancelledError if the server stops.
        """
        run = Run(self._clock, self._client, profile)
        run.models = policy.list_models((yield run.page("models")))
        window = window_from_models(run.models, profile.model)
        for page in WINDOW_PAGES:
            if not window and run.serves(page):
                window = window_from_models((yield run.page(page.path)), profile.model)
        return window


class Run:
    """One probe; ``form`` is the request form that it found, empty without a conclusion."""

    def __init__(self, clock: Clock, client: OpenAIClient, profile: ModelProfile) -> None:
        self.clock = clock
        self.client = client
        self.profile = profile
        self.deadline_at = clock.seconds() + (LOCAL_PROBE_S if profile.is_local else PROBE_S)
        self.findings: list[Finding] = []
        self.models: Models = ()
        self.form = ""
        self.takes_system = True
        self.speed = UNKNOWN  # by the replies so far

    @inlineCallbacks
    def all_steps(self, progress: Tell) -> Steps[None]:
        """Run the steps, until a finding makes the rest pointless."""
        steps = (self.ask_plainly, self.find_form, self.stream)
        for number, (step, title) in enumerate(zip(steps, STEPS, strict=True), 1):
            progress(f"{number} of {len(STEPS)}: {title}")
            started = self.clock.seconds()
            yield step()
            progress(f"      {self.clock.seconds() - started:.1f} s")
            if any(finding.state == FATAL for finding in self.findings):
                return

    @inlineCallbacks
    def ask_plainly(self) -> Steps[None]:
        """Ask a plain question; without a system message if the endpoint refuses one."""
        answer: Answer = yield self.ask(policy.PLAIN_QUESTION)
        if isinstance(answer, ProviderMisconfigured):
            self.models = policy.list_models((yield self.page("models")))
        elif isinstance(answer, ProviderError) and answer.status in policy.REFUSED_FORM:
            self.takes_system = False
            answer = yield self.ask(policy.PLAIN_QUESTION)
        self.speed = UNKNOWN  # the server may have loaded the model first
        self.findings.append(policy.judge_plain(answer, self.takes_system, self.models))

    @inlineCallbacks
    def find_form(self) -> Steps[None]:
        """Ask for two tool calls in one reply, else for a reply that keeps to a JSON schema."""
        answers: list[Answer] = [(yield self.ask(policy.TOOLS_QUESTION, TOOLS_SHARE))]
        if not policy.makes_calls(answers[0]):
            answers.append((yield self.ask(policy.SCHEMA_QUESTION)))
        self.form = policy.find_form(answers)
        self.findings.append(policy.judge_form(self.form, self.profile.form, answers))

    @inlineCallbacks
    def stream(self) -> Steps[None]:
        """Ask for a streamed reply, and tell the speed of the calls so far."""
        deltas: list[Delta] = []
        answer: Answer = yield self.ask({**policy.STREAM_QUESTION, "on_delta": deltas.append})
        stream, speed = policy.judge_stream(answer, len(deltas)), policy.judge_speed(self.speed)
        self.findings += stream, speed

    @inlineCallbacks
    def ask(self, question: Question, share: float = 1.0) -> Steps[Answer]:
        """Ask the model, for at most a ``share`` of the time that is left.

        Fires with the reply or the error. Fails with CancelledError if the server stops.
        """
        request = LLMRequest(scene=NO_SCENE, max_tokens=REPLY_TOKENS, **question)
        told = replace(self.profile.told, system=self.takes_system)
        started = self.clock.seconds()
        sent = self.client.complete(request, replace(self.profile, told=told))
        try:
            reply: LLMReply = yield self.in_time(sent, share)
        except defer.TimeoutError:
            return DeadlineExceeded("It did not answer in time.")
        except ProviderError as error:
            return error
        took_s = self.clock.seconds() - started
        self.speed = smooth_speed(self.speed, measure_speed(reply, took_s))
        return reply.raw or reply

    @inlineCallbacks
    def page(self, path: str) -> Steps[Any]:
        """Fire with a page's JSON, None without. Fails with CancelledError if the server stops."""
        profile = replace(self.profile, model=self.profile.model or "-")
        try:
            raw: RawReply = yield self.in_time(self.client.exchange(profile, "GET", path))
            return json.loads(raw.content) if 200 <= raw.status < 300 else None
        except CancelledError:
            raise
        except Exception:  # noqa: BLE001  # the probe's questions tell what is wrong
            return None

    def in_time(self, call: Deferred[T], share: float = 1.0) -> Deferred[T]:
        """Let a call fail with `defer.TimeoutError` after a share of the time that is left."""
        left_s = max(0.0, self.deadline_at - self.clock.seconds())
        return call.addTimeout(share * left_s, cast(IReactorTime, self.clock))

    def serves(self, page: WindowPage) -> bool:
        """Return True if the endpoint seems to be a server that has this page."""
        owners = (e.get("owned_by") for e in self.models if e["id"] == self.profile.model)
        return urlsplit(self.profile.base_url).port == page.port or next(owners, "") == page.owner
