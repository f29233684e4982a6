"""Facts of a made-up quay, and a model that tells them or invents others."""

import random
import re
from typing import Any

SUBJECTS = "baker cooper weaver tanner fletcher mason potter tinker chandler farrier".split()
THINGS = (
    "lantern kettle saddle anvil barrel quilt whistle compass mirror ladder drum sickle".split()
)
PLACES = (
    "orchard belfry cellar quarry meadow chapel granary lighthouse stable attic brewery".split()
)
FACT = "The {subject} hid a {thing} in the {place}."
TOLD = (
    "In the {place} lies the {thing} that the {subject} hid.",
    "It was the {subject} who hid the {thing}, in the {place}.",
    "I heard that the {subject} hid some {thing} in the {place}.",
    "People say the {subject} keeps a {thing} hidden at the {place}, you know.",
    "Look for that {thing} in the {place}, the {subject} put it there.",
)
FACT_LINE = re.compile(FACT.format(subject=r"(\w+)", thing=r"(\w+)", place=r"(\w+)"))
SUMMARY = "Ann and Bob told Mira where people of the quay hid their things."


class Teller(list[Any]):
    """A script that never ends: it tells a fact of its prompt, or one that it invents."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.known: list[tuple[str, str]] = []  # (what was said, the fact it tells or "")
        self.told: set[str] = set()  # an invention that was told before is in the talk

    def __bool__(self) -> bool:
        return True

    def pop(self, index: Any = 0) -> Any:
        return self.say

    def say(self, request: Any) -> Any:
        if "summar" in str(request.messages[0]["content"])[:400].lower():
            return SUMMARY
        text = "\n".join(str(message["content"]) for message in request.messages)
        facts = sorted({found[0] for found in FACT_LINE.finditer(text)})
        invents = not facts or self.rng.random() < 0.5
        fact = FACT.format(**some_fact(self.rng)) if invents else self.rng.choice(facts)
        while invents and (fact in facts or fact in self.told):
            fact = FACT.format(**some_fact(self.rng))
        found = FACT_LINE.fullmatch(fact)
        assert found
        words = dict(zip(("subject", "thing", "place"), found.groups(), strict=True))
        said = self.rng.choice(TOLD).format(**words)
        self.known.append((said, "" if invents else fact))
        self.told.add(fact)
        return {"say": {"text": said}}


def some_fact(rng: random.Random) -> dict[str, str]:
    """Return a fact by chance."""
    words = {"subject": SUBJECTS, "thing": THINGS, "place": PLACES}
    return {name: rng.choice(some) for name, some in words.items()}
