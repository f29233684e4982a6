"""Which words the setting ``MODERATION`` refuses, and what an endpoint's reply means."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from evennia_ai.errors import ConfigError
from evennia_ai.policy.staff_controls import plain

HEARD, SPOKEN = "heard", "spoken"
OPEN, CLOSED = "open", "closed"
DOWN = "moderation is not available"
NOTHING_SPOKEN = "Until this is right, characters say nothing but their fallback line."
ENTRIES = frozenset({"words", "callable", "endpoint", "fail", "timeout", "heard", "spoken"})


@dataclass(frozen=True)
class ModerationRules:
    """The setting ``MODERATION``."""

    words: Collection[str] = frozenset()  # words and phrases that are refused, as `plain` has them
    callable: str = ""  # the path of a function of the game, "" for none
    endpoint: Mapping[str, Any] = field(default_factory=dict)  # a model profile's fields, or empty
    fail: str = CLOSED  # if the function or the endpoint fails: "open" lets words pass
    timeout: float = 3.0  # seconds for the function and for the endpoint
    heard: bool = True  # True if heard words are checked
    spoken: bool = True  # True if spoken words are checked

    def applies_to(self, direction: str) -> bool:
        checked = self.heard if direction == HEARD else self.spoken
        return checked and bool(self.words or self.callable or self.endpoint)


def read_rules(value: Any) -> ModerationRules:
    """Return the setting's rules; raises ConfigError if it is wrong."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"must be a mapping, not {value!r}")
    if unknown := sorted(set(value) - ENTRIES):
        raise ConfigError(f"has no entry '{unknown[0]}'. There are: {', '.join(sorted(ENTRIES))}")
    rules = ModerationRules(**{**value, "words": frozenset(map(plain, value.get("words", ())))})
    if rules.fail not in (OPEN, CLOSED):
        raise ConfigError(f"fail must be 'open' or 'closed', not {rules.fail!r}")
    if not isinstance(rules.timeout, (int, float)) or not 0 < rules.timeout <= 60:
        raise ConfigError(f"timeout must be above 0 and at most 60 seconds, not {rules.timeout!r}")
    if not isinstance(rules.endpoint, Mapping) or not isinstance(rules.callable, str):
        raise ConfigError("endpoint must be a mapping, and callable a dotted path")
    return rules


def read_verdicts(body: bytes, count: int) -> list[str]:
    """Return why an endpoint refuses each text, "" for none; raises ValueError without results."""
    reply = json.loads(body)
    results = reply.get("results") if isinstance(reply, Mapping) else None
    if not isinstance(results, list) or len(results) != count:
        raise ValueError(f"it sent no {count} results")
    return [refusal(result) for result in results]


def refusal(result: Mapping[str, Any]) -> str:
    """Return the categories of a refused text, "" for an allowed one; raises ValueError."""
    flagged = result.get("flagged") if isinstance(result, Mapping) else None
    if flagged not in (True, False):
        raise ValueError("a result has no 'flagged'")
    if not flagged:
        return ""
    categories = result.get("categories")
    known = categories.items() if isinstance(categories, Mapping) else ()
    named = [key for key, value in known if value]
    return ", ".join(map(str, named)) or "flagged"
