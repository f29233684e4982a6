"""A mind for the characters of an Evennia game.

Add ``"evennia_ai"`` to ``INSTALLED_APPS``, run ``evennia migrate``, and attach an assistant to a
character in the game with ``aisetup <character> = <persona>``.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evennia_ai.ports.world import WorldClock as WorldClock

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "WorldClock":  # on demand, so that a part of the package loads no more than it needs
        from evennia_ai.ports.world import WorldClock

        return WorldClock
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
