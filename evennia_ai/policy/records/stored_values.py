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
# In the column ``db_strvalue``, what is stored stands below who is concerned, which is searched.
BELOW = "\n"
SegmentColumns = dict[str, str]


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


def stored(content: object, concerned: str, label: str) -> SegmentColumns:
    """Return the columns of an Attribute: plain data, of which Evennia shows only the label.

    ``examine`` shows ``db_value`` to every builder, whole, and ``db_strvalue`` to nobody.
    """
    text = json.dumps({"version": VERSION, "content": content}, ensure_ascii=False)
    encoded = b64encode(text.encode("utf-8", "surrogatepass")).decode()
    return {"db_value": label, "db_strvalue": f"{concerned}{BELOW}{encoded}"}


def unpacked(column: str | None, text: str | None = "") -> Any:
    """Return what an Attribute of any version stores, in ``db_value`` or ``db_strvalue``.

    What a version could not read, it stored as text of the column in another value (`opened`); then
    the content of that text is returned. Raises BadRecord.
    """
    value = opened(column, text)
    while isinstance(value, str):
        value = opened(value)
    return value


def opened(column: str | None, text: str | None = "") -> Any:
    """Return the value in two columns, which may be the text of another one; raises BadRecord."""
    try:
        if text and BELOW in text:
            raw = b64decode(text.partition(BELOW)[2], validate=True)
            return json.loads(raw.decode("utf-8", "surrogatepass"))["content"]
        if column is None:
            return None
        return _PlainUnpickler(BytesIO(b64decode(column, validate=True))).load()
    except Exception as error:  # damaged bytes may raise anything
        raise BadRecord(f"a stored value cannot be read ({type(error).__name__}).") from error
