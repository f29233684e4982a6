"""The lines of one assistant's log as an index reads them, and the vectors of their words."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from evennia_ai.errors import StoreUnavailable
from evennia_ai.memory.vectors import answers_at_once, pack, readable
from evennia_ai.policy.recallable_lines import read_line
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import Embedder, Lines, RemoteEmbedder

READ, STORED = 50, 20  # lines that are read, and vectors that are stored, at a time
KEPT = 200  # lines in memory from turn to turn
LINE_BYTES = 1_200  # of a line in memory (measured)
NEWEST = 5_000  # messages that come first, if they are to: 2 s, vectors to be made (measured)


class LoggedLines:
    """Reads lines in the order of the log, and keeps those that searches found lately.

    If the newest lines are to come first, those before them come by `take_older`.
    """

    def __init__(
        self, lines: Lines, own_name: str, embedder: Embedder | RemoteEmbedder | None
    ) -> None:
        self.lines = lines
        self._own_name = own_name
        self._embedder = embedder
        self._made_by = f"{embedder.dimensions}:{embedder.name}"[:255] if embedder else ""
        self._taken_upto = 0  # the last message that `take` returned
        self._older = (0, 0)  # the messages after the first, up to the second, are not taken yet
        self._begun = False
        self._records: dict[int, Record] = {}
        self._refreshes = lines.refreshes  # when the found lines were read
        self._checked: set[int] = set()  # messages of which is known whether they exist
        self._unstored: dict[int, bytes] = {}  # vectors by message

    def take(self, upto: int | None) -> tuple[list[tuple[Record, bytes | None]], bool]:
        """Return the next lines with their vectors, and whether more may follow.

        A line has no vector without an embedder that answers at once, unless it is stored.
        """
        self._begun = True
        lines, self._taken_upto, more = self._take(self._taken_upto, upto)
        return lines, more

    def take_older(self, upto: int | None) -> tuple[list[tuple[Record, bytes | None]], bool]:
        """Return the next of the lines that were left for later, as `take` does."""
        seq, last = self._older
        lines, seq, more = self._take(seq, last if upto is None else min(last, upto))
        self._older = (seq, last) if more or (upto is not None and upto < last) else (0, 0)
        return lines, more

    @property
    def has_older(self) -> bool:
        """Return True while older lines are left for `take_older`."""
        return self._older[0] < self._older[1]

    def newest_first(self) -> None:
        """Let `take` begin with the newest lines of a long log, unless it has begun."""
        if not self._begun and not self._taken_upto:
            self._taken_upto = self.lines.before_newest(NEWEST)
            self._older = (0, self._taken_upto)
        self._begun = True

    def found(self, seqs: Iterable[int]) -> dict[int, Record]:
        """Return the lines that still exist, by message; the database is asked once a turn."""
        wanted = set(seqs)
        unsure = wanted - self._checked
        known = unsure & self._records.keys()
        for seq in known - self.lines.existing(known) if known else ():
            self.forget(seq)
        self._records |= {seq: self._records.pop(seq) for seq in known & self._records.keys()}
        if missing := unsure - known:
            read = (read_line(message, self._own_name) for message in self.lines.read(missing))
            self._records |= {line["seq"]: line for line in read if line is not None}
        self._checked |= unsure
        return {seq: self._records[seq] for seq in wanted & self._records.keys()}

    def words_of(self, seqs: Iterable[int]) -> dict[int, str]:
        """Return the words of the lines that still exist, by message."""
        read = (read_line(message, self._own_name) for message in self.lines.read(seqs))
        return {line["seq"]: line["words"] for line in read if line is not None}

    def again(self, seqs: Iterable[int]) -> list[Record]:
        """Return lines that `take` has returned, as they are now, without those that are gone."""
        left, last = self._older
        wanted = [seq for seq in seqs if seq <= left or last < seq <= self._taken_upto]
        for seq in wanted:
            self.forget(seq)
        return list(self.found(wanted).values()) if wanted else []

    def refresh(self) -> None:
        """Begin a new turn, and keep the lines that were found last.

        Two thirds of what a turn finds, one of the four turns before found, too (dialogues of 400
        lines, measured). A message never changes (P3). That it still exists is asked again. An
        amendment of its words calls `forget`; one by another process is known after the log was
        read anew.
        """
        self._checked.clear()
        if self._refreshes != self.lines.refreshes:
            self._refreshes = self.lines.refreshes
            self._records.clear()
        for seq in list(self._records)[:-KEPT]:
            del self._records[seq]

    @property
    def nbytes(self) -> int:
        return len(self._records) * LINE_BYTES

    def forget(self, seq: int) -> None:
        self._records.pop(seq, None)
        self._checked.discard(seq)
        self._unstored.pop(seq, None)

    def keep_vectors(self, made: Mapping[int, bytes]) -> None:
        """Store vectors in batches, since a transaction for each would cost 1 ms (measured)."""
        self._unstored.update(made)
        if len(self._unstored) >= STORED:
            self.store_vectors()

    def store_vectors(self) -> None:
        """Store the vectors that are not stored yet; if that fails, they are made again later."""
        if self._unstored:
            with suppress(StoreUnavailable):
                self.lines.store_vectors(self._made_by, self._unstored)
            self._unstored = {}

    def _take(
        self, seq: int, upto: int | None
    ) -> tuple[list[tuple[Record, bytes | None]], int, bool]:
        """Return the next lines after a message, the last one read, and whether more may follow."""
        batch = self.lines.after(seq, upto, READ, self._made_by)
        read = ((read_line(message, self._own_name), packed) for message, packed in batch)
        lines = [(line, packed) for line, packed in read if line is not None]
        made = self._embed([line for line, packed in lines if packed is None])
        known = [(line, packed or made.get(line["seq"])) for line, packed in lines]
        return known, batch[-1][0]["metadata"]["seq"] if batch else seq, len(batch) == READ

    def _embed(self, lines: Sequence[Record]) -> dict[int, bytes]:
        """Return the vectors of lines if the embedder answers at once, and keep them."""
        if not lines or not answers_at_once(self._embedder):
            return {}
        rows = self._embedder.embed([readable(line["words"]) for line in lines])
        made = {line["seq"]: pack(row) for line, row in zip(lines, rows, strict=True)}
        self.keep_vectors(made)
        return made
