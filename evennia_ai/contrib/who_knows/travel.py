"""Rumours travel: now and then the characters of the game meet and tell each other. No model."""

from collections.abc import Iterable
from datetime import timedelta
from random import Random
from typing import Any

from evennia.typeclasses.attributes import Attribute
from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.contrib.who_knows.rumours import Rumours
from evennia_ai.contrib.who_knows.telling import Rumour, RumourSettings, meetings, select_told
from evennia_ai.ports.profiles import EntityProfiles
from evennia_ai.scheduling import Coroutine, yield_to_reactor
from evennia_ai.store.attributes import assistants, numbers_of
from evennia_ai.store.personal_data import DBREF

log = Logger()

SOONEST_S, LATEST_S = 60.0, 3_600.0  # between two steps, however the world's time runs
TOLD_FOR_DAYS = 30  # of the world: then a rumour is no news any more


class Travel:
    """Lets characters who meet tell each other what they heard, every hour of the world."""

    def __init__(self, services: Any, rumours: Rumours, rng: Random) -> None:
        self._services, self._rumours, self._rng = services, rumours, rng
        self._is_running = False

    @property
    def pace(self) -> float:
        """The world's seconds in a second."""
        return max(0.01, float(self._services.world_clock.pace))

    def begin(self) -> None:
        """Step from now on, until no rumour is news; may be called again."""
        self._services.timer.keep("rumours", self._wait_s(), self._work)

    def _wait_s(self) -> float:
        hour_s = self._services.world_clock.units["hour"] / self.pace
        return float(min(LATEST_S, max(SOONEST_S, hour_s)))

    def _work(self) -> float | None:
        if not self._rumours.is_stale and not any(map(self._is_news, self._rumours.by_id.values())):
            return None
        if not self._is_running:
            self._is_running = True
            done = self.step()
            done.addErrback(lambda failure: log.failure("evennia_ai: rumours wait", failure))
            done.addBoth(self._end)
        return self._wait_s()

    def _end(self, _result: object) -> None:
        self._is_running = False

    def _is_news(self, rumour: Rumour) -> bool:
        clock = self._services.world_clock
        return bool(clock.passed(rumour.learnt_at) <= TOLD_FOR_DAYS * clock.units["day"])

    @inlineCallbacks
    def step(self, at_once: bool = False) -> Coroutine[int]:
        """Let everybody meet once; fires with how many were told something.

        ``at_once`` leaves out the delay. Fails with StoreUnavailable.
        """
        put, rumours = self._services.slices.put, self._rumours
        yield rumours.load(put)
        rooms, ids = positions()
        count, rules = 0, dict[str, RumourSettings]()
        for teller, hearer in meetings(rooms, friends_of(rumours.known_by, rooms), self._rng):
            new = rumours.known_by.get(teller, set()) - rumours.known_by.get(hearer, set())
            if not new:
                continue
            yield yield_to_reactor(put)
            if teller not in rules:
                rules[teller] = settings_of(ids[teller])
            news = filter(self._is_news, (rumours.by_id[n] for n in new if n in rumours.by_id))
            now = self._services.now()
            chosen = select_told(
                [r for r in news if teller in r.heard], teller, rules[teller], now, self._rng
            )
            delay_s = 0.0 if at_once else rules[teller].rumour_delay / self.pace
            if chosen:
                known_at = now + timedelta(seconds=delay_s)
                count += rumours.tell(chosen, teller, hearer, now, known_at)
        return count


def positions() -> tuple[dict[str, int | None], dict[str, int]]:
    """Return the room and the assistant of each character by dbref. One query, no typeclass."""
    rows = assistants().values_list("id", "db_obj_id", "db_obj__db_location_id")
    places = {f"#{owner}": (place, script) for script, owner, place in rows}
    rooms = {who: place for who, (place, _script) in places.items()}
    return rooms, {who: script for who, (_place, script) in places.items()}


def friends_of(holders: Iterable[str], rooms: Iterable[str]) -> dict[str, set[str]]:
    """Return whom those who know a rumour know, by their profiles. One query."""
    owners = numbers_of(set(holders).intersection(rooms))
    rows = Attribute.objects.filter(db_attrtype=EntityProfiles.kind, objectdb__id__in=owners)
    friends: dict[str, set[str]] = {}
    for owner, people in rows.values_list("objectdb__id", "db_strvalue"):
        friends.setdefault(f"#{owner}", set()).update(DBREF.findall(people or ""))
    return friends


def settings_of(assistant: int) -> RumourSettings:
    script = AssistantScript.objects.get(id=assistant)
    part: RumourSettings = script.config.part(RumourSettings)
    return part
