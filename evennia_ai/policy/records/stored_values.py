"""The value of an Attribute of ours as plain data, and the forms that older versions stored.

Nothing else unpickles what was stored, and no class is looked up by the name that a pickle holds.
"""

import json
import pickle
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

from evennia_ai.errors import BadRecord

VERSION = 1
PACKED = "packed"


def _sealed_content(content: object, label: str) -> object:
    return content


# Each class that an older version pickled, by the name that its pickles hold, which does not change
# if a module is renamed: the function that returns its content.
OLD_FORMS: Mapping[tuple[str, str], Callable[..., object]] = {
    ("evennia_ai.policy.records.sealed", "Sealed"): _sealed_content,
    ("evennia_ai.policy.disclosure", "Sealed"): _sealed_content,
}


class _PlainUnpickler(pickle.Unpickler):
    """Reads plain data and `OLD_FORMS`; any other class raises UnpicklingError."""

    def find_class(self, module: str, name: str) -> Callable[..., object]:
        if (module, name) in OLD_FORMS:
            return OLD_FORMS[module, name]
        raise pickle.UnpicklingError(f"{module}.{name} is no plain data")


def packed(content: object, label: str) -> dict[str, object]:
    """Return plain data of which ``examine`` shows the label: it comes first and is cut there."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    encoded = b64encode(text.encode("utf-8", "surrogatepass")).decode()
    return {"label": label, "version": VERSION, PACKED: encoded}


def unpacked(column: str | None) -> Any:
    """Return the content of an Attribute's column ``db_value``, of any version; raises BadRecord.

    What a version could not read, it stored as text of the column in another value (`opened`); then
    the content of that text is returned.
    """
    value: Any = column
    while isinstance(value, str):
        value = opened(value)
    return value


def opened(column: str) -> Any:
    """Return the value in a column, which may be the text of another one; raises BadRecord."""
    try:
        value = _PlainUnpickler(BytesIO(b64decode(column, validate=True))).load()
        if isinstance(value, dict) and PACKED in value:
            value = json.loads(b64decode(value[PACKED]).decode("utf-8", "surrogatepass"))
    except Exception as error:  # damaged bytes may raise anything
        raise BadRecord(f"a stored value cannot be read ({type(error).__name__}).") from error
    return value
