"""Which values the entries of a model profile may have."""

from __future__ import annotations

from collections.abc import Mapping

from evennia_ai.policy.request_forms.form import AUTO, FORMS
from evennia_ai.policy.secrecy import hide_secrets

LEAST_WINDOW = 1_000  # tokens, as for max_context_tokens
CHOICES: Mapping[str, tuple[str, ...]] = {"client": ("openai", "offline"), "form": (AUTO, *FORMS)}
PROFILE_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "context_window": ((int, type(None)), "a whole number or None"),
    "working_window": ((int, type(None)), "a whole number or None"),
    "max_in_flight": ((int, type(None)), "a whole number or None"),
    "slots": ((int, type(None)), "a whole number or None"),
    "endpoints": ((list, tuple), "a list"),
    "extra": ((Mapping,), "a dictionary"),
    "stream": ((bool,), "True or False"),
}


def problem_with(entry: str, value: object) -> str:
    """Return what is wrong with one entry of a profile, and what is allowed; "" if nothing is."""
    if entry in CHOICES:
        allowed = ", ".join(CHOICES[entry])
        wrong = value not in CHOICES[entry]
        return f"the {entry} {value!r}; it must be one of {allowed}" if wrong else ""
    kinds, in_words = PROFILE_KINDS.get(entry, ((str,), "text"))
    if not isinstance(value, kinds):
        return f"{entry} = {hide_secrets(repr(value))}; it must be {in_words}"
    if entry == "working_window" and isinstance(value, int) and value < LEAST_WINDOW:
        return f"{entry} = {value}; it must be at least {LEAST_WINDOW:,} tokens"
    return ""
