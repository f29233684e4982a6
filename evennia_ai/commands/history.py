"""``aihistory``: all an assistant heard, thought, did and cost."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from evennia.objects.models import ObjectDB

from evennia_ai.commands.common import AICommand, UsageError, page_footer, page_number
from evennia_ai.commands.memory.rendering import (
    JournalPage,
    entry_lines,
    journal_page,
    names_in,
    origins_of,
)
from evennia_ai.commands.sleep_rendering import pass_lines, whole_pass
from evennia_ai.messages import Message
from evennia_ai.policy.context.projection import PUBLIC
from evennia_ai.policy.limits.budgets import CALLS, MS, NOTHING, TOKENS_IN, TOKENS_OUT
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.store.compactions import MASK
from evennia_ai.store.reports import (
    Page,
    compaction_page,
    find_compaction,
    is_log_unchanged,
    message_page,
    seconds_between,
    sleep_page,
    turn_page,
    waiting_events,
)
from evennia_ai.store.search import find_messages

MESSAGES_A_PAGE = 20
TURNS_A_PAGE = 8
COMPACTIONS_A_PAGE = 15
PASSES_A_PAGE = 10
FOUND = 20
LINE_CHARS = 400


class CmdAIHistory(AICommand):
    """
    read what an assistant heard, thought, did and cost

    Usage:
      aihistory <character> [= <page>]
      aihistory/turns <character> [= <page>]
      aihistory/find <character> = <words>
      aihistory/compactions <character> [= <page>]
      aihistory/compaction <character> = <number>
      aihistory/sleep <character> [= <number>, or page <page>]
      aihistory/journal <character> [= <page>]

    Without a switch: the conversation, with time, speaker, who heard it and
    its tokens. Page 1 is the newest. A whisper is marked (private).

    Switches:
      turns - turn by turn: what set it off, each model call with its tokens
              and time, each act with its result, and how the turn ended
      find  - what was said with these words in it, however long ago
      compactions - when old talk was summed up, and what came of it
      compaction  - one of them with its summary, for each who may know it
      sleep - what it did each time it slept, and what that cost; with a number
              one of them, step by step
      journal - what it wrote into its journal, when, and from which turn's
              talk; |waimemory|n searches and changes it

    All times are UTC.
    """

    key = "aihistory"
    locks = "cmd:perm(Admin)"
    switch_options = ("turns", "find", "compactions", "compaction", "sleep", "journal")

    def run(self) -> None:
        """Show a page."""
        if len(self.switches) > 1:
            raise UsageError("One switch at a time, please. See |whelp aihistory|n.")
        script = self.find_assistant(self.lhs)
        if "find" in self.switches:
            return self.show_found(script)
        if "compaction" in self.switches:
            return self.show_compaction(script)
        if "sleep" in self.switches:
            return self.show_sleep(script, (self.rhs or "").strip())
        if "journal" in self.switches:
            return self.show_journal(script, page_number(self.rhs))
        return self.show_page(script, page_number(self.rhs))

    def show_page(self, script: Any, number: int) -> None:
        """Show a page of the conversation, of turns or of compactions."""
        if "compactions" in self.switches:
            page = compaction_page(script.id, number, COMPACTIONS_A_PAGE)
            lines = [compaction_line(row) for row in page.rows]
            if not lines:
                self.msg(f"Nothing of {script.character_name}'s talk was summed up yet.")
                return
        elif "turns" in self.switches:
            page = turn_page(script.id, number, TURNS_A_PAGE)
            lines = [line for turn in page.rows for line in turn_lines(turn)]
        else:
            page = message_page(script.id, number, MESSAGES_A_PAGE)
            lines = self.conversation_lines(script, page)
        if not lines:
            self.msg(f"{script.character_name} has heard and said nothing yet.")
            return
        self.msg("\n".join([*lines, self.footer(script, page)]))

    def show_found(self, script: Any) -> None:
        """Show what was said with some words in it."""
        if not (self.rhs or "").strip():
            raise UsageError("Which words? |waihistory/find <character> = <words>|n")
        found = find_messages(script.id, self.rhs, FOUND)
        rows = [as_row(message) for message in found]
        lines = [message_line(row, script.character_name) for row in rows]
        self.msg("\n".join(lines) or "Nothing was said with these words in it.")

    def show_compaction(self, script: Any) -> None:
        """Show one compaction with its summary."""
        row = find_compaction(script.id, page_number(self.rhs))
        if row is None:
            raise UsageError("There is none of that number. |waihistory/compactions|n lists them.")
        parts = [
            f"|wFor {names_for(key.split(',')) if key != PUBLIC else 'everybody'}|n:\n"
            + "\n".join(clean_output(line, 500) for line in text.splitlines())
            for key, text in row["summary"].items()
        ]
        self.msg("\n".join([compaction_line(row), *compaction_notes(row), *parts]))

    def show_sleep(self, script: Any, wanted: str) -> None:
        """Show a page of passes of sleep, or one of them step by step."""
        word, _, number = wanted.partition(" ")
        if wanted and word != "page":
            self.msg(whole_pass(script, page_number(wanted)))
            return
        page = sleep_page(script.id, page_number(number), PASSES_A_PAGE)
        lines = pass_lines(script, page)
        if not lines:
            self.msg(f"{script.character_name} has not slept yet.")
            return
        self.msg("\n".join([*lines, self.footer(script, page, "page ")]))

    def show_journal(self, script: Any, number: int) -> None:
        """Show a page of the journal, with where each entry comes from."""

        def tell(found: JournalPage) -> None:
            rows = found.page.rows
            if not rows:
                self.msg(f"{script.character_name} has written nothing down yet.")
                return
            lines = entry_lines(rows, names_in(*rows), origins_of(script, rows))
            typed = f"aihistory/journal {script.character_name} = "
            self.msg("\n".join([*lines, page_footer(found.page, typed)]))

        listed = journal_page(script, script.character.journal, number, with_private=True)
        listed.addCallback(tell).addErrback(self.tell_failure)

    def conversation_lines(self, script: Any, page: Page) -> list[str]:
        """The page's messages, and on the newest page what still waits."""
        lines = [message_line(row, script.character_name) for row in page.rows]
        if page.number == 1:
            for event in waiting_events(script.id):
                text = clean_output(f"{event['speaker_name']}: {event['text']}", LINE_CHARS)
                lines.append(f"|y(waiting, {event['kind']})|n {text}")
        return lines

    def footer(self, script: Any, page: Page, word: str = "") -> str:
        """Where one is, and how to go on: with ``word`` before the page's number."""
        switch = f"/{self.switches[0]}" if self.switches else ""
        return page_footer(page, f"aihistory{switch} {script.character_name} = {word}")


def as_row(message: Message) -> dict[str, Any]:
    """A message as `message_line` takes it."""
    metadata = message["metadata"]
    return {
        **metadata,
        **message,
        "at": datetime.fromisoformat(metadata["at"]),
        "tool_calls": message.get("tool_calls", []),
    }


def compaction_line(row: dict[str, Any]) -> str:
    """One compaction: when, why, how, how much, and what became of the facts."""
    when = f"|w{row['id']}|n |x{row['at']:%m-%d %H:%M:%S}|n"
    sealed = " |x(for good)|n" if row["sealed"] else ""
    undone = " |y(taken back)|n" if row["undone_at"] else sealed
    if row["reason"] == MASK:
        return f"{when} {row['compacted_count']} results of tools masked{undone}"
    facts = (
        f"; of {row['facts_found']} facts {row['facts_kept']} in it, "
        f"{row['facts_rescued']} written below"
        if row["facts_found"]
        else ""
    )
    return (
        f"{when} {row['reason']}, {row['rung']}: {row['compacted_count']} messages, "
        f"{row['original_token_count']:,} tokens into {row['summary_token_count']:,}{facts}{undone}"
    )


def compaction_notes(row: dict[str, Any]) -> list[str]:
    """What one compaction cost, and whether the log under it is still the same."""
    if row["reason"] == MASK:
        return []
    cost = {**NOTHING, **row["cost"]}
    spent = (
        f"{cost[CALLS]} model calls, {cost[TOKENS_IN]:,} tokens in, {cost[TOKENS_OUT]:,} out, "
        f"{cost[MS] / 1_000:.1f} s"
        if cost[CALLS]
        else "no model was asked"
    )
    unchanged = is_log_unchanged(row)
    states = {True: "as it was", False: "|ychanged since|n: messages were deleted", None: ""}
    log = f"The log under it is {states[unchanged]}." if unchanged is not None else ""
    return [f"Cost: {spent}. {log}".rstrip()]


def names_for(dbrefs: Iterable[str]) -> str:
    """Names for a list of dbrefs; one that is gone keeps its number."""
    ids = [int(dbref.lstrip("#")) for dbref in dbrefs]
    known = dict(ObjectDB.objects.filter(id__in=ids).values_list("id", "db_key"))
    return ", ".join(known.get(number, f"#{number}") for number in ids) or "nobody"


def message_line(row: dict[str, Any], own_name: str) -> str:
    """One message: time, who, to whom, tokens, words."""
    if row["role"] == "tool":
        return f"    |x= {clean_output(row['content'], LINE_CHARS)} ({row['tokens']} tokens)|n"
    who = own_name if row["role"] == "assistant" else row["speaker_name"]
    calls = [call["function"] for call in row["tool_calls"]]
    said = [clean_output(row["content"], LINE_CHARS)] if row["content"] else []
    text = " ".join([*said, *(call_text(call["name"], call["arguments"]) for call in calls)])
    heard_by = clean_output(names_for(row["audience"]), 120)
    private = " |r(private)|n" if row["private"] else ""
    return (
        f"|x{row['at']:%m-%d %H:%M:%S}|n |w{clean_output(who, 40)}|n"
        f" |x> {heard_by}, {row['tokens']} tokens|n{private}\n    {text}"
    )


def call_text(name: str, arguments: str) -> str:
    """A tool call as a reader wants it: ``say: Hello``, ``whisper (target Ann): Hello`` or
    ``give: item mug, to Ann``."""
    try:
        values = json.loads(arguments or "{}")
    except ValueError:
        values = arguments
    title = f"|c{clean_output(name, 40)}|n"
    if isinstance(values, dict):
        words = values.pop("text", "")
        others = ", ".join(f"{key} {value}" for key, value in values.items())
        title += f" ({clean_output(others, 120)})" if words and others else ""
        values = words or others
    return f"{title}: {clean_output(str(values), LINE_CHARS)}".rstrip(": ")


def turn_lines(turn: Any) -> list[str]:
    """One turn, as told by its rows."""
    took = seconds_between(turn.at, turn.ended_at)
    ended = f"{turn.outcome or 'still thinking'} after {took:.1f} s" if turn.ended_at else "open"
    detail = f" ({clean_output(turn.detail, 200)})" if turn.detail else ""
    heard_by = clean_output(names_for(turn.audience), 120)
    lines = [f"|wTurn {turn.id}|n |x{turn.at:%m-%d %H:%M:%S}, for {heard_by}|n: {ended}{detail}"]
    for event in turn.events.all():
        text = clean_output(f"{event.speaker_name}: {event.text}", LINE_CHARS)
        how = dict.fromkeys([event.kind, clean_output(event.reason or event.state, 60)])
        lines.append(f"  heard ({', '.join(how)}) {text}")
    lines.extend(f"  model {model_call_text(call)}" for call in turn.model_calls.all())
    for act in turn.tool_calls.all():
        result = clean_output(act.result, LINE_CHARS)
        lines.append(f"  {call_text(act.name, act.arguments)}\n    |x= {act.state}: {result}|n")
    return lines


def model_call_text(call: Any) -> str:
    """One model call: which, how long, what it cost, what went wrong."""
    if call.prompt_tokens is None:
        tokens = f"about {call.estimated_tokens} tokens in"
    else:
        tokens = f"{call.prompt_tokens} tokens in, {call.completion_tokens or 0} out"
    problem = f", |r{call.error_kind}: {clean_output(call.error, 300)}|n" if call.error else ""
    model = clean_output(f"{call.profile}:{call.model}", 60)
    return f"{model}, {call.duration_ms} ms, {tokens}{problem}"
