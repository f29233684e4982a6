"""Does an endpoint answer, in which form, does it stream, how fast: a call each, in one deadline.

Each answer becomes a sentence; a `FATAL` one ends the probe. The rest is learnt in use, see
`llm.endpoint_facts`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, TypeVar, cast

from twisted.internet import defer
from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.internet.interfaces import IReactorTime

from evennia_ai import errors
from evennia_ai.config import ModelProfile
from evennia_ai.messages import Delta, LLMReply, wire_call
from evennia_ai.policy.context.windows import list_models
from evennia_ai.policy.limits.endpoints import UNKNOWN, Speed, measure_speed, smooth_speed
from evennia_ai.policy.sanitize import drop_reasoning
from evennia_ai.policy.texts import read_object
from evennia_ai.policy.tool_call_modes.form import (
    AUTO,
    FORMER_FORMS,
    PLAIN,
    PLAIN_RULES,
    TOOLS,
    choose_form,
)
from evennia_ai.policy.tool_call_modes.wire_order import SYSTEM
from evennia_ai.ports import LLMRequest
from evennia_ai.scheduling import Clock, Coroutine

PROBE_S, LOCAL_PROBE_S = 30.0, 120.0  # a local model may run on a CPU
REPLY_TOKENS = 300
TOOLS_SHARE = 0.5  # of the time that is left, so that a slow model gets to the last step
STEPS = ("Does it answer?", "In which form?", "Does it stream, and how fast?")
Tell = Callable[[str], None]
T = TypeVar("T")
LOCAL_SERVERS = {11434: "Ollama", 8080: "llama-server", 8000: "vLLM"}
MOST_MODELS, SLOW_S = 10, 15
REFUSED_FORM = (400, 404, 422, 500)  # HTTP statuses for a field that a server does not know
# Of an answer: tokens read anew, in the first of a talk and later, and written. See docs/models.md.
FIRST_READ, LATER_READ, WRITTEN = 2_000, 400, 60

Answer = LLMReply | errors.ProviderError
Question = Mapping[str, Any]  # fields of an `LLMRequest`
Models = Sequence[Mapping[str, Any]]  # the entries of a list of models, with their ``id``


def say_to_mira(rules: str, line: str) -> Question:
    """Return a request for a barkeep's answer to Ann, in plain words."""
    messages = [
        {"role": "system", "content": f"{rules}\n\nYou are Mira, a barkeep.".strip()},
        {"role": "user", "content": f"Ann says: {line}"},
    ]
    return {"messages": messages, "form": PLAIN}


# Without rules, which the server would keep in a cache: the later questions measure the speed.
PLAIN_QUESTION = say_to_mira("", "Good evening!")
STREAM_QUESTION = say_to_mira(PLAIN_RULES, "Describe your tavern to me.")
TOOL = "note_colour"
COLOUR = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}
NOTE_COLOUR = {"name": TOOL, "description": "Write one colour down.", "parameters": COLOUR}
EARLIER_CALL = wire_call("probe0001", TOOL, '{"colour": "green"}')
TOOLS_QUESTION: Question = {  # two calls at once, after a call with its result
    "messages": [
        {"role": "system", "content": f"Use {TOOL} once for each colour, all in one reply."},
        {"role": "user", "content": "Ann says: note the colour green."},
        {"role": "assistant", "content": "", "tool_calls": [EARLIER_CALL]},
        {"role": "tool", "tool_call_id": EARLIER_CALL["id"], "content": "Noted."},
        {"role": "assistant", "content": "It is noted."},
        {"role": "user", "content": "Ann says: now note these colours: red and blue."},
    ],
    "tools": [{"type": "function", "function": NOTE_COLOUR}],
}
LOADING = "If the model is still loading, try again in a minute. Else it is too large here."
PORTS = ", ".join(f"{name} at {port}" for port, name in LOCAL_SERVERS.items())
ADDRESS = f"Is it started? Check http or https, the port ({PORTS}), and /v1 at the end of base_url."
KEY = "Set a valid key in the variable of api_key_env, and restart: a reload is not enough."
FLAGS = (
    "llama.cpp needs --jinja for tools, vLLM --enable-auto-tool-choice and a --tool-call-parser."
)

GOOD, NOTE, BAD, FATAL = "good", "note", "bad", "fatal"


@dataclass(frozen=True)
class ProbeFinding:
    """One result of the probe, with advice if something is wrong."""

    state: str
    text: str
    advice: str = ""


class Prober:
    """Runs one probe at a time."""

    def __init__(
        self,
        clock: Clock,
        client: Any,  # `llm.openai_client.OpenAIClient`
        keep: Callable[[ModelProfile, str, bool, Speed, Mapping[str, str]], object],
    ) -> None:
        """``keep`` gets what a probe found: form, if a system message passes, speed, refusals."""
        self._clock, self._client, self._keep = clock, client, keep
        self._busy = False

    @inlineCallbacks
    def probe(self, profile: ModelProfile, progress: Tell) -> Coroutine[list[ProbeFinding]]:
        """Find out what a profile's endpoint can do, in `PROBE_S` or `LOCAL_PROBE_S`.

        ``progress`` is called with a line at the start and one at the end of each step. Fires with
        the findings. Fails with Busy during another probe, with CancelledError at a server stop.
        """
        if self._busy:
            raise errors.Busy("Another probe is running: wait until it has ended.")
        self._busy = True
        try:
            run = ProbeRun(self._clock, self._client, profile)
            yield run.all_steps(progress)
            if run.form:
                self._keep(profile, run.form, run.takes_system, run.speed, run.refused)
            return run.findings
        finally:
            self._busy = False


class ProbeRun:
    """One probe; ``form`` is the request form that it found, empty without a conclusion."""

    def __init__(self, clock: Clock, client: Any, profile: ModelProfile) -> None:
        self.clock = clock
        self.client = client
        self.profile = profile
        self.deadline_at = clock.seconds() + (LOCAL_PROBE_S if profile.is_local else PROBE_S)
        self.findings: list[ProbeFinding] = []
        self.models: Models = ()
        self.form = ""
        self.takes_system = True
        self.refused: dict[str, str] = {}  # as `LLMReply.refused`
        self.speed = UNKNOWN  # by the replies so far

    @inlineCallbacks
    def all_steps(self, progress: Tell) -> Coroutine[None]:
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
    def ask_plainly(self) -> Coroutine[None]:
        """Ask a plain question; without a system message if the endpoint refuses one."""
        answer: Answer = yield self.ask(PLAIN_QUESTION)
        if isinstance(answer, errors.ProviderMisconfigured):
            page = yield self.client.page(self.profile, "models", self.clock, self.left_s)
            self.models = list_models(page)
        elif isinstance(answer, errors.ProviderError) and answer.status in REFUSED_FORM:
            self.takes_system = False
            answer = yield self.ask(PLAIN_QUESTION)
        self.speed = UNKNOWN  # the server may have loaded the model first
        self.findings.append(judge_plain(answer, self.takes_system, self.models))

    @inlineCallbacks
    def find_form(self) -> Coroutine[None]:
        """Ask for two tool calls in one reply."""
        answer: Answer = yield self.ask(TOOLS_QUESTION, TOOLS_SHARE)
        self.form = find_form(answer)
        self.findings.append(judge_form(self.form, self.profile.form, answer))

    @inlineCallbacks
    def stream(self) -> Coroutine[None]:
        """Ask for a streamed reply, and tell the speed of the calls so far."""
        deltas: list[Delta] = []
        answer: Answer = yield self.ask({**STREAM_QUESTION, "on_delta": deltas.append})
        form = choose_form(self.profile.model, self.profile.form, self.form).name
        self.findings += judge_stream(answer, len(deltas), form), judge_speed(self.speed)

    @inlineCallbacks
    def ask(self, question: Question, share: float = 1.0) -> Coroutine[Answer]:
        """Ask the model, for at most a ``share`` of the time that is left.

        Fires with the reply or the error. Fails with CancelledError if the server stops.
        """
        request = LLMRequest(max_tokens=REPLY_TOKENS, **question)
        stated = replace(self.profile.told, system=self.takes_system, refused=self.refused)
        started = self.clock.seconds()
        sent = self.client.complete(request, replace(self.profile, told=stated))
        try:
            reply: LLMReply = yield self.in_time(sent, share)
        except defer.TimeoutError:
            return errors.DeadlineExceeded("It did not answer in time.")
        except errors.ProviderError as error:
            return error
        took_s = self.clock.seconds() - started
        self.speed = smooth_speed(self.speed, measure_speed(reply, took_s))
        self.refused |= reply.refused
        self.takes_system = self.takes_system and SYSTEM not in reply.refused
        if question.get("tools") and TOOLS in reply.refused:
            words = f"It refuses {TOOLS}: {reply.refused[TOOLS]}."
            return errors.ProviderRejected(words, status=REFUSED_FORM[0])
        return reply.raw or reply

    def in_time(self, call: Deferred[T], share: float = 1.0) -> Deferred[T]:
        """Let a call fail with `defer.TimeoutError` after a share of the time that is left."""
        return call.addTimeout(share * self.left_s, cast(IReactorTime, self.clock))

    @property
    def left_s(self) -> float:
        return max(0.0, self.deadline_at - self.clock.seconds())


def there_are(models: Models) -> str:
    """Return the first ten models as a sentence, "" without one."""
    names = [str(model["id"]) for model in models]
    more = " and others" if len(names) > MOST_MODELS else ""
    return f"There are: {', '.join(names[:MOST_MODELS])}{more}." if names else ""


def advise(error: errors.ProviderError, models: Models) -> str:
    """Return what to do about an error; ``models`` are those that the endpoint lists."""
    if error.status in (401, 403) or (not error.status and "variable" in str(error)):
        return KEY
    if isinstance(error, errors.ProviderMisconfigured):
        return there_are(models) or ADDRESS * ("names no model" not in str(error))
    if isinstance(error, errors.ProviderRejected):
        return "Change the profile's extra (such as max_completion_tokens), or the server."
    if isinstance(error, errors.DeadlineExceeded):
        return LOADING
    return "Look at the account or the server's log, or wait." if error.status else ADDRESS


def judge_plain(answer: Answer, takes_system: bool, models: Models) -> ProbeFinding:
    """Return whether a plain question was answered with words, and if not, why."""
    if isinstance(answer, errors.ProviderError):
        return ProbeFinding(FATAL, str(answer), advise(answer, models))
    if drop_reasoning(answer.content).strip():
        if takes_system:
            return ProbeFinding(GOOD, "It answers, and takes a system message.")
        return ProbeFinding(
            NOTE, "It answers, with its rules in a user message: it refuses a system message."
        )
    if answer.finish_reason == "length":
        advice = "Turn reasoning off or down, or raise max_reply_tokens and turn_deadline."
        return ProbeFinding(BAD, "Reasoning used up its whole reply before the first word.", advice)
    return ProbeFinding(
        BAD, "It answers a plain question with no text.", "Look at the server's log."
    )


def makes_calls(answer: Answer) -> bool:
    """Return True for several calls of the tool that was offered, each with its argument."""
    calls = answer.tool_calls if isinstance(answer, LLMReply) else ()
    arguments = [read_object(call.arguments) or {} for call in calls]
    fit = all(isinstance(given.get("colour"), str) for given in arguments)
    return len(calls) > 1 and fit and {call.name for call in calls} == {TOOL}


def find_form(answer: Answer) -> str:
    """Return the form by the answer to a question with tools; "" if it is not known."""
    if makes_calls(answer):
        return TOOLS
    is_slow = isinstance(answer, errors.DeadlineExceeded)  # it has answered a plain question
    is_known = not isinstance(answer, errors.ProviderError) or answer.status in REFUSED_FORM
    return PLAIN if is_known or is_slow else ""


REASONS = {
    TOOLS: "it makes several valid tool calls in one reply.",
    PLAIN: "its tool calls are not reliable: it talks in words, and code acts.",
}


def judge_form(suggested: str, profile_form: str, answer: Answer) -> ProbeFinding:
    """Return how it will be asked, as `find_form` found unless the profile sets a form."""
    if not suggested:
        return ProbeFinding(BAD, f"Its request form is not known: {answer}", LOADING)
    if FORMER_FORMS.get(profile_form, profile_form) not in (AUTO, suggested):
        sentence = (
            f"Its form is {profile_form}, as the profile says; this test suggests {suggested}."
        )
        return ProbeFinding(
            NOTE, sentence, f"Set 'form' in the profile to '{suggested}' or 'auto'."
        )
    refused = isinstance(answer, errors.ProviderError) and answer.status
    advice = f"{answer} {FLAGS}" if refused else "Another form: set 'form' in the profile."
    return ProbeFinding(GOOD, f"Its form of request is {suggested}: {REASONS[suggested]}", advice)


def judge_stream(answer: Answer, deltas: int, form: str) -> ProbeFinding:
    """Return whether a reply in a form came in parts; ``deltas`` is their number."""
    if isinstance(answer, errors.ProviderError):
        advice = "If that stays so, set stream to False in the profile."
        return ProbeFinding(BAD, f"Its streamed reply failed: {answer}", advice)
    if deltas > 1 and form == PLAIN:
        return ProbeFinding(GOOD, "It streams: plain words are spoken when they are whole.")
    if deltas > 1:
        return ProbeFinding(GOOD, "It streams: a sentence is spoken while the next one is written.")
    return ProbeFinding(NOTE, "It does not stream: a reply is spoken when it is whole.")


def judge_speed(speed: Speed) -> ProbeFinding:
    """Return how fast it reads and writes, and how long answers take then."""
    if speed.read is None or speed.written is None:
        return ProbeFinding(NOTE, "Its speed is not known: it does not report its tokens.")
    first, later = (ceil(speed.seconds_for(read, WRITTEN)) for read in (FIRST_READ, LATER_READ))
    sentence = (
        f"It reads about {speed.read:,.0f} tokens a second and writes {speed.written:,.0f}: an "
        f"answer takes about {later} s, the first one of a talk {first} s."
    )
    if later <= SLOW_S:
        return ProbeFinding(GOOD, sentence)
    return ProbeFinding(
        BAD, sentence, "Players wait long. Use a smaller model or a faster machine."
    )


# What to do if the answer to a question is bad: a plain one, its form, its stream, its speed.
REMEDIES = (
    "do what is said above, and test again",
    "take a larger model, or play your scenes to see whether talk alone is enough",
    "set stream to False in the profile",
    "take a smaller model or a faster machine",
)


def sum_up(findings: Sequence[ProbeFinding], profile: str) -> str:
    """Return whether a profile is good enough for characters, why, and what to do."""
    for finding, remedy in zip(findings, REMEDIES, strict=False):
        if finding.state in (FATAL, BAD):
            if finding is findings[0] and finding.state == FATAL:
                return f"'{profile}' cannot be used yet: {remedy}."
            return f"'{profile}' is not good enough: {finding.text.rstrip('.')}; {remedy}."
    form = findings[1].text[:1].lower() + findings[1].text[1:].rstrip(".")
    return (
        f"'{profile}' is good enough for characters that talk and act, because it answers and "
        f"{form}; how well it plays them, your scenes show: "
        f"evennia ai_check <file> --profile {profile}."
    )
