"""The older lines of one long log in a table that PostgreSQL searches by meaning and by words.

Each such log has a table of its own, made when it is first needed, with the extension pgvector. A
row goes with the line's vector, by a foreign key: whatever forgets, hides or edits a line deletes
its vector. Everything here but `drop_tables` and `may_be_long` runs in a thread, by SQL alone, and
may raise StoreUnavailable.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
from django.db import connection, transaction

from evennia_ai.policy.retrieval.exchange import AFTER, BEFORE
from evennia_ai.ports import LineQuery, OldLine, TableState
from evennia_ai.store.brief_transaction import store_errors
from evennia_ai.store.old_line_indices import Indices, configure

PREFIX = "evennia_ai_old_lines"
MOST_DIMENSIONS = 4_000  # of vectors in such an index
NEAREST, CANDIDATES = 64, 32  # by meaning; in all
WHOLE = 8  # of the best ones, all that may belong to them is read
NEAR = 2  # lines on both sides whose scores count for one
MOST_WITH_WORD = 1_000  # rows that are read for the rare words of a query
SEARCHED = {
    "jit": "off",
    "statement_timeout": "3000",
    # The planner cannot know that few rows are read; each is found by its number.
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
TABLE = """
CREATE TABLE IF NOT EXISTS {table} (
  message_id bigint PRIMARY KEY REFERENCES evennia_ai_linevector ON DELETE CASCADE,
  at float NOT NULL, speaker text NOT NULL, audience text[], words int[] NOT NULL,
  signs int NOT NULL, meaning halfvec({dimensions}) NOT NULL)
"""
VALUES = "(%s::bigint, %s, %s::text[], %s::int[], %s::int, %s::halfvec)"
STORE = """
INSERT INTO {table}
SELECT id, extract(epoch FROM m.at), row.speaker, row.audience, row.words, row.signs, row.meaning
FROM (VALUES {values}) AS row (id, speaker, audience, words, signs, meaning)
JOIN evennia_ai_linevector v ON v.message_id = row.id JOIN evennia_ai_message m USING (id)
ON CONFLICT DO NOTHING
"""
FIND = """
SELECT message_id FROM (
  (SELECT message_id, {score} AS score FROM {table} WHERE {seen}
    ORDER BY meaning <=> %(asked)s::halfvec LIMIT {near})
  UNION ALL (SELECT message_id, {score} FROM {table}
    WHERE words {having} %(rare)s::int[] AND {seen} LIMIT {most})) AS found
GROUP BY message_id ORDER BY max(score) DESC, message_id DESC LIMIT {limit}
"""
MEANT = "%(meaning)s * (1 - (meaning <=> %(asked)s::halfvec))"
SAID = " + {weight} * ({word} = ANY (words))::int"
BESIDE = """
  UNION SELECT message_id FROM unnest(%({ids})s::bigint[]) AS {ids} (id), LATERAL (
    SELECT message_id FROM {table} WHERE message_id {side} id AND {seen}
    ORDER BY message_id {order} LIMIT {number}) AS beside
"""
READ = """
WITH near AS (SELECT unnest(%(best)s::bigint[] || %(others)s::bigint[]) AS message_id {beside})
SELECT message_id, at, speaker, audience, words, signs, halfvec_send(meaning)
FROM near JOIN {table} USING (message_id) ORDER BY message_id
"""
HEAD = 4  # bytes before the numbers of a vector that is sent
FORMAT = 2  # of the tables; those of another one are made anew


class OldLineTable:
    """The table of one assistant and one embedder, whose name is ``made_by``."""

    def __init__(self, assistant_id: int, made_by: str, dimensions: int) -> None:
        self.assistant_id = assistant_id
        self._made_by = made_by
        self._dimensions = dimensions
        number = crc32(f"{FORMAT} {made_by}".encode())
        self._name = f"{PREFIX}_{assistant_id}_{number:08x}"
        self._indices = Indices(self._run, self._name)

    def may_be_long(self, most: int) -> bool:
        """Return False if the log has no more messages than that, by their numbers; at once."""
        ((first, last),) = self._run(
            "SELECT min(id), max(id) FROM evennia_ai_message WHERE assistant_id = %s",
            [self.assistant_id],
        )
        return first is not None and bool(last - first >= most)

    def open(self, most: int, newest: int) -> TableState:
        """Make the table, if the log has more than ``most`` messages, and return its state.

        It is for all but the ``newest`` messages. Tables of other embedders are dropped.
        """
        if self._nth(most) is None or self._dimensions > MOST_DIMENSIONS:
            return TableState()
        with transaction.atomic():
            self._run("CREATE EXTENSION IF NOT EXISTS vector")
            drop_tables(self.assistant_id, but=self._name)
            self._run(TABLE)
        ((last,),) = self._run("SELECT max(message_id) FROM {table}")
        gaps = self._run(
            "SELECT DISTINCT seq FROM evennia_ai_amendment WHERE assistant_id = %s AND seq <= %s "
            "AND NOT EXISTS (SELECT FROM {table} WHERE message_id = seq)",
            [self.assistant_id, last or 0],
        )
        return TableState(
            wanted=self._nth(newest) or 0,
            stored=last or 0,
            searched=(last or 0) if self._indices.is_built("near") else 0,
            gaps=tuple(seq for (seq,) in gaps),
        )

    def store(self, lines: Iterable[OldLine]) -> None:
        """Add lines whose vectors are stored; those that are there already stay."""
        rows = [
            (line.seq, line.speaker, line.audience, list(line.words), line.signs, as_text(line))
            for line in lines
        ]
        if rows:
            values = ", ".join([VALUES] * len(rows))
            self._run(STORE, [value for row in rows for value in row], values=values)

    def build(self) -> None:
        """Build the indices that do not exist or are outgrown."""
        self._indices.build()
        for name in ("_shares", "_least"):
            self.__dict__.pop(name, None)

    def find(self, question: LineQuery) -> list[OldLine]:
        """Return the lines nearest to a question, each with those around it."""
        rare, having = self._rare(question.words)
        meaning, said = question.weights
        parameters = {
            **seen_by(question),
            "asked": f"[{','.join(f'{number:.5g}' for number in question.vector)}]",
            "rare": rare,
            "meaning": meaning,
        }
        weights = self._weights(question.words)
        score = MEANT + "".join(SAID.format(weight=said * weights[w], word=w) for w in weights)
        limits = {"near": NEAREST, "most": MOST_WITH_WORD, "limit": CANDIDATES}
        seen = seen_clause(question)
        with transaction.atomic():
            self.prepare_search()
            rows = self._run(FIND, parameters, seen=seen, score=score, having=having, **limits)
            return self._read(question, [seq for (seq,) in rows])

    def prepare_search(self) -> None:
        """Change the settings of a search until the end of the transaction."""
        configure(self._run, SEARCHED | self._indices.breadth())

    def _read(self, question: LineQuery, seqs: Sequence[int]) -> list[OldLine]:
        """Return lines, the best first in ``seqs``, and those around them."""
        parameters = {**seen_by(question), "best": seqs[:WHOLE], "others": seqs[WHOLE:]}
        parts = {"table": self._name, "seen": seen_clause(question)}
        beside = "".join(
            BESIDE.format(ids=ids, side="<", order="DESC", number=before, **parts)
            + BESIDE.format(ids=ids, side=">", order="ASC", number=after, **parts)
            for ids, before, after in (("best", BEFORE, AFTER), ("others", NEAR, NEAR))
        )
        rows = self._run(READ, parameters, beside=beside)
        numbers = np.frombuffer(b"".join(row[-1][HEAD:] for row in rows), ">f2").astype(np.int8)
        vectors = numbers.reshape(len(rows), self._dimensions)
        return [
            OldLine._make((*row[:-1], vector.tobytes()))
            for row, vector in zip(rows, vectors, strict=True)
        ]

    def _rare(self, words: Collection[int]) -> tuple[list[int], str]:
        """Return the rare words of a query, of which a line has one; or two that it has both."""
        ordered = sorted(words, key=lambda word: (self._share(word), word))
        rare: list[int] = []
        expected = 0.0
        for word in ordered:
            expected += self._share(word) * self._indices.size.rows
            if expected > MOST_WITH_WORD:
                break
            rare.append(word)
        return (rare, "&&") if rare or len(ordered) < 2 else (ordered[:2], "@>")

    def _weights(self, words: Collection[int]) -> dict[int, float]:
        """Return how much each word of a query tells; together 1."""
        rarity = {word: -math.log(min(self._share(word), 0.99)) for word in words}
        total = sum(rarity.values())
        return {word: value / total for word, value in rarity.items()}

    def _share(self, word: int) -> float:
        """Return about which share of the lines have a word."""
        return self._shares.get(word, self._least)

    @cached_property
    def _shares(self) -> Mapping[int, float]:
        statistics = self._run(
            "SELECT most_common_elems::text::int[], most_common_elem_freqs FROM pg_stats "
            "WHERE tablename = %s AND attname = 'words'",
            [self._name],
        )
        words, shares = statistics[0] if statistics and statistics[0][0] else ((), ())
        return dict(zip(words, shares, strict=False))

    @cached_property
    def _least(self) -> float:
        """The share of a word that the statistics do not name."""
        return min(self._shares.values(), default=0.001) / 2

    def _nth(self, number: int) -> int | None:
        """Return the message before the newest ``number`` ones, None if there are no more."""
        found = self._run(
            "SELECT id FROM evennia_ai_message WHERE assistant_id = %s "
            "ORDER BY id DESC OFFSET %s LIMIT 1",
            [self.assistant_id, number],
        )
        return int(found[0][0]) if found else None

    def _run(self, statement: str, parameters: Any = (), **parts: Any) -> list[Any]:
        """Run a statement; return its rows, empty if it has none."""
        parts |= {"table": self._name, "dimensions": self._dimensions}
        with store_errors("searched"), connection.cursor() as cursor:
            cursor.execute(statement.format(**parts), parameters)
            return list(cursor.fetchall()) if cursor.description else []


def is_possible() -> bool:
    """Return True if the game's database may have the extension."""
    return str(connection.vendor) == "postgresql"


def close_connection() -> None:
    """Close this thread's connection."""
    connection.close()


def as_text(line: OldLine) -> str:
    """Return a line's vector as the database reads it; its length does not matter."""
    return str([byte - 256 if byte > 127 else byte for byte in line.packed])


def seen_clause(question: LineQuery) -> str:
    """Return the condition for the lines that the audience may know, up to a message (P9)."""
    known = "audience IS NULL"
    if question.audience:
        known = f"({known} OR audience @> %(audience)s::text[])"
    return known if question.upto is None else f"{known} AND message_id <= %(upto)s"


def seen_by(question: LineQuery) -> dict[str, Any]:
    """Return the parameters of `seen_clause`."""
    return {"audience": list(question.audience), "upto": question.upto}


def drop_tables(assistant_id: int | None = None, but: str = "") -> None:
    """Drop the tables of an assistant, None: of all; there are none but on PostgreSQL."""
    if connection.vendor != "postgresql":
        return
    beginning = PREFIX if assistant_id is None else f"{PREFIX}_{assistant_id}_"
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        for (name,) in cursor.fetchall():
            if name.startswith(beginning) and name != but:
                cursor.execute(f"DROP TABLE {connection.ops.quote_name(name)}")
