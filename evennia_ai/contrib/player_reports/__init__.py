"""Players report what a character said, and admins read it: the command ``aireport``."""

from collections.abc import Iterable
from typing import Any

from evennia_ai.contrib.player_reports.aireport import CmdAIReport
from evennia_ai.extension import Extension


class PlayerReportExtension(Extension):
    """Stores what players report."""

    name = "player_reports"

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAIReport,)


EXTENSION = PlayerReportExtension
