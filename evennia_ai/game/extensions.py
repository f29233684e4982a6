"""Finds, loads and sets up the extensions that the game's settings ask for."""

import pkgutil
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import evennia
from django.core.management import find_commands
from django.utils.module_loading import import_string
from twisted.logger import Logger

from evennia_ai.config import declare_settings
from evennia_ai.errors import ConfigError
from evennia_ai.game.settings import SettingReader, game_setting
from evennia_ai.ports.extension import Extension, collect

log = Logger()
T = TypeVar("T")

OWN = "evennia_ai.contrib"
PERSONAL_DATA = "evennia_ai.store.personal_data"  # Django loads its models after this module


def extension_classes() -> tuple[list[type[Extension]], list[str]]:
    """Return the classes that the game's settings ask for, and a sentence for each wrong entry."""
    try:
        names, complaints = listed_names(), list[str]()
    except ConfigError as error:
        names, complaints = [], [str(error)]
    own = {item.name: item for item in own_classes()}
    wanted = {name.removeprefix("-"): name[:1] != "-" for name in names if "." not in name}
    classes = [item for name, item in own.items() if wanted.get(name, item.by_default)]
    for name in sorted(wanted.keys() - own.keys()):
        complaints.append(f"AI_ASSISTANT['EXTENSIONS']: no extension is called '{name}'.")
    for path in (name for name in names if "." in name):
        try:
            classes.append(load_class(path))
        except Exception as error:  # noqa: BLE001  # a game's module may raise anything
            complaints.append(f"AI_ASSISTANT['EXTENSIONS']: '{path}' cannot be loaded: {error}.")
    for item in list(classes):
        try:
            if item.settings:
                declare_settings(item.settings)
            if columns := list(item.personal_data()):
                import_module(PERSONAL_DATA).declare_columns(columns)
            declare_records(item)
        except Exception as error:  # noqa: BLE001  # a game's class may raise anything
            classes.remove(item)
            complaints.append(f"The extension {item.name or item.__name__} is off: {error}.")
    return classes, complaints


def listed_names() -> list[str]:
    """Return the names in ``EXTENSIONS``; raises ConfigError."""
    names = game_setting("EXTENSIONS", ())
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ConfigError("AI_ASSISTANT['EXTENSIONS'] must be a list of names.")
    return list(names)


def ask_classes(hook: Callable[[type[Extension]], Iterable[T]]) -> list[T]:
    """Return what a hook of the classes gives; what one that raises would add is left out."""
    return collect(extension_classes()[0], hook)


def load_class(path: str) -> type[Extension]:
    """Return the class of a dotted path; raises TypeError if it is no `Extension`."""
    loaded = import_string(path)
    if not (isinstance(loaded, type) and issubclass(loaded, Extension)):
        raise TypeError("it is no subclass of Extension")
    return loaded


def entries_of() -> frozenset[str]:
    """Return the upper-case entries of ``AI_ASSISTANT`` that extensions read."""
    return frozenset[str]().union(*(item.entries for item in extension_classes()[0]))


@lru_cache(maxsize=1)
def own_classes() -> tuple[type[Extension], ...]:
    """Return the classes of the package's own extensions, in the order of their folders."""
    if evennia.DefaultScript is None:  # a management command's checks of addresses ask
        evennia._init()
    modules = (import_module(f"{OWN}.{folder}") for folder in own_folders())
    classes = tuple(cast(type[Extension], module.EXTENSION) for module in modules)
    for item in classes:  # also of those that are off: they may have stored some before
        declare_records(item)
    return classes


def declare_records(item: type[Extension]) -> None:
    if kinds := item.records():
        known = import_module(PERSONAL_DATA)
        known.KNOWLEDGE.update(kinds)
        known.STORES.update({store.kind: store for store in kinds})


def own_folders() -> list[str]:
    """Return the names of the package's own extensions, which are those of their folders."""
    # One is deleted with its folder and named nowhere.
    return sorted(item.name for item in pkgutil.iter_modules(import_module(OWN).__path__))


def management_commands() -> Mapping[str, str]:
    """Return the package of each management command of the package's own extensions.

    They stand in a folder ``management/commands`` as those of a Django app. No extension is
    loaded: Django asks before Evennia's shortcuts are there.
    """
    try:
        names = listed_names()
    except ConfigError:
        names = []
    (root,) = import_module(OWN).__path__
    return {
        command: f"{OWN}.{folder}"
        for folder in own_folders()
        if f"-{folder}" not in names
        for command in find_commands(str(Path(root, folder, "management")))
    }


def set_up_extensions(services: Any, settings: SettingReader) -> list[Extension]:
    """Return the extensions that have work to do; staff read of those that could not be set up."""
    classes, complaints = extension_classes()
    for complaint in complaints:
        settings.complain(complaint)
    active = []
    for item in classes:
        try:
            extension = item()
            active += [extension] if extension.set_up(services, settings) else []
        except Exception as error:  # noqa: BLE001  # a game's extension may raise anything
            log.failure("evennia_ai: the extension {name} cannot be set up", name=item.name)
            settings.complain(f"The extension {item.name or item.__name__} is off: {error}")
    return active
