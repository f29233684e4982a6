"""The switches of ``aihistory`` that change how lines are shown to the character."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evennia.utils import logger
from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.common import AICommand, UsageError, page_number
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.line_changes import renew
from evennia_ai.game.script_ports import GameScript
from evennia_ai.messages import Message, is_private
from evennia_ai.policy.amendments import EDITED, HIDDEN, unit_of, why_no_new_words
from evennia_ai.policy.disclosure import PRIVATE_WORDS
from evennia_ai.policy.sanitize import one_line
from evennia_ai.scheduling import Put, Steps
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.lore_records import by_builder
from evennia_ai.store.reports import turn_of_message
from evennia_ai.store.shared_entries import withdraw
from evennia_ai.store.turns import ANSWERS

NEW_CHARS = 1_000
SHOWN_IDS = 8


class HistoryChanges(AICommand):
    """The switches ``hide``, ``edit``, ``retry`` and ``undo``."""

    @inlineCallbacks
    def do_hide(self, script: GameScript) -> Steps[None]:
        messages = self.find_line(script, self.rhs or "")
        if script.conversation.amendments.is_hidden(seqs_of(messages)[0]):
            raise UsageError(f"This line is hidden already. {undo_hint(script)}")
        self.amend(script, HIDDEN, messages)
        acts = " (a call and its results are one)" if len(messages) > 1 else ""
        told = f"{shown_name(script)} does not see {numbered(seqs_of(messages))} any more{acts}."
        yield self.tell_rest(script, messages, told)

    @inlineCallbacks
    def do_edit(self, script: GameScript) -> Steps[None]:
        number, colon, typed = (self.rhs or "").partition(":")
        words = one_line(typed)
        if not colon or not words:
            usage = "|waihistory/edit <character> = <number of a line>: <new words>|n"
            raise UsageError(f"Which line, and which words? {usage}")
        if len(words) > NEW_CHARS:
            raise UsageError(f"The words are too long: {len(words):,} of {NEW_CHARS:,} characters.")
        seq = page_number(number)
        messages = self.find_line(script, number)
        line = [m for m in messages if m["metadata"]["seq"] == seq]
        trouble = why_no_new_words(line[0])
        if trouble:
            raise UsageError(trouble)
        if script.conversation.amendments.is_hidden(seq):
            raise UsageError(f"This line is hidden. {undo_hint(script)}")
        self.amend(script, EDITED, line, words)
        told = f"{shown_name(script)} now sees {numbered([seq])} with these words."
        yield self.tell_rest(script, line, told)

    @inlineCallbacks
    def do_retry(self, script: GameScript) -> Steps[None]:
        self.ensure_may_mend(script)
        turns, name = script.turns, shown_name(script)
        turn = turns.last_answered()
        if turn is None:
            raise UsageError(f"{name} has answered nobody yet, or that answer was retried.")
        messages = [m for m in script.conversation.current.logged if is_answer(m, turn.id)]
        if not messages:
            raise UsageError(f"{name}'s last answer is in a summary, or hidden, already.")
        self.ensure_may_see(messages)
        self.ensure_young(script, turn)
        with brief_transaction():
            self.amend(script, HIDDEN, messages)
            turns.ask_again(turn)
        script.wake()
        yield self.tell_rest(
            script,
            messages,
            f"{name} is asked again, once somebody who heard it is here, and does not see its last "
            f"answer ({numbered(seqs_of(messages))}). What it said aloud stays said: players may "
            "hear both. What else it did stays done.",
        )

    def do_undo(self, script: GameScript) -> None:
        self.ensure_may_mend(script)
        amendments = script.conversation.amendments
        batch = amendments.last_batch()
        if not batch:
            raise UsageError(f"There is no change of {shown_name(script)}'s lines to undo.")
        seqs = sorted(one.seq for one in batch)
        messages = [m for seq in seqs for m in turn_of_message(script.id, seq)]
        messages = [m for m in messages if m["metadata"]["seq"] in seqs]
        self.ensure_may_see(messages)
        amendments.undo(self.caller.dbref, batch=batch[0].batch)
        renew(script, seqs)
        self.log_change(script, seqs)
        lines, was = numbered(seqs), batch[0].kind
        self.msg(f"Undone for {shown_name(script)}: {lines}, no longer {was}.")

    def find_line(self, script: GameScript, typed: str) -> list[Message]:
        """Return a line with what belongs to it, which the caller may change now."""
        self.ensure_may_mend(script)
        if not typed.strip():
            raise UsageError(f"Which line? |waihistory {shown_name(script)}|n shows their numbers.")
        seq = page_number(typed)
        messages = turn_of_message(script.id, seq)
        if not messages:
            raise UsageError(
                f"There is no line {seq}. |waihistory {shown_name(script)}|n shows their numbers."
            )
        unit = unit_of(seq, messages)
        found = [message for message in messages if message["metadata"]["seq"] in unit]
        self.ensure_may_see(found)
        owed = [id_ for m in found if (id_ := m["metadata"].get("event_id"))]
        if owed and script.inbox.is_owed(owed):
            raise UsageError(
                "These words wait for an answer: they are part of the next prompt. Change them "
                f"afterwards, or stop the character first: |waistop {shown_name(script)}|n"
            )
        return found

    def ensure_may_mend(self, script: GameScript) -> None:
        """Raise UsageError unless the caller may edit the character, and it is not thinking."""
        self.ensure_may_edit(script.character)
        if script.ndb.ticking or script.turns.current:
            raise UsageError(
                f"{shown_name(script)} is thinking just now, with these lines before it. "
                "Try again in a moment."
            )

    def ensure_may_see(self, messages: Sequence[Message]) -> None:
        """Raise UsageError if the caller may not read one of some messages."""
        if any(map(is_private, messages)) and not self.reader.may(PRIVATE_WORDS):
            raise UsageError(
                f"This line is private: only {self.reader.whose(PRIVATE_WORDS)} may change it."
            )
        self.reader.count(PRIVATE_WORDS, sum(map(is_private, messages)))

    def ensure_young(self, script: GameScript, turn: Any) -> None:
        """Raise UsageError if a turn's words are too old to be answered again, or gone."""
        times = turn.events.filter(state__in=ANSWERS).values_list("at", flat=True)
        max_age_s: float = script.config.event_max_age
        age_s = (self.services.now() - min(times, default=turn.at)).total_seconds()
        if age_s > max_age_s or not times:
            raise UsageError(
                f"These words are {age_s:,.0f} s old; {shown_name(script)} answers none that are "
                f"older than {max_age_s:,.0f} s (the setting event_max_age). Say them again."
            )

    def amend(
        self, script: GameScript, kind: str, messages: Sequence[Message], words: str = ""
    ) -> None:
        """Store a change of messages, and let prompts and recall read them anew."""
        seqs, by = seqs_of(messages), self.caller.dbref
        authors = sorted(by_builder([by])) if words else ()
        script.conversation.amendments.add(kind, seqs, by, words, authors)
        renew(script, seqs)
        self.log_change(script, seqs)

    def log_change(self, script: GameScript, seqs: Sequence[int]) -> None:
        """Write into the security log who changed which lines, without their words."""
        logger.log_sec(f"{self.describe_use()} changed {numbered(seqs)} of {script.character}")

    @inlineCallbacks
    def tell_rest(self, script: GameScript, messages: Sequence[Message], told: str) -> Steps[None]:
        """Report a change, what memories it withholds, and what a summary still holds."""
        lines, name = [told], shown_name(script)
        held = yield withheld_by(script, seqs_of(messages), self.services.slices.put)
        if held:
            some = ", ".join(held[:SHOWN_IDS]) + " ..." * (len(held) > SHOWN_IDS)
            lines.append(f"Memories made of it are not recalled either: {clean_output(some, 300)}.")
        count = script.conversation.compactions.count_over(seqs_of(messages)[0])
        if count:
            times = f", {count} times" if count > 1 else ""
            lines.append(
                "A summary was written with it before and stays as it is. To have it written anew "
                f"without it: |waicompact/undo {name}|n{times}, then |waicompact {name}|n"
            )
        self.tell([*lines, f"The log keeps the old line. {undo_hint(script)}"])


def is_answer(message: Message, turn_id: int) -> bool:
    """Return True for what the character said and did in a turn."""
    return message["role"] != "user" and message["metadata"].get("turn_id") == turn_id


@inlineCallbacks
def withheld_by(script: GameScript, seqs: Sequence[int], put: Put) -> Steps[list[str]]:
    """Withdraw what others were told of the memories of some lines. Fires with the memories' ids.

    Fails with StoreUnavailable.
    """
    found, wanted = list[str](), set(seqs)
    for store in (script.character.journal, script.character.ai_profiles):
        yield store.load(put)
        made = (r for r in store.held() if not wanted.isdisjoint(r.get("source_seqs", ())))
        found += [record["id"] for record in made if store.withholds(record)]
    withdraw(script.character.dbref, found)
    return found


def seqs_of(messages: Sequence[Message]) -> list[int]:
    """Return the numbers of messages."""
    return [message["metadata"]["seq"] for message in messages]


def numbered(seqs: Sequence[int]) -> str:
    """Return numbers of lines in words."""
    return f"line{'s' * (len(seqs) > 1)} {', '.join(map(str, seqs))}"


def undo_hint(script: GameScript) -> str:
    """Return how to undo the last change."""
    return f"To undo the last change: |waihistory/undo {shown_name(script)}|n"
