"""Whether a provider's refusal means that the prompt is longer than the model's window.

There is no standard for it: some have a code, most have a sentence. The sentences are spelled in a
hundred ways but say one of a few things, so they are brought to one spelling and searched for
these. What speaks of an account's limits (per minute, quota, credits) is vetoed first, and the
parameter for the reply's length is taken out, since servers complain of it in the same words.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from evennia_ai.messages import LLMReply

MOST_CHARS = 4_000
SILENT_SHARE = 0.6
NEARLY_ALL = 0.99
FULL_WINDOW = frozenset({"model_context_window_exceeded"})

# Never about one request's length, whatever the text says.
VETOED_STATUSES = frozenset({401, 402, 404, 407, 408, 409, 429, 502, 503, 504, 529})
OVERFLOW_CODE = re.compile(
    r"\bcontext (?:(?:length|window|size) )?(?:exceeded|error|overflow)"
    r"|\bexceeds? context (?:length|window|size)|\bprompt tokens exceeded|\btokens limit reached"
)
NUMBERED_CODES = frozenset({"1261", "3051"})  # Zhipu's and Mistral's
OTHER_CODE = re.compile(r"rate limit|quota|billing|balance|above max length|content filter")

ACCOUNT = re.compile(
    r"\b(?:per|this|each) (?:min|minute|hour|day|second|month|week)\b|\b[tr]p[md]\b|\brate limit"
    r"|\btoo many requests|\bthrottl|\bquota|\bcredits?\b|\bafford|\bbilling|\bbalance\b"
    r"|\bpricing tier|\bplease wait|\btry again (?:later|in)\b|\bretry after|\bconcurren"
    r"|\bexceed(?:s|ed)? your\b"
)
REPLY_LIMIT = re.compile(
    r"\bmax(?:imum)? (?:new |completion |output |total )?tokens"
    r"|\b(?:output|completion|generated) tokens"
)

WINDOW = (
    r"\b(?:context (?:length|window|size|limit)|model token limit|model max length|model window"
    r"|max(?:imum)? (?:\w+ )?(?:context|prompt|input|model|sequence|seq) (?:len|length|size))\b"
)
PASSED = (
    r"exceed|overflow|\btoo (?:long|large|big)\b|\b(?:longer|greater|larger|more) than\b"
    r"|\bnot enough\b|\brequested\b|\bresulted in\b|\bcontains\b|\brequires\b|\bwill take\b"
    r"|\bhas # (?:input )?tokens\b|> ?#"
)
INPUT = r"\b(?:inputs?|prompt|messages?|conversation|requests?|requested)\b"
BEYOND = r"\bexceed|\bmust be <=|> ?#|\bonly supports?\b|\b(?:less|fewer) than\b"
SUBJECT = (
    r"\b(?:inputs?|prompt|messages|conversation|context)(?: (?:tokens?|length|prompt))?"
    r"(?: \([^)]{0,40}\)| #)?"
)

# Each is a sign by itself where all of its patterns are found: the first in the whole text, since
# many give the window and the count in two sentences; the others within one sentence.
WINDOW_PASSED = (WINDOW, PASSED)
SIGNS = (
    (INPUT, r"\btokens?\b", BEYOND, r"#|\blimit\b|\bmaximum\b"),
    (rf"{SUBJECT}(?: is| are)?(?: \w+)? too (?:long|large|big)\b",),
    (rf"{SUBJECT} exceed(?:s|ed)? (?:the )?(?:max|maximum|limit|allowed)\b",),
    (r"\btoo many (?:input |prompt )?tokens\b",),
    (r"\btoo large for\b.{0,60}\bmodel\b",),
    (r"\brange of input length should be\b",),
    (r"\breduce the length of (?:the |your )?(?:messages|prompt|input|context|conversation)\b",),
    # what vLLM counts as left for the reply is far less than nothing; -1 would be a parameter's
    (r"\bmust be at least #, got -\d\d",),
    (r"(?:输入|上下文|提示|内容|prompt).{0,12}(?:过长|超长|超出|超过)",),
)

QUOTES = re.compile(r"[`'\"’‘“”*]")
JOINTS = re.compile(r"[_/\s]+|-(?!\d)")
NUMBER = re.compile(r"(?<!-)\b\d+(?:[.,]\d+)*")
SENTENCE_END = re.compile(r"[.;!?。；](?:\s|$)")


def is_context_overflow(
    message: str, status: int | None = None, code: str | int | None = None
) -> bool:
    """True where a refusal means that the request is longer than the model's window.

    Args:
        message: what the server said; several of its texts may be joined.
        status: the HTTP status, if known.
        code: the provider's own name or number for the error, if there was one.
    """
    spelled_code = spell(str(code or ""))
    if status in VETOED_STATUSES or OTHER_CODE.search(spelled_code):
        return False
    if OVERFLOW_CODE.search(spelled_code) or str(code) in NUMBERED_CODES:
        return True
    text = spell(message)
    return not ACCOUNT.search(text) and says_overflow(text)


def says_overflow(text: str) -> bool:
    """True where a text, already in one spelling, has one of the signs."""
    if OVERFLOW_CODE.search(text) or holds(WINDOW_PASSED, text):
        return True
    sentences = SENTENCE_END.split(REPLY_LIMIT.sub("reply limit", text))
    return any(holds(sign, sentence) for sentence in sentences for sign in SIGNS)


def holds(patterns: tuple[str, ...], text: str) -> bool:
    """True where every pattern is found in the text, in any order."""
    return all(re.search(pattern, text) for pattern in patterns)


def spell(text: str) -> str:
    """Text in one spelling: small letters, no quotes, ``_`` and ``/`` as spaces, each number as
    ``#``; so that ``'max_tokens'`` and ``max tokens``, 8192 and 8,192 are the same."""
    plain = QUOTES.sub("", text[:MOST_CHARS].lower())
    return NUMBER.sub("#", JOINTS.sub(" ", plain))


def is_silent_overflow(reply: LLMReply, window: int) -> bool:
    """True where a reply says by its form alone that the request filled the window: a finish reason
    of that name (z.ai's), a prompt counted above it, or one cut off before its first word that
    takes it up (99 %)."""
    if reply.finish_reason in FULL_WINDOW:
        return True
    prompt = reply.usage.prompt_tokens if reply.usage else 0
    empty = not reply.content and not reply.tool_calls
    cut_off = reply.finish_reason == "length" and empty and prompt >= NEARLY_ALL * window
    return prompt > window or cut_off


def is_silently_truncated(reported_prompt_tokens: int, estimated_tokens: int, local: bool) -> bool:
    """True where a local server seems to have cut the prompt without a word.

    Some answer a prompt that is too long by dropping its beginning; all that shows is a count of
    tokens far under our estimate. Only servers that people run for themselves do this.

    Args:
        reported_prompt_tokens: as the server counted them; 0 or less where it did not.
        estimated_tokens: our own count of the same prompt.
        local: whether it is such a server.
    """
    return local and 0 < reported_prompt_tokens < SILENT_SHARE * estimated_tokens


def is_local(base_url: str) -> bool:
    """True for a server on this machine or in a private network, which are run by whoever owns the
    game and often with a smaller window than the model has."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return host == "localhost" or host.endswith((".local", ".lan", ".internal"))
