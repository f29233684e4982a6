"""A short quote of an endpoint's error sentence, without the words of the prompt.

Some endpoints repeat the request in their errors. The prompt may hold whispers, and staff read an
error's text in commands and in the server's log.
"""

from __future__ import annotations

import re

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


def quote_without(sentence: str, asked: str) -> str:
    """Return an error sentence in which `GAP` replaces what also stands in the request's words."""
    # Cut are runs of words of the request, and single words that are not ordinary in errors and
    # share some characters in a row with it. Returns "" if nothing else remains.
    asked = asked.lower()
    in_order = " ".join(["", *PLAIN_WORD.findall(asked), ""])
    found = list(WORD.finditer(sentence))
    words = [match[0].lower() for match in found]
    cut = {n for n, word in enumerate(words) if is_quoted(word, asked, in_order)}
    for start in range(len(words) - RUN_WORDS + 1):
        run = range(start, start + RUN_WORDS)
        if f" {' '.join(words[n] for n in run)} " in in_order:
            cut.update(run)
    if len(cut) == len(words):
        return ""
    return join_kept(sentence, [match.span() for n, match in enumerate(found) if n in cut])


def is_quoted(word: str, asked: str, in_order: str) -> bool:
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
    return any(word[at : at + size] in asked for at in range(len(word) - size + 1))


def join_kept(sentence: str, cut: list[tuple[int, int]]) -> str:
    """Return a sentence with one gap for all neighbouring spans that are cut, in order."""
    text, end = "", 0
    for start, stop in cut:
        between = sentence[end:start]
        if not text or any(map(str.isalnum, between)):
            text += between + GAP
        end = stop
    return text + sentence[end:]
