"""Lines of the log: which are recalled, hidden or edited, and the filter that `aihistory` reads."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from evennia_ai.messages import (
    OWN_RESULTS,
    PERCEIVED,
    ChatMessage,
    heard_line,
    is_offline,
    prompt_text,
    with_content,
)
from evennia_ai.policy.audience import audience_of, of_message
from evennia_ai.policy.facts.terms import SPOKEN_BY_TOOL, own_utterances, parse_heard_line
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.texts import read_object

LINE = "line"  # the kind of such a record
# Results that say nothing beyond the call, or only that nothing happened.
EMPTY_RESULTS = frozenset(
    {
        *OWN_RESULTS.values(),
        "You do nothing.",
        "You see nothing special.",
        "You noted it.",
        "You had noted that already.",
        "You keep it in mind.",
        "You remember nothing about that.",
        "You still have all of your talk before you.",
    }
)


def line_id(seq: int) -> str:
    return f"{LINE}:{seq}"


def seq_of(id: str) -> int | None:
    """Return the number of a line's message, None if the id is not a line's."""
    kind, _, seq = id.partition(":")
    return int(seq) if kind == LINE and seq.isdecimal() else None


def read_line(message: ChatMessage, own_name: str) -> Record | None:
    """Return a message as a record that can be recalled, None if it is no line."""
    # Heard lines, the character's own speech and the results of its own acts are lines; excuses,
    # markers, what the stand-in said, and other tool results are not.
    meta = message["metadata"]
    if "type" in meta or message["content"] in EMPTY_RESULTS or is_offline(message):
        return None
    spoken_text = own_utterances(message, own_name)
    words = " ".join(text for _source, text in spoken_text).strip()
    if not words:
        return None
    source, audience = spoken_text[0][0], audience_of(message)
    is_heard = message["role"] == "user" and not source.own
    return {
        "id": line_id(meta["seq"]),
        "kind": LINE,
        "seq": meta["seq"],
        "content": shown_line(message, own_name, words),
        "words": words,
        "speaker_name": source.speaker,
        "source_entity": source.dbref,
        "source_type": "direct" if is_heard and source.evidence != PERCEIVED else "observation",
        "own": not is_heard,
        "evidence": source.evidence,
        "timestamp": meta["at"],
        "audience": None if audience is None else sorted(audience),
        "speakers": sorted(of_message(message)),
    }


def shown_line(message: ChatMessage, own_name: str, words: str) -> str:
    """Return a message's words as a prompt shows them, with their speaker."""
    if message["role"] != "assistant":
        return prompt_text(message)
    calls = message.get("tool_calls") or ()
    if any(call["function"]["name"] == "emote" for call in calls):
        return heard_line("emote", own_name, words)
    return heard_line("say", own_name, words)


HIDDEN, EDITED, UNRECALLED = "hidden", "edited", "unrecalled"
SUMMARY = "compaction"  # the source type of a compaction's entries


@dataclass(frozen=True)
class LineAmendment:
    """One change of one message. ``text`` holds the new words of an edited one."""

    id: int
    seq: int
    kind: str
    at: str  # ISO time
    text: str = ""
    authors: tuple[str, ...] = ()  # of the new words (`policy.audience`)
    batch: int = 0  # those of one batch are undone together
    by: str = ""  # dbref of the builder


Amended = Mapping[int, LineAmendment]  # by message


def latest(amendments: Iterable[LineAmendment]) -> dict[int, LineAmendment]:
    """Return what is in force for each message: that it is hidden, else its last new words."""
    newest: dict[int, LineAmendment] = {}
    for amendment in sorted(amendments, key=lambda item: (item.kind == HIDDEN, item.id)):
        if amendment.kind != UNRECALLED:
            newest[amendment.seq] = amendment
    return newest


def amend(messages: Iterable[ChatMessage], amended: Amended) -> list[ChatMessage]:
    """Return messages as they are shown: without hidden ones, with the new words of edited ones."""
    shown = ((m, amended.get(m["metadata"].get("seq", 0))) for m in messages)
    return [
        reworded(message, change) if change else message
        for message, change in shown
        if change is None or change.kind != HIDDEN
    ]


def reworded(message: ChatMessage, change: LineAmendment) -> ChatMessage:
    """Return a message with new words, and ``metadata["amendment"]``; the builder is an author."""
    authors = sorted(of_message(message).union(change.authors))
    new: dict[str, Any] = {"authors": authors, "amendment": change.id, "tokens": 0}
    meta, content = message["metadata"], message["content"]
    if message["role"] == "user":
        known = meta.get("speaker_name", ""), meta.get("evidence", "")
        _speaker, words, _evidence = parse_heard_line(content, *known)
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
    return call["function"]["name"] in SPOKEN_BY_TOOL


def is_withheld(record: Record, amended: Amended) -> bool:
    """Return True if a record may hold what a hidden line, or an edited one before it, said.

    A compaction's summary is none of them: only a new compaction writes it anew.
    """
    changes = [amended[seq] for seq in record.get("source_seqs", ()) if seq in amended]
    if not changes or record["source_type"] == SUMMARY:
        return False
    written = str(record.get("confirmed_at") or record.get("timestamp") or "")
    return any(change.kind == HIDDEN or written <= change.at for change in changes)


SINCE, UNTIL, PLAYER, SEARCH, PAGE = "since", "until", "player", "search", "page"
SWITCHES = (SINCE, UNTIL, PLAYER, SEARCH)
FILTERS = (*SWITCHES, PAGE)
NEXT = re.compile(rf"(?<!\s)\s*,\s*(?=(?:{'|'.join(FILTERS)})\b)", re.I)
AGO = re.compile(r"(\d{1,4})\s*(m|h|d|w)(?:in|inutes?|ours?|ays?|eeks?)?s?(?:\s+ago)?", re.I)
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?")
DATE = re.compile(r"(?:(\d{4})-)?(\d{1,2})-(\d{1,2})")
WHICH = {SINCE: "time", UNTIL: "time", PLAYER: "player", SEARCH: "words", PAGE: "page"}
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
TIMES = "'yesterday 18:00', '2026-11-20', '11-20 18:00', 'friday', '18:00' or '2 hours ago'"


@dataclass(frozen=True)
class LogFilter:
    """Which messages to show: from ``since`` up to ``until``, both in UTC."""

    since: datetime | None = None
    until: datetime | None = None
    player: str = ""  # as it was typed
    search: str = ""  # words that a message must hold
    page: int = 1

    @property
    def is_empty(self) -> bool:
        return not (self.since or self.until or self.player or self.search)


def read_filter(typed: str, switches: Sequence[str], now: datetime) -> LogFilter:
    """Return the filter that was typed; raises ValueError with a sentence.

    Values come as ``since yesterday, player Ann``, or in the order of the switches. ``now`` is in
    the reader's zone.
    """
    values = split_values(typed.strip(), switches)
    since = read_time(values[SINCE], now)[0] if SINCE in values else None
    until = read_time(values[UNTIL], now, since)[1] if UNTIL in values else None
    if since and until and since >= until:
        raise ValueError(f"since {values[SINCE]} is not before until {values[UNTIL]}.")
    page = values.get(PAGE, "1")
    if not page.isdecimal() or not 0 < int(page) < 10**9:
        raise ValueError(
            f"'{page}' is no page and no filter. Type a page from 1, or since, until, player or "
            "search and its value."
        )
    start, end = (at.astimezone(UTC) if at else None for at in (since, until))
    return LogFilter(start, end, values.get(PLAYER, ""), values.get(SEARCH, ""), int(page))


def split_values(typed: str, switches: Sequence[str]) -> dict[str, str]:
    """Return the values by filter; raises ValueError."""
    first, *rest = NEXT.split(typed)
    pairs: list[tuple[str, str]] = []
    if not switches:
        is_page = " " not in first and first.lower() not in FILTERS  # right or wrong
        rest = [f"{PAGE} {first}" if is_page else first, *rest] if typed else []
    elif len(switches) == 1:
        pairs = [(switches[0], first)]
    else:
        given = first.split(",", len(switches) - 1)
        if len(given) != len(switches):
            raise ValueError(f"Give {len(switches)} values, with commas between them.")
        pairs = list(zip(switches, given, strict=True))
    pairs += [(word.lower(), value) for word, _, value in (part.partition(" ") for part in rest)]
    values: dict[str, str] = {}
    for name, value in pairs:
        ensure_filter(name)
        if name in values:
            raise ValueError(f"{name} stands there twice. Use each filter once.")
        if not value.strip():
            raise ValueError(f"Which {WHICH[name]}? {name} needs a value, as in the help.")
        values[name] = value.strip()
    return values


def ensure_filter(name: str) -> None:
    """Raise ValueError if there is no such filter."""
    if name.strip() not in FILTERS:
        known = ", ".join(FILTERS)
        raise ValueError(f"'{name.strip()}' is no filter. Use {known}, as in the help.")


def without_page(typed: str) -> str:
    parts = NEXT.split(typed.strip())
    return ", ".join(p for p in parts if not p.isdecimal() and not p.lower().startswith("page "))


def read_time(
    words: str, now: datetime, after: datetime | None = None
) -> tuple[datetime, datetime]:
    """Return the start and the end of a time that was typed; raises ValueError.

    A day ends with its last moment, any other time where it starts. A clock alone is the first one
    ``after`` a time, else the latest one.
    """
    text = " ".join(words.lower().split())
    ago = AGO.fullmatch(text)
    if ago or text == "now":
        at = now - timedelta(**{UNITS[ago[2].lower()]: int(ago[1])}) if ago else now
        return at, at
    head, _, last = text.rpartition(" ")
    clock = CLOCK.fullmatch(last)
    try:
        day = read_day(head if clock else text, now) if head or not clock else None
        hour, minute, second = map(int, clock.groups("0")) if clock else (0, 0, 0)
        at = datetime.combine(day or (after or now), time(hour, minute, second), now.tzinfo)
    except ValueError:
        raise ValueError(f"'{words}' is no time. Use {TIMES}.") from None
    if clock is None:
        return at, at + timedelta(days=1)
    if day is None and after is not None and at <= after:
        at += timedelta(days=1)
    elif day is None and after is None and at > now:
        at -= timedelta(days=1)
    return at, at


def read_day(text: str, now: datetime) -> date:
    """Return the day that was typed, without a year the latest; raises ValueError."""
    near = {day: (now.weekday() - n) % 7 for n, day in enumerate(WEEKDAYS)}
    near |= {"today": 0, "yesterday": 1}
    if text in near:
        return (now - timedelta(days=near[text])).date()
    match = DATE.fullmatch(text)
    if match is None:
        raise ValueError(text)
    day = date(int(match[1] or now.year), int(match[2]), int(match[3]))
    return day.replace(year=day.year - 1) if not match[1] and day > now.date() else day
