"""What an endpoint's refusal means: pure functions from response to error, or to a new request."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from evennia_ai.llm.fields_beside import parse_body
from evennia_ai.messages import WireMessage
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
from evennia_ai.policy.tool_call_modes.form import TOOLS
from evennia_ai.policy.tool_call_modes.wire_order import CALLS, SYSTEM

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


def read_refusal(
    error: object,
    key: str,
    now: datetime,
    status: int = 0,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> ErrorResponse:
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
    return ErrorResponse(words, status, code, wait_s, shown_error(error, key), generation)


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
    refusal: ErrorResponse,
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


# --- what a server refuses of a request, and the request without it -------------------------------
#
# Servers that call themselves compatible differ in the parameters that they take, and refuse a
# whole request for one. A refusal names the part, and of the parts that were sent one has that
# name: there is no list of servers or of their parameters.

STREAM: Mapping[str, object] = {"stream": True, "stream_options": {"include_usage": True}}
NEEDED = ("model", "messages")
OURS = frozenset({"role", "content", "tool_calls", "tool_call_id", "id", "type", "function"})
WITH_IT = {TOOLS: ("tool_choice", "parallel_tool_calls"), "stream": ("stream_options",)}
# How sentences name a part, if not by its own name.
THINKING = r"(?:reasoning|thought|thinking)\w*"
BETWEEN = r"\b.{0,80}\b"
ALTERNATE = r"roles must alternate"  # of a chat template without calls
MISSES = r"(?:missing|must|require[sd]?|expected)"
NAMED = {
    "stream": r"stream(?:ing|ed)?",
    TOOLS: r"tools|tool_choice|tool[ -](?:use|choice|call(?:s|ing)?)|function[ -]calling"
    r"|functions?\b.{0,20}\bsupport\w*|schema for function",
    SYSTEM: r"(?:system|developer)[_ ](?:role|messages?|prompts?|instructions?)"
    r"|only user and assistant",
    CALLS: rf"tool[_ ]messages?|roles?\W{{1,3}}tool|{ALTERNATE}|tool_calls|tool_call_id"
    rf"|{MISSES}{BETWEEN}{THINKING}|{THINKING}{BETWEEN}{MISSES}",
}
FIELDS = re.compile(r'"(?:param|parameter|loc|field)"\s*:\s*("[^"]{1,99}"|\[[^\]]{1,199}\])')
REFUSES = re.compile(
    r"support|requir|unknown|unrecogni[sz]ed|invalid|not (?:allowed|permitted)|disabled|unexpected"
    r"|deprecated|\bonly\b|\bmust\b|不支持",
    re.IGNORECASE,
)
NAMES_WHAT = (ErrorKind.REJECTED, ErrorKind.UNEXPLAINED)
# A value that the server demands: "set reasoning_effort to 'none'" (OpenAI), "enable_thinking must
# be set to false", "enable the stream parameter" (DashScope).
DEMANDS = re.compile(
    r"\bset (?:the )?[`'\"]?(\w+)[`'\"]?(?: to |=)[`'\"]?(\w+)"
    r"|\b(\w++)[`'\"]? must be set to [`'\"]?(\w+)"
    r"|\benable (?:the )?[`'\"]?(\w+)[`'\"]? parameter\b",
    re.IGNORECASE,
)
# These may mean something else, so the words must tell that something is refused.
MAY_NAME_WHAT = {ErrorKind.NO_MODEL: (404, 405), ErrorKind.BROKEN: (500, 501)}


def refused_part(refusal: ErrorResponse, content: bytes, body: Mapping[str, Any]) -> str:
    """Return the name of what a refusal names of the body that was sent, "" if of nothing.

    ``content`` is the whole response. A name is that of a parameter, of a field of the messages
    (`fields_beside`), or `SYSTEM`, `CALLS` (without what a server sent beside them). A value that
    the server demands stands behind its name and ``=``.
    """
    means = meaning_of(refusal)
    in_doubt = refusal.status in MAY_NAME_WHAT.get(means, ())
    if means not in NAMES_WHAT and not (in_doubt and REFUSES.search(refusal.words)):
        return ""
    demands = DEMANDS.findall(refusal.words)
    for name, value in (((a or c or e).lower(), b or d or "true") for a, b, c, d, e in demands):
        if name not in NEEDED and body.get(name) != value_of(value):
            return f"{name}={value}"
    fields = " ".join(FIELDS.findall(content.decode("utf-8", "replace")))
    parts = {
        name: "|".join(filter(None, (re.escape(name), NAMED.get(name))))
        for name in sent_parts(body)
    }
    for text in (fields, refusal.words):
        matches = (
            (re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE), name)
            for name, pattern in parts.items()
        )
        if places := [(match.start(), name) for match, name in matches if match]:
            # A call without what belongs to it is told by the name of that, and turns that do not
            # alternate by what may come before them.
            is_last = CALLS if ALTERNATE not in text else SYSTEM
            return min(places, key=lambda place: (place[1] == is_last, *place))[1]
    return ""


def value_of(text: str) -> object:
    """Return a value that a sentence tells: True, False, None or a number, else the word."""
    value = parse_body(text.lower().encode())
    return text if isinstance(value, str) else value


def sent_parts(body: Mapping[str, Any]) -> set[str]:
    """Return the names of what a body holds and could do without."""
    messages: Sequence[WireMessage] = body["messages"]
    parts = body.keys() - NEEDED | {name for message in messages for name in fields_beside(message)}
    parts |= {SYSTEM} if any(message["role"] == SYSTEM for message in messages) else set()
    return parts | ({CALLS} if any(message.get("tool_calls") for message in messages) else set())


def fields_beside(message: Mapping[str, Any]) -> set[str]:
    """Return the names of what a server sent beside a call, and gets again."""
    calls = message.get("tool_calls") or ()
    return {*message, *(name for call in calls for name in call)} - OURS


def without_parts(body: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """Return a body without refused parts; a limit of the reply is sent by its other name.

    What concerns the messages as a whole, `SYSTEM` and `CALLS`, is left to their style.
    """
    left_out = {*refused, *(name for part in refused for name in WITH_IT.get(part, ()))}
    kept = {name: value for name, value in body.items() if name not in left_out}
    limits = [body[name] for name in REPLY_LIMITS if name in body and name in left_out]
    demanded = (part.partition("=") for part in refused if "=" in part)
    kept |= {name: value_of(value) for name, _, value in demanded}
    other = next((name for name in REPLY_LIMITS if name not in left_out), None)
    if limits and other is not None:
        kept.setdefault(other, limits[0])
    if any(fields_beside(message) & left_out for message in body["messages"]):
        kept["messages"] = [without_fields(message, left_out) for message in body["messages"]]
    return kept


def without_fields(message: WireMessage, names: Collection[str]) -> WireMessage:
    """Return a message, and its calls, without some of what stands beside them."""
    kept = {name: value for name, value in message.items() if name not in names}
    if calls := message.get("tool_calls"):
        kept["tool_calls"] = [
            {name: value for name, value in call.items() if name not in names} for call in calls
        ]
    return kept
