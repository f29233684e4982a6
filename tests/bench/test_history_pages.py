"""``aihistory`` over a hundred thousand messages, typed by an admin, on a database file."""

import random
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from statistics import median
from typing import Any

import pytest

from evennia_ai.models import Message
from tests.bench.figures import Sheet
from tests.game import conftest as scene
from tests.game.conftest import flat
from tests.game.players import Player

service, model, game, tavern = scene.service, scene.model, scene.game, scene.tavern
mira, ann, bob, admin = scene.mira, scene.ann, scene.bob, scene.admin

MESSAGES = 100_000
PAGE_MS, SEARCH_MS = 50.0, 300.0
THINGS = "river ferry barrel winter guard cheese ledger candle cellar anchor bread harbour".split()
ACTS = "leaks freezes leaves waits burns sinks opens breaks comes goes".split()
RARE = "whistle"
COMMANDS = {
    "the first page": ("aihistory Mira", PAGE_MS),
    "the last page": (f"aihistory Mira = {MESSAGES // 20}", SEARCH_MS),
    "a search for a rare word": (f"aihistory/search Mira = {RARE}", SEARCH_MS),
    "a search for a common word": ("aihistory/search Mira = cheese", SEARCH_MS),
    "a search for three words": ("aihistory/search Mira = cheese candle harbour", SEARCH_MS),
    "a search without a hit": ("aihistory/search Mira = zebra", SEARCH_MS),
    "a player": ("aihistory/player Mira = Bob", SEARCH_MS),
    "a day": ("aihistory Mira = since 2026-01-10, until 2026-01-10", SEARCH_MS),
    "all filters": (
        f"aihistory Mira = since 2026-01-10, until 2026-02-20, player Ann, search {RARE}",
        SEARCH_MS,
    ),
}


def rows(assistant_id: int, people: list[Any], now: datetime) -> Iterator[Message]:
    """Yield messages of some months in random words, every tenth in private."""
    dice = random.Random(7)
    everybody = [one.dbref for one in people]
    for number in range(MESSAGES):
        who, private = dice.choice(people), number % 10 == 0
        words = " ".join(f"the {dice.choice(THINGS)} {dice.choice(ACTS)}" for _ in range(6))
        words += f" {RARE}" * (number % 1_000 == 0)
        heard = number % 2 == 0
        yield Message(
            assistant_id=assistant_id,
            at=now + timedelta(minutes=number),
            role="user" if heard else "assistant",
            content=f"{who.character.key} says: {words}" if heard else words,
            speaker=who.dbref if heard else "",
            speaker_name=who.character.key if heard else "",
            audience=[who.dbref] if private else everybody,
            private=private,
            tokens=30,
        )


@pytest.mark.bench
def test_pages_and_searches_of_a_long_log(
    mira: Any, ann: Player, bob: Player, admin: Player, sheet: Callable[[str], Sheet]
) -> None:
    start = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
    log = rows(mira.assistant.id, [ann, bob], start)
    Message.objects.bulk_create(log, batch_size=5_000)
    paper = sheet("aihistory of 100,000 messages")
    for name, (line, most_ms) in COMMANDS.items():
        took = [timed(admin, line) for _ in range(7)]
        paper.add(name, median(took), "ms", most_ms)
    assert RARE in flat(admin.told(f"aihistory/search Mira = {RARE}"))
    paper.check()


def timed(player: Player, line: str) -> float:
    """Return the milliseconds until what was typed is on the screen."""
    began = time.perf_counter()
    assert player.told(line)
    return (time.perf_counter() - began) * 1000
