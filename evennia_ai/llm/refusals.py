"""What an endpoint's refusal means, as pure functions from response to error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from evennia_ai.config import ModelProfile
from evennia_ai.errors import (
    ContextOverflow,
    ProviderError,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
    QuotaExhausted,
)
from evennia_ai.llm import quirks
from evennia_ai.llm.endpoints import Endpoint
from evennia_ai.policy.failures import Meaning, Said, meaning_of, told_window
from evennia_ai.policy.limits.retry import LOADING_CODE, asked_wait_s
from evennia_ai.policy.secrecy import hide_secrets, quote_without

MAX_SHOWN_CHARS = 300
MAX_WORDS_CHARS = 4_000
MAX_CODE_CHARS = 60
MAX_DEPTH = 6
STATUS_NUMBER = re.compile(r"[1-5]\d\d")
FAILED_STATUS = re.compile(r"[45]\d\d")


# The error of each meaning, and what staff read.
ERRORS: Mapping[Meaning, tuple[type[ProviderError], str]] = {
    Meaning.OVERFLOW: (ContextOverflow, "{address} refused the request as too long{told}."),
    Meaning.FILTERED: (ProviderRejected, "{address} refused the content of the request{told}."),
    Meaning.SPENT: (QuotaExhausted, "The quota or credit at {address} is used up{told}."),
    Meaning.BAD_KEY: (ProviderMisconfigured, "{address} {key}{status}."),
    Meaning.NO_MODEL: (
        ProviderMisconfigured,
        "There is no model '{model}' at {address}, or the address is wrong{status}.",
    ),
    Meaning.MOVED: (
        ProviderMisconfigured,
        (
            "{address} redirects requests; put the final address into the base_url of the profile "
            "'{profile}'{status}."
        ),
    ),
    Meaning.BUSY: (ProviderUnavailable, "{address} takes no more requests at the moment{status}."),
    Meaning.LOADING: (ProviderUnavailable, "{address} is still loading the model{status}."),
    Meaning.BROKEN: (ProviderUnavailable, "{address} reports a temporary failure{status}."),
    Meaning.NO_REPLY: (ProviderUnavailable, "{address} did not send a chat completion{told}."),
    Meaning.UNEXPLAINED: (ProviderRejected, "{address} refused the request{told}."),
    Meaning.REJECTED: (ProviderRejected, "{address} refused the request{told}."),
}


@dataclass(frozen=True)
class Refusal(Said):
    """A response without a reply; ``told`` is for admins, ``words`` for classification only."""

    told: str = ""


def read_refusal(
    status: int, headers: Mapping[str, str], content: bytes, key: str, now: datetime
) -> Refusal:
    """Return the refusal in an unsuccessful response.

    The headers' names are in lower case. The key that was sent is masked in ``told`` and ``code``.
    ``now`` is our own time, for a ``Retry-After`` that is a date.
    """
    error = unwrap(parse_body(content))
    return make_refusal(status, error, key, asked_wait_s(headers, now, words_of(error)))


def refusal_in_success(body: object, key: str, now: datetime) -> Refusal | None:
    """Return the refusal in a body that came with a status of success, or None."""
    # Some proxies send errors so. The refusal's status is the error's code if that is an HTTP
    # status from 400 to 599, else 0.
    failure = find_failure(parse_body(body) if isinstance(body, bytes) else body)
    if failure is None:
        return None
    named = (failure.get(name) for name in ("code", "status")) if isinstance(failure, dict) else ()
    codes = (int(str(one)) for one in named if FAILED_STATUS.fullmatch(str(one)))
    return make_refusal(next(codes, 0), failure, key, asked_wait_s({}, now, words_of(failure)))


def find_failure(body: object, is_error: bool = False) -> object:
    """Return the error object in a body or a chunk of a reply, None if there is none.

    ``is_error`` says that the event of a stream is an error by its name.
    """
    if isinstance(body, list) and body:  # Google
        body = body[0]
    if not isinstance(body, dict):
        return None
    if is_error or body.get("object") == "error" or body.get("error"):
        return unwrap(body)
    status = body.get("base_resp")  # MiniMax
    if isinstance(status, dict) and status.get("status_code"):
        return {"code": str(status["status_code"]), "message": status.get("status_msg")}
    if "choices" not in body:
        is_sign_of_life = body.get("type") in ("heartbeat", "ping")
        told = not is_sign_of_life and body.get("message")
        return body if told or body.get("detail") or body.get("errors") else None
    for choice in as_list(body["choices"]):
        if not isinstance(choice, dict):
            continue
        if choice.get("error") or reason_of(choice).lower() in quirks.FAILED_REASONS:
            ended = {"code": reason_of(choice), "message": "the reply ended with an error"}
            return choice.get("error") or ended
    return None


def reason_of(choice: Mapping[str, object]) -> str:
    """Return why a choice ended, "" if it does not say; SGLang's own form is an object."""
    reason = choice.get("finish_reason")
    if isinstance(reason, dict):
        reason = reason.get("type")
    return reason if isinstance(reason, str) else ""


def as_list(value: object) -> list[object]:
    """Return ``value`` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def make_refusal(status: int, error: object, key: str, wait_s: float | None) -> Refusal:
    """Return the refusal for an error object, with the key masked."""
    code = shown_error(find_code(error), key)[:MAX_CODE_CHARS]
    return Refusal(words_of(error), status, code, wait_s, shown_error(error, key))


def parse_body(content: bytes) -> object:
    """Return a body's JSON, or its text if it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content[:MAX_WORDS_CHARS].decode("utf-8", "replace")


def unwrap(body: object) -> object:
    """Return the error object of a body: its ``error``, which Google wraps in a list."""
    if isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict) and body.get("error"):
        return body["error"]
    return body


def words_of(error: object) -> str:
    """Return the texts of an error object, a line each."""
    return "\n".join(find_words(error))[:MAX_WORDS_CHARS]


def find_words(body: object, depth: int = 0) -> Iterator[str]:
    """Yield every text in the known error fields of a body."""
    if isinstance(body, str):
        yield body
    elif isinstance(body, list) and depth < MAX_DEPTH:
        for item in body:
            yield from find_words(item, depth + 1)
    elif isinstance(body, dict) and depth < MAX_DEPTH:
        for name, value in body.items():
            if name in quirks.ERROR_TEXT_FIELDS:
                yield from find_words(value, depth + 1)


def find_code(body: object) -> str:
    """Return the provider's own code of an error, not its HTTP status; "" if none."""
    if not isinstance(body, dict):
        return ""
    named = (body.get(name) for name in quirks.ERROR_CODE_FIELDS)
    codes = (str(value) for value in named if isinstance(value, str) or type(value) is int)
    return next((code for code in codes if code and not STATUS_NUMBER.fullmatch(code)), "")


def shown_error(body: object, key: str) -> str:
    """Return an error's message for a log: one short line, without key and passwords."""
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body.get("error") or ""
    text = " ".join(str(body or "").split())
    if text.startswith("<"):
        return ""
    text = "".join(char if char.isprintable() else " " for char in hide_secrets(text, key))
    return text[:MAX_SHOWN_CHARS].rstrip(". ")


def explain_refusal(
    refusal: Refusal, profile: ModelProfile, endpoint: Endpoint, asked: object = None
) -> ProviderError:
    """Return the error for a refusal of a profile's request.

    ``asked`` is what was sent, as JSON data; neither the error's text nor its code quotes it.
    """
    asked_words = " ".join(texts_in(asked))
    told = quote_without(refusal.told, asked_words)
    code = refusal.code if quote_without(refusal.code, asked_words) == refusal.code else ""
    means = meaning_of(refusal)
    kind, sentence = ERRORS[means]
    status = f" (HTTP {refusal.status})" if refusal.status else ""
    message = sentence.format(
        address=endpoint.address,
        key=shown_key(profile, endpoint),
        profile=profile.name,
        model=profile.model,
        status=status,
        told=f"{status}: {told}" if told else status,
    )
    code = LOADING_CODE if means is Meaning.LOADING else code
    error = kind(message, status=refusal.status or None, code=code, retry_after_s=refusal.wait_s)
    if isinstance(error, ContextOverflow):
        error.window = told_window(refusal.words)
    elif isinstance(error, ProviderRejected):
        error.is_unexplained = means is Meaning.UNEXPLAINED
    return error


def shown_key(profile: ModelProfile, endpoint: Endpoint) -> str:
    """Return what is wrong with the key of a profile."""
    if endpoint.key:
        return f"refused the key in {profile.api_key_env}"
    return f"requires a key, and the profile '{profile.name}' has no api_key_env"


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in JSON data, without the names of its fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def broken_off(problem: ProviderError, endpoint: Endpoint) -> ProviderUnavailable:
    """Return the error of a reply that began and then broke off."""
    return ProviderUnavailable(
        f"{endpoint.address} broke off its reply. {problem}",
        status=problem.status,
        code=problem.code,
        retry_after_s=problem.retry_after_s,
        begun=True,
    )
