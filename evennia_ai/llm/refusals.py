"""What an endpoint's refusal means, as pure functions from a response to one of our errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    ContextOverflow,
    ProviderError,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
    QuotaExhausted,
)
from evennia_ai.llm.openai_wire import tell
from evennia_ai.policy.limits.retry import asked_wait_s, is_quota_exhausted
from evennia_ai.policy.overflow import is_context_overflow

MOST_WORDS_CHARS = 4_000
MOST_CODE_CHARS = 60
MOST_DEPTH = 6
# Where servers put their words. Not all of a body: some give the request back with it.
WORD_KEYS = frozenset(
    "error errors message msg detail details code type status reason title raw metadata".split()
)
STATUS_NUMBER = re.compile(r"[1-5]\d\d")
NO_MODEL_CODE = re.compile(r"model.?(?:not.?(?:found|exist)|decommissioned|unavailable)", re.I)
NO_MODEL_TEXT = re.compile(r"\bmodel (?:does )?not (?:exist|found)\b", re.I)
BAD_KEY_TEXT = re.compile(r"\b(?:incorrect|invalid) api key|\bapi key not valid", re.I)
FLAGGED = re.compile(r"\bmoderation|\bflagged|\bcontent.?(?:policy|filter|management)", re.I)


@dataclass(frozen=True)
class Refusal:
    """A response that holds no reply.

    ``told`` may be shown to an admin; ``words`` is all the server said, for classification only.
    """

    status: int
    told: str = ""
    words: str = ""
    code: str = ""
    retry_after_s: float | None = None


def read_refusal(
    status: int, headers: Mapping[str, str], content: bytes, key: str, now: datetime
) -> Refusal:
    """Read a response that is no success.

    Args:
        status: its HTTP status.
        headers: by their names in small letters.
        content: its body.
        key: the key that was sent, to be kept out of what is told.
        now: our own time, for a ``Retry-After`` that is a date.
    """
    return make_refusal(status, unwrap(parse_body(content)), key, asked_wait_s(headers, now))


def refusal_in_success(content: bytes, key: str) -> Refusal | None:
    """The refusal in a body that came with a status of success, as some proxies send it, or None.

    Its status is the error's own code where that is a number of HTTP's, else 0.
    """
    body = parse_body(content)
    if not isinstance(body, dict) or not isinstance(body.get("error"), dict | str):
        return None
    error = unwrap(body)
    code = error.get("code") if isinstance(error, dict) else None
    known = code if isinstance(code, int) and 400 <= code < 600 else 0
    return make_refusal(known, error, key, None)


def make_refusal(status: int, error: Any, key: str, retry_after_s: float | None) -> Refusal:
    """A refusal from the error's own object; the key is kept out of what is told."""
    return Refusal(
        status=status,
        told=tell(error, key),
        words="\n".join(find_words(error))[:MOST_WORDS_CHARS],
        code=tell(find_code(error), key)[:MOST_CODE_CHARS],
        retry_after_s=retry_after_s,
    )


def parse_body(content: bytes) -> Any:
    """A body as JSON where it is some, else as text."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content[:MOST_WORDS_CHARS].decode("utf-8", "replace")


def unwrap(body: Any) -> Any:
    """The error's own object: Google wraps it in a list, most in ``error``."""
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict) and body.get("error"):
        return body["error"]
    return body


def find_words(body: Any, depth: int = 0) -> Iterator[str]:
    """Every text a server says in an error's body."""
    if isinstance(body, str):
        yield body
    elif isinstance(body, list) and depth < MOST_DEPTH:
        for item in body:
            yield from find_words(item, depth + 1)
    elif isinstance(body, dict) and depth < MOST_DEPTH:
        for name, value in body.items():
            if name in WORD_KEYS:
                yield from find_words(value, depth + 1)


def find_code(body: Any) -> str:
    """The provider's own name for an error; a number that repeats the HTTP status is none."""
    if not isinstance(body, dict):
        return ""
    named = (body.get(name) for name in ("code", "status", "type"))
    codes = (str(value) for value in named if isinstance(value, str) or type(value) is int)
    return next((code for code in codes if code and not STATUS_NUMBER.fullmatch(code)), "")


def explain_refusal(
    refusal: Refusal, *, profile: ModelProfile, address: str, has_key: bool
) -> ProviderError:
    """The error for a refusal.

    Args:
        refusal: what came back.
        profile: whose request it was.
        address: where it went, already fit to be shown.
        has_key: whether a key was sent.
    """
    kind, sentence = classify(refusal, profile, address, has_key)
    return kind(
        sentence,
        status=refusal.status or None,
        code=refusal.code,
        retry_after_s=refusal.retry_after_s,
    )


def classify(
    refusal: Refusal, profile: ModelProfile, address: str, has_key: bool
) -> tuple[type[ProviderError], str]:
    """The kind of error a refusal is, and its sentence."""
    status, words = refusal.status, refusal.words
    told = f": {refusal.told}" if refusal.told else ""
    code = f"(HTTP {status})"
    if is_context_overflow(words, status or None, refusal.code):
        return ContextOverflow, f"{address} finds the request too long for the model {code}{told}."
    if status in (400, 403) and FLAGGED.search(f"{refusal.code} {words}"):
        return ProviderRejected, f"{address} objects to what the request says {code}{told}."
    if is_quota_exhausted(words, status, refusal.code, refusal.retry_after_s):
        return QuotaExhausted, f"{address} has used up its quota or credit for us {code}{told}."
    complaint = find_misconfiguration(refusal, profile, address, has_key)
    if complaint:
        return ProviderMisconfigured, f"{complaint} {code}."
    if status == 429:
        return ProviderUnavailable, f"{address} takes no more requests at the moment {code}."
    if status in (408, 409, 425) or status >= 500:
        return ProviderUnavailable, f"{address} is in trouble {code}."
    if not status:
        return ProviderUnavailable, f"{address} did not answer with a chat completion{told}."
    return ProviderRejected, f"{address} refused the request {code}{told}."


def find_misconfiguration(
    refusal: Refusal, profile: ModelProfile, address: str, has_key: bool
) -> str:
    """What somebody must change in the settings, or nothing where it is not the settings."""
    status, words = refusal.status, refusal.words
    bad_request = status in (400, 422)
    if status in (401, 403) or (bad_request and BAD_KEY_TEXT.search(words)):
        if has_key:
            return f"{address} refused the key in {profile.api_key_env}"
        return f"{address} wants a key, and the profile '{profile.name}' names none"
    no_model = NO_MODEL_CODE.search(refusal.code) or NO_MODEL_TEXT.search(words)
    if status in (404, 405) or (bad_request and no_model):
        return f"There is no model '{profile.model}' at {address}, or the address is wrong"
    if 300 <= status < 400:
        return f"{address} sends us elsewhere; the profile '{profile.name}' needs the final address"
    return ""
