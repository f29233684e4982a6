"""Hiding and rewording lines of an assistant's talk, and having it answer anew."""

from collections.abc import Iterable
from typing import Any

from evennia_ai.contrib.history_edit.command import CmdAIMend
from evennia_ai.extension import Extension


class HistoryEditExtension(Extension):
    """Adds ``aihistory/hide``, ``/edit``, ``/retry`` and ``/undo``."""

    name = "history_edit"

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAIMend,)


EXTENSION = HistoryEditExtension
