"""A town in which rumours travel for weeks: how far they come, and that no secret does."""

from collections import deque
from random import Random

import pytest

from evennia_ai.contrib.who_knows.rumours import why_untold
from evennia_ai.models import ModelCall, SharedEntry
from tests.contrib.who_knows import town_scene as scene
from tests.contrib.who_knows.town_scene import seed

pytestmark = [pytest.mark.game, pytest.mark.engine]

asked_for, recalls = scene.asked_for, scene.recalls
HOUR_S = 3_600.0
IN_A_ROOM, FRIENDS = 3, 2


@pytest.fixture
def town(game, asked_for):
    """Return a function that makes characters, three to a room, who know two others each."""

    def make(size):
        (extension,) = (
            item for item in asked_for("who_knows").extensions if item.name == "who_knows"
        )
        extension.rng.seed(7)
        rng, people = Random(7), []
        for number in range(size):
            if number % IN_A_ROOM == 0:
                room = game.room(f"Room {number}")
            people.append(game.assistant(f"Npc{number}", room))
        for who in people[:-1]:
            for other in rng.sample(people[:-1], FRIENDS):
                who.ai_profiles.observe(other.dbref, "They met at the fair.")
        people[-1].location = None  # whom nobody meets
        return extension, people

    return make


def connected(people):
    """Return whom each character can reach, by dbref."""
    near = {who.dbref: set() for who in people}
    for who in people:
        place = who.location.contents if who.location else []
        for other in {item.dbref for item in place} | {
            record.get("entity") for record in who.ai_profiles.held()
        }:
            if other in near:
                near[who.dbref].add(other)
                near[other].add(who.dbref)
    reach = {}
    for who in near:
        seen, waiting = {who}, deque([who])
        while waiting:
            for other in near[waiting.popleft()] - seen:
                seen.add(other)
                waiting.append(other)
        reach[who] = seen
    return reach


@pytest.mark.parametrize(
    ("size", "days", "rumours", "secrets"),
    [
        pytest.param(10, 6, 12, 60, id="ten characters"),
        pytest.param(50, 30, 1_000, 10_000, id="fifty characters", marks=pytest.mark.soak),
    ],
)
def test_rumours_reach_most_and_secrets_nobody(game, town, recalls, size, days, rumours, secrets):
    extension, people = town(size)
    for number in range(secrets):
        who = people[number % size]
        hidden = {"audience": ["#1"]} if number % 2 else {"tags": ["secret"]}
        kept = who.journal.add(f"Secret word zyx{number} opens the vault.", **hidden)
        assert why_untold(who.journal.get(kept))
    made = [
        seed(extension, people[number % size], f"Rumour {number}: a ship of number {number} sank.")
        for number in range(rumours)
    ]
    for _ in range(days * 24):
        game.clock.advance(HOUR_S)
        game.result(extension.travel.step(), 0.01)
    reach = connected(people)
    shares = [len(item.hearers.keys() - {item.first}) / max(1, len(reach[item.first]) - 1)
              for item in made if len(reach[item.first]) > 1]  # fmt: skip
    print(f"reached {sum(shares) / len(shares):.1%} of the connected, at least {min(shares):.1%}")
    assert min(shares) >= 0.8
    assert all(item.hearers.keys() <= reach[item.first] for item in made)
    assert not SharedEntry.objects.filter(text__contains="zyx").exists()
    far = next(who for who in people if who.dbref in made[0].hearers and who is not people[0])
    assert not any("zyx" in line for line in recalls(far, "secret word opens the vault"))
    assert any(" told you" in line for line in recalls(far, "ship of number 0 sank"))
    for item in made[::10]:
        knew = set(item.hearers)
        extension.rumours.retract(item)
        assert not any(item.id in extension.rumours.known_by[who] for who in knew)
    assert not any("Rumour 0:" in line for line in recalls(far, "ship of number 0 sank"))
    left = SharedEntry.objects.values_list("entry", "assistant_id").distinct()
    assert len(left) == rumours - len(made[::10])
    assert not ModelCall.objects.exists() and not game.model.requests
