"""Deleting by hand what is over the limits of ``RETENTION``, and what would go: ``aipurge``."""

from collections.abc import Iterable
from typing import Any

from evennia_ai.contrib.purge.aipurge import CmdAIPurge
from evennia_ai.extension import Extension


class PurgeExtension(Extension):
    """Lets admins purge before the day's own purge, and count first."""

    name = "purge"

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAIPurge,)


EXTENSION = PurgeExtension
