"""The staff pages at ``/ai/``, and the logs over REST at ``/ai/api/``.

Django runs views in threads. Such a thread reads the tables, as plain rows and nothing else;
whatever needs a typeclass or an Attribute is done on the reactor's thread (`GameThread`).
"""

from collections.abc import Iterable
from typing import ClassVar

from django.conf import settings

from evennia_ai.extension import Extension
from evennia_ai.game.settings import game_setting


class StaffPagesExtension(Extension):
    """Shows what assistants heard, did, know and cost, and lets staff change it."""

    name = "staff_pages"
    entries = frozenset({"STAFF_PAGES", "WEB_ACTS"})
    middleware = (f"{__name__}.access.staff_link",)
    pages: ClassVar = {"evennia_ai:overview": "Characters", "evennia_ai:turns": "All turns"}

    @classmethod
    def urls(cls, by_game: bool) -> Iterable[str]:
        """Return the pages, unless ``STAFF_PAGES`` is False, and REST if the game allows it."""
        if by_game or game_setting("STAFF_PAGES", True):
            yield f"{__name__}.urls"
        if settings.REST_API_ENABLED and not by_game:
            yield f"{__name__}.rest"


EXTENSION = StaffPagesExtension
