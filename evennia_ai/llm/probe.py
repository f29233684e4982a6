"""Asks an endpoint what it can: a few cheap requests, one after the other, within one deadline."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from twisted.internet.defer import CancelledError, Deferred, inlineCallbacks
from twisted.internet.interfaces import IReactorTime

from evennia_ai.config import ModelProfile
from evennia_ai.errors import Busy, ProviderMisconfigured
from evennia_ai.llm.openai_client import OPENAI_ADDRESS, OpenAIClient, RawReply, chain
from evennia_ai.llm.openai_wire import REPLY_LIMITS, build_body, parse_reply, shown_address, tell
from evennia_ai.messages import WireMessage
from evennia_ai.policy.context.windows import GIVEN, TRAINED, window_from_models
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.policy.probe import cases as policy
from evennia_ai.policy.probe import grading as asked
from evennia_ai.policy.probe.cases import FATAL, GOOD, Answer, Finding, Target
from evennia_ai.ports import LLMRequest, Scene

PROBE_S = 30.0
REPLY_TOKENS = 300
UNNAMED = "-"
NO_LIST = (403, 404, 405)  # a key may be good for talk and not for lists, or there are no lists
NOBODY = Scene("", Persona(), ())
STEPS = ("Is anybody there?", "Does it answer?", "Does it use tools?", "And after that?")

Tell = Callable[[str], None]
Steps = Generator[Deferred[Any], Any, Any]


class Prober:
    """Runs one probe at a time."""

    def __init__(self, clock: IReactorTime, client: OpenAIClient) -> None:
        self._clock = clock
        self._client = client
        self._busy = False

    @inlineCallbacks
    def probe(self, profile: ModelProfile, progress: Tell) -> Steps:
        """Find out what a profile's endpoint can, within `PROBE_S` seconds.

        Args:
            profile: whose endpoint; its model may be empty.
            progress: called with a line for each step.

        Fires with a list of `Finding`; fails with Busy while another probe runs, and with
        CancelledError where the server stops.
        """
        if self._busy:
            raise Busy("Another probe is running: wait until it has ended.")
        self._busy = True
        try:
            run = Run(self._clock, self._client, profile, progress)
            yield run.all_steps()
            return run.findings
        finally:
            self._busy = False

    @inlineCallbacks
    def window(self, profile: ModelProfile) -> Steps:
        """What an endpoint says it gives a profile's model, within `PROBE_S` seconds.

        Fires with the window in tokens, None where nothing there tells it; fails with
        ProviderMisconfigured, and with CancelledError where the server stops.
        """
        run = Run(self._clock, self._client, profile, lambda _line: None)
        answer = yield run.ask("GET", "models")
        run.models = policy.list_models(answer.data) or () if answer.is_good else ()
        return (yield run.given_window())


class Run:
    """One probe."""

    def __init__(
        self, clock: Any, client: OpenAIClient, profile: ModelProfile, progress: Tell
    ) -> None:
        self.clock = clock
        self.client = client
        self.target = target_of(profile)
        self.profile = with_small_replies(replace(profile, model=profile.model or UNNAMED))
        self.progress = progress
        self.deadline_at = clock.seconds() + PROBE_S
        self.findings: list[Finding] = []
        self.models: Sequence[Mapping[str, Any]] = ()

    @inlineCallbacks
    def all_steps(self) -> Steps:
        """Everything, until something makes the rest pointless."""
        steps = (self.find, self.ask_plainly, self.ask_for_tools, self.go_on_after_tools)
        try:
            for number, (step, title) in enumerate(zip(steps, STEPS, strict=True), 1):
                self.progress(f"{number} of {len(STEPS)}: {title}")
                yield step()
                if any(finding.state == FATAL for finding in self.findings):
                    return
            yield self.find_window()
        except ProviderMisconfigured as error:
            advice = "Set it where the server is started, and restart it: a reload is not enough."
            needed = advice if self.profile.api_key_env else "Change the profile in the settings."
            self.findings.append(Finding(FATAL, str(error), needed))

    @inlineCallbacks
    def find(self) -> Steps:
        """Is there an endpoint, does it take the key, which models has it?"""
        answer = yield self.ask("GET", "models")
        problem = self.problem_of(answer)
        if answer.status in NO_LIST:
            problem = None
        listed = policy.list_models(answer.data) if answer.is_good else None
        if answer.status and listed is None and "/v1" not in urlsplit(self.target.address).path:
            deeper = yield self.ask("GET", "v1/models")
            if deeper.is_good and policy.list_models(deeper.data) is not None:
                problem = policy.judge_missing_version(self.target)
        if problem:
            self.findings.append(problem)
            return
        self.models = listed or ()
        self.findings += policy.judge_models(answer, self.target)

    @inlineCallbacks
    def ask_plainly(self) -> Steps:
        """Ask something, in plainer and plainer ways until one is taken."""
        answers: list[Answer] = []
        for question in asked.QUESTIONS:
            answer = yield self.complete(question.messages)
            answers.append(answer)
            problem = self.problem_of(answer) or policy.judge_unknown_model(
                answer, self.target, self.model_names()
            )
            if problem:
                self.findings.append(problem)
                return
            if not asked.needs_another_way(answer):
                if question.problem:
                    self.findings.append(Finding(policy.BAD, question.problem, question.advice))
                elif answer.reply:
                    self.findings.append(Finding(GOOD, "It takes several lines heard in a row."))
                with_system = asked.SYSTEM in question.messages
                self.findings += asked.judge_plain(answer, with_system)
                return
        self.findings.append(asked.judge_refusal(answers))

    @inlineCallbacks
    def ask_for_tools(self) -> Steps:
        """Ask for two tool calls in one reply."""
        answer = yield self.complete(asked.tool_question(), tools=True)
        problem = policy.judge_trouble(answer, self.target, PROBE_S)
        self.findings += [problem] if problem else asked.judge_tools(answer)

    @inlineCallbacks
    def go_on_after_tools(self) -> Steps:
        """Send the results of tools, and something after them."""
        answer = yield self.complete(asked.results_question(), tools=True)
        problem = policy.judge_trouble(answer, self.target, PROBE_S)
        self.findings.append(problem or asked.judge_after_tools(answer))

    @inlineCallbacks
    def find_window(self) -> Steps:
        """How much fits in, from whoever tells."""
        model, trained = self.profile.model, None
        window = yield self.given_window()
        if not window and self.is_from("library", policy.OLLAMA_PORT):
            shown = yield self.ask("POST", "/api/show", {"model": model})
            trained = window_from_models(shown.data, model, TRAINED)
        self.findings.append(policy.judge_window(window, trained, self.profile.context_window))

    @inlineCallbacks
    def given_window(self) -> Steps:
        """The room that the list of models, or the server's own page, says there is. Fires with it
        in tokens, None where neither tells."""
        model = self.profile.model
        window = window_from_models(self.models, model, GIVEN)
        if not window and self.is_from("llamacpp", policy.LLAMACPP_PORT):
            window = window_from_models((yield self.ask("GET", "/props")).data, model, GIVEN)
        if not window and self.is_from("library", policy.OLLAMA_PORT):
            window = window_from_models((yield self.ask("GET", "/api/ps")).data, model, GIVEN)
        return window

    def is_from(self, owner: str, port: int) -> bool:
        """True where the model seems to be run by this kind of local server."""
        owners = (e.get("owned_by") for e in self.models if e["id"] == self.profile.model)
        return self.target.port == port or next(owners, "") == owner

    def problem_of(self, answer: Answer) -> Finding | None:
        """What is wrong with an answer whatever was asked, None where nothing is."""
        return policy.judge_trouble(answer, self.target, PROBE_S) or policy.judge_status(
            answer, self.target
        )

    def model_names(self) -> list[str]:
        """The models there are."""
        return [str(model["id"]) for model in self.models]

    # --- asking -------------------------------------------------------------------------------

    def complete(self, messages: Sequence[WireMessage], tools: bool = False) -> Deferred[Answer]:
        """Ask the model. Fires with an `Answer`."""
        schemas = [asked.TOOL_SCHEMA] if tools else []
        request = LLMRequest(messages, NOBODY, schemas, max_tokens=REPLY_TOKENS)
        body = {"model": self.profile.model, **build_body(request, self.profile)}
        return self.ask("POST", "chat/completions", body)

    @inlineCallbacks
    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Steps:
        """Send one request. Fires with an `Answer`, whatever becomes of it; fails with
        ProviderMisconfigured, and with CancelledError where the server stops."""
        started = self.clock.seconds()
        if self.deadline_at <= started:
            return Answer(trouble=policy.TIMEOUT)
        call = self.client.exchange(self.profile, method, path, body)
        timer = self.clock.callLater(self.deadline_at - started, call.cancel)
        try:
            raw: RawReply = yield call
        except ProviderMisconfigured:
            raise
        except CancelledError:
            if timer.active():
                raise
            return Answer(trouble=policy.TIMEOUT)
        except Exception as error:  # noqa: BLE001  # whatever the connection died of, it is told
            return Answer(trouble=trouble_of(error))
        finally:
            if timer.active():
                timer.cancel()
        return read_answer(raw, int((self.clock.seconds() - started) * 1000))


def target_of(profile: ModelProfile) -> Target:
    """A profile as the verdicts name it."""
    base_url = profile.base_url or OPENAI_ADDRESS
    try:
        address, port = shown_address(base_url), urlsplit(base_url).port
    except ValueError:
        address, port = "its base_url", None
    return Target(profile.name, profile.model, address, profile.api_key_env, port)


def with_small_replies(profile: ModelProfile) -> ModelProfile:
    """The profile with the reply's limit, under whatever name, cut down."""
    extra = dict(profile.extra)
    for name in REPLY_LIMITS:
        if isinstance(extra.get(name), int):
            extra[name] = min(extra[name], REPLY_TOKENS)
    return replace(profile, extra=extra)


def read_answer(raw: RawReply, duration_ms: int) -> Answer:
    """What came back, as the verdicts read it."""
    try:
        data = json.loads(raw.content)
    except (ValueError, RecursionError):
        data = None
    reply = None
    if 200 <= raw.status < 300 and isinstance(data, dict) and "choices" in data:
        reply = parse_reply(raw.content, lambda: "probe")
    failed = reply is None and isinstance(data, dict)
    html = "html" in raw.content_type or raw.content.lstrip()[:1] == b"<"
    return Answer(
        status=raw.status,
        told=tell(data.get("error", data), "") if failed else "",
        html=html,
        data=data,
        reply=reply,
        duration_ms=duration_ms,
    )


def trouble_of(error: Exception) -> str:
    """Why there was no HTTP answer."""
    causes = list(chain(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return policy.NO_HOST
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return policy.REFUSED
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return policy.NO_TLS
    if any("Timeout" in type(cause).__name__ for cause in causes):
        return policy.TIMEOUT
    return policy.BROKEN
