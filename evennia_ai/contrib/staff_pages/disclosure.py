"""What an account may read on the web, for the staff pages and for REST alike.

Rights come from the tables, by account, since a web thread must not use Evennia's lock handlers. A
quelled account keeps its rights here. Each ``…_row`` function takes a row as a dictionary, and
returns it without what the reader may not see and with the rest cleaned. `RowPresenter` makes such
rows into values for templates, which escape them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from django.conf import settings
from evennia.accounts.models import AccountDB

from evennia_ai.commands.rendering import ACT_STATES, ERROR_KINDS, call_words
from evennia_ai.messages import ARRIVE, EXCUSE, LEAVE, MARK, OFFLINE, SAY, heard_line
from evennia_ai.policy.context.projection import PUBLIC
from evennia_ai.policy.limits.money import money_words
from evennia_ai.policy.read_permissions import ERRORS, Reader, words_kind
from evennia_ai.policy.records.memory_listing import named
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.names import dbrefs_named, names_of
from evennia_ai.store.reports import Row, is_erased, seconds_between

MOST_CHARS = 20_000
# What stored words mean.
TURN_ENDS: Mapping[str, str] = {
    "answered": "answered",
    "excused": "answered without a model",
    "noted": "no answer needed",
    "expired": "too old to answer",
    "interrupted": "interrupted",
    "unheard": "nobody was left to hear it",
}
ACTS: Mapping[str, str] = {
    "say": "says", "whisper": "whispers", "emote": "emotes", "noop": "does nothing",
}  # fmt: skip
EVENT_STATES: Mapping[str, str] = {
    "claimed": "being answered",
    "doubtful": "perhaps answered already",
    "excused": "answered without a model",
    "noted": "no answer needed",
    "ambient": "names nobody, and others are there",
}
FINISHED: Mapping[str, str] = {"stop": "complete", "length": "cut off", "tool_calls": "tool calls"}
PURPOSES: Mapping[str, str] = {
    "tick_event": "an answer",
    "tick_autonomous": "acting by itself, nobody had spoken to it",
    "agreed_act": "an act that was agreed to",
    "tried_act": "a builder who tried a tool",
    "excuse": "the fallback line",
    "pre_compaction": "notes before a compaction",
    "summary": "a summary",
    "sleep_consolidate": "sorting memories",
    "reflection": "reflection",
    "plan_day": "the plan of a day",
    "goal_decompose": "the steps of a goal",
    "importance": "what matters of memories",
    "rehearsal": "a trial",
    "replay": "a replay",
}


def worded(words: Mapping[str, str], stored: str) -> str:
    """Return what a stored word means; an unknown one is shown as it is stored."""
    return words.get(stored, stored)


def reader_of(account: int, services: Any) -> Reader:
    """Return an account as a reader of stored words. One query."""
    rows = AccountDB.objects.filter(id=account, is_active=True).values_list(
        "is_superuser", "db_tags__db_tagtype", "db_tags__db_key"
    )
    characters = list(rows)
    if any(row[0] for row in characters):
        return Reader(services.who_may_read, lambda _: True)
    held = frozenset(key.lower() for _, kind, key in characters if kind == "permission")
    hierarchy = [name.lower() for name in settings.PERMISSION_HIERARCHY]
    return Reader(services.who_may_read, partial(_holds, held, hierarchy))


def _holds(held: Collection[str], hierarchy: Sequence[str], wanted: str) -> bool:
    """Return True if some permissions include one, or one above it in the game's hierarchy."""
    known = {_singular(name, hierarchy) for name in held}
    name = _singular(wanted.lower(), hierarchy)
    enough = hierarchy[hierarchy.index(name) :] if name in hierarchy else [name]
    return not known.isdisjoint(enough)


def _singular(name: str, hierarchy: Sequence[str]) -> str:
    """Return a permission without the plural that Evennia also understands."""
    return name[:-1] if name not in hierarchy and name[:-1] in hierarchy else name


def clean(text: str) -> str:
    """Return stored words as a person sees them, without anything hidden, line by line."""
    return "\n".join(clean_heard(line, MOST_CHARS) for line in text.splitlines())


def error_text(text: str, reader: Reader) -> str:
    return reader.show(ERRORS, clean(text), "error") if text else ""


def turn_row(row: Row, reader: Reader) -> Row:
    """Return a turn without its error, and without who was spoken to in private."""
    audience = row["audience"] if reader.may(words_kind(row["private"])) else None
    row = {name: value for name, value in row.items() if name != "askers"}  # for the code alone
    return {**row, "audience": audience, "detail": error_text(row["detail"], reader)}


def model_call_row(row: Row, reader: Reader) -> Row:
    return {**row, "error": error_text(row["error"], reader)}


def message_row(row: Row, reader: Reader) -> Row:
    """Return a message; of a whisper neither words nor speaker nor audience."""
    kind, noun = words_kind(row["private"]), "whisper" if row["private"] else "words"
    row = {**row, "content": reader.show(kind, clean(row["content"]), noun)}
    if not reader.may(kind):
        return {**row, "audience": None, "tool_calls": None, "speaker": "", "speaker_name": ""}
    calls = [call["function"] for call in row["tool_calls"]]
    return {
        **row,
        "speaker_name": clean(row["speaker_name"]),
        "tool_calls": [{key: clean(str(call[key])) for key in call} for call in calls],
    }


def tool_call_row(row: Row, reader: Reader) -> Row:
    """Return a tool call; of a private one neither arguments nor result."""
    kind = words_kind(row["private"])
    if reader.may(kind):
        reader.count(kind)
        shown = {column: clean(row[column]) for column in ("arguments", "result")}
    else:
        shown = dict.fromkeys(("arguments", "result"), reader.show(kind, "", "words"))
    return {**row, "name": clean(row["name"]), **shown}


def compaction_row(row: Row, reader: Reader) -> Row:
    """Return a compaction; of its summary only the texts and audiences that are not private."""

    def part(key: str, words: str) -> Row:
        kind = words_kind(key != PUBLIC)
        audience = key.split(",") if reader.may(kind) else None
        return {"audience": audience, "text": reader.show(kind, clean(words), "summary")}

    return {**row, "summary": [part(key, words) for key, words in row["summary"].items()]}


def sleep_pass_row(row: Row, reader: Reader) -> Row:
    errors = {step: error_text(str(error), reader) for step, error in row["errors"].items()}
    return {**row, "errors": errors}


LINE_CHARS, ASKED_CHARS = 1_000, 300
IN_PRIVATE = "somebody in private"


def page_text(text: object, limit: int = LINE_CHARS) -> str:
    """Return any stored text as one line for a page; a template escapes it."""
    return clean_heard(str(text), limit)


def model_words(profile: str, model: str) -> str:
    """Return a model as people call it: "the stand-in", "qwen3:8b (profile ollama)"."""
    return "the stand-in" if model == OFFLINE else page_text(f"{model} (profile {profile})", 80)


class RowPresenter:
    """Makes rows of the log into values for a template, as far as one reader may see them."""

    def __init__(
        self, reader: Reader, who: Row | None, rows: Iterable[Row], currency: str = ""
    ) -> None:
        """Read the names in the audiences of some rows. One query."""
        self.reader, self.own_name = reader, who["name"] if who else ""
        self.currency = currency
        self.names = names_of({dbref for row in rows for dbref in row["audience"] or ()})

    def whom(self, audience: Sequence[str] | None) -> str:
        """Return the names of an audience; of a hidden one (None) only that there is one."""
        return IN_PRIVATE if audience is None else page_text(named(audience, self.names), 200)

    def turn(self, row: Row) -> Row:
        erased = is_erased(row["context"], row["audience"])
        row = turn_row(row, self.reader)
        calls = [self.model_call(item) for item in row["model_calls"]]
        return {
            **row,
            "erased": erased,
            "whom": self.whom(row["audience"]),
            "people": [page_text(self.names.get(who, who), 60) for who in row["audience"] or ()],
            "comment": self.comment(row),
            "outcome": worded(TURN_ENDS, row["outcome"])
            or ("ended" if row["ended_at"] else "in progress"),
            "for": worded(PURPOSES, row["context"]),
            "took_s": seconds_between(row["at"], row["ended_at"]),
            "tokens": sum(call["tokens"] for call in calls if not call["problem"]),
            "cost": self.cost(row["model_calls"]),
            "events": [self.event(item) for item in row["events"]],
            "calls": calls,
            "acts": [self.act(item) for item in row["tool_calls"]],
        }

    def comment(self, row: Row) -> str:
        """Return what staff wrote about a turn; of a private one only for who may read it."""
        comment = clean(row["comment"])
        return self.reader.show(words_kind(row["private"]), comment, "comment") if comment else ""

    def cost(self, calls: Iterable[Row]) -> str:
        """Return what some model calls cost, "" if their models have no prices."""
        paid = [call["money"] for call in calls if call["money"] is not None]
        return f"{money_words(sum(paid))} {self.currency}".strip() if paid else ""

    def event(self, row: Row) -> Row:
        """Return an event; the reason of its end may quote an error."""
        kind = words_kind(row["private"])
        reason = row["reason"] if self.reader.may(ERRORS) else ""
        hidden = row["kind"] if row["private"] else "words"
        is_told = not row["text"] and row["kind"] in (ARRIVE, LEAVE) and self.reader.may(kind)
        label = heard_line(row["kind"], row["speaker_name"], "").lstrip(MARK) if is_told else ""
        return {
            "at": row["at"],
            "told": page_text(label),
            "kind": "" if row["kind"] == SAY else row["kind"],
            "private": row["private"],
            "state": page_text(worded(EVENT_STATES, reason or row["state"]), 100),
            "who": page_text(row["speaker_name"], 60) if self.reader.may(kind) else IN_PRIVATE,
            "text": self.reader.show(kind, page_text(row["text"]), hidden),
        }

    def act(self, row: Row) -> Row:
        shown = tool_call_row(row, self.reader)
        shown["state"] = worded(ACT_STATES, row["state"])
        shown["label"] = ACTS.get(shown["name"], shown["name"].replace("_", " "))
        if not self.reader.may(words_kind(row["private"])):
            return {**shown, "text": shown["arguments"], "result": "", "locks": ""}
        text, more = map(page_text, call_words(row["arguments"]))
        # Locks as stored: see `names.locks_of`.
        more = more.removeprefix("reason ").replace("target ", "to ", 1)
        return {**shown, "text": text, "more": more}

    def model_call(self, row: Row) -> Row:
        estimated = row["prompt_tokens"] is None
        prompt = row["estimated_tokens"] if estimated else row["prompt_tokens"]
        completion = row["completion_tokens"] or 0
        return {
            **model_call_row(row, self.reader),
            "model": model_words(row["profile"], row["model"]),
            "for": worded(PURPOSES, row["purpose"]),
            "cost": self.cost([row]),
            "offline": row["model"] == OFFLINE,
            "finish": page_text(worded(FINISHED, row["finish_reason"]), 40),
            "prompt": prompt,
            "estimated": estimated,
            "completion": completion,
            "tokens": prompt + completion,
            "problem": worded(ERROR_KINDS, row["error_kind"]) if row["error"] else "",
        }

    def line(self, row: Row) -> Row:
        shown = message_row(row, self.reader)
        if shown["audience"] is None:
            return {**shown, "who": IN_PRIVATE}
        own = row["role"] in (EXCUSE, "assistant")
        others = [dbref for dbref in row["audience"] if dbref != row["speaker"]]
        who = "result" if row["role"] == "tool" else shown["speaker_name"]
        calls = [call["function"] for call in row["tool_calls"]]
        return {
            **shown,
            "who": self.own_name if own else who,
            "content": shown["content"].removeprefix(f"{who} "),
            "whom": self.whom(others) if own and others else "",
            "calls": [
                {"name": page_text(call["name"], 40), "text": page_text(words or more)}
                for call in calls
                for words, more in [call_words(call["arguments"])]
            ],
        }


def people_named(name: str) -> list[str]:
    """Return the dbrefs that a reader may mean by a name, or by a number such as ``#12``."""
    number = number_or_none(name.removeprefix("#")) if name.startswith("#") else None
    return dbrefs_named(name) if number is None else [f"#{number}"]


def asked_text(values: Mapping[str, str], name: str) -> str:
    return page_text(values.get(name, ""), ASKED_CHARS)


def number_or_none(value: str | None) -> int | None:
    return int(value) if value and value.isdecimal() and len(value) < 19 else None
