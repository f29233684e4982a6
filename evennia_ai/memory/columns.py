"""The properties of each memory beside its words and vector, one row each."""

from typing import Any

import numpy as np
import numpy.typing as npt

from evennia_ai.memory.lexical import AudienceRows
from evennia_ai.memory.vectors import FIRST_ROOM, Rows
from evennia_ai.messages import Audience
from evennia_ai.policy.audience import visible
from evennia_ai.policy.retrieval.words import name_words

Mask = npt.NDArray[np.bool_]

ALONE = -1  # the place of a note: it has no neighbours
GONE, PUBLIC = -1, 0
NOBODY = -1
GROWTH = 1.25
MOST_VIEWS = 2  # that are kept: one to search and one for neighbours; 60,000 rows take .6 ms
# One array each: a search reads a few columns of all rows.
COLUMNS: dict[str, Any] = {
    "group": np.int32,
    "speaker": np.int32,
    "place": np.int32,
    "at": np.float64,
    "importance": np.float32,
    "words": np.int32,
    "sourced": np.bool_,
}


class Columns:
    """The audience, speaker, time, importance and number of words of each row."""

    def __init__(self) -> None:
        self.size = 0
        self.last_place = ALONE
        self._rows = {name: np.zeros(FIRST_ROOM, dtype) for name, dtype in COLUMNS.items()}
        self._views: dict[tuple[Audience | None, bool, int | None], AudienceRows] = {}
        self._groups: dict[Audience, int] = {}
        self._speakers: dict[str, int] = {}
        self._named: dict[str, set[int]] = {}

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return a column, one entry for each row."""
        return self._rows[name][: self.size]

    def new_row(self) -> int:
        """Add a row and return its number; it is in no view until `put` is called."""
        if self.size == len(self._rows["group"]):
            missing = max(FIRST_ROOM, int(self.size * GROWTH)) - self.size
            self._rows = {name: np.pad(column, (0, missing)) for name, column in self._rows.items()}
        self._rows["group"][self.size] = GONE
        self.size += 1
        return self.size - 1

    def put(
        self, row: int, speaker: str | None, audience: Audience | None, **numbers: float
    ) -> None:
        """Set the audience, the speaker and other columns of a new row."""
        groups = self._groups
        group = PUBLIC if audience is None else groups.setdefault(audience, len(groups) + 1)
        numbers |= {"group": group, "speaker": self._speaker(speaker) if speaker else NOBODY}
        for name, number in numbers.items():
            self._rows[name][row] = number

    def put_place(self, row: int, place: int) -> None:
        """Set the place of a row among the lines; `ALONE` makes it a note."""
        self._rows["place"][row] = place
        self.last_place = max(place, self.last_place)

    def drop(self, row: int) -> None:
        self._views.clear()
        self._rows["group"][row] = GONE

    def keep(self, rows: Rows) -> None:
        """Keep only these rows, in their order, and renumber them."""
        self._views.clear()
        self._rows = {name: column[rows] for name, column in self._rows.items()}
        self.size = len(rows)

    def view(
        self, audience: Audience | None, everything: bool, upto: int | None = None
    ) -> AudienceRows:
        """Return the rows that an audience may know, None for public rows, up to a place."""
        key = (audience, everything, upto)
        view = self._views.get(key)
        if view is None or len(view.mask) < self.size:
            if len(self._views) == MOST_VIEWS:
                self._views.clear()
            view = self._views[key] = self._make_view(self._seen(*key))
        return view

    def view_of(self, rows: Rows) -> AudienceRows:
        """Return a view of some notes alone, in this order."""
        mask = np.zeros(self.size, dtype=np.bool_)
        mask[rows] = True
        return self._view_of(rows, 0, mask)

    def _seen(self, audience: Audience | None, everything: bool, upto: int | None) -> Mask:
        """Return a mask of the rows that an audience may know, up to a place."""
        allowed = np.zeros(len(self._groups) + 2, dtype=np.bool_)  # the last is for dropped rows
        allowed[PUBLIC] = True
        for group_audience, group in self._groups.items():
            allowed[group] = everything or visible(group_audience, audience or frozenset())
        seen: Mask = allowed.take(self["group"])
        if upto is not None:
            seen &= self["place"] <= upto
        return seen

    def _make_view(self, mask: Mask) -> AudienceRows:
        rows = np.flatnonzero(mask)
        places = self["place"].take(rows).view(np.uint32)  # that of a note is the last one
        if (places[1:] < places[:-1]).any():
            order = np.argsort(places, kind="stable")
            rows, places = rows.take(order), places.take(order)
        lines = int(np.searchsorted(places, np.uint32(ALONE % 2**32)))
        return self._view_of(rows, lines, mask)

    def _view_of(self, rows: Rows, lines: int, mask: Mask) -> AudienceRows:
        words = int(self["words"].take(rows).sum(dtype=np.int64)) / (len(rows) or 1)
        return AudienceRows(rows, lines, words or 1.0, mask)

    def speakers_named(self, words: frozenset[str]) -> set[int]:
        return set().union(*(self._named.get(word, set()) for word in words))

    def is_name(self, word: str, view: AudienceRows) -> bool:
        return word in self._named and bool(self.said_by(self._named[word], view.rows).any())

    def said_by(self, speakers: set[int], rows: Rows) -> npt.NDArray[np.bool_]:
        spoken = self["speaker"][rows]
        mask = np.zeros(len(rows), dtype=np.bool_)
        for speaker in speakers:
            mask |= spoken == speaker
        return mask

    def _speaker(self, name: str) -> int:
        if name not in self._speakers:
            self._speakers[name] = len(self._speakers)
            for word in name_words(name) or name.lower().split():
                self._named.setdefault(word, set()).add(self._speakers[name])
        return self._speakers[name]
