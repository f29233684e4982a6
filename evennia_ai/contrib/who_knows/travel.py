"""Rumours travel: now and then the characters of the game meet and tell each other. No model."""

from collections.abc import Collection, Container, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import combinations
from random import Random
from typing import Any

from django.db.models.functions import Left
from evennia.typeclasses.attributes import Attribute
from twisted.internet.defer import DeferredLock, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.contrib.who_knows.rumours import Rumour, RumourSettings, RumourStore
from evennia_ai.ports.profiles import EntityProfiles
from evennia_ai.scheduling import Coroutine, yield_to_reactor
from evennia_ai.store.attributes import SCRIPT_KEY, assistants, numbers_of
from evennia_ai.store.personal_data import DBREF

log = Logger()

SOONEST_S, LATEST_S = 60.0, 3_600.0  # between two steps, however the world's time runs
CONCERNED_CHARS = 1_000  # of a segment of profiles, which begins with those whom it concerns
PIECE = 100  # pairs compared without a pause
MOST_AT_ONCE = 10  # rumours that one character tells another at a meeting, the newest first
VISITS = 1 / 24  # how often those meet who know each other and are apart: about once a day
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
        if not self._rumours.is_stale and not self._news():
            return None
        if not self._one_at_a_time.locked:
            self.step().addErrback(lambda failure: log.failure("rumours wait", failure))
        return self._wait_s()

    def step(self, at_once: bool = False) -> Any:
        """Let everybody meet once; fires with how many were told something.

        ``at_once`` leaves out the delay. Fails with StoreUnavailable.
        """
        return self._one_at_a_time.run(self._step, at_once)

    @inlineCallbacks
    def _step(self, at_once: bool) -> Coroutine[int]:
        put, rumours = self._services.slices.put, self._rumours
        yield rumours.load(put)
        rooms = dict(assistants().values_list("db_obj_id", "db_obj__db_location_id"))
        places = {f"#{number}": room for number, room in rooms.items()}
        count, news = 0, self._news()
        pairs = meetings(places, friends_of(rumours.known_by, places), self._rng)
        for number, (teller, hearer) in enumerate(pairs):
            is_ahead = self._is_ahead(teller, hearer)
            if is_ahead or number % PIECE == 0:
                yield yield_to_reactor(put)
            count += self._pass_on(teller, hearer, news, at_once) if is_ahead else 0
        return count

    def arrive(self, character: Any) -> None:
        """Let a character who moved meet those in its new room, in time slices."""
        me, place = character.dbref, character.location
        others = place.contents if place is not None and self._rumours.known_by else ()
        for who in (item.dbref for item in others if getattr(item, "assistant", None)):
            for pair in ((me, who), (who, me)) if who != me else ():
                if self._is_ahead(*pair):
                    self._services.slices.put(self._pass_on, *pair, self._news())

    def _news(self) -> frozenset[int]:
        """Return the ids of the rumours that are young enough to be told on."""
        clock = self._services.world_clock
        most_s, rumours = NEWS_DAYS * clock.units["day"], self._rumours.by_id
        return frozenset(n for n, item in rumours.items() if clock.passed(item.learnt_at) <= most_s)

    def _is_ahead(self, teller: str, hearer: str) -> bool:
        known_by = self._rumours.known_by
        return not known_by.get(teller, set()) <= known_by.get(hearer, set())

    def _pass_on(
        self, teller: str, hearer: str, news: Collection[int], at_once: bool = False
    ) -> int:
        """Let one character tell another at a meeting; returns how many rumours it told."""
        (owner,) = numbers_of([teller])
        script = AssistantScript.objects.filter(db_key=SCRIPT_KEY, db_obj=owner).first()
        if script is None:
            return 0
        rumours, now = self._rumours, self._services.now()
        rules = script.config.part(RumourSettings)
        new = rumours.known_by.get(teller, set()) - rumours.known_by.get(hearer, set())
        tellable = [rumours.by_id[number] for number in new.intersection(news)]
        chosen = select_news(tellable, teller, rules, now, self._rng)
        at = now + timedelta(seconds=0.0 if at_once else self._real_s(rules.rumour_delay))
        return rumours.tell(chosen, teller, hearer, now, at) if chosen else 0


def friends_of(tellers: Iterable[str], places: Container[str]) -> dict[str, list[str]]:
    """Return whom some characters know, by their profiles. One query, no typeclass."""
    owners = numbers_of(who for who in tellers if who in places)
    rows = Attribute.objects.filter(db_attrtype=EntityProfiles.kind, objectdb__id__in=owners)
    friends: dict[str, list[str]] = {}
    concerned = rows.values_list("objectdb__id", Left("db_strvalue", CONCERNED_CHARS))
    for owner, people in concerned:
        friends.setdefault(f"#{owner}", []).extend(DBREF.findall(people or ""))
    return friends


def meetings(
    rooms: Mapping[str, int | None], friends: Mapping[str, Iterable[str]], rng: Random
) -> list[tuple[str, str]]:
    """Return who meets whom now, in both directions: all in one room, and some of those who know
    each other. ``rooms`` and ``friends`` are by dbref; a room of None is nowhere.
    """
    present: dict[int, list[str]] = {}
    for who, room in rooms.items():
        if room is not None:
            present.setdefault(room, []).append(who)
    met = {pair for people in present.values() for pair in combinations(sorted(people), 2)}
    pairs = ((who, other) for who, others in friends.items() for other in others)
    known = {(min(pair), max(pair)) for pair in pairs if rooms.keys() >= {*pair}}
    met |= {pair for pair in sorted(known - met) if len({*pair}) > 1 and rng.random() < VISITS}
    return [way for pair in sorted(met) for way in (pair, pair[::-1])]


def select_news(
    rumours: Iterable[Rumour], teller: str, rules: RumourSettings, now: datetime, rng: Random
) -> list[Rumour]:
    """Return which of some rumours a teller passes on at a meeting, the newest first."""
    known = ((rumour, rumour.hearers.get(teller)) for rumour in rumours)
    tellable = [rumour for rumour, telling in known if telling and telling.at <= now]
    tellable.sort(key=lambda rumour: rumour.id, reverse=True)
    return [rumour for rumour in tellable if rng.random() >= rules.rumour_loss][:MOST_AT_ONCE]
