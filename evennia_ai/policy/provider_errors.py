"""What an endpoint's failure means: one table, read from above.

There is no standard for errors: some providers send a code, most a sentence. So status, code and
words are each brought to one spelling, and the first row that fits says what the failure means.
A row names those who send it, as far as they were seen; ``tests/policy/failure_texts.json`` has
the texts with their sources. To learn a new wording, add a row or a word to one.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from evennia_ai.messages import LLMReply

MOST_CHARS = 4_000
SOON_S = 3_600.0  # a longer wait outlasts any talk


class ErrorKind(Enum):
    """What is done about a failure."""

    OVERFLOW = "the request is longer than the context window: make room, ask again"
    SPENT = "only payment or a long wait helps"
    BAD_KEY = "the key is missing or wrong"
    NO_MODEL = "there is no such model, or no chat completions at this address"
    MOVED = "the endpoint is elsewhere"
    FILTERED = "the endpoint does not like the content"
    LOADING = "the model is being loaded: ask again until it is there"
    BUSY = "too many requests: ask again after a wait"
    BROKEN = "the endpoint has trouble: ask again after a wait"
    NO_REPLY = "a success without a reply: ask again after a wait"
    UNEXPLAINED = "no cause is named: for a long request, perhaps its length"
    REJECTED = "this request is refused, and would be again"


@dataclass(frozen=True)
class ErrorResponse:
    """What an endpoint said with a failure.

    ``status`` is the HTTP status, 0 if there is none; ``code`` the provider's own name or number
    for the error; ``words`` all its texts; ``wait_s`` the wait in seconds that it asks for.
    """

    words: str = ""
    status: int = 0
    code: str = ""
    wait_s: float | None = None

    @cached_property
    def text(self) -> str:
        """Return the words in one spelling, numbers as ``#``."""
        return NUMBER.sub("#", plain(self.words))

    @cached_property
    def spelled_code(self) -> str:
        return plain(self.code)

    @cached_property
    def sentences(self) -> list[str]:
        """Return the words by sentences, without the name of the parameter that limits a reply.

        Servers complain about that in the same words.
        """
        return SENTENCE_END.split(REPLY_LIMIT.sub("reply limit", self.text))


@dataclass(frozen=True)
class ErrorRule:
    """A meaning and its signs: all that are given must hold."""

    means: ErrorKind
    by: str
    statuses: Collection[int] = ()  # one of them; empty for any
    code: str = ""  # found in the code
    words: Collection[str] = ()  # each found somewhere in the text
    sentence: Collection[str] = ()  # each found in the same sentence
    never: Collection[int] = ()  # none of these statuses
    unless: str = ""  # not found in the text
    unless_code: str = ""
    asks_over_s: float = 0.0  # asks for a longer wait
    asks_no_wait: bool = False

    def fits(self, response: ErrorResponse) -> bool:
        return (
            (not self.statuses or response.status in self.statuses)
            and response.status not in self.never
            and not (self.asks_over_s and (response.wait_s or 0.0) <= self.asks_over_s)
            and not (self.asks_no_wait and response.wait_s is not None)
            and (not self.code or bool(re.search(self.code, response.spelled_code)))
            and not (self.unless_code and re.search(self.unless_code, response.spelled_code))
            and holds(self.words, response.text)
            and not (self.unless and re.search(self.unless, response.text))
            and (
                not self.sentence
                or any(holds(self.sentence, sentence) for sentence in response.sentences)
            )
        )


QUOTES = re.compile(r"[`'\"’‘“”*]")
JOINTS = re.compile(r"[_/\s]+|-(?!\d)")
NUMBER = re.compile(r"(?<!-)\b\d+(?:[.,]\d+)*")
SENTENCE_END = re.compile(r"[.;!?。；](?:\s|$)")
REPLY_LIMIT = re.compile(
    r"\bmax(?:imum)? (?:new |completion |output |total )?tokens"
    r"|\b(?:output|completion|generated) tokens"
)

# These statuses never concern the length of one request.
NO_LENGTH = frozenset({401, 402, 404, 407, 408, 409, 429, 502, 503, 504, 529})
OTHER_CODE = r"rate limit|quota|billing|balance|above max length|content filter"
ACCOUNT = (
    r"\b(?:per|this|each) (?:min|minute|hour|day|second|month|week)\b|\b[tr]p[md]\b|\brate limit"
    r"|\btoo many requests|\bthrottl|\bquota|\bcredits?\b|\bafford|\bbilling|\bbalance\b"
    r"|\bpricing tier|\bplease wait|\btry again (?:later|in)\b|\bretry after|\bconcurren"
    r"|\bexceed(?:s|ed)? your\b"
)
OVERFLOW_CODE = (
    r"\bcontext (?:(?:length|window|size) )?(?:exceeded|error|overflow)"
    r"|\bexceeds? context (?:length|window|size)|\bprompt tokens exceeded|\btokens limit reached"
    r"|^(?:1261|3051)$"
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
BEYOND = r"\bexceed|\bmust be <=|> ?#|\bonly supports?\b|\b(?:less|fewer|longer) than\b"
SUBJECT = (
    r"\b(?:inputs?|prompt|messages|conversation|context)(?: (?:tokens?|length|prompt))?"
    r"(?: \([^)]{0,40}\)| #)?"
)
OVERFLOW_TEXT = (
    rf"{OVERFLOW_CODE}"  # LM Studio, llama-cpp-python, Zed
    r"|\bmust be (?:less than or equal to|at most|<=) max (?:seq|sequence|model) len"  # SiliconFlow
    r"|\breduce the length\W+(?:the )?current length(?: is)?:? #(?! (?:char|byte|item))"
)
OVERFLOW_SENTENCE = (
    rf"{SUBJECT}(?: is| are)?(?: \w+)? too (?:long|large|big)\b"  # Bedrock, Baidu, Dify
    rf"|{SUBJECT} exceed(?:s|ed)? (?:the )?(?:max|maximum|limit|allowed)\b"  # Volcengine, Zhipu
    r"|\btokens of .{0,40}\bexceed(?:s|ed)? (?:the )?max(?:imum)?\b"  # Volcengine
    r"|\btoo many (?:input |prompt )?tokens\b"  # llama-cpp-python
    r"|\btoo large for\b.{0,60}\bmodel\b"  # GitHub Models
    r"|\brange of input length should be\b"  # DashScope
    r"|\bmax input (?:characters|tokens) is #"  # Qianfan
    r"|\breduce the length of (?:the |your )?"
    r"(?:messages|prompt|input|context|conversation)\b"  # Groq, Cerebras
    # vLLM: a very negative number of tokens left for the reply; -1 would be a parameter.
    r"|\bmust be at least #, got -\d\d"
    # Baichuan, Spark, proxies to Anthropic and DeepSeek
    r"|(?:(?:输入|上下文|提示|内容|prompt).{0,12}|token ?数量 ?)(?:过长|超长|超出|超过)"
)
SPENT_CODE = (
    r"insufficient.?(?:quota|balance|credit|fund)|billing|payment|(?:quota|credit).?exceeded"
    r"|credits.?(?:depleted|exhausted)"
)
SPENT_TEXT = (
    r"current quota|quota (?:has been )?(?:exceeded|exhausted)"
    r"|insufficient (?:quota|balance|credit)|(?:credit|account) balance|more credits|out of credits"
    r"|billing|payment required|余额不足|欠费"
)
SHORT_SPAN = (
    r"(?<![a-z])per (?:min|minute|second|hour|base model)(?![a-z])|\b[tr]pm\b|allocated quota"
    r"|#token limit"
)
LOADING_TEXT = r"\bloading\b[^.]{0,20}\bmodel|\bmodel\b[^.]{0,80}\bloading"
# Words that name no cause, and nothing else.
NO_CAUSE = (
    r"\A(?:[ .:,#-]|\b(?:http|bad|invalid|unprocessable|request|entity|error|failed|refused"
    r"|rejected|unknown|the|a|was|your|status|code|type|message)\b)*+\Z"
)


def too_long(by: str, *sentence: str, words: Collection[str] = ()) -> ErrorRule:
    """Return the row of an overflow that is told in a sentence, or somewhere in the words."""
    return ErrorRule(
        ErrorKind.OVERFLOW,
        by,
        words=words,
        sentence=sentence,
        never=NO_LENGTH,
        unless=ACCOUNT,
        unless_code=OTHER_CODE,
    )


TABLE = (
    ErrorRule(
        ErrorKind.OVERFLOW,
        "OpenAI, GitHub Models, DS4; by numbers, Zhipu and Mistral",
        code=OVERFLOW_CODE,
        never=NO_LENGTH,
        unless_code=OTHER_CODE,
    ),
    ErrorRule(
        ErrorKind.OVERFLOW,
        "any server, or a proxy before it: fewer messages help with both",
        statuses=(413,),
        unless=rf"{ACCOUNT}|\b(?:image|file|audio|upload|attachment)s?\b",
        unless_code=OTHER_CODE,
    ),
    ErrorRule(
        ErrorKind.OVERFLOW, "Groq, OpenAI", words=(r"\brequest too large for [^:]*: limit #, req",)
    ),
    too_long("the servers beside each phrase", words=(OVERFLOW_TEXT,)),
    too_long("OpenAI, vLLM, llama.cpp, Ollama and most others", words=(WINDOW, PASSED)),
    too_long(
        "reported without a name",
        words=(
            r"(?:#|\b(?:the|of|total|many)) tokens in (?:the |your )?(?:prompt|input|context)\b",
            r"\babove (?:the |this |its |our |your )?(?:[\w-]+ ){0,3}?(?:limit|maximum)\b",
        ),
    ),
    too_long(
        "Gemini, Vertex AI, TGI, Together",
        INPUT,
        r"\btokens?\b",
        BEYOND,
        r"#|\blimit\b|\bmaximum\b",
    ),
    too_long("the servers beside each phrase", OVERFLOW_SENTENCE),
    ErrorRule(
        ErrorKind.FILTERED,
        "OpenAI, Azure OpenAI, OpenRouter",
        statuses=(400, 403),
        words=(r"\bmoderation|\bflagged|\bcontent.?(?:policy|filter|management)",),
    ),
    ErrorRule(ErrorKind.SPENT, "DeepSeek, OpenRouter", statuses=(402,)),
    # Cerebras and Vertex name the minute; DashScope an "allocated quota", or "#token-limit".
    ErrorRule(ErrorKind.SPENT, "OpenAI", code=SPENT_CODE, unless=SHORT_SPAN),
    ErrorRule(ErrorKind.SPENT, "any server", statuses=(429,), asks_over_s=SOON_S),
    ErrorRule(
        ErrorKind.SPENT,
        "Gemini, Anthropic, Zhipu",
        statuses=(0, 400, 403, 429),
        words=(SPENT_TEXT,),
        unless=SHORT_SPAN,
        asks_no_wait=True,
    ),
    ErrorRule(ErrorKind.BAD_KEY, "any server", statuses=(401, 403)),
    ErrorRule(
        ErrorKind.BAD_KEY,
        "Gemini, xAI",
        statuses=(0, 400, 422),
        words=(r"\b(?:incorrect|invalid) api key|\bapi key not valid",),
    ),
    ErrorRule(ErrorKind.NO_MODEL, "any server", statuses=(404, 405)),
    ErrorRule(
        ErrorKind.NO_MODEL,
        "Groq",
        statuses=(0, 400, 422),
        code=r"model.?(?:not.?(?:found|exist)|decommissioned|unavailable)",
    ),
    ErrorRule(
        ErrorKind.NO_MODEL,
        "DeepSeek",
        statuses=(0, 400, 422),
        words=(r"\bmodel (?:does )?not (?:exist|found)\b",),
    ),
    ErrorRule(ErrorKind.MOVED, "proxies", statuses=range(300, 400)),
    ErrorRule(ErrorKind.BUSY, "any server", statuses=(429,)),
    ErrorRule(
        ErrorKind.LOADING,
        "llama.cpp, Hugging Face endpoints",
        statuses=(503,),
        words=(LOADING_TEXT,),
    ),
    ErrorRule(ErrorKind.BROKEN, "any server", statuses=(408, 409, 425, *range(500, 600))),
    ErrorRule(
        ErrorKind.BROKEN,
        "Groq, of what the model wrote: the next reply may be better",
        code=r"\b(?:tool use|json validate) failed",
    ),
    ErrorRule(ErrorKind.NO_REPLY, "proxies", statuses=(0,)),
    ErrorRule(ErrorKind.UNEXPLAINED, "any server", statuses=(400, 413, 422), words=(NO_CAUSE,)),
    ErrorRule(ErrorKind.REJECTED, "any server"),
)
TOLD_WINDOW = re.compile(
    r"(?:context (?:length|window|size)|max(?:imum)?[ _](?:\w{1,24}[ _])?len(?:gth)?)"
    r"[^\d.]{0,24}?(\d{1,3}(?:[,.]\d{3})+|\d{3,9})\b",
    re.IGNORECASE,
)
LEAST_TOLD, MOST_TOLD = 256, 20_000_000
NEARLY_ALL = 0.99


def meaning_of(response: ErrorResponse) -> ErrorKind:
    """Return what a failure means, by the first row of `TABLE` that fits."""
    return next(row.means for row in TABLE if row.fits(response))


def told_window(words: str) -> int | None:
    """Return the window in tokens that an overflow's text names, None if it names none."""
    match = TOLD_WINDOW.search(words[:MOST_CHARS])
    tokens = int(re.sub(r"[,.]", "", match[1])) if match else 0
    return tokens if LEAST_TOLD <= tokens <= MOST_TOLD else None


def is_silent_overflow(reply: LLMReply, window: int) -> bool:
    """Return True if a reply's form shows that the request filled the context window."""
    # The signs are: a prompt count above the window; a reply that was cut off before its first word
    # while the prompt takes up 99 % of the window.
    prompt = reply.usage.prompt_tokens if reply.usage else 0
    empty = not reply.content and not reply.tool_calls
    cut_off = reply.finish_reason == "length" and empty and prompt >= NEARLY_ALL * window
    return prompt > window or cut_off


def plain(text: str) -> str:
    """Return text in lower case without quotes, ``_`` and ``/`` as spaces."""
    return JOINTS.sub(" ", QUOTES.sub("", text[:MOST_CHARS].lower()))


def holds(patterns: Collection[str], text: str) -> bool:
    """Return True if every pattern is found in the text, in any order."""
    return all(re.search(pattern, text) for pattern in patterns)
