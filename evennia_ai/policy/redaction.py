"""Keys, addresses and words of prompts in texts that people read: errors, logs and tables.

Some endpoints repeat the request in their errors, and the prompt may hold whispers.

This module uses the standard library only: the demo imports it before anything is installed.
"""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from urllib.parse import urlsplit

MASK = "***"
LEAST_KEY_CHARS = 8  # a shorter key is part of ordinary words, and protects nothing
UNREADABLE = "an unreadable address"

KEY_LIKE = re.compile(r"\b(?:sk|pk|key|gsk|xai)-[\w*.-]{6,}", re.ASCII)
# It begins with the first letter at a word's beginning; ``lead`` is what stands before that.
ADDRESS = re.compile(
    r"(?<![\w+.-])(?P<lead>(?:[+.-]|\d[a-z0-9]*+)*+)(?P<address>[a-z][a-z0-9+.-]*+://\S+)",
    re.IGNORECASE | re.ASCII,
)
# The key begins a word. In raw JSON the letter before it may belong to an escape such as \n.
BEFORE = r"(?:(?<!\w)|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4}))"
GAP = "..."
PLAIN_WORD, WORD = re.compile(r"\w+"), re.compile(r"[\\%&]?\w+")
RUN_WORDS = 4  # so many words in a row that also stand in the prompt count as quoted
# A word counts as quoted if so many of its characters in a row, and so much of it, stand in the
# prompt. Five alone are in many words of an endpoint's own: "reported" and "supported".
WINDOW_CHARS, WINDOW_PART = 5, 0.7
PIECE_PART = 0.4  # a whole word of the prompt in a longer one, if it is so much of that
LONGEST_WORD = 40  # a longer one may be an encoded text
LONGEST_NUMBER, MOST_NAMES = 7, 12
# A single one of these words says nothing about a prompt that happens to hold it, too.
ORDINARY = frozenset(
    """
    a again also an and api are array as assistant at authentication bad balance be been billing
    blocked boolean busy but by bytes can cannot characters chars chat choice code com completion
    completions contain contains content context could credit credits day denied did do docs does
    endpoint error errors exceed exceeded exceeds exist exists expected failed failure field
    fields filter filtered for forbidden format found from function functions gateway got hard has
    have help hour however http if in input instead insufficient integer internal invalid is it
    its json key keys large later least length less limit limited limits loading long max maximum
    may message messages min minimum minute missing model models more most must no not nothing
    null number object of on one only or org organization out output overloaded parameter
    parameters per permission plan please policy project prompt property provider quota range rate
    reached received refused rejected request requested requests required requires resource
    response resulted role roles s schema second seconds see server service should status string
    support supported supporting supports system t temporarily text than that the then there these
    this those timed timeout to token tokens too tool tools try type types unauthorized
    unavailable unexpected unknown unsupported up upstream usage use used user using valid
    validation value values was we were when whereas which while will with within without would
    you your
    """.split()
)
# Names of a request's parameters, which no talk has but for single words.
PARAMETERS = frozenset(
    """
    best_of chat_template_kwargs context_length enable_thinking extra_body frequency_penalty
    function_call include_usage json_object json_schema keep_alive logit_bias logprobs
    max_completion_tokens max_model_len max_new_tokens max_output_tokens max_seq_len max_tokens
    min_p modalities model_id n_ctx n_predict num_ctx num_predict parallel_tool_calls
    presence_penalty prompt_cache_key reasoning_content reasoning_effort repeat_penalty
    repetition_penalty response_format safe_prompt seed service_tier stop stop_sequences stream
    stream_options temperature thinking tool_call_id tool_calls tool_choice top_k top_logprobs
    top_p
    """.split()
)
# Beside a number: it is a limit or a count of the endpoint's.
COUNTED = frozenset(
    """
    bytes characters current length limit max maximum messages minimum minute minutes most requested
    requests rpm seconds than token tokens tpm used
    """.split()
)


def mask_key(text: str, key: str, least_chars: int = LEAST_KEY_CHARS) -> str:
    # Nothing is masked inside a longer word, nor for a key of fewer than ``least_chars``
    # characters. A slash in the key may be escaped, as some servers write JSON.
    if len(key) < least_chars:
        return text
    whole = re.escape(key).replace("/", r"\\?/")
    return re.sub(rf"{BEFORE}{whole}(?!\w)", MASK, text, flags=re.ASCII)


def hide_secrets(text: str, key: str = "") -> str:
    """Return a text for people: the key and what looks like one masked, addresses cleaned."""
    cleaned = hide_in_addresses(mask_key(text, key))
    return KEY_LIKE.sub(MASK, cleaned)


def hide_in_addresses(text: str) -> str:
    """Return a text with each address in it as `shown_address` gives it."""
    return ADDRESS.sub(lambda match: match["lead"] + shown_address(match["address"]), text)


def shown_address(address: str) -> str:
    """Return an address without user, password, query and fragment."""
    # Returns `UNREADABLE` if its parts cannot be told apart, since any of them may be a password.
    try:
        parts = urlsplit(address)
        is_clear = bool(parts.scheme and parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        return UNREADABLE
    behind_the_host = f"{parts.path}{parts.query}{parts.fragment}"
    if not is_clear or "@" in behind_the_host:  # a password with a slash ends the host too early
        return UNREADABLE
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def quote_without(sentence: str, private_text: str, known: Collection[str] = ()) -> str:
    """Return an error sentence in which `GAP` replaces what also stands in the request's words.

    ``known`` are words that say nothing about those, such as the names of parameters.
    """
    # Cut are runs of words of the request, and single words that may be its own or a piece of it.
    private, matches = PrivateWords(private_text), list(WORD.finditer(sentence))
    words = [match[0].lower() for match in matches]
    places = range(len(words))
    readable = {n for n in places if words[n] in known or private.is_limit(words, n)}
    cut = {n for n in places if n not in readable and private.may_hold(words[n])}
    for start in places:
        run = range(start, start + RUN_WORDS)
        if private.has(words[start : run.stop]) and run.stop <= len(words):
            cut.update(run)
    for order in (places, reversed(places)):  # pieces of words at the ends of a quotation
        for n in order:
            if n not in readable and {n - 1, n + 1} & cut and private.has_piece(words[n]):
                cut.add(n)
    if len(cut) == len(words):
        return ""
    return join_kept(sentence, [match.span() for n, match in enumerate(matches) if n in cut])


def names_in(sentence: str, private_text: str, known: Collection[str]) -> list[str]:
    """Return the parameters, models and limits that an error names, each once.

    Nothing else of it is safe to show if the request's words are private: an endpoint may have
    written those in any other way, such as from their end.
    """
    private = PrivateWords(private_text)
    words = [match[0].lower() for match in WORD.finditer(sentence)]
    names = []
    for n, word in enumerate(words):
        if private.is_limit(words, n):
            names.append(" ".join([word, *(COUNTED & {*words[n + 1 : n + 2]})]))
        elif (word in known or word in PARAMETERS) and not private.has([word]):
            names.append(word)
    return list(dict.fromkeys(names))[:MOST_NAMES]


class PrivateWords:
    """The words of a request, in lower case."""

    def __init__(self, text: str) -> None:
        words = PLAIN_WORD.findall(text.lower())
        self.text, self.in_order = text.lower(), " ".join(["", *words, ""])
        self.joined = "".join(words)
        self.telling = frozenset(words) - ORDINARY - PARAMETERS

    def has(self, words: Iterable[str]) -> bool:
        """Return True if these words stand in a row in the request."""
        return f" {' '.join(words)} " in self.in_order

    def has_piece(self, word: str) -> bool:
        """Return True for a short word that is a piece of the request."""
        return len(word) < WINDOW_CHARS and word not in ORDINARY and word in self.text

    def is_limit(self, words: Sequence[str], n: int) -> bool:
        """Return True for a number beside what it counts, which the request does not hold so."""
        if not words[n].isdecimal() or len(words[n]) > LONGEST_NUMBER:
            return False
        pairs = [pair for pair in (words[max(0, n - 1) : n + 1], words[n : n + 2]) if pair[1:]]
        return any(map(COUNTED.intersection, pairs)) and not any(map(self.has, pairs))

    def may_hold(self, word: str) -> bool:
        """Return True if a lower-case word may come from the request."""
        if word in ORDINARY or word in PARAMETERS:
            return False
        if not word[0].isalnum() and word[0] != "_":  # a part of an escape, such as \u00e9 or %C3
            return True
        if max(map(len, word.split("_"))) > LONGEST_WORD or self.has([word]):
            return True
        least = WINDOW_CHARS if word.isascii() else 2
        if word.isdecimal() or len(word) < 3 <= least:
            return False
        if len(word) < least:  # cut off behind its beginning
            return f" {word}" in self.in_order if word.isascii() else word in self.text
        size = max(least, math.ceil(WINDOW_PART * len(word)))
        runs = {word[at : at + size] for at in range(len(word) - size + 1)}
        return any(run in self.text or run in self.joined for run in runs) or any(
            len(part) >= max(least, PIECE_PART * len(word)) and part in word
            for part in self.telling
        )


def join_kept(sentence: str, cut: list[tuple[int, int]]) -> str:
    """Return a sentence with one gap for all neighbouring spans that are cut, in order."""
    text, end = "", 0
    for start, stop in cut:
        between = sentence[end:start]
        if not text or any(map(str.isalnum, between)):
            text += between + GAP
        end = stop
    return text + sentence[end:]
