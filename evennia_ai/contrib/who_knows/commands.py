"""``aiknows`` and ``airumour``: who knows what, and rumours that a builder seeds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evennia.utils import logger
from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.common import AICommand, UsageError, all_assistants, choose
from evennia_ai.contrib.who_knows.holders import find_holders
from evennia_ai.contrib.who_knows.rumours import Rumour, why_untold
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.policy.read_permissions import PRIVATE_MEMORIES, PUBLIC_MEMORIES, Reader
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.texts import counted
from evennia_ai.ports.journal import Journal
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.memory_editor import MemoryEditor
from evennia_ai.store.names import names_of

NAME, TAG, MINUTE = "who_knows", "rumour", "%Y-%m-%d %H:%M"
MOST_SHOWN, MOST_OF_ONE, MOST_LISTED, LINE_CHARS = 6, 100, 20, 200
MORE = " more: aiknows "


class CmdAIKnows(AICommand):
    """see which characters know something

    Usage:
      aiknows <words>
      aiknows <character> = <words>

    Lists every character that knows something with these words, or all that one
    knows: first what others told it, such as a rumour, then its journal, profiles,
    goals, lore and persona, then lines it heard or said; questions are left out.
    Each says from whom it is, since when, and whom the character may tell, and has
    all the words, in any form. Only admins see what was told in private.
    """

    key = "aiknows"
    reads = PUBLIC_MEMORIES
    asks_all_minds = True  # `aimemory` points to it

    @inlineCallbacks
    def run(self) -> Coroutine[None]:
        lines = yield self.answer(self.args)
        self.tell(lines)

    @inlineCallbacks
    def answer(self, args: str) -> Coroutine[list[str]]:
        """Find who knows some words, or what one knows of them; fires with lines."""
        *name, query = (part.strip() for part in args.split("=", 1))
        if not query:
            raise UsageError("Which words? |waiknows silver key|n")
        known = {script.character: script for script in all_assistants()}
        if name:
            self.read_of = choose(name[0], known, self.caller)
            if self.read_of is None:
                raise UsageError("No character with a mind has this name. |waistatus|n lists them.")
        minds = [known[self.read_of]] if name else known.values()
        holders = yield find_holders(self.services, query, self.reader, self.may_edit, minds)
        return [*holder_lines(self.reader, query, holders, MOST_OF_ONE if name else MOST_SHOWN)]


class CmdAIRumour(AICommand):
    """give a character a rumour, and see it travel

    Usage:
      airumour
      airumour <character> = <text>
      airumour <character> = <number of a journal entry>
      airumour/meet
      airumour/retract <number>

    A rumour travels when characters meet: when one walks in, in one room every
    hour of the world, and about once a day if they know each other. Whoever hears
    it knows it a while later, passes it on, and says who told it. What was told
    in private never travels. Without an argument: who knows which from whom.

    Switches:
      meet    - let all characters meet once now, without the delay, to try it
      retract - take a rumour back: all who heard it forget it at once. If you gave
                the number of an entry, the entry stays in the journal. To delete
                or change the entry takes the rumour back, too.

    Settings of a character (aisetup/set): rumour_delay, how long it waits;
    rumour_loss, how often it leaves a rumour out.

    Examples:
      airumour Mira = The mill is haunted.
      airumour/retract 41
    """

    key = "airumour"
    switch_options = ("meet", "retract")
    reads = PUBLIC_MEMORIES

    @inlineCallbacks
    def do_default(self) -> Coroutine[None]:
        yield self.extension(NAME).rumours.load(self.services.slices.put)
        if self.rhs is None and not self.args.strip():
            self.list_rumours()
            return
        if not (self.lhs and self.rhs):
            raise UsageError("Usage: airumour <character> = <text>. See |whelp airumour|n.")
        script = self.find_editable(self.lhs)
        yield script.character.journal.load(self.services.slices.put)
        entry = self.entry_of(script.character.journal, MemoryEditor(script.character))
        if why := why_untold(entry):
            raise UsageError(f"That cannot become a rumour: {why}")
        extension, now = self.extension(NAME), self.services.now()
        rumour = extension.rumours.seed(script.id, script.character.dbref, entry, now)
        extension.travel.begin()
        logger.log_sec(f"{self.describe_use()}: rumour {rumour.id} of {script.character}")
        self.msg(
            f"{self.name} knows it and will pass it on, as rumour |w#{rumour.id}|n. "
            "To see its way, type some of its words: |waiknows <words>|n. "
            f"To take it back: |wairumour/retract {rumour.id}|n"
        )

    def entry_of(self, journal: Journal, editor: MemoryEditor) -> Record:
        """Return the entry that is typed by its number, or a new one; may raise CannotChange."""
        entry: Record | None = journal.get(self.rhs.strip().lower())
        if entry is None:
            entry = editor.add(self.rhs)
            journal.update(entry["id"], tags=[TAG])
        return entry

    def list_rumours(self) -> None:
        rumours = sorted(self.extension(NAME).rumours.by_id.values(), key=lambda r: -r.id)
        names = names_of({who for item in rumours[:MOST_LISTED] for who in item.hearers})
        lines = []
        for rumour in rumours[:MOST_LISTED]:
            way, words = ", ".join(ways_of(rumour, names)), rumour.record["content"]
            lines += [f"|w#{rumour.id}|n {clean_output(words, LINE_CHARS)}"]
            lines += [f"    known to {len(rumour.hearers)}: {clean_output(way, 4 * LINE_CHARS)}"]
        self.msg("\n".join(lines or ["There is no rumour. |wairumour Mira = <text>|n makes one."]))

    @inlineCallbacks
    def do_meet(self) -> Coroutine[None]:
        count = yield self.extension(NAME).travel.step(at_once=True)
        why = (
            " Those in one room meet, and some who know each other. They leave rumours out by "
            "chance (|wrumour_loss|n)."
        )
        self.tell(f"All met once: {count} heard something new.{why * (not count)}")

    @inlineCallbacks
    def do_retract(self) -> Coroutine[None]:
        rumours, number = self.extension(NAME).rumours, self.args.strip().lstrip("#")
        yield rumours.load(self.services.slices.put)
        rumour = rumours.by_id.get(int(number)) if number.isdecimal() else None
        if rumour is None:
            typed = clean_output(self.args, 40)
            raise UsageError(f"There is no rumour '{typed}'. |wairumour|n lists them.")
        character = self.find_editable(rumour.first).character
        yield character.journal.load(self.services.slices.put)
        count = rumours.retract(rumour)
        entry = character.journal.get(rumour.entry)
        if entry and TAG in entry["tags"]:
            MemoryEditor(character).delete(rumour.entry)
        logger.log_sec(f"{self.describe_use()}: rumour {rumour.id}")
        self.tell(f"Taken back from {counted(count, 'character')}.")


def holder_lines(
    reader: Reader, query: str, holders: Sequence[tuple[Any, Sequence[Record]]], most: int
) -> Iterator[str]:
    """Yield who holds what, by character, up to ``most`` of each."""
    count, shown = len(holders), clean_output(query, 60)
    know = f"|w{count}|n know{'s' * (count == 1)}" if count else "Nobody knows"
    yield f'{know} of "{shown}"{":" if count else "."}'
    for script, rows in holders:
        yield f"|w{shown_name(script.character)}|n"
        for row in rows[:most]:
            yield f"  {clean_output(facts_of(reader, row), LINE_CHARS)}"
            yield f"    {clean_output(row['text'], LINE_CHARS)}"
        if len(rows) > most:
            yield f"  {len(rows) - most}{MORE}|w{script.character.dbref} = {shown}|n"
    if not reader.may(PRIVATE_MEMORIES):
        readers = reader.whose(PRIVATE_MEMORIES).lower()
        yield f"|xWhat was told in private is left out: only {readers} may search it.|n"


def facts_of(reader: Reader, row: Record) -> str:
    """Return a row's facts: "noted, from Ann, since 2026-01-31 12:00; may tell anybody (j12)"."""
    source = f", from {row['from']}" * bool(row["from"])
    since = f", since {reader.clock(row['since'], MINUTE)}" if row["since"] else ""
    return f"{row['way']}{source}{since}; may tell {row['to']} ({row['id'].replace(':', ' ', 1)})"


def ways_of(rumour: Rumour, names: Mapping[str, str]) -> Iterator[str]:
    """Yield who knows a rumour, and from whom: "Mira", "Bruno from Mira"."""
    for who, telling in rumour.hearers.items():
        yield " from ".join(names.get(name, name) for name in (who, telling.teller) if name)
