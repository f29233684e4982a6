"""Records of compactions, as a test writes them."""

from evennia_ai.policy.context.projection import CompactionRecord


def record(upto_seq, **fields):
    """Return the record of a compaction up to a message, before it is stored."""
    values = {
        "id": 0, "reason": "manual", "from_seq": 1, "upto_seq": upto_seq,
        "summary": {"public": "They talked."}, "compacted_count": 3, "compacted_at": "",
        "original_token_count": 60, "summary_token_count": 20,
    }  # fmt: skip
    return CompactionRecord(**values | fields)
