"""Players report what a character said, and admins read it: the command ``aireport``."""

from collections.abc import Iterable, Iterator
from typing import Any

from evennia_ai.contrib.player_reports import rows
from evennia_ai.contrib.player_reports.aireport import CmdAIReport
from evennia_ai.extension import EntryReader, Extension
from evennia_ai.policy.read_permissions import Reader
from evennia_ai.policy.texts import counted


class PlayerReportExtension(Extension):
    """Stores what players report."""

    name = "player_reports"

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        services.problems.append(self.problems)
        return True

    def problems(self, reader: Reader) -> Iterator[tuple[str, str]]:
        """Yield for admins how many reports are open."""
        if reader.has("Admin") and (count := rows.reports().count()):
            yield "Players", f"{counted(count, 'open report')}: aireport/list shows them."

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAIReport,)


EXTENSION = PlayerReportExtension
