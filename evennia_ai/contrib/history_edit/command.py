"""``aihistory/hide`` and its like: change how lines are shown to the character."""

from collections.abc import Callable, Sequence

from evennia.utils import logger
from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.common import AICommand, CommandResult, UsageError, page_number
from evennia_ai.contrib.history_edit.units import turn_of_message, unit_of, why_no_new_words
from evennia_ai.game.client_text import clean_output
from evennia_ai.messages import ChatMessage, is_private
from evennia_ai.policy.read_permissions import FIGURES, PRIVATE_WORDS
from evennia_ai.policy.recallable_lines import EDITED, HIDDEN
from evennia_ai.policy.sanitize import one_line
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.lore_records import by_builder
from evennia_ai.store.rows import withdraw
from evennia_ai.store.transactions import brief_transaction
from evennia_ai.store.turns import ANSWERS

NEW_CHARS = 1_000
SHOWN_IDS = 8


class CmdAIMend(AICommand):
    """hide or reword lines of an assistant's talk, or have it answer anew

    Usage:
      aihistory/hide <character> = <number of a line>
      aihistory/edit <character> = <number of a line>: <new words>
      aihistory/retry <character>
      aihistory/undo <character>

    The numbers of the lines are those that |waihistory <character>|n shows. The log
    keeps every line.

    Switches:
      hide, edit - the character does not see a line any more, or other words
      retry - hide its last answer and ask it again. What was said stays said.
      undo  - undo the last hide, edit or retry; repeat it for the one before
    """

    key = "aimend"
    second_names = {f"aihistory/{name}": name for name in ("hide", "edit", "retry", "undo")}
    aliases = tuple(second_names)
    switch_options = ("hide", "edit", "retry", "undo")
    reads = FIGURES

    def run(self) -> CommandResult:
        self.find_assistant(self.lhs)
        return self.dispatch()

    def do_default(self) -> None:
        raise UsageError("Usage: aihistory/hide <character> = <number>. See |whelp aimend|n.")

    @inlineCallbacks
    def do_hide(self) -> Coroutine[None]:
        messages = self.find_line(self.rhs or "")
        self.amend(HIDDEN, messages)
        listed = seqs_listed(messages)
        results = " and the results of its acts" if len(messages) > len(listed) else ""
        summary = f"{self.name} no longer sees {numbered(listed)}{results}."
        yield self.tell_rest(messages, summary)

    @inlineCallbacks
    def do_edit(self) -> Coroutine[None]:
        number, _, typed = (self.rhs or "").partition(":")
        words = one_line(typed)
        if not words:
            usage = "|waihistory/edit <character> = <number of a line>: <new words>|n"
            raise UsageError(f"Which line, and which words? {usage}")
        if len(words) > NEW_CHARS:
            raise UsageError(f"The words are too long: {len(words):,} of {NEW_CHARS:,} characters.")
        seq = page_number(number)
        line = [m for m in self.find_line(number) if m["metadata"]["seq"] == seq]
        if trouble := why_no_new_words(line[0]):
            raise UsageError(trouble)
        self.amend(EDITED, line, words)
        yield self.tell_rest(line, f"{self.name} now sees {numbered([seq])} with these words.")

    @inlineCallbacks
    def do_retry(self) -> Coroutine[None]:
        self.ensure_may_mend()
        turns = self.script.mind.turns
        turn = turns.last_answered()
        if turn is None:
            raise UsageError(f"{self.name} has answered nobody yet, or that answer was retried.")
        messages = [
            m
            for m in self.script.conversation.current.logged
            if m["role"] != "user" and m["metadata"].get("turn_id") == turn.id
        ]
        if not messages:
            raise UsageError(f"{self.name}'s last answer is in a summary, or hidden, already.")
        self.ensure_may_see(messages)
        times = turn.events.filter(state__in=ANSWERS).values_list("at", flat=True)
        age_s = (self.services.now() - min(times, default=turn.at)).total_seconds()
        max_age_s: float = self.script.config.event_max_age
        if age_s > max_age_s or not times:
            raise UsageError(
                f"These words are {age_s:,.0f} s old; {self.name} answers none that are "
                f"older than {max_age_s:,.0f} s (the setting event_max_age). Say them again."
            )
        self.amend(HIDDEN, messages, also=lambda: turns.ask_again(turn))
        self.script.wake()
        yield self.tell_rest(
            messages,
            f"{self.name} is asked again, once somebody who heard it is here, and no longer sees "
            f"its last answer ({numbered(seqs_listed(messages))}). What it said aloud stays said: "
            "players may hear both. What else it did stays done.",
        )

    def do_undo(self) -> None:
        self.ensure_may_mend()
        amendments = self.script.conversation.amendments
        batch = amendments.last_batch()
        if not batch:
            raise UsageError(f"There is no change of {self.name}'s lines to undo.")
        seqs = sorted(item.seq for item in batch)
        messages = [m for seq in seqs for m in turn_of_message(self.script.id, seq)]
        changed = [m for m in messages if m["metadata"]["seq"] in seqs]
        self.ensure_may_see(changed)
        amendments.undo(self.caller.dbref, batch=batch[0].batch)
        self.take_up(seqs)
        listed = seqs_listed(changed)
        self.msg(f"Undone for {self.name}: {numbered(listed)}, no longer {batch[0].kind}.")

    def find_line(self, typed: str) -> list[ChatMessage]:
        """Return a line with what belongs to it, which the caller may change now."""
        self.ensure_may_mend()
        hint = f"|waihistory {self.name}|n shows their numbers."
        if not typed.strip():
            raise UsageError(f"Which line? {hint}")
        seq = page_number(typed)
        messages = turn_of_message(self.script.id, seq)
        if not messages:
            raise UsageError(f"There is no line {seq}. {hint}")
        unit = unit_of(seq, messages)
        messages_found = [message for message in messages if message["metadata"]["seq"] in unit]
        self.ensure_may_see(messages_found)
        if self.script.conversation.amendments.is_hidden(seqs_of(messages_found)[0]):
            raise UsageError(f"This line is hidden already. {self.undo_hint}")
        owed = [id_ for m in messages_found if (id_ := m["metadata"].get("event_id"))]
        if owed and self.script.mind.inbox.is_owed(owed):
            raise UsageError(
                "These words wait for an answer: they are part of the next prompt. Change them "
                f"afterwards, or stop the character first: |waistop {self.name}|n"
            )
        return messages_found

    def ensure_may_mend(self) -> None:
        """Raise UsageError unless the caller may edit the character, and it is not thinking."""
        self.ensure_may_edit(self.script.character)
        if self.script.mind.ticker.is_ticking or self.script.mind.turns.current:
            raise UsageError(
                f"{self.name} is thinking just now, with these lines before it. "
                "Try again in a moment."
            )

    def ensure_may_see(self, messages: Sequence[ChatMessage]) -> None:
        """Raise UsageError if the caller may not read one of some messages."""
        private = sum(map(is_private, messages))
        if private and not self.reader.may(PRIVATE_WORDS):
            raise UsageError(
                f"This line is private: only {self.reader.whose(PRIVATE_WORDS)} may change it."
            )
        self.reader.count(PRIVATE_WORDS, private)

    def amend(
        self,
        kind: str,
        messages: Sequence[ChatMessage],
        words: str = "",
        also: Callable[[], object] = bool,
    ) -> None:
        seqs, by = seqs_of(messages), self.caller.dbref
        authors = sorted(by_builder([by])) if words else ()
        with brief_transaction():
            self.script.conversation.amendments.add(kind, seqs, by, words, authors)
            also()
        self.take_up(seqs)

    def take_up(self, seqs: Sequence[int]) -> None:
        """Let prompts read changed lines anew; the security log names them without their words."""
        self.script.mind.renew(seqs)
        logger.log_sec(f"{self.describe_use()} changed {numbered(seqs)} of {self.script.character}")

    @inlineCallbacks
    def tell_rest(self, messages: Sequence[ChatMessage], summary: str) -> Coroutine[None]:
        """Report a change, what memories it withholds, and what a summary still holds."""
        lines, seqs, held = [summary], seqs_of(messages), list[str]()
        character = self.script.character
        for store in (character.journal, character.ai_profiles):
            yield store.load(self.services.slices.put)
            made = (r for r in store.held() if set(seqs).intersection(r.get("source_seqs", ())))
            held += [record["id"] for record in made if store.withholds(record)]
        withdraw(character.dbref, held)
        if held:
            some = ", ".join(held[:SHOWN_IDS]) + " ..." * (len(held) > SHOWN_IDS)
            lines.append(f"Memories made of it are not recalled either: {clean_output(some, 300)}.")
        if count := self.script.conversation.compactions.count_over(seqs[0]):
            times = f", {count} times" if count > 1 else ""
            lines.append(
                "A summary was written with it before and stays as it is. To have it written anew "
                f"without it: |waicompact/undo {self.name}|n{times}, then |waicompact {self.name}|n"
            )
        self.tell([*lines, f"The log keeps the old line. {self.undo_hint}"])

    @property
    def undo_hint(self) -> str:
        return f"To undo the last change: |waihistory/undo {self.name}|n"


def seqs_of(messages: Sequence[ChatMessage]) -> list[int]:
    return [message["metadata"]["seq"] for message in messages]


def seqs_listed(messages: Sequence[ChatMessage]) -> list[int]:
    """Return the numbers that ``aihistory`` shows: a result has none of its own there."""
    return sorted({m["metadata"]["seq"] for m in messages if m["role"] != "tool"})


def numbered(seqs: Sequence[int]) -> str:
    return f"line{'s' * (len(seqs) > 1)} {', '.join(map(str, seqs))}"
