"""A stored value whose text says nothing.

Evennia's ``examine``, its admin pages and its REST API show Attributes of every type to whoever may
examine an object, and check no lock of the Attribute. They show ``str(value)``. This is no
encryption: code, ``py`` and whoever has the database file can read the content.
"""

from __future__ import annotations

from typing import Any


class Sealed:
    """A value with a label, which is all that ``str`` and ``repr`` return.

    It is pickled under this module's path, so neither may be renamed. Without the package, Evennia
    shows the encoded pickle.
    """

    __slots__ = ("content", "label")

    def __init__(self, content: Any, label: str) -> None:
        self.content = content
        self.label = label

    def __repr__(self) -> str:
        return f"<{self.label}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Sealed, (self.content, self.label)

    def __deepcopy__(self, memo: Any) -> Sealed:
        """Return itself, since nobody changes a stored value; Evennia copies it at each write."""
        return self


def unsealed(value: object) -> Any:
    """Return the content of a sealed value, and any other value unchanged."""
    return value.content if isinstance(value, Sealed) else value
