"""Columns of ``db_value`` as old versions wrote them."""

import pickle
import sys
from base64 import b64encode
from types import ModuleType
from typing import Any

# The module of the class `Sealed` until bfb933b9, and after it.
OLDEST, OLD = "evennia_ai.policy.records.sealed", "evennia_ai.policy.read_permissions"


def column(value: object) -> str:
    """Return what Evennia stores of a value in ``db_value``."""
    return b64encode(pickle.dumps(value, protocol=4)).decode()


def sealed(module: str, content: object, name: str = "Sealed") -> str:
    """Return the column of a value of a class in a module that need not be there any more."""
    gone: Any = ModuleType(module)
    made = type(name, (), {"__module__": module, "__reduce__": lambda _: (made, (content, "x"))})
    setattr(gone, name, made)
    before, sys.modules[module] = sys.modules.get(module), gone
    try:
        return column(made())
    finally:
        del sys.modules[module]
        if before:
            sys.modules[module] = before
