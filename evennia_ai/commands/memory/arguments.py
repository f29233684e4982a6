"""What was typed after ``aimemory``, and which records the caller may read."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import Deferred

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.commands.players import NUMBER, name_of
from evennia_ai.messages import Audience
from evennia_ai.policy.records.provenance import Record, is_known_to
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.ports import GameScript, Records

Work = Generator[Deferred[Any], Any, None]


@dataclass(frozen=True)
class MemoryRequest:
    """What was typed: the assistant, the text after its name, and the text after the ``=``."""

    script: GameScript
    more: str
    value: str

    @property
    def name(self) -> str:
        """The character's name, safe to show."""
        return clean_output(self.script.character_name, 60)


class MemoryCommand(AICommand):
    """A command that finds records of a character, if the caller may read them."""

    @property
    def reads_private(self) -> bool:
        """True if the caller may read private records."""
        return bool(self.access(self.caller, "private"))

    def may_read(self, record: Record) -> bool:
        """Return True if the caller may read a record."""
        return self.reads_private or is_known_to(record, None)

    def find_entry(self, request: MemoryRequest, number: str) -> Record:
        """Return the journal entry with a number; raises UsageError."""
        return self.find_in(request.script.character.journal, number, request, "aimemory")

    def find_in(
        self, records: Records, number: str, request: MemoryRequest, listing: str
    ) -> Record:
        """Return the entry with a number from the journal or the archive.

        Raises UsageError, which names ``listing`` as the command that lists the entries.
        """
        lists = f"|w{listing} {request.name}|n lists them."
        if not number:
            raise UsageError(f"Which entry? Give its number. {lists}")
        found: Record | None = records.get(number) or records.get(number.lower())
        if found is None or not self.may_read(found):
            raise UsageError(f"{request.name} has no entry '{clean_output(number, 40)}'. {lists}")
        return found

    def find_subject(self, request: MemoryRequest) -> tuple[str, str]:
        """Return whose profile is wanted, as (dbref, name); raises UsageError.

        A dbref also finds somebody who is deleted.
        """
        if not request.value:
            raise UsageError("About whom? |waimemory/about <character> = <player or thing>|n")
        if NUMBER.fullmatch(request.value):
            return request.value, name_of(request.value) or request.value
        found = self.find_character(request.value)
        return found.dbref, clean_output(found.key, 60)

    def find_audience(self, names: str) -> Audience:
        """Return the named players by dbref; raises UsageError unless the caller is an admin."""
        if not self.reads_private:
            raise UsageError("Only admins may read or write what is private to a player.")
        return frozenset(self.find_character(name.strip()).dbref for name in names.split(","))
