"""What an endpoint's refusal means, as pure functions from response to error."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
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
from evennia_ai.llm.endpoints import Endpoint
from evennia_ai.policy.limits.retry import LOADING_CODE, asked_wait_s
from evennia_ai.policy.provider_errors import (
    SENTENCES,
    ErrorKind,
    ErrorResponse,
    meaning_of,
    told_window,
)
from evennia_ai.policy.redaction import PLAIN_WORD, hide_secrets, names_in, quote_without
from evennia_ai.policy.texts import as_dict, as_text

MAX_SHOWN_CHARS = 300
MAX_WORDS_CHARS = 4_000
MAX_CODE_CHARS = 60
MAX_DEPTH = 6
REPLY_LIMITS = ("max_tokens", "max_completion_tokens")  # the second: OpenAI's newer models
STATUS_NUMBER = re.compile(r"[1-5]\d\d")
FAILED_STATUS = re.compile(r"[45]\d\d")
# Some servers return the request inside the error's body, so only these fields are read.
ERROR_TEXT_FIELDS = frozenset(
    "error errors error_msg message msg detail details code type status reason title raw metadata "
    "retryDelay".split()
)
ERROR_CODE_FIELDS = ("code", "status", "type")

UNQUOTED = (
    ", and its {chars} characters of text are left out: private words were in the prompt{names}"
)

ERRORS: Mapping[ErrorKind, type[ProviderError]] = {
    ErrorKind.OVERFLOW: ContextOverflow,
    ErrorKind.SPENT: QuotaExhausted,
    ErrorKind.BAD_KEY: ProviderMisconfigured,
    ErrorKind.NO_MODEL: ProviderMisconfigured,
    ErrorKind.MOVED: ProviderMisconfigured,
    ErrorKind.FILTERED: ProviderRejected,
    ErrorKind.UNEXPLAINED: ProviderRejected,
    ErrorKind.REJECTED: ProviderRejected,
}  # all others are ProviderUnavailable


@dataclass(frozen=True)
class EndpointRefusal(ErrorResponse):
    """A response without a reply; ``told`` is for admins, ``words`` for classification only.

    ``generation`` is what the model wrote, of which the server could make no reply.
    """

    told: str = ""
    generation: str = ""


def read_refusal(
    error: object,
    key: str,
    now: datetime,
    status: int = 0,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> EndpointRefusal:
    """Return the refusal in an error object.

    ``status`` is the HTTP status of an unsuccessful response; some proxies send errors with a
    success, so without it the error's own code counts if that is one. The headers' names are in
    lower case. The key that was sent is masked in ``told`` and ``code``. ``now`` is our own time,
    for a ``Retry-After`` that is a date.
    """
    named = (str(as_dict(error).get(name)) for name in ("code", "status"))
    status = status or next((int(code) for code in named if FAILED_STATUS.fullmatch(code)), 0)
    words = "\n".join(texts_in(error, ERROR_TEXT_FIELDS))[:MAX_WORDS_CHARS]
    values = (as_dict(error).get(name) for name in ERROR_CODE_FIELDS)
    codes = (str(value) for value in values if isinstance(value, str) or type(value) is int)
    own = next((code for code in codes if code and not STATUS_NUMBER.fullmatch(code)), "")
    code = shown_error(own, key)[:MAX_CODE_CHARS]
    wait_s = asked_wait_s(headers, now, words)
    generation = as_text(as_dict(error).get("failed_generation"))  # Groq
    return EndpointRefusal(words, status, code, wait_s, shown_error(error, key), generation)


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
    refusal: EndpointRefusal,
    profile: ModelProfile,
    endpoint: Endpoint,
    body: Mapping[str, Any] = MappingProxyType({}),
    may_quote: bool = True,
) -> ProviderError:
    """Return the error for a refusal of a profile's request, whose ``body`` was sent.

    Neither the error's text nor its code quotes the messages. If ``may_quote`` is False, they hold
    only the parameters, models and limits that the endpoint named: it may have written private
    words in any other way, such as from their end.
    """
    quotation = quoted_words(refusal.told, body) if may_quote else ""
    code = refusal.code if quoted_words(refusal.code, body) == refusal.code else ""
    code = code if may_quote else ""
    means = meaning_of(refusal)
    status = f" (HTTP {refusal.status})" if refusal.status else ""
    if refusal.told and not may_quote:
        names = names_in(refusal.told, private_words(body), own_words(body))
        shown = f"; it names {', '.join(names)}" if names else ""
        status += UNQUOTED.format(chars=len(refusal.words), names=shown)
    message = SENTENCES[means].format(
        address=endpoint.address,
        key=(
            f"refused the key in {profile.api_key_env}"
            if endpoint.key
            else f"requires a key, and the profile '{profile.name}' has no api_key_env"
        ),
        profile=profile.name,
        model=profile.model,
        status=status,
        told=f"{status}: {quotation}" if quotation else status,
    )
    code = LOADING_CODE if means is ErrorKind.LOADING else code
    kind = ERRORS.get(means, ProviderUnavailable)
    error = kind(message, status=refusal.status or None, code=code, retry_after_s=refusal.wait_s)
    if isinstance(error, ContextOverflow):
        error.window = told_window(refusal.words)
    elif isinstance(error, ProviderRejected):
        error.is_unexplained = means is ErrorKind.UNEXPLAINED
    return error


def quoted_words(words: str, body: Mapping[str, Any]) -> str:
    """Return an endpoint's words without what they quote of the messages that were sent."""
    return quote_without(words, private_words(body), own_words(body))


def private_words(body: Mapping[str, Any]) -> str:
    return " ".join(texts_in(body.get("messages")))


def own_words(body: Mapping[str, Any]) -> set[str]:
    """Return the words of a request that nobody said: of its parameters, with their values."""
    own = set(REPLY_LIMITS)
    for name, value in body.items():
        if name not in ("messages", "tools"):
            inner = value if isinstance(value, Mapping) else PLAIN_WORD.findall(as_text(value))
            own.update(map(str.lower, (name, *inner)))
    return own


def texts_in(value: object, names: Collection[str] = (), depth: int = 0) -> Iterator[str]:
    """Yield every text in JSON data; with ``names`` only those in fields of these names."""
    inner: Iterable[object] = ()
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        inner = (item for name, item in value.items() if name in names or not names)
    elif isinstance(value, list | tuple):
        inner = value
    for item in inner if depth < MAX_DEPTH else ():
        yield from texts_in(item, names, depth + 1)


def broken_off(problem: ProviderError, endpoint: Endpoint) -> ProviderUnavailable:
    """Return the error of a reply that began and then broke off."""
    return ProviderUnavailable(
        f"{endpoint.address} broke off its reply. {problem}",
        status=problem.status,
        code=problem.code,
        retry_after_s=problem.retry_after_s,
        begun=True,
    )
