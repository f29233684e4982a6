"""Recognition of provider errors that mean "the prompt exceeds the window".

There is no standard for such errors: some providers send a code, most a sentence. The sentences
differ in wording but follow a few patterns, so they are normalised to one spelling and matched.
Errors about account limits (per minute, quota, credits) are excluded first. The name of the
parameter that limits the reply is removed, because servers complain about it in the same words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from evennia_ai.messages import LLMReply

MOST_CHARS = 4_000
NEARLY_ALL = 0.99
FULL_WINDOW = frozenset({"model_context_window_exceeded"})

# These statuses never concern the length of one request.
VETOED_STATUSES = frozenset({401, 402, 404, 407, 408, 409, 429, 502, 503, 504, 529})
OVERFLOW_CODE = re.compile(
    r"\bcontext (?:(?:length|window|size) )?(?:exceeded|error|overflow)"
    r"|\bexceeds? context (?:length|window|size)|\bprompt tokens exceeded|\btokens limit reached"
)
NUMBERED_CODES = frozenset({"1261", "3051"})  # Zhipu's and Mistral's
TOO_LARGE_STATUS = 413  # of a server, or of a proxy before it: fewer messages help with both
OTHER_SIZE = re.compile(r"\b(?:image|file|audio|upload|attachment)s?\b")
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
    r"|\bha(?:s|ve) # (?:input )?tokens\b|> ?#"
)
INPUT = r"\b(?:inputs?|prompt|messages?|conversation|requests?|requested)\b"
BEYOND = r"\bexceed|\bmust be <=|> ?#|\bonly supports?\b|\b(?:less|fewer) than\b"
SUBJECT = (
    r"\b(?:inputs?|prompt|messages|conversation|context)(?: (?:tokens?|length|prompt))?"
    r"(?: \([^)]{0,40}\)| #)?"
)

# A sign matches if all of its patterns are found: those of WHOLE_SIGNS in the whole text, because
# many providers give the window and the count in two sentences; those of SIGNS in one sentence.
WHOLE_SIGNS = (
    (WINDOW, PASSED),
    (r"\bmust be (?:less than or equal to|at most|<=) max (?:seq|sequence|model) len(?:gth)?\b",),
    (r"\breduce the length\W+(?:the )?current length(?: is)?:? #(?! (?:char|byte|item))",),
    (
        r"(?:#|\b(?:the|of|total|many)) tokens in (?:the |your )?(?:prompt|input|context)\b",
        r"\babove (?:the |this |its |our |your )?(?:[\w-]+ ){0,3}?(?:limit|maximum)\b",
    ),
)
SIGNS = (
    (r"\btokens of .{0,40}\bexceed(?:s|ed)? (?:the )?max(?:imum)?\b",),
    (INPUT, r"\btokens?\b", BEYOND, r"#|\blimit\b|\bmaximum\b"),
    (rf"{SUBJECT}(?: is| are)?(?: \w+)? too (?:long|large|big)\b",),
    (rf"{SUBJECT} exceed(?:s|ed)? (?:the )?(?:max|maximum|limit|allowed)\b",),
    (r"\btoo many (?:input |prompt )?tokens\b",),
    (r"\btoo large for\b.{0,60}\bmodel\b",),
    (r"\brange of input length should be\b",),
    (r"\breduce the length of (?:the |your )?(?:messages|prompt|input|context|conversation)\b",),
    # vLLM reports a very negative number of tokens left for the reply; -1 would be a parameter.
    (r"\bmust be at least #, got -\d\d",),
    (r"(?:输入|上下文|提示|内容|prompt).{0,12}(?:过长|超长|超出|超过)",),
)

TOLD_WINDOW = re.compile(
    r"(?:context (?:length|window|size)|max(?:imum)?[ _](?:\w+[ _])?len(?:gth)?)"
    r"[^\d.]{0,24}?(\d{1,3}(?:[,.]\d{3})+|\d{3,9})\b",
    re.IGNORECASE,
)
LEAST_TOLD, MOST_TOLD = 256, 20_000_000
UNEXPLAINED_STATUS = (400, 413, 422)
NO_CAUSE = re.compile(
    r"\b(?:http|bad|invalid|unprocessable|request|entity|error|failed|refused|rejected|unknown"
    r"|the|a|was|your|status|code|type|message)\b"
)
QUOTES = re.compile(r"[`'\"’‘“”*]")
JOINTS = re.compile(r"[_/\s]+|-(?!\d)")
NUMBER = re.compile(r"(?<!-)\b\d+(?:[.,]\d+)*")
SENTENCE_END = re.compile(r"[.;!?。；](?:\s|$)")


def is_context_overflow(
    message: str, status: int | None = None, code: str | int | None = None
) -> bool:
    """Return True if an error means that the request exceeds the context window.

    ``message`` is the server's text or texts; ``code`` the provider's name or number for the error.
    """
    spelled_code = spell(str(code or ""))
    if status in VETOED_STATUSES or OTHER_CODE.search(spelled_code):
        return False
    if OVERFLOW_CODE.search(spelled_code) or str(code) in NUMBERED_CODES:
        return True
    text = spell(message)
    if ACCOUNT.search(text):
        return False
    if status == TOO_LARGE_STATUS:
        return not OTHER_SIZE.search(text)
    return says_overflow(text)


def told_window(message: str) -> int | None:
    """Return the window in tokens that an overflow's text names, None if it names none."""
    found = TOLD_WINDOW.search(message[:MOST_CHARS])
    tokens = int(re.sub(r"[,.]", "", found[1])) if found else 0
    return tokens if LEAST_TOLD <= tokens <= MOST_TOLD else None


def is_unexplained(status: int, message: str) -> bool:
    """Return True for a refusal that may be about length, since it names no cause."""
    return status in UNEXPLAINED_STATUS and not NO_CAUSE.sub("", spell(message)).strip(" .:,#-")


def says_overflow(text: str) -> bool:
    """Return True if a text, already normalised by `spell`, matches one of the signs."""
    if OVERFLOW_CODE.search(text) or any(holds(sign, text) for sign in WHOLE_SIGNS):
        return True
    sentences = SENTENCE_END.split(REPLY_LIMIT.sub("reply limit", text))
    return any(holds(sign, sentence) for sentence in sentences for sign in SIGNS)


def holds(patterns: tuple[str, ...], text: str) -> bool:
    """Return True if every pattern is found in the text, in any order."""
    return all(re.search(pattern, text) for pattern in patterns)


def spell(text: str) -> str:
    """Return text in lower case without quotes, ``_`` and ``/`` as spaces, numbers as ``#``."""
    plain = QUOTES.sub("", text[:MOST_CHARS].lower())
    return NUMBER.sub("#", JOINTS.sub(" ", plain))


def is_silent_overflow(reply: LLMReply, window: int) -> bool:
    """Return True if a reply's form shows that the request filled the context window."""
    # The signs are: z.ai's finish reason for it; a prompt count above the window; a reply that was
    # cut off before its first word while the prompt takes up 99 % of the window.
    if reply.finish_reason in FULL_WINDOW:
        return True
    prompt = reply.usage.prompt_tokens if reply.usage else 0
    empty = not reply.content and not reply.tool_calls
    cut_off = reply.finish_reason == "length" and empty and prompt >= NEARLY_ALL * window
    return prompt > window or cut_off


@lru_cache(maxsize=64)  # each call asks three times
def is_local(base_url: str) -> bool:
    """Return True for a server on this machine or in a private network.

    A name without a dot, such as that of a container, is one of a private network.
    """
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        is_short = bool(host) and "." not in host
        return is_short or host.endswith((".local", ".lan", ".internal"))
