"""The public front of extensions: the class whose methods are hooks, and what its hooks use.

A game names its classes in the Django setting ``AI_ASSISTANT["EXTENSIONS"]``, a list of dotted
paths; ``"-telemetry"`` leaves out one of the package's own. An extension that only watches connects
to the Django signals (`signals`).
"""

from evennia_ai.ports.background import SleepContext, SleepStep
from evennia_ai.ports.extension import Allow, Deny, EntryReader, Extension, Revision, Wait
from evennia_ai.ports.tool import NoArguments, Tool, tool

__all__ = [
    "Allow",
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
]
