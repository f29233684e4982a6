"""Builders' changes of how messages of a log are shown; the log itself never changes (P3).

A hidden message enters no prompt, no recall and no summary from then on, an edited one only with
its new words, and an unrecalled one is no longer recalled once it has left the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evennia_ai.messages import Message, is_perceived, with_content
from evennia_ai.policy.authors import of_message
from evennia_ai.policy.facts.sources import SPOKEN_BY_TOOL, heard
from evennia_ai.policy.model_text import read_object
from evennia_ai.policy.records.provenance import Record

HIDDEN, EDITED, UNRECALLED = "hidden", "edited", "unrecalled"
SUMMARY = "compaction"  # the source type of a compaction's entries


@dataclass(frozen=True)
class Amendment:
    """One change of one message. ``text`` holds the new words of an edited one."""

    id: int
    seq: int
    kind: str
    at: str  # ISO time
    text: str = ""
    authors: tuple[str, ...] = ()  # of the new words (`policy.authors`)
    batch: int = 0  # those of one batch are undone together
    by: str = ""  # dbref of the builder


Amended = Mapping[int, Amendment]  # by message


def latest(amendments: Iterable[Amendment]) -> dict[int, Amendment]:
    """Return what is in force for each message: that it is hidden, else its last new words."""
    found: dict[int, Amendment] = {}
    for one in sorted(amendments, key=lambda one: (one.kind == HIDDEN, one.id)):
        if one.kind != UNRECALLED:
            found[one.seq] = one
    return found


def amend(messages: Iterable[Message], amended: Amended) -> list[Message]:
    """Return messages as they are shown: without hidden ones, with the new words of edited ones."""
    shown = ((m, amended.get(m["metadata"].get("seq", 0))) for m in messages)
    return [
        reworded(message, change) if change else message
        for message, change in shown
        if change is None or change.kind != HIDDEN
    ]


def reworded(message: Message, change: Amendment) -> Message:
    """Return a message with new words, and ``metadata["amendment"]``; the builder is an author."""
    authors = sorted(of_message(message).union(change.authors))
    new: dict[str, Any] = {"authors": authors, "amendment": change.id, "tokens": 0}
    meta, content = message["metadata"], message["content"]
    if message["role"] == "user":
        known = meta.get("speaker_name", ""), meta.get("nature", "")
        _speaker, words, _nature = heard(content, *known)
        return with_content(message, content.removesuffix(words) + change.text, **new)
    if content:
        return with_content(message, change.text, **new)
    calls = [with_text(call, change.text) for call in message.get("tool_calls", [])]
    return {**with_content(message, content, **new), "tool_calls": calls}


def with_text(call: Mapping[str, Any], words: str) -> dict[str, Any]:
    """Return a call of a tool for speech with other words, any other call as it is."""
    function = call["function"]
    if not is_speech(call):
        return dict(call)
    arguments = {**(read_object(function["arguments"]) or {}), "text": words}
    changed = {**function, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {**call, "function": changed}


def is_speech(call: Mapping[str, Any]) -> bool:
    """Return True for a call whose words somebody hears."""
    return call["function"]["name"] in SPOKEN_BY_TOOL


def why_no_new_words(message: Message) -> str:
    """Return why a message cannot get new words, empty if it can."""
    if message["role"] == "tool" or is_perceived(message):
        return "The game itself observed this. It can be hidden, but not reworded."
    calls = message.get("tool_calls", [])
    if message["role"] != "user" and not message["content"] and [*map(is_speech, calls)] != [True]:
        return "This is an act, not one line of speech. It can be hidden, but not reworded."
    return ""


def unit_of(seq: int, messages: Sequence[Message]) -> list[int]:
    """Return a message with what belongs to it: a call and all its results, or a line alone.

    ``messages`` are those of its turn; a message with several calls holds their results together.
    """
    by_seq = {message["metadata"]["seq"]: message for message in messages}
    ids = calls_in(by_seq[seq])
    units = [m for m in messages if m.get("tool_calls") and ids & calls_in(m)]
    ids = ids.union(*map(calls_in, units))
    return sorted({seq, *(known for known, m in by_seq.items() if ids & calls_in(m))})


def calls_in(message: Message) -> frozenset[str]:
    """Return the ids of the tool calls that a message makes or answers."""
    made = (call["id"] for call in message.get("tool_calls", []))
    return frozenset(filter(None, (*made, message.get("tool_call_id", ""))))


def is_withheld(record: Record, amended: Amended) -> bool:
    """Return True if a record may hold what a hidden line, or an edited one before it, said.

    A compaction's summary is none of them: only a new compaction writes it anew.
    """
    changes = [amended[seq] for seq in record.get("source_seqs", ()) if seq in amended]
    if not changes or record["source_type"] == SUMMARY:
        return False
    written = str(record.get("confirmed_at") or record.get("timestamp") or "")
    return any(change.kind == HIDDEN or written <= change.at for change in changes)
