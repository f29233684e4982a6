"""The public front of extensions: the class whose methods are hooks, and what its hooks use.

A game names its classes in the Django setting ``AI_ASSISTANT["EXTENSIONS"]``, a list of dotted
paths; ``"-telemetry"`` leaves out one of the package's own. An extension that only watches connects
to the Django signals (`signals`).
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any

from evennia_ai.ports.background import SleepContext, SleepStep
from evennia_ai.ports.extension import Allow, Deny, EntryReader, Extension, Revision, Wait
from evennia_ai.ports.tool import NoArguments, Tool, tool

__all__ = [
    "Allow",
    "Around",
    "Deny",
    "EntryReader",
    "Extension",
    "NoArguments",
    "Revision",
    "SleepContext",
    "SleepStep",
    "Tool",
    "Wait",
    "tool",
    "wrap",
]

Around = Callable[..., AbstractContextManager[None]]


def wrap(owner: Any, name: str, around: Around) -> None:
    """Run a method of a class inside what ``around`` returns for its arguments; once."""
    method = vars(owner)[name]
    if getattr(method, "is_wrapped", False):
        return

    @wraps(method)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with around(*args, **kwargs):
            return method(*args, **kwargs)

    wrapper.__dict__["is_wrapped"] = True
    setattr(owner, name, wrapper)
