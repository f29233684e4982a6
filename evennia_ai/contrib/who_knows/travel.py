"""Rumours travel: now and then the characters of the game meet and tell each other. No model."""

from datetime import timedelta
from random import Random
from typing import Any

from evennia.typeclasses.attributes import Attribute
from twisted.internet.defer import DeferredLock, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.contrib.who_knows.rumours import RumourStore
from evennia_ai.contrib.who_knows.telling import Rumour, RumourSettings, meetings, select_news
from evennia_ai.ports.profiles import EntityProfiles
from evennia_ai.scheduling import Coroutine, yield_to_reactor
from evennia_ai.store.attributes import assistants
from evennia_ai.store.personal_data import DBREF

log = Logger()

SOONEST_S, LATEST_S = 60.0, 3_600.0  # between two steps, however the world's time runs
NEWS_DAYS = 30  # of the world: then nobody tells a rumour on


class Travel:
    """Lets characters who meet tell each other what they heard, every hour of the world."""

    def __init__(self, services: Any, rumours: RumourStore, rng: Random) -> None:
        self._services, self._rumours, self._rng = services, rumours, rng
        self._one_at_a_time = DeferredLock()

    def begin(self) -> None:
        """Step from now on, until no rumour is news; may be called again."""
        self._services.timer.keep("rumours", self._wait_s(), self._work)

    def _real_s(self, world_s: float) -> float:
        return world_s / max(0.01, float(self._services.world_clock.pace))

    def _wait_s(self) -> float:
        hour_s = self._real_s(self._services.world_clock.units["hour"])
        return min(LATEST_S, max(SOONEST_S, hour_s))

    def _work(self) -> float | None:
        rumours = self._rumours
        if not rumours.is_stale and not any(map(self._is_news, rumours.by_id.values())):
            return None
        if not self._one_at_a_time.locked:
            self.step().addErrback(lambda failure: log.failure("rumours wait", failure))
        return self._wait_s()

    def _is_news(self, rumour: Rumour) -> bool:
        clock = self._services.world_clock
        return bool(clock.passed(rumour.learnt_at) <= NEWS_DAYS * clock.units["day"])

    def step(self, at_once: bool = False) -> Any:
        """Let everybody meet once; fires with how many were told something.

        ``at_once`` leaves out the delay. Fails with StoreUnavailable.
        """
        return self._one_at_a_time.run(self._step, at_once)

    @inlineCallbacks
    def _step(self, at_once: bool) -> Coroutine[int]:
        put, rumours = self._services.slices.put, self._rumours
        yield rumours.load(put)
        rooms, scripts, friends = people_of_the_game()
        count, rules = 0, dict[str, RumourSettings]()
        for teller, hearer in meetings(rooms, friends, self._rng):
            new = rumours.known_by.get(teller, set()) - rumours.known_by.get(hearer, set())
            if not new:
                continue
            yield yield_to_reactor(put)
            if teller not in rules:
                script = AssistantScript.objects.get(id=scripts[teller])
                rules[teller] = script.config.part(RumourSettings)
            news = [r for n in new if (r := rumours.by_id.get(n)) and self._is_news(r)]
            now = self._services.now()
            chosen = select_news(news, teller, rules[teller], now, self._rng)
            if chosen:
                delay_s = 0.0 if at_once else self._real_s(rules[teller].rumour_delay)
                at = now + timedelta(seconds=delay_s)
                count += rumours.tell(chosen, teller, hearer, now, at)
        return count


def people_of_the_game() -> tuple[dict[str, int | None], dict[str, int], dict[str, list[str]]]:
    """Return the room, the assistant and the acquaintances of each character, by dbref.

    Two queries, and no typeclass.
    """
    rows = assistants().values_list("id", "db_obj_id", "db_obj__db_location_id")
    people = {f"#{owner}": (room, script) for script, owner, room in rows}
    friends: dict[str, list[str]] = {}
    profiles = Attribute.objects.filter(db_attrtype=EntityProfiles.kind)
    for owner, text in profiles.values_list("objectdb__id", "db_strvalue"):
        friends.setdefault(f"#{owner}", []).extend(DBREF.findall(text or ""))
    rooms = {who: room for who, (room, _script) in people.items()}
    return rooms, {who: script for who, (_room, script) in people.items()}, friends
