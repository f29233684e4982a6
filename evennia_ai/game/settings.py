"""The Django setting ``AI_ASSISTANT``, which may hold wrong values."""

import shlex
import shutil
import socket
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.core.checks import Warning as CheckWarning
from django.utils.module_loading import import_string
from twisted.logger import Logger

from evennia_ai.config import FIELDS, AssistantConfig, ModelProfile, choose_settings, fit_settings
from evennia_ai.config.declared import (
    by_present_names,
    by_present_tools,
    rename_advice,
    tools_advice,
)
from evennia_ai.errors import ConfigError

log = Logger()
CONNECT_TIMEOUT_S = 1.0
T = TypeVar("T")
# The entries for the whole game, in upper case; `docs/configuration.md` tells of each.
GAME_ENTRIES = frozenset(
    """
    EXTENSIONS PROFILES TOOLS LORE PERSONAS TEXTS ADD_COMMANDS MAX_CALLS_IN_FLIGHT
    MAX_CALLS_WAITING CURRENCY WHO_MAY_READ PLAYER_LIMITS RETENTION MEMORY_MB EMBEDDER
    EXPORT_FOLDER LOCAL_LIBRARIES TRADE LINK_HOSTS LINE_MARK TYPING_INDICATOR WORLD_CLOCK
    """.split()
)


def game_settings() -> Mapping[str, Any]:
    """Return the whole setting; an empty mapping if it is missing or not a mapping."""
    value = getattr(settings, "AI_ASSISTANT", None)
    return by_present_tools(by_present_names(value)) if isinstance(value, Mapping) else {}


def game_setting(name: str, default: Any) -> Any:
    """Return one of the upper-case entries, which apply to the whole game."""
    value = game_settings().get(name)
    return default if value is None else value


def load_function(path: Any) -> Any:
    """Return the game's function of a dotted path, None for no path; raises ConfigError."""
    if not path:
        return None
    try:
        function = import_string(str(path))
    except ImportError as error:
        raise ConfigError(f"the function '{path}' cannot be imported: {error}") from error
    if not callable(function):
        raise ConfigError(f"'{path}' is no function")
    return function


def effective_settings(
    services: Any, own: Mapping[str, Any], prompt_tokens: Callable[[AssistantConfig], int]
) -> tuple[AssistantConfig, ModelProfile, list[str]]:
    """Return the settings of an assistant with ``own`` ones, its profile, and the complaints."""
    chosen = choose_settings(game_settings(), own, services.profiles)
    profile = services.endpoints.told(chosen.profile)
    return fit_settings(chosen.values, profile, prompt_tokens), profile, chosen.complaints


class SettingReader:
    """Reads the game-wide entries; `aistatus` shows its complaints about the wrong ones."""

    def __init__(self, of_extensions: Iterable[str] = ()) -> None:
        self.complaints = find_complaints(of_extensions)

    def read(
        self,
        name: str,
        make: Callable[[Any], T],
        default: Any,
        wrong: tuple[Any, str] | None = None,
    ) -> T:
        """Return ``make(value)`` of one entry, or ``make(default)`` if that fails.

        If given, ``wrong`` is returned instead of the default, and its meaning told.
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
        self.complaints.append(complaint)
        log.warn("evennia_ai: {complaint}", complaint=complaint)


def find_complaints(of_extensions: Iterable[str] = ()) -> list[str]:
    """Return one sentence for each problem with the form of the setting.

    ``of_extensions`` are the entries that extensions read.
    """
    value = getattr(settings, "AI_ASSISTANT", None)
    if value is not None and not isinstance(value, Mapping):
        return [f"AI_ASSISTANT must be a dictionary, not {value!r}."]
    known = {*FIELDS, *GAME_ENTRIES, *of_extensions}
    unknown = sorted(str(key) for key in game_settings() if key not in known)
    profiles = value.get("PROFILES") if value else None
    of_profiles = profiles.items() if isinstance(profiles, Mapping) else ()
    former = rename_advice(value or {}, "AI_ASSISTANT")
    former += tools_advice((value or {}).get("TOOLS"))
    for name, profile in of_profiles:
        if isinstance(profile, Mapping):
            former += rename_advice(profile, f"The model profile '{name}'")
    matches = (get_close_matches(key, known, 1) for key in unknown)
    return former + [
        f"AI_ASSISTANT has an unknown entry '{key}'." + (f" Is {near[0]} meant?" if near else "")
        for key, near in zip(unknown, matches, strict=True)
    ]


def is_game_running() -> bool:
    """Return True if a portal answers on the game's AMP port."""
    address = (settings.AMP_HOST, settings.AMP_PORT)
    with suppress(OSError), socket.create_connection(address, CONNECT_TIMEOUT_S):
        return True
    return False


def export_folder() -> Path:
    return Path(settings.GAME_DIR) / str(game_setting("EXPORT_FOLDER", "server/ai_exports"))


OTHERS = stat.S_IRWXG | stat.S_IRWXO
LEAST_FREE_MB = 50
SIDE_FILES = ("", "-wal", "-shm", "-journal")


def database_files() -> Iterator[Path]:
    """Yield the files that SQLite databases may have, their logs among them."""
    for database in settings.DATABASES.values():
        name = str(database.get("NAME") or "")
        if database.get("ENGINE", "").endswith("sqlite3") and ":memory:" not in name:
            yield from (Path(name + side) for side in SIDE_FILES)


def is_open(path: Path) -> bool:
    """Return True if a file or folder exists and its mode lets other users in."""
    return path.exists() and bool(path.stat().st_mode & OTHERS)


def log_folder() -> Path:
    return Path(getattr(settings, "LOG_DIR", "") or Path(settings.GAME_DIR) / "server" / "logs")


def full_disks() -> list[str]:
    """Return a sentence about each folder of database and logs whose disk is nearly full."""
    folders = sorted({log_folder(), *(file.parent for file in database_files())})
    free_mb = {item: shutil.disk_usage(item).free >> 20 for item in folders if item.exists()}
    return [
        f"{free} MB are free for {folder}. Make room: what cannot be written there is lost."
        for folder, free in free_mb.items()
        if free < LEAST_FREE_MB
    ]


def advice() -> str:
    """Return what to type so that only the game's own user reads its files, "" if that is so."""
    exposed = [file for file in database_files() if is_open(file) and is_open(file.parent)]
    logs = log_folder()
    exposed += [logs] if is_open(logs) and any(map(is_open, logs.glob("*.log*"))) else []
    if not exposed:
        return ""
    names = " ".join(shlex.quote(str(file)) for file in exposed)
    return (
        f"Other users of this machine can read what players said. To end that: chmod go-rwx {names}"
    )


def check_file_modes(app_configs: Any = None, **kwargs: Any) -> list[CheckWarning]:
    """Return a warning of Django's system checks if other users can read the game's words."""
    problems = advice()
    return [CheckWarning(problems, id="evennia_ai.W001")] if problems else []
