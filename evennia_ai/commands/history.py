"""``aihistory``: read what an assistant heard, thought, did and cost, and export it."""

import json
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import accumulate, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands import rendering
from evennia_ai.commands.common import (
    NUMBER,
    AICommand,
    CommandResult,
    UsageError,
    all_assistants,
    page_number,
)
from evennia_ai.commands.memories import show_journal
from evennia_ai.commands.players import speakers_called
from evennia_ai.game.client_text import clean_address, clean_output
from evennia_ai.game.help_entries import STAFF
from evennia_ai.game.settings import export_folder
from evennia_ai.messages import EXCUSE
from evennia_ai.policy import recallable_lines
from evennia_ai.policy.context.projection import part_audience, split_by_audience
from evennia_ai.policy.facts.check import Fact
from evennia_ai.policy.read_permissions import FIGURES, PRIVATE_WORDS, Reader, words_kind
from evennia_ai.policy.recallable_lines import EDITED, HIDDEN, LineAmendment, LogFilter
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.texts import counted
from evennia_ai.scheduling import Coroutine, yield_to_reactor
from evennia_ai.sleep import step_texts
from evennia_ai.store import reports
from evennia_ai.store.names import names_of
from evennia_ai.store.reports import MOST_EVENTS, all_messages, events_beside, message_page
from evennia_ai.store.transactions import store_errors

MOST_LAST = 100  # lines at once
MOST_CHECKED = 2_000  # messages of a compaction whose facts are looked up, the newest
MESSAGES_A_PAGE, TURNS_A_PAGE, ROWS_A_PAGE = 20, 8, 15
NOTHING_SAID = "has heard and said nothing yet."
WAITED = "the character was still answering"
JSON, SUFFIXES = "json", {"text": "txt", "json": "jsonl"}  # by the form of an export


class CmdAIHistory(AICommand):
    """
    read what an assistant heard, thought, did and cost

    Usage:
      aihistory <character> [= <page>]
      aihistory <character> = since <time>, until <time>, player <name>,
                              search <words>, page <page>
      aihistory/last <character> [= <how many>]
      aihistory/turns <character> [= <page>, or turn <number>]
      aihistory/unanswered <character> [= <page>]
      aihistory/compactions <character> [= <page>]
      aihistory/compaction <character> = <number>
      aihistory/sleep <character> [= <number>, or page <page>]
      aihistory/journal <character> [= <page>]
      aihistory/export <character> [= json or text] [, since <time>, ...]
      aihistory/export all = [json or text,] player <name> [, since <time>, ...]

    Without a switch: the conversation, page 1 the newest. A message shows its
    number, time, speaker, after > all others who heard it, its tokens and, after
    =, its results. Lines without a number wait, were only overheard, or expired.
    (private) is a whisper, (aloud, kept private) may repeat one.

    Any filter can be left out, and each is a switch too. A time is '18:00',
    'friday', '2026-11-20' or '2 hours ago', in your time zone: |wstyle timezone =
    Europe/Berlin|n. A searched word may have other endings; *hat also finds what.

    Switches:
      last - the newest lines, the newest first: 20, or as many as you say
      turns - what started each turn, its model calls, its acts, its outcome
      unanswered - lines without an answer, and why
      compactions, compaction - when messages were summarised; one summary
      sleep - each sleep pass with its cost; with a number one, step by step
      journal - what it wrote down; |waimemory|n searches and changes it
      export - write the lines into a file of the game: JSON Lines or text

    Only admins read whispers and errors, and the security log says that they did.
    """

    key = "aihistory"
    help_category = STAFF
    reads = FIGURES
    combined = (frozenset(recallable_lines.SWITCHES),)
    switch_options = (
        *("last", "turns", *recallable_lines.SWITCHES, "unanswered", "compactions", "compaction"),
        *("sleep", "journal", "export"),
    )

    def get_help(self, caller: Any, cmdset: Any) -> str:
        """Return the help, with that of other commands that are typed as switches of this one."""
        topics = [str(super().get_help(caller, cmdset)), "# subtopics"]
        for command in cmdset or ():
            names = [name for name in command.aliases if name.startswith(f"{self.key}/")]
            if names and command.access(caller):
                text = command.get_help(caller, cmdset)
                topics += [f"## {name.partition('/')[2]}\n\n{text}" for name in names]
        return "\n\n".join(topics)

    def run(self) -> CommandResult:
        if (self.lhs or "").strip().lower() != "all":
            self.find_assistant(self.lhs)
        elif self.switch != "export":
            raise UsageError("It shows one character at a time. |waistatus|n lists them.")
        return self.dispatch()

    def do_default(self) -> None:
        wanted, player = self.read_wanted(self.rhs or "", self.switches)
        reader, may_search = self.reader, self.reader.may(PRIVATE_WORDS)
        page = message_page(self.script.id, wanted, player, may_search, MESSAGES_A_PAGE)
        events = events_beside(page, self.script.id, wanted, player, may_search)
        lines = self.lines_of(page, events)
        if any(row["at"] > later["at"] for row, later in pairwise(page.rows)):
            lines.append(f"|xA line with an earlier time than the one above waited: {WAITED}.|n")
        if len(events) == MOST_EVENTS:
            lines.insert(0, "|y(More lines without an answer are not shown: use since, until.)|n")
        if lines or wanted.is_empty:
            again = clean_output(recallable_lines.without_page(self.rhs or ""), 200)
            self.show_page(lines, page, NOTHING_SAID, f"{again}, page " * bool(again))
        else:
            self.msg(f"No message {'holds these words' if wanted.search else 'fits'}.")
        if (wanted.search or player) and not may_search:
            self.msg(f"Whispers were not searched: {reader.whose(PRIVATE_WORDS)} read them.")

    do_since = do_until = do_player = do_search = do_default

    def do_last(self) -> None:
        count = min(page_number(self.rhs or f"{MESSAGES_A_PAGE}"), MOST_LAST)
        page = message_page(self.script.id, LogFilter(), "", True, count)
        lines = self.lines_of(page, events_beside(page, self.script.id, LogFilter(), "", True))
        page = replace(page, pages=1, newest_first=True)
        self.show_page(lines[: -count - 1 : -1], page, NOTHING_SAID)

    def lines_of(self, page: reports.RowPage, events: Iterable[reports.Row]) -> list[str]:
        """Return messages, each with its results, and events beside them, as lines in order."""
        amended, name = self.script.conversation.amendments.shown, self.script.mind.who.name
        waiting = [(event["at"], rendering.waiting_line(event, self.reader)) for event in events]
        shown: list[tuple[datetime, str]] = []
        # Messages stay in the order in which it took them up.
        times = accumulate((row["at"] for row in page.rows), max)
        for row, at in zip(page.rows, times, strict=True):
            line = rendering.message_line(row, name, self.reader, amended.get(row["id"]))
            if row["role"] == "tool" and shown:
                line = f"{shown.pop()[1]}\n{line}"
            shown.append((at, line))
        return [line for _at, line in sorted([*waiting, *shown], key=itemgetter(0))]

    def read_wanted(self, typed: str, switches: Sequence[str]) -> tuple[LogFilter, str]:
        """Return the filter that was typed, and its player as a dbref, "" without one."""
        now = self.services.now().astimezone(self.reader.zone)
        try:
            wanted = recallable_lines.read_filter(typed, switches, now)
            player = find_speaker(wanted.player) if wanted.player else ""
        except (ValueError, OverflowError) as error:
            raise UsageError(clean_output(str(error), 300)) from error
        return wanted, player

    def do_turns(self) -> None:
        typed = (self.rhs or "").strip()
        only = page_number(typed.removeprefix("turn ")) if typed.startswith("turn ") else None
        number = 1 if only else page_number(typed)
        page = reports.turn_page(self.script.id, number, TURNS_A_PAGE, only)
        public = reports.public_calls(turn.id for turn in page.rows)
        lines = [
            line for turn in page.rows for line in rendering.turn_lines(turn, public, self.reader)
        ]
        self.show_page(lines, page, f"has no turn {only}." if only else NOTHING_SAID)

    def do_unanswered(self) -> None:
        rows = reports.unanswered(assistant_id=self.script.id)
        page = reports.paged(rows, page_number(self.rhs), MESSAGES_A_PAGE)
        lines = [
            f"|x{self.reader.clock(event.at)}|n {rendering.event_line(event, self.reader)}"
            for event in page.rows
        ]
        self.show_page(lines, page, "left no line unanswered.")

    def do_compactions(self) -> None:
        page = self.log_page("Compaction", self.rhs)
        lines = [rendering.compaction_line(row, self.reader) for row in page.rows]
        self.show_page(lines, page, "has no compaction yet.")

    @inlineCallbacks
    def do_compaction(self) -> Coroutine[None]:
        if not self.rhs:
            self.do_compactions()
            return
        row = self.find_row("Compaction", "compaction", "compactions")
        self.msg(rendering.whole_compaction(row, self.reader))
        first = max(row["from_seq"], row["upto_seq"] - MOST_CHECKED + 1)
        messages = self.script.conversation.lines.read(range(first, row["upto_seq"] + 1))
        lost = list[Fact]()
        for key, part in split_by_audience(messages).items():
            text, audience = row["summary"].get(key, ""), part_audience(key)
            lost += yield self.script.mind.fact_check.lost(part, text, audience)
        if row["summary"] and lost:
            self.msg(rendering.lost_facts(lost, self.reader, self.name))

    def do_sleep(self) -> None:
        running, wanted = self.script.mind.sleep.pass_id, (self.rhs or "").strip()
        word, _, number = wanted.partition(" ")
        texts = step_texts(self.services.extensions)
        if wanted and word != "page":
            row = self.find_row("SleepPass", "sleep pass", "sleep")
            self.msg(rendering.pass_lines(row, running, self.reader, texts, whole=True))
            return
        page = self.log_page("SleepPass", number)
        lines = [rendering.pass_lines(row, running, self.reader, texts) for row in page.rows]
        self.show_page(lines, page, "has not slept yet.", "page ")

    def do_journal(self) -> CommandResult:
        journal = self.script.character.journal
        return show_journal(self, journal, self.rhs, "has no journal entries yet.")

    def log_page(self, table: str, number: str | None) -> reports.RowPage:
        return reports.log_page(table, self.script.id, page_number(number), ROWS_A_PAGE)

    def find_row(self, table: str, what: str, listing: str) -> dict[str, Any]:
        row = reports.find_row(table, self.script.id, page_number(self.rhs))
        if row is None:
            hint = f"|waihistory/{listing}|n lists them."
            raise UsageError(f"There is no {what} with this number. {hint}")
        return row

    @inlineCallbacks
    def do_export(self) -> Coroutine[None]:
        form, _, rest = (self.rhs or "").partition(",")
        form = form.strip().lower()
        typed = rest if form in SUFFIXES else self.rhs or ""
        form = form if form in SUFFIXES else JSON
        wanted, player = self.read_wanted(typed, ())
        if self.read_of is None and not player:
            raise UsageError("Of all characters, it exports one player: |wplayer <name>|n.")
        whose = f"{self.read_of.id}" if self.read_of else f"all-{player.lstrip('#')}"
        file_name = f"aihistory-{whose}-{self.services.now():%Y%m%dT%H%M%S%f}.{SUFFIXES[form]}"
        path, count = export_folder() / file_name, 0
        with writing(path) as file:
            for script in [self.script] if self.read_of else all_assistants():
                count += yield from self.export(script, form, wanted, player, file)
        lines = counted(count, "line")
        self.tell(
            f"{clean_address(str(path))} has {lines} of {self.name if self.read_of else 'all'}. "
            "Only the game's own user can read the file. |wforgetme|n does not reach it: delete "
            "it in time."
        )

    def export(
        self, script: Any, form: str, wanted: LogFilter, player: str, file: TextIO
    ) -> Generator[Any, Any, int]:
        """Write the lines of one character, and return how many there are."""
        reader, count = self.reader, 0
        name, amended = script.mind.who.name, script.conversation.amendments.shown
        for rows in all_messages(script.id, wanted, player, reader.may(PRIVATE_WORDS)):
            names = names_of({dbref for row in rows for dbref in row["audience"]})
            if form != JSON and rows and not count:
                file.write(f"# {clean_heard(name, 60)}, times in {reader.zone}\n")
            for row in rows:
                record = exported(row, name, reader, amended.get(row["id"]))
                hearers = rendering.hearers(row, name, names)
                if self.read_of is None:
                    record["character"] = name
                line = json.dumps(record) if form == JSON else as_text(record, hearers, reader)
                file.write(f"{line}\n")
            count += len(rows)
            yield yield_to_reactor(self.services.slices.put)
        return count


def find_speaker(name: str) -> str:
    """Return the dbref of somebody by name, who may be deleted; raises UsageError."""
    if NUMBER.fullmatch(name):
        return name
    speakers = speakers_called(name)
    if not speakers:
        if "," in name:  # a name may have one, too
            recallable_lines.ensure_filter(name.rpartition(",")[2])
        raise UsageError(f"No assistant ever heard anybody called '{clean_output(name, 60)}'.")
    if len(speakers) > 1:
        raise UsageError(f"Several match: {', '.join(speakers)}. Use a number: |wplayer #12|n.")
    return speakers[0]


@contextmanager
def writing(path: Path) -> Generator[TextIO]:
    """Open a new file that only the game's own user can read; raises UsageError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with store_errors(), os.fdopen(number, "w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise UsageError(
            f"Cannot write {clean_address(str(path))}: {error.strerror}. The setting "
            "EXPORT_FOLDER of AI_ASSISTANT names the folder."
        ) from error


def exported(
    row: Mapping[str, Any], own_name: str, reader: Reader, change: LineAmendment | None
) -> dict[str, Any]:
    """Return a message as plain data for a file, without its words if they are hidden."""
    known = {"number": row["id"], "at": row["at"].isoformat(), "role": row["role"]}
    known |= {"turn": row["turn_id"], "private": row["private"], "tokens": row["tokens"]}
    kind = words_kind(row["private"])
    if not reader.may(kind):
        return {**known, "withheld": True}
    reader.count(kind)
    who = own_name if row["role"] in ("assistant", EXCUSE) else row["speaker_name"]
    known |= {"name": "result" if row["role"] == "tool" else who, "speaker": row["speaker"]}
    known |= {"heard_by": row["audience"], "words": row["content"]}
    known |= {"calls": [call["function"] for call in row["tool_calls"]]}
    return known | ({change.kind: change.text or True} if change else {})


def as_text(record: Mapping[str, Any], whom: str, reader: Reader) -> str:
    """Return what `exported` made as a line of text; ``whom`` are those who heard it."""
    at = reader.clock(datetime.fromisoformat(record["at"]), "%Y-%m-%d %H:%M:%S")
    head, private = f"{at} {record['number']}", " (private)" * record["private"]
    if "withheld" in record:
        return f"{head}{private}: {reader.show(PRIVATE_WORDS, '', 'words')}"
    marks = [f" ({kind} {record[kind]})" for kind in (HIDDEN, EDITED) if kind in record]
    given = ((call["name"], *rendering.call_words(call["arguments"])) for call in record["calls"])
    acts = (f"[{tool}{': ' * bool(more)}{more}] {words}".rstrip() for tool, words, more in given)
    words = " ".join(filter(None, (record["words"], *acts)))
    line = f"{head} {record['name']} > {whom}{private}{''.join(marks)}: {words}"
    return clean_heard(line, 10**6)
