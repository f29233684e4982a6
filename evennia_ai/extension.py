"""What an extension may add: a class whose methods are hooks, for our own `contrib` and for games.

A game names its classes in the Django setting ``AI_ASSISTANT["EXTENSIONS"]``, a list of dotted
paths; ``"-telemetry"`` leaves out one of the package's own. An extension that only watches connects
to the Django signals (`signals`).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, cast

from django.utils.module_loading import import_string
from twisted.internet.defer import Deferred, succeed
from twisted.logger import Logger

from evennia_ai.game.settings import SettingReader, game_setting

if TYPE_CHECKING:
    from evennia_ai.messages import InboxEvent
    from evennia_ai.tools.base import Tool

log = Logger()

JUDGING = ("before_turn", "before_speech")
OWN = "evennia_ai.contrib"


class Extension:
    """Adds a feature to the assistants of a game; every hook does nothing unless overridden.

    The server makes one instance. Whatever a hook shows or judges holds for one assistant and one
    audience at a time, and says whose words it holds.

    Attributes:
        name: what ``"-name"`` in ``EXTENSIONS`` leaves out, and log lines say.
        entries: the upper-case entries of ``AI_ASSISTANT`` that it reads.
    """

    name: ClassVar[str] = ""
    entries: ClassVar[frozenset[str]] = frozenset()

    def set_up(self, services: Any, settings: SettingReader) -> bool:
        """Read the settings and make what the other hooks need.

        Called once, before the server starts: start no thread, and use no table.

        Args:
            services: what all assistants share (`ports.Services`).
            settings: reads an entry of ``AI_ASSISTANT``, and tells staff if it is wrong.

        Returns:
            True if the extension has work to do, False to leave it out.

        Raises:
            Exception: the extension is left out, and staff are told.
        """
        return True

    def tools(self) -> Iterable[Tool]:
        """Return tools that assistants may use (`tools.base.tool` makes them)."""
        return ()

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        """Return Evennia commands for every character's command set; asked before `set_up`."""
        return ()

    def before_turn(self, events: Sequence[InboxEvent]) -> Deferred[Mapping[int, str]]:
        """Judge what was heard before a prompt may hold it.

        Args:
            events: what one assistant heard, asked and overheard.

        Returns:
            A Deferred of a reason by the id of each refused event. Such an event is closed with
            that reason, and its speaker is told. It must not fail.
        """
        return succeed({})

    def before_speech(self, words: str, by_staff: bool) -> Deferred[str]:
        """Judge words before they are spoken or shown.

        Args:
            words: what the character is about to say.
            by_staff: True if staff wrote them, and no model.

        Returns:
            A Deferred of why they may not be said, "" if they may. It must not fail.
        """
        return succeed("")


def extension_classes() -> tuple[list[type[Extension]], list[str]]:
    """Return the classes that the game's settings ask for, and a sentence for each wrong entry."""
    names = game_setting("EXTENSIONS", ())
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        return list(own_classes()), ["AI_ASSISTANT['EXTENSIONS'] must be a list of names."]
    left_out = {name[1:] for name in names if name.startswith("-")}
    classes = [item for item in own_classes() if item.name not in left_out]
    unknown = sorted(left_out - {item.name for item in own_classes()})
    complaints = [
        f"AI_ASSISTANT['EXTENSIONS']: no extension is called '{name}'." for name in unknown
    ]
    for path in (name for name in names if not name.startswith("-")):
        try:
            classes.append(load_class(path))
        except Exception as error:  # noqa: BLE001  # a game's module may raise anything
            complaints.append(f"AI_ASSISTANT['EXTENSIONS']: '{path}' cannot be loaded: {error}.")
    return classes, complaints


def load_class(path: str) -> type[Extension]:
    """Return the class of a dotted path; raises TypeError if it is no `Extension`."""
    loaded = import_string(path)
    if not (isinstance(loaded, type) and issubclass(loaded, Extension)):
        raise TypeError("it is no subclass of Extension")
    return loaded


def entries_of() -> frozenset[str]:
    """Return the upper-case entries of ``AI_ASSISTANT`` that extensions read."""
    return frozenset[str]().union(*(item.entries for item in extension_classes()[0]))


def judges(extension: Extension) -> bool:
    """Return True if an extension is a `ports.Guard`: it overrides a hook that judges words."""
    return any(hook in vars(item) for item in type(extension).__mro__[:-2] for hook in JUDGING)


@lru_cache(maxsize=1)
def own_classes() -> tuple[type[Extension], ...]:
    """Return the classes of the package's own extensions, in the order of their folders."""
    # Found by their folders, so that one is deleted with its folder and named nowhere.
    folders = sorted(item.name for item in pkgutil.iter_modules(import_module(OWN).__path__))
    modules = (import_module(f"{OWN}.{folder}") for folder in folders)
    return tuple(cast(type[Extension], module.EXTENSION) for module in modules)


def set_up_extensions(services: Any, settings: SettingReader) -> list[Extension]:
    """Return the extensions that have work to do; staff read of those that could not be set up."""
    classes, complaints = extension_classes()
    for complaint in complaints:
        settings.complain(complaint)
    active = []
    for item in classes:
        extension = item()
        try:
            active += [extension] if extension.set_up(services, settings) else []
        except Exception as error:  # noqa: BLE001  # a game's extension may raise anything
            log.failure("evennia_ai: the extension {name} cannot be set up", name=item.name)
            settings.complain(f"The extension {item.name or item.__name__} is off: {error}")
    return active
