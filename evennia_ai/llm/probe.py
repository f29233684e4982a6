"""What an endpoint can do, found out by a few cheap requests within one deadline."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from twisted.internet.defer import CancelledError, Deferred, inlineCallbacks

from evennia_ai.config import ModelProfile
from evennia_ai.errors import Busy, ProviderMisconfigured
from evennia_ai.llm import quirks
from evennia_ai.llm.endpoints import OPENAI_ADDRESS
from evennia_ai.llm.openai_client import OpenAIClient, RawReply
from evennia_ai.llm.openai_wire import Body, build_body, parse_reply, response_format
from evennia_ai.llm.quirks import WindowPage
from evennia_ai.llm.refusals import shown_error
from evennia_ai.llm.sdk_clients import connection_trouble
from evennia_ai.messages import WireMessage
from evennia_ai.policy.context.windows import GIVEN, TRAINED, window_from_models
from evennia_ai.policy.limits.endpoints import UNKNOWN, Speed, measure_speed, smooth_speed
from evennia_ai.policy.probe import cases, grading
from evennia_ai.policy.probe.cases import (
    BAD,
    FATAL,
    GOOD,
    NOTE,
    TIMEOUT,
    Answer,
    Finding,
    Target,
    probe_limit_s,
)
from evennia_ai.policy.request_forms.form import SCHEMA, TEXT, TOOLS, Asked
from evennia_ai.policy.request_forms.schema_form import SchemaForm
from evennia_ai.policy.request_forms.wire_order import WireStyle
from evennia_ai.policy.secrecy import UNREADABLE, shown_address
from evennia_ai.ports import NO_SCENE, LLMRequest
from evennia_ai.scheduling import Clock, Steps

REPLY_TOKENS = 300
TOOLS_SHARE = 0.5  # of the time that is left, so that a slow model gets to the last step
UNNAMED = "-"
NOTHING: Mapping[str, object] = {}
STEPS = (
    "Is the server there?",
    "Does it answer?",
    "Does it use tools?",
    "Does it accept the results of tools?",
    "Does it keep to a schema?",
)

Tell = Callable[[str], None]
Keep = Callable[[ModelProfile, str, bool, Speed], None]


class Prober:
    """Runs one probe at a time."""

    # Called with what a probe found: profile, request form, is a system message accepted, speed.
    keep: Keep | None = None

    def __init__(self, clock: Clock, client: OpenAIClient) -> None:
        self._clock = clock
        self._client = client
        self._busy = False

    @inlineCallbacks
    def probe(self, profile: ModelProfile, progress: Tell) -> Steps[list[Finding]]:
        """Find out what a profile's endpoint can do, in the time of `forms.probe_limit_s`.

        The profile's model may be empty; ``progress`` is called with a line at the start and one at
        the end of each step. Fires with the findings. Fails with Busy while another probe runs, and
        with CancelledError if the server stops.
        """
        if self._busy:
            raise Busy("Another probe is running: wait until it has ended.")
        self._busy = True
        try:
            run = Run(self._clock, self._client, profile, progress)
            yield run.all_steps()
            if run.form and self.keep:
                self.keep(profile, run.form, run.takes_system, run.requests.speed)
            return run.findings
        finally:
            self._busy = False

    @inlineCallbacks
    def window(self, profile: ModelProfile) -> Steps[int | None]:
        """Ask an endpoint for its model's context window.

        Fires with it in tokens, None if the endpoint does not tell it. Fails with
        ProviderMisconfigured, and with CancelledError if the server stops.
        """
        run = Run(self._clock, self._client, profile, lambda _line: None)
        answer: Answer = yield run.requests.ask("GET", "models")
        run.models = cases.list_models(answer.data) or () if answer.is_good else ()
        window: int | None = yield run.window_given()
        return window


class Run:
    """One probe; ``form`` is the request form that it found, empty without a conclusion."""

    def __init__(
        self, clock: Clock, client: OpenAIClient, profile: ModelProfile, progress: Tell
    ) -> None:
        self.clock = clock
        self.target = target_of(profile)
        self.profile = with_small_replies(replace(profile, model=profile.model or UNNAMED))
        self.requests = ProbeRequests(clock, client, self.profile)
        self.progress = progress
        self.findings: list[Finding] = []
        self.models: Sequence[Mapping[str, Any]] = ()
        self.form = ""
        self.takes_system = False
        self.tool_findings: list[Finding] = []

    @inlineCallbacks
    def all_steps(self) -> Steps[None]:
        """Run the steps, until a finding makes the rest pointless."""
        steps = (
            self.find,
            self.ask_plainly,
            self.ask_for_tools,
            self.go_on_after_tools,
            self.ask_for_schema,
        )
        try:
            for number, (step, title) in enumerate(zip(steps, STEPS, strict=True), 1):
                self.progress(f"{number} of {len(STEPS)}: {title}")
                started = self.clock.seconds()
                yield step()
                self.progress(f"      {self.clock.seconds() - started:.1f} s")
                if any(finding.state == FATAL for finding in self.findings):
                    return
            yield self.find_window()
        except ProviderMisconfigured as error:
            advice = "Set it where the server is started, and restart it: a reload is not enough."
            needed = advice if self.profile.api_key_env else "Change the profile in the settings."
            self.findings.append(Finding(FATAL, str(error), needed))

    @inlineCallbacks
    def find(self) -> Steps[None]:
        """Check that the endpoint answers and accepts the key, and list its models."""
        answer: Answer = yield self.requests.ask("GET", "models")
        problem = self.problem_of(answer)
        if answer.status in quirks.NO_MODEL_LIST:
            problem = None
        listed = cases.list_models(answer.data) if answer.is_good else None
        if answer.status and listed is None and "/v1" not in urlsplit(self.target.address).path:
            deeper: Answer = yield self.requests.ask("GET", "v1/models")
            if deeper.is_good and cases.list_models(deeper.data) is not None:
                problem = cases.judge_missing_version(self.target)
        if problem:
            self.findings.append(problem)
            return
        self.models = listed or ()
        self.findings += cases.judge_models(answer, self.target)

    @inlineCallbacks
    def ask_plainly(self) -> Steps[None]:
        """Ask a plain question, in simpler forms until the endpoint accepts one."""
        answers: list[Answer] = []
        for question in grading.QUESTIONS:
            answer: Answer = yield self.complete(question.messages)
            answers.append(answer)
            problem = self.problem_of(answer) or cases.judge_unknown_model(
                answer, self.target, [str(model["id"]) for model in self.models]
            )
            if problem:
                self.findings.append(problem)
                return
            if answer.reply is not None or answer.status not in grading.REFUSED_FORM:
                if question.problem:
                    self.findings.append(Finding(BAD, question.problem, question.advice))
                self.takes_system = grading.SYSTEM in question.messages
                self.findings += grading.judge_plain(answer, self.takes_system)
                return
        self.findings.append(grading.judge_refusal(answers))

    @inlineCallbacks
    def ask_for_tools(self) -> Steps[None]:
        """Ask for two tool calls in one reply."""
        answer: Answer = yield self.complete(grading.tool_question(), tools=True, share=TOOLS_SHARE)
        problem = self.later_problem(answer, "tools")
        self.tool_findings = [problem] if problem else grading.judge_tools(answer)
        self.findings += self.tool_findings

    @inlineCallbacks
    def go_on_after_tools(self) -> Steps[None]:
        """Send tool calls with their results."""
        question = grading.results_question()
        answer: Answer = yield self.complete(question, tools=True, share=TOOLS_SHARE)
        found = self.later_problem(answer, "the results of tools") or grading.judge_after_tools(
            answer
        )
        self.tool_findings.append(found)
        self.findings.append(found)

    @inlineCallbacks
    def ask_for_schema(self) -> Steps[None]:
        """Ask for a reply that keeps to a JSON schema, and conclude which form to use."""
        body = {"response_format": response_format(SchemaForm().response_schema(Asked()))}
        answer: Answer = yield self.complete(cases.SCHEMA_QUESTION, body=body)
        problem = self.later_problem(answer, "a JSON schema")
        self.findings.append(problem or cases.judge_schema(answer))
        tools_work = all(finding.state == GOOD for finding in self.tool_findings)
        if problem and not tools_work:
            return
        self.form = TOOLS if tools_work else SCHEMA if cases.fits_schema(answer) else TEXT
        if self.form == SCHEMA:  # it will be asked without tools
            bad = [finding for finding in self.tool_findings if finding.state == BAD]
            self.findings = [Finding(NOTE, f.text) if f in bad else f for f in self.findings]
        self.findings.append(cases.judge_form(self.form, self.profile.form))
        self.findings += cases.judge_rate(self.requests.reported)

    @inlineCallbacks
    def find_window(self) -> Steps[None]:
        """Compare the context window that the endpoint tells with the profile's."""
        window, trained = (yield self.window_given()), None
        if not window:
            trained = yield self.window_on_pages(quirks.TRAINED_WINDOW_PAGES, TRAINED)
        self.findings.append(cases.judge_window(window, trained, self.profile.context_window))

    @inlineCallbacks
    def window_given(self) -> Steps[int | None]:
        """Fire with the window that the list of models or a page tells, in tokens, or None."""
        listed = window_from_models(self.models, self.profile.model, GIVEN)
        return listed or (yield self.window_on_pages(quirks.GIVEN_WINDOW_PAGES, GIVEN))

    @inlineCallbacks
    def window_on_pages(
        self, pages: Sequence[quirks.WindowPage], fields: Sequence[str]
    ) -> Steps[int | None]:
        """Fire with the window that a page tells, in tokens, or None."""
        for page in pages:
            if self.serves(page):
                answer: Answer = yield self.requests.ask_page(page)
                window = window_from_models(answer.data, self.profile.model, fields)
                if window:
                    return window
        return None

    def serves(self, page: quirks.WindowPage) -> bool:
        """Return True if the endpoint seems to be a server that has this page."""
        owners = (e.get("owned_by") for e in self.models if e["id"] == self.profile.model)
        return self.target.port == page.port or next(owners, "") == page.owner

    def problem_of(self, answer: Answer) -> Finding | None:
        """Return what is wrong with an answer to any question; None if nothing is."""
        return cases.judge_trouble(
            answer, self.target, self.requests.limit_s
        ) or cases.judge_status(answer, self.target)

    def later_problem(self, answer: Answer, request: str) -> Finding | None:
        """Return why an endpoint that answered before did not answer a kind of request."""
        if answer.trouble == cases.TIMEOUT:
            return cases.overdue(request)
        return cases.judge_trouble(answer, self.target, self.requests.limit_s)

    def complete(
        self,
        messages: Sequence[WireMessage],
        tools: bool = False,
        body: Mapping[str, object] = NOTHING,
        share: float = 1.0,
    ) -> Deferred[Answer]:
        """Ask the model, with native ``tools`` if wanted; ``body`` are further entries."""
        schemas = [grading.TOOL_SCHEMA] if tools else []
        request = LLMRequest(messages, NO_SCENE, schemas, max_tokens=REPLY_TOKENS)
        style = WireStyle() if tools else None
        whole = {"model": self.profile.model, **build_body(request, self.profile, style), **body}
        return self.requests.ask("POST", "chat/completions", whole, share)


def target_of(profile: ModelProfile) -> Target:
    """Return what a finding says of the profile and its endpoint."""
    base_url = profile.base_url or OPENAI_ADDRESS
    address = shown_address(base_url)
    port = None if address == UNREADABLE else urlsplit(base_url).port
    return Target(profile.name, profile.model, address, profile.api_key_env, port)


def with_small_replies(profile: ModelProfile) -> ModelProfile:
    """Return the profile with its reply limits reduced to `REPLY_TOKENS`."""
    extra = dict(profile.extra)
    for name in quirks.REPLY_LIMITS:
        if isinstance(extra.get(name), int):
            extra[name] = min(extra[name], REPLY_TOKENS)
    return replace(profile, extra=extra)


class ProbeRequests:
    """Sends requests to a profile's endpoint until ``limit_s`` seconds have passed."""

    def __init__(self, clock: Clock, client: OpenAIClient, profile: ModelProfile) -> None:
        self._clock = clock
        self._client = client
        self._profile = profile
        self.limit_s = probe_limit_s(profile.base_url)
        self.speed = UNKNOWN  # by the replies so far
        self.reported = UNKNOWN  # the same, if the endpoint itself reports speeds
        self._deadline_at = clock.seconds() + self.limit_s

    def ask_page(self, page: WindowPage) -> Deferred[Answer]:
        """Request a page of a local server. Fires and fails as `ask` does."""
        body = {"model": self._profile.model} if page.method == "POST" else None
        return self.ask(page.method, page.path, body)

    @inlineCallbacks
    def ask(
        self, method: str, path: str, body: Body | None = None, share: float = 1.0
    ) -> Steps[Answer]:
        """Send one request, for at most a ``share`` of the time that is left.

        Fires with an `Answer`, even if none came in time. Fails with ProviderMisconfigured, and
        with CancelledError if the server stops.
        """
        started = self._clock.seconds()
        if self._deadline_at <= started:
            return Answer(trouble=TIMEOUT)
        call = self._client.exchange(self._profile, method, path, body)
        timer = self._clock.callLater(share * (self._deadline_at - started), call.cancel)
        try:
            raw: RawReply = yield call
        except ProviderMisconfigured:
            raise
        except CancelledError:
            if timer.active():
                raise
            return Answer(trouble=TIMEOUT)
        except Exception as error:  # noqa: BLE001  # any error of the connection is a finding
            return Answer(trouble=connection_trouble(error))
        finally:
            if timer.active():
                timer.cancel()
        took_s = self._clock.seconds() - started
        answer = read_answer(raw, int(took_s * 1000))
        if answer.reply is not None:
            self.speed = smooth_speed(self.speed, measure_speed(answer.reply, took_s))
            if answer.reply.timings:
                self.reported = self.speed
        return answer


def read_answer(raw: RawReply, duration_ms: int) -> Answer:
    """Return a response in the form that `policy.probe` judges."""
    try:
        data = json.loads(raw.content)
    except (ValueError, RecursionError):
        data = None
    reply = None
    if 200 <= raw.status < 300 and isinstance(data, dict) and "choices" in data:
        reply = parse_reply(raw.content, lambda: "probe")
    failed = reply is None and isinstance(data, dict)
    return Answer(
        status=raw.status,
        told=shown_error(data.get("error", data), "") if failed else "",
        html="html" in raw.content_type or raw.content.lstrip()[:1] == b"<",
        data=data,
        reply=reply,
        duration_ms=duration_ms,
    )
