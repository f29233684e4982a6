"""What staff may see of the log's rows, as plain values for templates.

Every stored text passes `page_text`, and Django escapes it. The reader decides what is hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from evennia_ai.game.wording import ACT_STATES, ERROR_KINDS, call_words, worded
from evennia_ai.messages import EXCUSE
from evennia_ai.policy.disclosure import ERRORS, Reader, words_kind
from evennia_ai.policy.records.memory_listing import named
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.names import dbrefs_named, names_of
from evennia_ai.store.page_rows import Row, TurnParts
from evennia_ai.store.reports import is_erased, seconds_between

LINE_CHARS, ASKED_CHARS = 1_000, 300
CHART_DAYS = 30
IN_PRIVATE = "somebody in private"


def page_text(text: object, limit: int = LINE_CHARS) -> str:
    """Return any stored text as one line for a page; a template escapes it."""
    return clean_heard(str(text), limit)


def page_lines(text: str, limit: int = LINE_CHARS) -> list[str]:
    """Return the lines of a text, each as for `page_text`."""
    return [page_text(line, limit) for line in text.splitlines()]


class Shown:
    """Makes rows of the log into values for a template, as far as one reader may see them."""

    def __init__(self, reader: Reader, own_name: str, names: Mapping[str, str]) -> None:
        self.reader, self.own_name, self.names = reader, own_name, names

    @classmethod
    def of(cls, reader: Reader, who: Row, rows: Iterable[Row]) -> Shown:
        """Return one that knows the names in the audiences of some rows. One query."""
        dbrefs = {dbref for row in rows for dbref in row["audience"]}
        return cls(reader, who["name"], names_of(dbrefs))

    def turn(self, row: Row, parts: TurnParts) -> dict[str, Any]:
        """Return a turn with its events, model calls and tool calls."""
        id_, private = row["id"], row["private"]
        may_read = self.reader.may(words_kind(private))
        calls = [self.model_call(one) for one in parts.model_calls.get(id_, ())]
        acts = parts.tool_calls.get(id_, ())
        public = parts.public_calls
        detail = page_text(row["detail"], 300)
        erased = is_erased(row["context"], row["audience"])
        return {
            "erased": erased,
            "number": id_,
            "at": row["at"],
            "private": private,
            "whom": page_text(named(row["audience"], self.names), 200) if may_read else IN_PRIVATE,
            "outcome": row["outcome"] or ("ended" if row["ended_at"] else "in progress"),
            "detail": self.reader.show(ERRORS, detail, "detail") if detail else "",
            "took_s": seconds_between(row["at"], row["ended_at"]),
            "tokens": sum(call["tokens"] for call in calls),
            "events": [self.event(one) for one in parts.events.get(id_, ())],
            "calls": calls,
            "acts": [self.act(a, private or (id_, a["call_id"]) not in public) for a in acts],
        }

    def event(self, row: Row) -> dict[str, Any]:
        """Return an event; the reason of its end may quote an error."""
        kind = words_kind(row["private"])
        reason = row["reason"] if self.reader.may(ERRORS) else ""
        hidden = row["kind"] if row["private"] else "words"
        return {
            "at": row["at"],
            "kind": row["kind"],
            "private": row["private"],
            "state": page_text(reason or row["state"], 100),
            "who": page_text(row["speaker_name"], 60) if self.reader.may(kind) else IN_PRIVATE,
            "text": self.reader.show(kind, page_text(row["text"]), hidden),
        }

    def act(self, row: Row, private: bool) -> dict[str, Any]:
        """Return a tool call with its result."""
        kind = words_kind(private)
        words, others = call_words(row["arguments"])
        state = worded(ACT_STATES, row["state"])
        shown = {"name": page_text(row["name"], 40), "state": state, "private": private}
        if not self.reader.may(kind):
            return {**shown, "text": self.reader.show(kind, "", "words"), "more": "", "result": ""}
        self.reader.count(kind)
        texts = {"text": words, "more": others, "result": row["result"]}
        return {**shown, **{key: page_text(value) for key, value in texts.items()}}

    def model_call(self, row: Row) -> dict[str, Any]:
        """Return a model call: model, time, tokens and error."""
        error = page_text(row["error"], 300)
        prompt = row["estimated_tokens"] if row["prompt_tokens"] is None else row["prompt_tokens"]
        return {
            "model": page_text(f"{row['profile']}:{row['model']}", 80),
            "purpose": page_text(row["purpose"], 40),
            "ms": row["duration_ms"],
            "prompt": prompt,
            "estimated": row["prompt_tokens"] is None,
            "cached": row["cached_tokens"],
            "completion": row["completion_tokens"] or 0,
            "tokens": prompt + (row["completion_tokens"] or 0),
            "finish": page_text(row["finish_reason"], 40),
            "problem": worded(ERROR_KINDS, row["error_kind"]) if error else "",
            "error": self.reader.show(ERRORS, error, "text") if error else "",
        }

    def line(self, row: Row) -> dict[str, Any]:
        """Return a message: who said it, who heard it, and its words."""
        kind, role = words_kind(row["private"]), row["role"]
        own = role in (EXCUSE, "assistant")
        shown = {
            "seq": row["id"],
            "at": row["at"],
            "role": role,
            "private": row["private"],
            "tokens": row["tokens"],
            "turn": row["turn_id"],
        }
        if not self.reader.may(kind):
            words = self.reader.show(kind, "", "whisper" if row["private"] else "words")
            return {**shown, "who": IN_PRIVATE, "whom": "", "text": words, "calls": []}
        self.reader.count(kind)
        calls = [call["function"] for call in row["tool_calls"]]
        who = "result" if role == "tool" else row["speaker_name"]
        return {
            **shown,
            "who": self.own_name if own else page_text(who, 60),
            "whom": page_text(named(row["audience"], self.names), 120),
            "text": page_text(row["content"]),
            "calls": [
                {"name": page_text(call["name"], 40), "text": page_text(words or others)}
                for call in calls
                for words, others in [call_words(call["arguments"])]
            ],
        }


def chart_days(today: date) -> list[date]:
    """Return the days of a chart, oldest first."""
    return [today - timedelta(days=ago) for ago in range(CHART_DAYS - 1, -1, -1)]


def people_named(name: str) -> list[str]:
    """Return the dbrefs that a reader may mean by a name, or by a number such as ``#12``."""
    number = number_or_none(name.removeprefix("#")) if name.startswith("#") else None
    return dbrefs_named(name) if number is None else [f"#{number}"]


def asked_text(values: Mapping[str, str], name: str) -> str:
    """Return one field of a form as a line, empty if it is missing."""
    return page_text(values.get(name, ""), ASKED_CHARS)


def number_or_none(value: str | None) -> int | None:
    """Return a number of an address's query, None if it is no plain number."""
    return int(value) if value and value.isdecimal() and len(value) < 19 else None
