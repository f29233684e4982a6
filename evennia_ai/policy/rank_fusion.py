"""One ranking out of several."""

from __future__ import annotations

from collections.abc import Sequence

from evennia_ai.policy.provenance import Record

FUSION_K = 60


def fuse_ranks(*rankings: Sequence[Record]) -> list[Record]:
    """Records found in several ways, best first: what several found counts before what one did.

    Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), with their k = 60; of equals what
    the first ranking has comes first.
    """
    scores: dict[str, float] = {}
    records: dict[str, Record] = {}
    for ranking in rankings:
        for rank, record in enumerate(ranking, 1):
            records.setdefault(record["id"], record)
            scores[record["id"]] = scores.get(record["id"], 0.0) + 1 / (FUSION_K + rank)
    return [records[name] for name in sorted(scores, key=lambda name: -scores[name])]
