"""One assistant's compactions in the database. The log's messages are never touched (P3)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from typing import Any

from django.db.models import Max, Q

from evennia_ai import models
from evennia_ai.errors import CannotUndo
from evennia_ai.policy.context.projection import CompactionRecord, part_audience
from evennia_ai.policy.facts.check import Fact
from evennia_ai.store.brief_transaction import brief_transaction

MASK = "mask"


class TableCompactions:
    """Records that move the start of what a model sees. The latest that is not undone counts."""

    def __init__(self, assistant_id: int, now: Callable[[], datetime]) -> None:
        self.assistant_id = assistant_id
        self.now = now

    def commit(self, record: CompactionRecord) -> CompactionRecord:
        """Store a compaction in one transaction; returns it with its id and time."""
        at = self.now()
        with brief_transaction():
            row = models.Compaction.objects.create(
                assistant_id=self.assistant_id, at=at, **fields_of(record)
            )
        return record_from_row(row)

    def mask(self, from_seq: int, upto_seq: int, count: int) -> None:
        """Store that tool results up to a message are shown masked from now on."""
        with brief_transaction():
            models.Compaction.objects.create(
                assistant_id=self.assistant_id,
                at=self.now(),
                reason=MASK,
                from_seq=from_seq,
                upto_seq=upto_seq,
                compacted_count=count,
                original_token_count=0,
                summary_token_count=0,
            )

    def last(self) -> CompactionRecord | None:
        """The compaction in force, None where there is none."""
        row = self._in_force().exclude(reason=MASK).order_by("-id").first()
        return None if row is None else record_from_row(row)

    def masked_upto(self) -> int:
        """The last message whose result, if it is one, is masked; 0 where none is."""
        found = self._in_force().filter(reason=MASK).aggregate(upto=Max("upto_seq"))
        return int(found["upto"] or 0)

    def undo(self) -> CompactionRecord | None:
        """Put the compaction in force out of it, with the masks that came after it; the one before
        is in force again. Returns what was undone, None where there was nothing; raises CannotUndo
        where retention has deleted what would come back."""
        record = self.last()
        if record is None:
            return None
        if models.Compaction.objects.filter(id=record.id, sealed=True).exists():
            raise CannotUndo(
                "This compaction cannot be taken back: retention has deleted what came before it."
            )
        undone = self._in_force().filter(id__gte=record.id)
        with brief_transaction():  # archived: a crash may have left a part of it in the journal
            undone.update(undone_at=self.now(), archived=True)
        return record

    def to_archive(self) -> list[tuple[CompactionRecord, bool]]:
        """The compactions in force without entries in the journal, and the undone ones that have
        some, oldest first; True with the former."""
        rows = unsettled().filter(assistant_id=self.assistant_id).order_by("id")
        return [(record_from_row(row), row.undone_at is None) for row in rows]

    def note_archived(self, id: int, archived: bool) -> None:
        """Store whether a compaction has its entries in the journal."""
        with brief_transaction():
            models.Compaction.objects.filter(id=id).update(archived=archived)

    def _in_force(self) -> Any:
        return models.Compaction.objects.filter(assistant_id=self.assistant_id, undone_at=None)


def unsettled() -> Any:
    """The compactions, of whomever, whose entries in journals are still to be written or taken
    back."""
    wanting = Q(undone_at=None, archived=False) | Q(undone_at__isnull=False, archived=True)
    return models.Compaction.objects.filter(wanting).exclude(reason=MASK)


def assistants_to_archive() -> list[int]:
    """Ids of the assistants that have such, by one query for all."""
    return sorted(set(unsettled().values_list("assistant_id", flat=True)))


COPIED = (
    "reason",
    "from_seq",
    "upto_seq",
    "prefix_hash",
    "compacted_count",
    "original_token_count",
    "summary_token_count",
    "facts_found",
    "facts_kept",
    "facts_rescued",
    "rung",
    "previous_id",
)
FACT_FIELDS = tuple(item.name for item in fields(Fact) if item.name != "audience")
PLAIN = ("summary", "speakers", "consulted", "cost")


def fields_of(record: CompactionRecord) -> dict[str, Any]:
    """The row's fields, but for id, assistant and time."""
    copied = {name: getattr(record, name) for name in COPIED}
    plain = {name: dict(getattr(record, name)) for name in PLAIN}
    facts = {key: [plain_fact(fact) for fact in facts] for key, facts in record.facts.items()}
    return copied | plain | {"facts": facts}


def plain_fact(fact: Fact) -> dict[str, Any]:
    """A fact as JSON takes it. Its audience is that of the part it stands in."""
    return {name: getattr(fact, name) for name in FACT_FIELDS}


def read_facts(key: str, stored: Any) -> tuple[Fact, ...]:
    """The facts of one part; what no longer is one is left out."""
    audience = part_audience(key)
    facts = []
    for entry in stored if isinstance(stored, list) else ():
        with suppress(TypeError, KeyError):
            facts.append(Fact(**{**entry, "terms": tuple(entry["terms"]), "audience": audience}))
    return tuple(facts)


def record_from_row(row: models.Compaction) -> CompactionRecord:
    """A row as plain data."""
    return CompactionRecord(
        id=row.id,
        compacted_at=row.at.isoformat(),
        facts={key: read_facts(key, stored) for key, stored in row.facts.items()},
        **{name: getattr(row, name) for name in (*COPIED, *PLAIN)},
    )
