"""Rows of worlds that are plain data, and what a check makes of lines about them."""

from evennia_ai.contrib.world_check.check import WorldCheck
from evennia_ai.contrib.world_check.facts import WorldView, opening_row, own_rows
from evennia_ai.policy.facts.terms import TERM
from evennia_ai.policy.texts import sentences

COMPASS = "north northeast east southeast south southwest west northwest".split()


def rows(world, cast=()):
    """Return the rows of a world such as those of the case files; ``cast`` are people of it."""
    people = world["people"]
    known = " ".join([world["room"], *world["exits"], *world["exits"].values(), *people]).casefold()
    minute = minutes(world["hour"])
    openings = {name: map(minutes, value.split("-")) for name, value in world["open"].items()}
    opened = [opening_row((name,), *times, minute) for name, times in openings.items()]
    return opened + own_rows(
        WorldView(
            exits=[((name,), place) for name, place in world["exits"].items()],
            directions=COMPASS,
            people=[(name,) for name in people],
            absent=[(name,) for name in cast if name.casefold() not in known],
            carried=[(name,) for name in world["carried"]],
            asker_carries=[(name,) for name in world["asker_carries"]],
            elsewhere=[],
            prices=[((w["name"],), w["price"], f"{w['price']} coins") for w in world["wares"]],
            minute=minute,
            asker=world["asker"],
        )
    )


def minutes(clock):
    """Return the minute of the day of a time such as "21:40"."""
    hour, minute = clock.split(":")
    return 60 * int(hour) + int(minute)


def cast_of(case):
    """Return the names that the texts of a case have within a sentence, as people of its world."""
    texts = [item["text"] for item in (*case["false"], *case["true"])]
    matches = [m for text in texts for part in sentences(text) for m in TERM.finditer(part)]
    return sorted(
        {m["name"] for m in matches if m["name"] and m.start() and m["name"][:2] not in ("I", "I'")}
    )


def judged(item, facts):
    """Return the row that a reply contradicts by structure, and whether a model is asked."""
    check, parts = WorldCheck(facts, item["line"]), sentences(item["text"])
    wrong = [fact for part in parts if (fact := check.contradicted(part))]
    return (wrong or [None])[0], bool(wrong or check.to_judge(parts))
