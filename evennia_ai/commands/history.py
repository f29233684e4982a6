"""``aihistory``: read what an assistant heard, thought, did and cost."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands.common import AICommand, Outcome, UsageError, page_number
from evennia_ai.commands.history_rendering import (
    as_row,
    compaction_line,
    message_line,
    turn_lines,
    waiting_line,
    whole_compaction,
)
from evennia_ai.commands.memory_rendering import journal_lines
from evennia_ai.commands.sleep_rendering import pass_lines, whole_pass
from evennia_ai.game.client_text import shown_name
from evennia_ai.game.script_ports import GameScript
from evennia_ai.policy.disclosure import FIGURES, PRIVATE_WORDS
from evennia_ai.store.reports import (
    find_row,
    log_page,
    public_calls,
    turn_page,
    waiting_events,
)
from evennia_ai.store.search import find_messages

MESSAGES_A_PAGE = 20
TURNS_A_PAGE = 8
COMPACTIONS_A_PAGE = 15
PASSES_A_PAGE = 10
FOUND = 20
NOTHING_SAID = "has heard and said nothing yet."


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

    Without a switch: the conversation, with time, speaker, audience and tokens
    of each message. Page 1 is the newest. Whispers are marked (private).

    Switches:
      turns - each turn: the events that started it, each model call with its
              tokens and its time, each tool call with its result, the outcome
      find  - the newest messages that hold all these words, however old
      compactions - when messages were summarised, and how many facts were kept
      compaction  - one compaction, with its summary for each audience
      sleep - each sleep pass with its cost; with a number one pass step by step
      journal - the journal with the turn that each entry comes from. Use
              |waimemory|n to search and change it.

    All times are UTC. Builders see a placeholder in place of a whisper or an error;
    admins read its words, and the security log then says that they did.
    """

    key = "aihistory"
    locks = "cmd:perm(Builder)"
    reads = FIGURES
    switch_options = ("turns", "find", "compactions", "compaction", "sleep", "journal")

    def run(self) -> Outcome:
        """Dispatch by switch, with the assistant."""
        return self.dispatch(self.find_assistant(self.lhs))

    def do_default(self, script: GameScript) -> None:
        page = log_page("Message", script.id, page_number(self.rhs), MESSAGES_A_PAGE)
        lines = [message_line(row, script.character_name, self.reader) for row in page.rows]
        if page.number == 1:
            lines += [waiting_line(event, self.reader) for event in waiting_events(script.id)]
        self.show_page(shown_name(script), lines, page, NOTHING_SAID)

    def do_turns(self, script: GameScript) -> None:
        page = turn_page(script.id, page_number(self.rhs), TURNS_A_PAGE)
        public = public_calls(page.rows)
        lines = [line for turn in page.rows for line in turn_lines(turn, public, self.reader)]
        self.show_page(shown_name(script), lines, page, NOTHING_SAID)

    def do_compactions(self, script: GameScript) -> None:
        page = log_page("Compaction", script.id, page_number(self.rhs), COMPACTIONS_A_PAGE)
        lines = map(compaction_line, page.rows)
        self.show_page(shown_name(script), lines, page, "has no compaction yet.")

    def do_sleep(self, script: GameScript) -> None:
        wanted = (self.rhs or "").strip()
        word, _, number = wanted.partition(" ")
        if wanted and word != "page":
            self.msg(whole_pass(script, page_number(wanted), self.reader))
            return
        page = log_page("SleepPass", script.id, page_number(number), PASSES_A_PAGE)
        lines = pass_lines(script, page, self.reader)
        self.show_page(shown_name(script), lines, page, "has not slept yet.", "page ")

    @inlineCallbacks
    def do_journal(self, script: GameScript) -> Generator[Deferred[Any], Any, None]:
        number, journal = page_number(self.rhs), script.character.journal
        lines, page = yield journal_lines(script, journal, number, self.reader, with_origins=True)
        self.show_page(shown_name(script), lines, page, "has no journal entries yet.")

    def do_find(self, script: GameScript) -> None:
        if not (self.rhs or "").strip():
            raise UsageError("Which words? |waihistory/find <character> = <words>|n")
        with_private = self.reader.may(PRIVATE_WORDS)
        found = find_messages(script.id, self.rhs, FOUND, with_private)
        name = script.character_name
        lines = [message_line(as_row(message), name, self.reader) for message in found]
        lines = lines or ["No message holds these words."]
        if not with_private:
            lines.append(
                f"Whispers were not searched: {self.reader.whose(PRIVATE_WORDS)} read them."
            )
        self.msg("\n".join(lines))

    def do_compaction(self, script: GameScript) -> None:
        row = find_row("Compaction", script.id, page_number(self.rhs))
        if row is None:
            raise UsageError(
                "There is no compaction with this number. |waihistory/compactions|n lists them."
            )
        self.msg(whole_compaction(row, self.reader))
