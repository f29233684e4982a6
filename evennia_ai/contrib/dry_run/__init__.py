"""Trying an assistant without effect, or one of its tools: ``aitest``."""

from collections.abc import Iterable
from typing import Any

from evennia_ai.contrib.dry_run.aitest import CmdAITest
from evennia_ai.extension import Extension


class DryRunExtension(Extension):
    """Shows what an assistant would say and do at a line."""

    name = "dry_run"

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAITest,)


EXTENSION = DryRunExtension
