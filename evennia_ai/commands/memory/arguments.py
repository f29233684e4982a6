"""What was typed after ``aimemory``, and who may read what."""

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

Work = Generator[Deferred[Any], Any, None]


@dataclass(frozen=True)
class Asked:
    """What was typed: the assistant, what stands behind its name, and what behind the ``=``."""

    script: Any
    more: str
    given: str

    @property
    def name(self) -> str:
        """The character's name, to be shown."""
        return clean_output(self.script.character_name, 60)


class MemoryCommand(AICommand):
    """What reading and changing a memory have in common."""

    @property
    def reads_private(self) -> bool:
        """True for those who may read what was told in private."""
        return bool(self.access(self.caller, "private"))

    def may_read(self, record: Record) -> bool:
        """True where the caller may read a record."""
        return self.reads_private or is_known_to(record, None)

    def find_entry(self, asked: Asked, number: str) -> Record:
        """The entry of the journal of a number; raises UsageError."""
        return self.find_in(asked.script.character.journal, number, asked, "aimemory")

    def find_in(self, shelf: Any, number: str, asked: Asked, listing: str) -> Record:
        """The entry of a number on some shelf; raises UsageError that names the command which lists
        them."""
        lists = f"|w{listing} {asked.name}|n lists them."
        if not number:
            raise UsageError(f"Which entry, by its number? {lists}")
        found: Record | None = shelf.get(number) or shelf.get(number.lower())
        if found is None or not self.may_read(found):
            raise UsageError(f"{asked.name} has no entry '{clean_output(number, 40)}'. {lists}")
        return found

    def find_subject(self, asked: Asked) -> tuple[str, str]:
        """Of whom the profile is wanted, by dbref, with a name; somebody deleted too, by his
        number; raises UsageError."""
        if not asked.given:
            raise UsageError("About whom? |waimemory/about <character> = <player or thing>|n")
        if NUMBER.fullmatch(asked.given):
            return asked.given, name_of(asked.given) or asked.given
        found = self.find_character(asked.given)
        return found.dbref, clean_output(found.key, 60)

    def find_audience(self, names: str) -> Audience:
        """Those whose names were given, by dbref; raises UsageError. Admins alone may tell, and
        read, what is private."""
        if not self.reads_private:
            raise UsageError("What is private to somebody is for admins alone.")
        return frozenset(self.find_character(name.strip()).dbref for name in names.split(","))
