"""Who knows what, and rumours that travel from character to character."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from evennia_ai import models
from evennia_ai.contrib.who_knows.commands import CmdAIKnows, CmdAIRumour
from evennia_ai.contrib.who_knows.rumours import HeardRumours, Rumours
from evennia_ai.contrib.who_knows.telling import RumourSettings
from evennia_ai.contrib.who_knows.travel import Travel
from evennia_ai.extension import EntryReader, Extension
from evennia_ai.ports import MindContext
from evennia_ai.signals import catching_up, service_started
from evennia_ai.store.rows import rows_deleted


class WhoKnowsExtension(Extension):
    """Tells staff which characters know something, and lets rumours travel. Off by default."""

    name = "who_knows"
    by_default = False
    settings = RumourSettings

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        self._services = services
        self.rng = Random()  # noqa: S311  # who tells whom is no secret
        self.rumours = Rumours()
        self.travel = Travel(services, self.rumours, self.rng)
        rows_deleted.connect(self._drop, sender=models.SharedEntry)
        catching_up.connect(self._read_again)
        service_started.connect(self._begin)
        return True

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAIKnows, CmdAIRumour)

    @classmethod
    def urls(cls, by_game: bool) -> Iterable[str]:
        return (f"{__name__}.page",)

    def memory_sources(self, around: MindContext) -> Sequence[HeardRumours]:
        rumours = self.rumours
        if not rumours.is_stale and not rumours.known_by.get(around.character.dbref):
            return ()
        index = self._services.memory_indices.shared(self.name, lambda: rumours)
        return [HeardRumours(around, rumours, index)]

    def _drop(self, ids: Sequence[int], **_signal: Any) -> None:
        self.rumours.drop(ids)

    def _read_again(self, **_signal: Any) -> None:
        self.rumours.is_stale = True

    def _begin(self, sender: Any, **_signal: Any) -> None:
        known = models.SharedEntry.objects.filter(scope__startswith=models.SharedEntry.ONE_MIND)
        if sender is self._services and known.exists():
            self.travel.begin()


EXTENSION = WhoKnowsExtension
