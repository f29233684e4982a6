"""``aihistory``: read what an assistant heard, thought, did and cost, and mend its talk."""

from __future__ import annotations

from functools import partial
from operator import itemgetter

from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.common import Outcome, UsageError, page_number
from evennia_ai.commands.history_changes import HistoryChanges
from evennia_ai.commands.history_copies import HistoryCopies
from evennia_ai.commands.history_rendering import (
    compaction_line,
    message_line,
    turn_lines,
    unanswered_line,
    waiting_line,
    whole_compaction,
)
from evennia_ai.commands.memory_rendering import journal_lines
from evennia_ai.commands.sleep_rendering import pass_lines, whole_pass
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.script_ports import GameScript
from evennia_ai.policy.disclosure import FIGURES, PRIVATE_WORDS
from evennia_ai.policy.log_filter import SWITCHES, without_page
from evennia_ai.scheduling import Steps
from evennia_ai.store.reports import find_row, log_page, paged, public_calls, turn_page, unanswered
from evennia_ai.store.search import MOST_EVENTS, events_beside, message_page

MESSAGES_A_PAGE = 20
TURNS_A_PAGE = 8
COMPACTIONS_A_PAGE = 15
PASSES_A_PAGE = 10
NOTHING_SAID = "has heard and said nothing yet."


class CmdAIHistory(HistoryCopies, HistoryChanges):
    """
    read what an assistant heard, thought, did and cost, and mend its talk

    Usage:
      aihistory <character> [= <page>]
      aihistory <character> = since <time>, until <time>, player <name>,
                              search <words>, page <page>
      aihistory/since, /until, /player or /search <character> = <value>
      aihistory/turns <character> [= <page>, or turn <number>]
      aihistory/unanswered <character> [= <page>]
      aihistory/compactions <character> [= <page>]
      aihistory/compaction <character> = <number>
      aihistory/sleep <character> [= <number>, or page <page>]
      aihistory/journal <character> [= <page>]
      aihistory/export <character> [= json or text] [, since <time>, ...]
      aihistory/follow <character>
      aihistory/hide <character> = <number of a line>
      aihistory/edit <character> = <number of a line>: <new words>
      aihistory/retry <character>
      aihistory/undo <character>

    Without a switch: the conversation. Each message shows its number, its time,
    who spoke, after > all others who heard it, and its tokens. Page 1 is the
    newest. Whispers are marked (private). A line that the character said aloud is
    marked (aloud, kept private) if its prompt held private words, since the line
    may repeat them: later only those who heard it may be told.
    Lines that wait, were only overheard or expired stand among them without a
    number. Any of the filters can be left out. A time is 'yesterday 18:00', '2026-11-20',
    '11-20 18:00', 'friday', '18:00' or '2 hours ago', in your own time zone:
    |wstyle timezone = Europe/Berlin|n. 'player' finds what they said and what was
    said to them; 'search' finds messages that hold all these words.

    Switches:
      turns - each turn: the events that started it, each model call with its
              tokens and its time, each tool call with its result, the outcome
      unanswered - lines that nobody answered, and why: such as too many lines
              of one player, or too old
      find  - the same as search
      compactions - when messages were summarised, and how many facts were kept
      compaction  - one compaction, with its summary for each audience
      sleep - each sleep pass with its cost; with a number one pass step by step
      journal - the journal with the turn that each entry comes from. Use
              |waimemory|n to search and change it.
      export - write the lines into a file of the game: JSON Lines or text
      follow - show new lines as they are stored; again, or at logout: end it
      hide  - the character does not see a line any more; the log keeps it
      edit  - the character sees a line with other words; the log keeps the old
      retry - hide its last answer and ask it again. What was said stays said.
      undo  - undo the last hide, edit or retry; repeat it for the one before

    Several of since, until, player and search can be switches at once, with
    commas between the values: |waihistory/since/player Mira = today, Ann|n.
    Builders see a placeholder in place of a whisper or an error; admins read its
    words, and the security log then says that they did.
    """

    key = "aihistory"
    locks = "cmd:perm(Builder)"
    reads = FIGURES
    combined = frozenset(SWITCHES)
    switch_options = (
        *("turns", "find", *SWITCHES, "unanswered", "compactions", "compaction"),
        *("sleep", "journal", "export", "follow", "hide", "edit", "retry", "undo"),
    )

    def run(self) -> Outcome:
        """Dispatch by switch, with the assistant."""
        if (self.lhs or "").strip().lower() == "all":
            raise UsageError("It shows one character at a time. |waistatus|n lists them.")
        return self.dispatch(self.find_assistant(self.lhs))

    def do_default(self, script: GameScript) -> None:
        wanted, player = self.read_wanted(self.rhs or "", self.switches)
        may_search = self.reader.may(PRIVATE_WORDS)
        page = message_page(script.id, wanted, player, may_search, MESSAGES_A_PAGE)
        name, amended = script.character_name, script.conversation.amendments.shown
        said = [
            (row["at"], message_line(row, name, self.reader, amended.get(row["id"])))
            for row in page.rows
        ]
        events = events_beside(page, script.id, wanted, player, may_search)
        said += [(event["at"], waiting_line(event, self.reader)) for event in events]
        lines = [line for _at, line in sorted(said, key=itemgetter(0))]
        if len(events) == MOST_EVENTS:
            lines.insert(0, "|y(More lines without an answer are not shown: use since, until.)|n")
        again = clean_output(without_page(self.rhs or ""), 200)
        if lines or wanted.is_empty:
            word = f"{again}, page " * bool(again)
            self.show_page(shown_name(script), lines, page, NOTHING_SAID, word)
        else:
            self.msg(f"No message {'holds these words' if wanted.search else 'fits'}.")
        if (wanted.search or player) and not may_search:
            whose = self.reader.whose(PRIVATE_WORDS)
            self.msg(f"Whispers were not searched: {whose} read them.")

    do_since = do_until = do_player = do_search = do_find = do_default

    def do_turns(self, script: GameScript) -> None:
        typed = (self.rhs or "").strip()
        only = page_number(typed.removeprefix("turn ")) if typed.startswith("turn ") else None
        page = turn_page(script.id, 1 if only else page_number(typed), TURNS_A_PAGE, only)
        public = public_calls(turn.id for turn in page.rows)
        lines = [line for turn in page.rows for line in turn_lines(turn, public, self.reader)]
        none = f"has no turn {only}." if only else NOTHING_SAID
        self.show_page(shown_name(script), lines, page, none)

    def do_unanswered(self, script: GameScript) -> None:
        rows = unanswered(assistant_id=script.id)
        page = paged(rows, page_number(self.rhs), MESSAGES_A_PAGE)
        lines = [unanswered_line(event, self.reader) for event in page.rows]
        self.show_page(shown_name(script), lines, page, "left no line unanswered.")

    def do_compactions(self, script: GameScript) -> None:
        page = log_page("Compaction", script.id, page_number(self.rhs), COMPACTIONS_A_PAGE)
        lines = map(partial(compaction_line, reader=self.reader), page.rows)
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
    def do_journal(self, script: GameScript) -> Steps[None]:
        number, put = page_number(self.rhs), self.services.slices.put
        journal = script.character.journal
        lines, page = yield journal_lines(put, journal, number, self.reader, script.id)
        self.show_page(shown_name(script), lines, page, "has no journal entries yet.")

    def do_compaction(self, script: GameScript) -> None:
        row = find_row("Compaction", script.id, page_number(self.rhs))
        if row is None:
            raise UsageError(
                "There is no compaction with this number. |waihistory/compactions|n lists them."
            )
        self.msg(whole_compaction(row, self.reader))
