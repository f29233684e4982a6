"""What a server refuses of a request, and the request without it.

Servers that call themselves compatible differ in the parameters that they take, and refuse a whole
request for one. A refusal names the part, and of the parts that were sent one has that name: there
is no list of servers or of their parameters.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from evennia_ai.llm.fields_beside import parse_body
from evennia_ai.llm.refusals import REPLY_LIMITS, EndpointRefusal
from evennia_ai.messages import WireMessage
from evennia_ai.policy.provider_errors import ErrorKind, meaning_of
from evennia_ai.policy.tool_call_modes.form import TOOLS
from evennia_ai.policy.tool_call_modes.wire_order import CALLS, SYSTEM

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
# be set to false" (DashScope).
DEMANDS = re.compile(
    r"\bset (?:the )?[`'\"]?(\w+)[`'\"]? to [`'\"]?(\w+)"
    r"|\b(\w++)[`'\"]? must be set to [`'\"]?(\w+)"
)
# These may mean something else, so the words must tell that something is refused.
MAY_NAME_WHAT = {ErrorKind.NO_MODEL: (404, 405), ErrorKind.BROKEN: (500, 501)}


def refused_part(refusal: EndpointRefusal, content: bytes, body: Mapping[str, Any]) -> str:
    """Return the name of what a refusal names of the body that was sent, "" if of nothing.

    ``content`` is the whole response. A name is that of a parameter, of a field of the messages
    (`fields_beside`), or `SYSTEM`, `CALLS` (without what a server sent beside them). A value that
    the server demands stands behind its name and ``=``.
    """
    means = meaning_of(refusal)
    in_doubt = refusal.status in MAY_NAME_WHAT.get(means, ())
    if means not in NAMES_WHAT and not (in_doubt and REFUSES.search(refusal.words)):
        return ""
    for name, value in ((a or c, b or d) for a, b, c, d in DEMANDS.findall(refusal.words)):
        if name not in NEEDED and body.get(name) != value_of(value):
            return f"{name}={value}"
    fields = " ".join(FIELDS.findall(content.decode("utf-8", "replace")))
    for text in (fields, refusal.words):
        places = [(match.start(), name) for name, match in names_in(text, sent_parts(body))]
        if places:
            # A call without what belongs to it is told by the name of that, and turns that do not
            # alternate by what may come before them.
            is_last = CALLS if ALTERNATE not in text else SYSTEM
            return min(places, key=lambda place: (place[1] == is_last, *place))[1]
    return ""


def value_of(text: str) -> object:
    """Return a value that a sentence tells: True, False, None or a number, else the word."""
    value = parse_body(text.lower().encode())
    return text if isinstance(value, str) else value


def names_in(text: str, names: Collection[str]) -> Iterator[tuple[str, re.Match[str]]]:
    for name in names:
        pattern = "|".join(filter(None, (re.escape(name), NAMED.get(name))))
        if match := re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE):
            yield name, match


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
