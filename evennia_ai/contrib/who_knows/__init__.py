"""Who knows what, and rumours that travel from character to character."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any, ClassVar

from evennia_ai.contrib.who_knows.commands import CmdAIKnows, CmdAIRumour
from evennia_ai.contrib.who_knows.rumours import (
    HeardRumours,
    RumourSettings,
    RumourStore,
    rumour_rows,
)
from evennia_ai.contrib.who_knows.travel import Travel
from evennia_ai.extension import EntryReader, Extension
from evennia_ai.models import SharedEntry
from evennia_ai.ports import MindContext
from evennia_ai.signals import catching_up, company_changed, service_started
from evennia_ai.store.rows import rows_deleted


class WhoKnowsExtension(Extension):
    """Tells staff which characters know something, and lets rumours travel."""

    name = "who_knows"
    by_default = False
    settings = RumourSettings
    pages: ClassVar = {"evennia_ai_knows": "Who knows what"}

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        self._services = services
        self.rng = Random()  # noqa: S311  # who tells whom is no secret
        self.rumours = RumourStore()
        self.travel = Travel(services, self.rumours, self.rng)
        rows_deleted.connect(self._drop, sender=SharedEntry)
        catching_up.connect(self._read_again)
        company_changed.connect(self._arrive)
        service_started.connect(self._begin, sender=services)
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

    def _arrive(self, character: Any, person: Any, **_signal: Any) -> None:
        if person is None:  # it moved itself
            self.travel.arrive(character)

    def _begin(self, **_signal: Any) -> None:
        if rumour_rows().exists():
            self.travel.begin()


EXTENSION = WhoKnowsExtension
