"""Keys, addresses and words of prompts in texts that people read: errors, logs and tables.

Some endpoints repeat the request in their errors, and the prompt may hold whispers.

This module uses the standard library only: the demo imports it before anything is installed.
"""

import re
from collections.abc import Collection
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
WINDOW_CHARS = 5  # a word that shares so many characters with the prompt counts as quoted
LONGEST_WORD = 40  # a longer one may be an encoded text
# A single one of these words says nothing about a prompt that happens to hold it, too.
ORDINARY = frozenset(
    """
    a again also an and api are array as assistant at authentication bad balance be been billing
    blocked boolean busy but by bytes can cannot characters chars chat choice code completion
    completions contain contains content context could credit credits day denied did do does
    endpoint error errors exceed exceeded exceeds exist exists expected failed failure field
    fields filter filtered for forbidden format found from function functions gateway got hard
    has have hour however http if in input instead insufficient integer internal invalid is it
    its json key keys large later least length less limit limited limits loading long maximum
    may message messages minimum minute missing model models more most must no not nothing null
    number object of on one only or organization out output overloaded parameter parameters per
    permission plan please policy project prompt property provider quota range rate reached
    received refused rejected request requested requests required resource response resulted
    role roles s schema second seconds server service should status string support supported
    system t temporarily text than that the then these this those timed timeout to token tokens
    too tool tools try type types unauthorized unavailable unexpected unknown unsupported
    upstream usage use used user using value values was we were when which while will with
    within without would you your
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
    # Cut are runs of words of the request, and single words that are not ordinary in errors and
    # share some characters in a row with it. Returns "" if nothing else remains.
    private_text = private_text.lower()
    in_order = " ".join(["", *PLAIN_WORD.findall(private_text), ""])
    matches = list(WORD.finditer(sentence))
    words = [match[0].lower() for match in matches]
    cut = {
        n
        for n, word in enumerate(words)
        if word not in known and is_quoted(word, private_text, in_order)
    }
    for start in range(len(words) - RUN_WORDS + 1):
        run = range(start, start + RUN_WORDS)
        if f" {' '.join(words[n] for n in run)} " in in_order:
            cut.update(run)
    if len(cut) == len(words):
        return ""
    return join_kept(sentence, [match.span() for n, match in enumerate(matches) if n in cut])


def is_quoted(word: str, private_text: str, in_order: str) -> bool:
    """Return True if a lower-case word may come from the request's words."""
    if word in ORDINARY:
        return False
    if not word[0].isalnum() and word[0] != "_":  # a part of an escape, such as \u00e9 or %C3
        return True
    if len(word) > LONGEST_WORD or f" {word} " in in_order:
        return True
    if word.isdecimal():
        return False
    size = min(WINDOW_CHARS if word.isascii() else 2, len(word))
    return any(word[at : at + size] in private_text for at in range(len(word) - size + 1))


def join_kept(sentence: str, cut: list[tuple[int, int]]) -> str:
    """Return a sentence with one gap for all neighbouring spans that are cut, in order."""
    text, end = "", 0
    for start, stop in cut:
        between = sentence[end:start]
        if not text or any(map(str.isalnum, between)):
            text += between + GAP
        end = stop
    return text + sentence[end:]
