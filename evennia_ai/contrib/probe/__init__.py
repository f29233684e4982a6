"""Tests a model's endpoint on an admin's word: ``aitest/provider``."""

from collections.abc import Iterable
from typing import Any

from evennia_ai.contrib.probe.aiprobe import CmdAIProbe
from evennia_ai.contrib.probe.prober import Prober
from evennia_ai.extension import EntryReader, Extension


class ProbeExtension(Extension):
    """Asks an endpoint whether, in which form and how fast its model answers."""

    name = "probe"
    prober: Prober

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        keep = services.endpoints.note_probe
        self.prober = Prober(services.clock, services.models.client, keep)
        return True

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAIProbe,)


EXTENSION = ProbeExtension
