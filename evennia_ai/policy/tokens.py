"""Token counts of texts and messages, corrected by endpoints' reports.

Without a tokenizer, a text's count is estimated. A regular expression cuts the text into pieces as
tokenizers do before they merge anything: words with the space before them, up to three digits, runs
of punctuation, of blanks, of line ends. Each piece costs at least one token; in English game text
93 of 100 pieces cost exactly one. The rest of the cost follows from the piece's length, from pairs
of letters or marks that are rare together, and, outside ASCII, from each character's script. The
figures were fitted to o200k_base; ``tests/policy/test_token_estimate.py`` has a table of the
results. Special tokens count as plain text.
"""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from statistics import median
from typing import Any

from evennia_ai.messages import Timings, Usage
from evennia_ai.policy.texts import Fields, as_dict

# `re` does not count combining marks as letters; most scripts of South Asia use many of them.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u109f\u1780-\u17d3"
)
PIECE = re.compile(
    # Possessive: a word with a letter beyond ASCII fails here and matches whole in the second line.
    r"(?:[^\w\r\n]|_)?+(?:[A-Z]{0,24}+[a-z]{1,24}+|[A-Z]{1,24}+)(?![^\x00-\x7f])"
    r"(?:'(?:s|t|re|ve|m|ll|d)\b)?"
    rf"|(?:[^\w\r\n]|_)?+(?:[^\W\d_]|[{MARKS}]){{1,24}}"
    r"|[0-9]{1,3}"
    r"| ?[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]{1,24}+[\r\n/]{0,24}"
    r"|[^\S\r\n]{0,64}[\r\n]{1,16}|[^\S\r\n]{1,64}(?![^\s\x00-\x1f])|[^\S\r\n]{1,64}"
    r"| ?[^\x00-\x7f]{1,16}|.",
    re.DOTALL,
)
# Names of the prompt's count, of the reply's count, and of counts to add to the prompt's. The first
# form that a reply has is read.
USAGE_FORMS: tuple[tuple[str, ...], ...] = (
    ("prompt_tokens", "completion_tokens"),
    # OpenAI's Responses API has only the first two; Anthropic counts cached tokens apart.
    ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),  # Bedrock
    ("promptTokenCount", "candidatesTokenCount"),  # Gemini
    ("prompt_eval_count", "eval_count"),  # Ollama
    ("prompt_n", "predicted_n", "cache_n"),  # llama.cpp
)
# Names of how much of the prompt came from a cache, for OpenAI and Moonshot, DeepSeek, proxies to
# Anthropic, Bedrock and llama.cpp; the largest count is right.
CACHED_NAMES = (
    "cached_tokens prompt_cache_hit_tokens cache_read_input_tokens cacheReadInputTokens cache_n"
).split()
MOST_TOKENS = 2**31 - 1
PIECES_REMEMBERED = 16_384
CHARS_REMEMBERED = 4_096

# Usual pairs of letters: the first letter of each word may stand before each of its other letters.
ENGLISH = """
    abcdfghiklmnprstuvwxyz babeijlnoruy cacehiklmortu dadegilmorsuvy eabcdefgiklmnoprstvwxy
    faefilortu gaeghilnorsu haeinortuy iabcdefgklmnoprstvxz jeou keins ladefiklmopstuvwy
    mabdeimopsuy nacdefgijklnostuvy oabcdefghiklmnoprstuvwy paehiloprstuy qu
    racdefgiklmnorstuvy saceghiklmopstuwy tabcehilorstuwy uabcdefgilmnprst vaeio waehinors
    xcipt yaeiopst zei
"""
RUSSIAN = """
    абвгдежзйклмнпрстухцчшщюя баеиклорсущъы вавеиклнопрстуыья гаеилору давежилмнорстуыё
    ебвгдежзйклмнопрстцчшщ жадеин завдеимнору иабвгдежзийклмнопрстфхцчшюя йдлстч
    кавеилморстуц лаежилноуыьюя мавеиноуыяё нагдеиностуыья обвгдежзийклмнопрстхчшщя
    паеинопртуыя равгдежикмнорстуыья савеиклмнопстуыья тавеиклмнопрсуыь убвгдежзйклмнпрстчщю
    фаиор хор цаеиуы чаеикнтё шаеиклн щаеиё ъе ыбвейлмптхш ьзкнстш элт юнтчщ ябвезнтц ёнт
"""
# Pairs of marks that are common in prose, JSON and Markdown.
USUAL_MARKS = frozenset(
    """": ", {" ]} }, [" "] "" ?" "} ." `` (" ): ), ], () ") .. `, }} ** ). [{ }] -- -+ +- )) ## !"
    ]) =" |- -| `. -> ]( )" .` `: ,) .* "{ "| // .' )` (` ". )} [] :" == ?! !! ... """.split()
)
# Words of JSON and tool schemas, which cost one token even without a space before them.
USUAL_GLUED = frozenset(
    """type name function description parameters object properties string required arguments text
    target content result error success true false null role user assistant system tool item items
    title value integer boolean array enum default importance""".split()
)
RUNS = frozenset("!.=-*_~#/+")
# Tokens per character from this code point on, measured on natural words.
SCRIPTS = (
    (0x0080, 0.8), (0x0180, 1.9),  # Latin letters with accents
    (0x0370, 0.5), (0x0400, 0.42), (0x0460, 1.2),  # Greek, Cyrillic
    (0x0530, 0.5), (0x0590, 1.2), (0x05D0, 0.5),  # Armenian, Hebrew
    (0x0600, 0.42), (0x064B, 1.2), (0x0660, 0.5), (0x0700, 2.0),  # Arabic, Persian, Urdu
    (0x0900, 0.5), (0x0D80, 0.7), (0x0E00, 0.5), (0x0E80, 2.1), (0x1000, 1.0),  # India, Thai
    (0x10A0, 0.5), (0x1100, 3.0), (0x1780, 0.9), (0x1800, 3.0),  # Georgian and others
    (0x1E00, 0.8), (0x1F00, 2.2),  # Vietnamese
    (0x2000, 1.0), (0x2070, 1.9),  # dashes, quotation marks, joiners
    (0x2300, 2.6), (0x2500, 1.9), (0x2600, 2.3), (0x2700, 2.0), (0x2800, 3.0),  # symbols
    (0x3000, 1.0), (0x3040, 0.75), (0x3100, 2.7),  # kana
    (0x3400, 3.0), (0x4E00, 2.1), (0xA000, 3.0),  # Chinese; common characters cost less
    (0xAC00, 2.3), (0xD7A4, 3.0),  # Korean; common syllables cost less
    (0xFE00, 1.0), (0xFE10, 2.0), (0xFF01, 1.2),  # variation selectors, full-width forms
    (0x10000, 4.0), (0x1D400, 3.0), (0x1F1E6, 2.0), (0x1F200, 3.0),  # letters that make flags
    (0x1F300, 2.0), (0x1F650, 2.6), (0x1F900, 2.5), (0x1FA00, 3.0), (0x20000, 4.0),  # emoji
)  # fmt: skip
STARTS = [start for start, _weight in SCRIPTS]
SIMPLIFIED, TRADITIONAL, HANGUL = 0.85, 1.25, 0.92
ASCII_IN_MIXED_WORD = 0.38
CountText = Callable[[str], int]
MESSAGE_OVERHEAD = 4  # a message's role and delimiters
TOOL_OVERHEAD = 8  # the delimiters of one tool's schema
UNCOUNTED = frozenset({"metadata", "role"})
REPORTS_USED = 5
LOWEST_RATIO, HIGHEST_RATIO = 0.3, 3.0
SILENT_SHARE = 0.6  # of the usual count; fewer tokens are a part of the prompt
LEAST_WINDOW = 256  # tokens; no server has less
# A prompt that is this much longer than earlier ones must be counted as longer, by this share.
MUCH_LONGER, LEAST_GROWTH, SHORTER_COMPARED = 1.25, 0.25, 3


def pairs(table: str) -> frozenset[str]:
    """Return every two-letter pair of a table of words such as "abc": "ab", "ac"."""
    return frozenset(word[0] + after for word in table.split() for after in word[1:])


USUAL_PAIRS = pairs(ENGLISH) | pairs(RUSSIAN)


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens of a text.

    Within 15 % of o200k_base on English game text. In other scripts rarely too low, and too high by
    a third or more for languages with few letters per token.
    """
    return math.ceil(sum(map(_piece_cost, PIECE.findall(text))))


@lru_cache(PIECES_REMEMBERED)
def _piece_cost(piece: str) -> float:
    last = piece[-1]
    if piece.isascii():
        if last.isalpha():
            return _english_cost(piece)
        if last.isdigit():
            return 1.0
        return _marks_cost(piece.strip()) if not piece.isspace() else _blanks_cost(piece)
    if "\u0400" <= last < "\u0530":
        return _cyrillic_cost(piece)
    return max(1.0, sum(map(_char_cost, piece)))


def _english_cost(piece: str) -> float:
    """Return the cost of an ASCII word: length, rare pairs, capitals, no space before it."""
    length = len(piece)
    cost = 1.0 + 0.05 * max(0, length - 5) + 0.05 * max(0, length - 9)
    if piece[0] != " " and length > 2 and piece not in USUAL_GLUED:
        cost += 0.7
    if length > 4 and piece.isupper():
        cost += 0.12 * (length - 3)
    rare = _rare_pairs(piece)
    cost += 0.55 * rare
    # Random keystrokes, encrypted or encoded text.
    return max(cost, 0.5 * length) if rare > 1 and rare * 3 >= length else cost


def _cyrillic_cost(piece: str) -> float:
    cost = 1.0 + 0.33 * max(0, len(piece) - 3) + 0.36 * _rare_pairs(piece)
    return cost if piece[0] == " " or len(piece) < 3 else cost + 0.7


def _rare_pairs(piece: str) -> int:
    return len(
        [
            first
            for first, second in pairwise(piece.lower())
            if first.isalpha() and second.isalpha() and first + second not in USUAL_PAIRS
        ]
    )


def _blanks_cost(blanks: str) -> float:
    if len(blanks) < 3:
        return 1.0
    return 1.0 + 0.8 * sum(b not in (a, "\n") for a, b in pairwise(blanks))


def _marks_cost(marks: str) -> float:
    cost = 1.0 if marks.isprintable() else 1.6  # a control character splits the run
    for first, second in pairwise(marks):
        if first == second:
            cost += 0.08 if first in RUNS else 0.25
        else:
            cost += 0.12 if first + second in USUAL_MARKS else 0.68
    return cost


@lru_cache(CHARS_REMEMBERED)
def _char_cost(char: str) -> float:
    code = ord(char)
    if code < 0x80:
        return ASCII_IN_MIXED_WORD if char.isalnum() else 0.3 * (char != " ")
    if 0x4E00 <= code < 0xA000:
        return _han_cost(char)
    if 0xAC00 <= code < 0xD7A4 and len(char.encode("euc_kr", "ignore")) == 2:
        return HANGUL
    return SCRIPTS[bisect_right(STARTS, code) - 1][1]


def _han_cost(char: str) -> float:
    """Return a Chinese character's cost; tokenizers learned those that old encodings list first."""
    if b"\xb0" <= _encoded(char, "gb2312") < b"\xd8":
        return SIMPLIFIED
    if b"\xa4" <= _encoded(char, "big5") < b"\xc7" or b"\x88" <= _encoded(char, "cp932") < b"\x98":
        return TRADITIONAL
    return SCRIPTS[bisect_right(STARTS, 0x4E00) - 1][1]


def _encoded(char: str, encoding: str) -> bytes:
    return char.encode(encoding, "ignore")


def count_message(message: Mapping[str, object], count_text: CountText = estimate_tokens) -> int:
    """Return the tokens of one message with every part of it: overhead, text, name and calls."""
    tokens = MESSAGE_OVERHEAD
    for key, part in message.items():
        if part and key not in UNCOUNTED:
            tokens += count_text(part if isinstance(part, str) else as_json(part))
    return tokens


def as_json(value: object) -> str:
    """Return a part of a request as it is written on the wire."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def count_tools(
    schemas: Iterable[Mapping[str, object]], count_text: CountText = estimate_tokens
) -> int:
    """Return the tokens of a request's tools as JSON (some endpoints write less)."""
    return sum(TOOL_OVERHEAD + count_text(as_json(schema)) for schema in schemas)


def stored_tokens(message: Mapping[str, Any], count: Callable[[Any], int] = count_message) -> int:
    return int(message["metadata"].get("tokens") or count(message))


def count_conversation_tokens(
    history: Iterable[Mapping[str, object]], model: str | None, count_text: CountText | None = None
) -> int:
    """Return the tokens of stored or wire messages; no ``count_text`` means the heuristic."""
    return sum(count_message(message, count_text or estimate_tokens) for message in history)


@dataclass(frozen=True)
class UsageReport:
    """Our estimate and the endpoint's count of one request."""

    estimate: int
    prompt_tokens: int
    cached_tokens: int | None = None  # None if the endpoint reports none

    @property
    def ratio(self) -> float:
        """Return the endpoint's tokens per token of our estimate, 0 without an estimate."""
        return self.prompt_tokens / self.estimate if self.estimate > 0 else 0.0

    def is_usable(self, usual: float) -> bool:
        """Return True if the count can be one of the whole request; ``usual`` is the usual ratio.

        A count that is far too low beside cached tokens leaves these out.
        """
        if not LOWEST_RATIO <= self.ratio <= HIGHEST_RATIO:
            return False
        return not self.cached_tokens or self.ratio >= SILENT_SHARE * usual


def usual_ratio(reports: Iterable[UsageReport]) -> float:
    """Return an endpoint's tokens per token of our estimate, by its reports, oldest first."""
    ratios, usual = list[float](), 1.0
    for report in reports:
        if report.is_usable(usual):
            ratios.append(report.ratio)
            usual = median(ratios[-REPORTS_USED:])
    return usual


def is_silently_truncated(report: UsageReport, before: Sequence[UsageReport]) -> bool:
    """Return True if a server seems to have dropped a part of a prompt that was too long for it.

    ``before`` are earlier reports of the same model, without those of truncated prompts. Such a
    server counts about the same for a much longer prompt, or far less than for others; a low count
    alone is only another tokenizer. A count beside cached tokens may leave these out; a count under
    `LEAST_WINDOW` does, since no server has such a window.
    """
    if report.prompt_tokens < LEAST_WINDOW or report.estimate <= 0:
        return False
    share = report.ratio / usual_ratio(before)
    if share < SILENT_SHARE and (report.cached_tokens or before or report.ratio < LOWEST_RATIO):
        return not report.cached_tokens
    shorter = [earlier for earlier in before if earlier.estimate * MUCH_LONGER <= report.estimate]
    nearest = sorted(shorter, key=lambda earlier: earlier.estimate)[-SHORTER_COMPARED:]
    return len(nearest) == SHORTER_COMPARED and all(
        report.prompt_tokens - earlier.prompt_tokens
        < LEAST_GROWTH * earlier.ratio * (report.estimate - earlier.estimate)
        for earlier in nearest
    )


def read_usage(fields: Fields) -> Usage | None:
    """Return the first plausible token counts of a body, None without any.

    More cached tokens than tokens of the prompt are not plausible: such a server counts only what
    it read anew.
    """
    usage, groq = as_dict(fields.get("usage")), as_dict(fields.get("x_groq"))
    others = (usage.get("tokens"), fields.get("usageMetadata"), fields, fields.get("timings"))
    for place in map(as_dict, (usage, groq.get("usage"), *others)):
        for prompt_name, completion_name, *besides in USAGE_FORMS:
            prompt = token_count(place.get(prompt_name), least=0)
            completion = token_count(place.get(completion_name), least=0)
            if prompt is None or completion is None:
                continue
            prompt += sum(token_count(place.get(name), least=0) or 0 for name in besides)
            cached = read_cached_tokens(place, fields)
            if token_count(prompt, least=1) and (cached or 0) <= prompt:
                return Usage(prompt, completion, cached)
    return None


def read_cached_tokens(usage: Fields, fields: Fields) -> int | None:
    """Return how many of the prompt's tokens came from a cache, None if not reported."""
    places = map(as_dict, (usage, *usage.values(), fields.get("timings")))
    counts = (token_count(place.get(name), least=0) for place in places for name in CACHED_NAMES)
    return max((count for count in counts if count is not None), default=None)


def read_timings(timings: Fields) -> Timings | None:
    """Return the speed that llama.cpp's server reports, or None."""
    read, predicted = (
        token_count(timings.get(name), least=0) or 0 for name in ("prompt_n", "predicted_n")
    )
    speeds = (timings.get("prompt_per_second"), timings.get("predicted_per_second"))
    read_per_s, written_per_s = (
        float(speed) if isinstance(speed, int | float) and 0 < speed <= MOST_TOKENS else None
        for speed in speeds
    )
    if read_per_s is None or written_per_s is None:
        return None
    return Timings(read, read_per_s, predicted, written_per_s)


def token_count(value: object, least: int) -> int | None:
    """Return a plausible token count, or None; True and False are not counts."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and least <= value <= MOST_TOKENS else None
