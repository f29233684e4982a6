"""Imported by every Python process of a game under test, since its folder is on their path.

Evennia imports `inflect`, which has `typeguard` rewrite its functions: 1.7 s of CPU in launcher,
portal and server alike, each time they start. Nothing else is different, and nothing else there
uses it, so it is not imported either (0.05 s).
"""

import sys
from importlib.util import find_spec
from types import ModuleType

if find_spec("typeguard"):
    guard = sys.modules.setdefault("typeguard", ModuleType("typeguard"))
    guard.typechecked = lambda target=None, **_: target or (lambda one: one)  # type: ignore[attr-defined]
