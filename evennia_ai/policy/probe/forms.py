"""The probe's question in schema form, and the request form that its findings suggest."""

from __future__ import annotations

from evennia_ai.messages import WireMessage
from evennia_ai.policy.limits.endpoint_facts import Speed
from evennia_ai.policy.model_text import read_object
from evennia_ai.policy.overflow import is_local
from evennia_ai.policy.probe.cases import BAD, GOOD, NOTE, Answer, Finding, saying
from evennia_ai.policy.request_forms.form import SCHEMA, TEXT, TOOLS
from evennia_ai.policy.request_forms.schema_form import ACTS, SAY_CHARS, TARGET_CHARS, SchemaForm

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
