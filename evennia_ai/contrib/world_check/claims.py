"""What a sentence states of one kind of fact, learned from the examples of ``examples.toml``."""

import tomllib
from pathlib import Path

from evennia_ai.memory.remote_vectors import LearnedKinds
from evennia_ai.policy.texts import listed_examples

SO, NOT, OTHER = "so", "not", "other"  # it is so, or not so, here and now; neither is stated
FREE = "free"  # it costs nothing
DAYTIME = "daytime"  # no kind of fact: which part of the day a sentence tells
# Left out one by one, 78 % and 66 % of the examples of "so" and "not" are told where 3 % of the
# others pass for them; by the meaning alone 64 % and 56 % of the first third (MiniLM).
SHARPNESS, RIDGE, SHARED_WORDS = 2.0, 0.1, 0.4
EXAMPLES = Path(__file__).with_name("examples.toml")


def claim_kinds() -> dict[str, LearnedKinds]:
    """Return the classes of each kind of fact, such as `SO`, `NOT` and `OTHER`, to be learned."""
    tables = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))
    return {
        kind: LearnedKinds(
            {name: listed_examples(text) for name, text in table.items()},
            SHARPNESS,
            RIDGE,
            SHARED_WORDS,
        )
        for kind, table in tables.items()
    }
