"""What an endpoint supports and what is wrong with it; a `FATAL` finding ends the probe."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evennia_ai.messages import LLMReply, WireMessage
from evennia_ai.policy.limits.endpoints import Speed
from evennia_ai.policy.overflow import is_local
from evennia_ai.policy.request_forms.form import SCHEMA, TEXT, TOOLS
from evennia_ai.policy.request_forms.schema_form import ACTS, SAY_CHARS, TARGET_CHARS, SchemaForm
from evennia_ai.policy.texts import read_object

GOOD, NOTE, BAD, FATAL = "good", "note", "bad", "fatal"
REFUSED, NO_HOST, NO_TLS, TIMEOUT, BROKEN = "refused", "no host", "tls", "timeout", "broken"

MOST_MODELS = 10
UNKNOWN_MODEL = re.compile(
    r"model.{0,80}?(?=[niu])(not found|not exist|no such|unknown|not a valid|invalid|not available)"
    r"|(no such|unknown|invalid|unsupported) model|model_not_found",
    re.IGNORECASE | re.DOTALL,
)
OLLAMA_PORT, LLAMACPP_PORT, VLLM_PORT = 11434, 8080, 8000
LOCAL_SERVERS = {OLLAMA_PORT: "Ollama", LLAMACPP_PORT: "llama-server", VLLM_PORT: "vLLM"}


@dataclass(frozen=True)
class Target:
    """The endpoint to probe; its ``address`` may be shown to people."""

    profile: str
    model: str
    address: str
    key_env: str = ""
    port: int | None = None


@dataclass(frozen=True)
class Answer:
    """The answer to one request."""

    status: int = 0  # 0 without an HTTP answer
    trouble: str = ""  # why there was none
    told: str = ""  # the server's error text, safe to show
    html: bool = False
    data: Any = None  # the JSON body
    reply: LLMReply | None = None  # set if that is a chat completion
    duration_ms: int = 0

    @property
    def is_good(self) -> bool:
        """True for a successful answer with JSON."""
        return 200 <= self.status < 300 and self.data is not None


@dataclass(frozen=True)
class Finding:
    """One result of the probe, with advice if something is wrong."""

    state: str
    text: str
    advice: str = ""


def saying(answer: Answer) -> str:
    """Return the server's error text as a further sentence."""
    return f" It says: {answer.told}." if answer.told else ""


def judge_trouble(answer: Answer, target: Target, limit_s: float) -> Finding | None:
    """Return why there was no HTTP answer, None if there was one."""
    where = target.address
    server = LOCAL_SERVERS.get(target.port or 0, "the server")
    found = {
        REFUSED: (f"Nothing listens at {where}.", f"Is {server} started, and is the port right?"),
        NO_HOST: (f"There is no such host: {where}.", "Check the spelling of the base_url."),
        NO_TLS: (
            f"No encrypted connection to {where}.",
            "Its certificate is invalid, or the server uses http instead of https.",
        ),
        TIMEOUT: (
            f"{where} did not answer within {limit_s:g} s.",
            "The model may still be loading: retry in a minute. Or it is too large here.",
        ),
        BROKEN: (
            f"The connection to {where} broke.",
            "Check that the address is that of a web server, and look at the server's log.",
        ),
    }.get(answer.trouble)
    return Finding(FATAL, *found) if found else None


def judge_status(answer: Answer, target: Target) -> Finding | None:
    """Return the meaning of an HTTP error that every request gets, None for others."""
    told = saying(answer)
    status, where = answer.status, target.address
    if status in (401, 403) and target.key_env:
        problem = f"{where} refuses the key in {target.key_env} (HTTP {status})."
        advice = (
            f"Put a valid key into {target.key_env} where the server is started, then restart it."
        )
    elif status in (401, 403):
        problem = (
            f"{where} wants a key, and the profile '{target.profile}' names none (HTTP {status})."
        )
        advice = (
            "Put the name of the environment variable with the key into the profile's api_key_env."
        )
    elif status == 402:
        problem, advice = f"{where} wants to be paid (HTTP 402).{told}", "Top the account up."
    elif status == 429:
        problem = f"{where} takes no more requests at the moment (HTTP 429).{told}"
        advice = "Wait a while, or check the account's limits and credit."
    elif 300 <= status < 400:
        problem = f"{where} sends us elsewhere (HTTP {status}); redirects are not followed."
        advice = "Put the final address into the base_url (https instead of http?)."
    elif status > 500:
        problem = f"{where} is in trouble (HTTP {status}).{told}"
        advice = "Look at the server's log. A model that is still loading needs a minute."
    elif answer.html or (200 <= status < 300 and answer.data is None):
        kind = "a web page" if answer.html else "no JSON"
        problem = f"{where} answers with {kind}: it is not the address of a model server."
        advice = f"The path /v1 may be missing. Try the base_url {with_version(where)}."
    else:
        return None
    return Finding(FATAL, problem, advice)


def judge_missing_version(target: Target) -> Finding:
    """Return the finding that the endpoint is at the address with /v1."""
    return Finding(
        FATAL,
        f"The models are not at {target.address} but at {with_version(target.address)}.",
        f"Put {with_version(target.address)} into the base_url.",
    )


def with_version(address: str) -> str:
    """Return an address in the form that most servers expect."""
    return address if address.endswith("/v1") else f"{address.rstrip('/')}/v1"


def list_models(data: object) -> list[Mapping[str, Any]] | None:
    """Return the entries of a list of models, None if it is not one."""
    entries = data.get("data") if isinstance(data, dict) else data
    if not isinstance(entries, list):
        return None
    return [item for item in entries if isinstance(item, dict) and isinstance(item.get("id"), str)]


def judge_models(answer: Answer, target: Target) -> list[Finding]:
    """Return whether the endpoint answers and lists the model."""
    models = list_models(answer.data) if answer.is_good else None
    names = [model["id"] for model in models or ()]
    plural = "" if len(names) == 1 else "s"
    findings = (
        [Finding(NOTE, f"{target.address} is there, but lists no models.")]
        if models is None
        else [Finding(GOOD, f"{target.address} is there and lists {len(names)} model{plural}.")]
    )
    if target.key_env and models is not None:
        findings.append(Finding(GOOD, f"The key in {target.key_env} is not refused."))
    if not target.model:
        advice = "Set 'model' in the profile, llm_model, or EVENNIA_AI_MODEL."
        findings.append(Finding(FATAL, "No model is named.", f"{advice} {there_are(names)}"))
    elif target.model in names:
        findings.append(Finding(GOOD, f"The model '{target.model}' is among them."))
    elif names:
        findings.append(Finding(NOTE, f"The model '{target.model}' is not among them."))
    return findings


def there_are(names: Sequence[str]) -> str:
    """Return the first ten models as a sentence."""
    if not names:
        return "It lists none."
    more = f" and {len(names) - MOST_MODELS} more" if len(names) > MOST_MODELS else ""
    return f"There are: {', '.join(names[:MOST_MODELS])}{more}."


def judge_unknown_model(answer: Answer, target: Target, names: Sequence[str]) -> Finding | None:
    """Return a refusal caused by the model's name or the address, None for others."""
    unknown = answer.status in (400, 404, 422) and UNKNOWN_MODEL.search(answer.told)
    if unknown or (answer.status == 404 and names):
        return Finding(
            FATAL, f"There is no model '{target.model}' (HTTP {answer.status}).", there_are(names)
        )
    if answer.status in (404, 405):
        return Finding(
            FATAL,
            f"Nothing takes chat completions at {target.address} (HTTP {answer.status}).",
            "Check the base_url. Most servers expect it to end in /v1, as in "
            f"{with_version(target.address)}.",
        )
    return None


def judge_window(window: int | None, trained: int | None, named: int | None) -> Finding:
    """Compare the windows granted, trained for and in the profile, in tokens, None if unknown."""
    if window and named and named > window:
        problem = f"The profile names a window of {named:,} tokens, but there are {window:,}."
        return Finding(BAD, problem, f"Put context_window = {window} into the profile.")
    if window:
        advice = "" if named else f"Put context_window = {window} into the profile."
        state = GOOD if named else NOTE
        return Finding(state, f"Its context window is {window:,} tokens.", advice)
    if trained:
        problem = f"The model supports {trained:,} tokens; the server does not tell its own limit."
        advice = "Put the value of OLLAMA_CONTEXT_LENGTH into the profile as context_window."
        return Finding(NOTE, problem, advice)
    if named:
        return Finding(NOTE, f"It does not tell its context window; the profile says {named:,}.")
    return Finding(
        NOTE,
        "It does not tell its context window.",
        "Look the figure up and put it into the profile as context_window.",
    )


def sum_up(findings: Sequence[Finding], target: Target) -> str:
    """Return the verdict in one sentence."""
    if any(finding.state == FATAL for finding in findings):
        return f"The profile '{target.profile}' does not work yet."
    if any(finding.state == BAD for finding in findings):
        return f"The profile '{target.profile}' works, but not all of it does."
    return f"The profile '{target.profile}' works."


PROBE_S, LOCAL_PROBE_S = 30.0, 120.0
LONGEST = {"target": TARGET_CHARS, "say": SAY_CHARS}
SCHEMA_QUESTION: tuple[WireMessage, ...] = (
    {"role": "system", "content": f"{SchemaForm().rules(())}\n\nYou are Mira, a barkeep."},
    {
        "role": "user",
        "content": "Here lie a mug and a lamp.\n\nAnn says: Good evening! Would you give me the "
        "mug?\n\nWhat do you, Mira, do and say to Ann?",
    },
)
REASONS = {
    TOOLS: "It will be asked by tools: it makes several valid tool calls in one reply.",
    SCHEMA: "It will be asked by schema: its tool calls are not reliable, its JSON is.",
    TEXT: "It will be asked by text: neither its tool calls nor its JSON are reliable, so the "
    "character can talk but not act.",
}
CHANGE = "Set form in the profile to change that."


def overdue(request: str) -> Finding:
    """Return the finding on a kind of request that was not answered in time."""
    advice = "Test again while the machine has less to do, or use a smaller model."
    return Finding(BAD, f"It took too long to answer a request with {request}.", advice)


def fits_schema(answer: Answer) -> bool:
    """Return True if a reply is one JSON object of the form `schema`."""
    found = read_object(answer.reply.content) if answer.reply else None
    if not isinstance(found, dict) or set(found) != {"act", *LONGEST}:
        return False
    texts = all(
        isinstance(found[name], str) and len(found[name]) <= most for name, most in LONGEST.items()
    )
    return found["act"] in ACTS and texts


def judge_schema(answer: Answer) -> Finding:
    """Return whether the endpoint keeps to a JSON schema."""
    if answer.reply is None:
        problem = f"It refuses a JSON schema for its reply (HTTP {answer.status}).{saying(answer)}"
        return Finding(NOTE, problem)
    if fits_schema(answer):
        return Finding(GOOD, "It keeps to a JSON schema.")
    if answer.reply.finish_reason == "length":
        return Finding(NOTE, "With a JSON schema its reply does not end.")
    return Finding(NOTE, "It does not keep to a JSON schema.")


def judge_form(found: str, profile_form: str) -> Finding:
    """Return how the model will be asked, as found unless the profile sets a form."""
    if profile_form == "auto":
        return Finding(BAD if found == TEXT else GOOD, REASONS[found], CHANGE)
    text = f"It will be asked by {profile_form}, as the profile says; the test suggests {found}."
    advice = f"Put form = '{found}' or 'auto' into the profile."
    return Finding(GOOD, text) if found == profile_form else Finding(NOTE, text, advice)


def judge_rate(speed: Speed) -> list[Finding]:
    """Return how many tokens a second it reads and writes, if that is known."""
    parts = [
        f"{verb} about {rate:,.0f}{unit}"
        for verb, rate, unit in (
            ("reads", speed.read, " tokens a second"),
            ("writes", speed.written, "" if speed.read else " tokens a second"),
        )
        if rate
    ]
    return [Finding(GOOD, f"It {' and '.join(parts)}.")] if parts else []


def probe_limit_s(base_url: str) -> float:
    """Return the time for a whole probe, in seconds: a local model may run on a CPU."""
    return LOCAL_PROBE_S if is_local(base_url) else PROBE_S
