"""What the pickles of a game's database name: plain data names nothing."""

import base64
import pickletools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

# The columns that Evennia pickles, by table, with the columns that tell which row it is.
PICKLED = {"typeclasses_attribute": ("db_attrtype", "db_key"), "server_serverconfig": ("db_key",)}
NAMING = {"GLOBAL", "STACK_GLOBAL", "INST", "EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID"}

Rows = Iterable[Mapping[str, Any]]


def names_in_pickles(rows_of: Callable[[str], Rows]) -> dict[str, set[str]]:
    """Return what stored values name, such as classes, by where they are stored."""
    found = {}
    for table, about in PICKLED.items():
        for row in rows_of(table):
            if row["db_value"] and (names := set(names_in(row["db_value"]))):
                found[" ".join([table, *(str(row[name]) for name in about)])] = names
    return found


def names_in(column: str) -> Iterator[str]:
    """Yield the names in a pickle of a column, with the strings before them on the stack."""
    texts = ["", ""]
    for opcode, value, _at in pickletools.genops(base64.b64decode(column)):
        if isinstance(value, str):
            texts = [texts[-1], value]
        if opcode.name in NAMING:
            yield value or ".".join(texts)
