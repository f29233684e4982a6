"""The Django setting ``AI_ASSISTANT``, which may hold wrong values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from twisted.logger import Logger

from evennia_ai.config import FIELDS
from evennia_ai.errors import ConfigError

log = Logger()
T = TypeVar("T")


def game_settings() -> Mapping[str, Any]:
    """Return the whole setting; an empty mapping if it is missing or not a mapping."""
    found = getattr(settings, "AI_ASSISTANT", None)
    return found if isinstance(found, Mapping) else {}


def game_setting(name: str, default: Any) -> Any:
    """Return one of the upper-case entries, which apply to the whole game."""
    found = game_settings().get(name)
    return default if found is None else found


class SettingReader:
    """Reads the game-wide entries; `aistatus` shows its complaints about the wrong ones."""

    def __init__(self) -> None:
        self.complaints = find_complaints()

    def read(
        self,
        name: str,
        make: Callable[[Any], T],
        default: Any,
        wrong: tuple[Any, str] | None = None,
    ) -> T:
        """Return ``make(value)`` of one entry, or ``make(default)`` if that fails.

        A typo in a setting, or in a module that it names, must not stop all assistants. ``wrong``
        is returned instead of the default, and what that means is told with the complaint.
        """
        meaning = f". {wrong[1]}" if wrong else ""
        try:
            return make(game_setting(name, default))
        except (ConfigError, TypeError, ValueError, AttributeError) as error:
            self.complain(f"AI_ASSISTANT['{name}']: {error}{meaning}")
        except Exception as error:  # noqa: BLE001  # a game's module may raise anything
            problem = f"{type(error).__name__}: {error}{meaning}"
            self.complaints.append(f"AI_ASSISTANT['{name}']: {problem}")
            log.failure("evennia_ai: {complaint}", complaint=self.complaints[-1])
        kept: T = wrong[0] if wrong else make(default)
        return kept

    def complain(self, complaint: str) -> None:
        """Keep a complaint and log it."""
        self.complaints.append(complaint)
        log.warn("evennia_ai: {complaint}", complaint=complaint)


def find_complaints() -> list[str]:
    """Return one sentence for each problem with the form of the setting."""
    found = getattr(settings, "AI_ASSISTANT", None)
    if found is not None and not isinstance(found, Mapping):
        return [f"AI_ASSISTANT must be a dictionary, not {found!r}."]
    named = [key for key in game_settings() if key not in FIELDS]
    unknown = sorted(str(key) for key in named if not (isinstance(key, str) and key.isupper()))
    return [f"AI_ASSISTANT has an unknown entry '{key}'." for key in unknown]


def export_folder() -> Path:
    """Return the folder for the files that staff export from the log."""
    return Path(settings.GAME_DIR) / str(game_setting("EXPORT_FOLDER", "server/ai_exports"))
