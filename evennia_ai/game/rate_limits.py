"""What every person causes lately, and the alert of staff at a flood."""

from collections.abc import Iterable
from dataclasses import replace

from django.conf import settings
from evennia.comms.models import ChannelDB
from evennia.utils import logger
from twisted.logger import Logger

from evennia_ai.game.client_text import clean_output
from evennia_ai.game.perception import find_object, is_assistant
from evennia_ai.messages import IncomingEvent
from evennia_ai.policy.limits import people
from evennia_ai.scheduling import Clock

log = Logger()

TELL_AGAIN_S = 20.0  # a person reads at most one refusal in this time
MOST_PEOPLE = 10_000  # that are remembered; the oldest give way
SHOWN_NAMES = 5


class RateLimiter:
    """The limits of all people, in the memory of this process."""

    def __init__(self, clock: Clock, limits: people.PersonLimits) -> None:
        self._clock = clock
        self.limits = limits
        self._people: dict[str, people.Person] = {}
        self._crowd = people.Crowd()
        self._alert = ""

    def judge(self, event: IncomingEvent, listener: str) -> str:
        """Count a line that an assistant heard; return `ANSWER`, or why it is not answered."""
        now = self._clock.seconds()
        payers = payers_of(event.speaker)
        if payers and not event.addressed:
            payers = (f"{event.speaker} near {listener}",)
        verdicts = [people.judge_line(self._person(payer), now, self.limits) for payer in payers]
        verdict = next(filter(None, verdicts), people.ANSWER)
        hostile = int(
            event.addressed and verdict == people.ANSWER and people.is_hostile(event.text)
        )
        for payer in payers:
            self._keep(
                payer, people.after_line(self._person(payer), now, verdict, hostile, self.limits)
            )
        if verdict != people.ANSWER:
            self._crowd = people.after_refusal(self._crowd, now, event.speaker_name)
            self._alert_staff(now)
        return verdict

    def held_back(self, speakers: Iterable[str]) -> frozenset[str]:
        """Return the speakers who said too much in the last minute."""
        since = self._clock.seconds() - people.MINUTE_S
        return frozenset(item for item in speakers if self._person(item).refused_at > since)

    def should_tell(self, speaker: str) -> bool:
        """Return True if a refused person has read no refusal lately; count this one."""
        now, person = self._clock.seconds(), self._person(speaker)
        if now - person.told_at < TELL_AGAIN_S:
            return False
        self._keep(speaker, replace(person, told_at=now))
        return True

    @property
    def trouble(self) -> str:
        """Return the latest alert while it is fresh, else ""; `aistatus` shows it."""
        age_s = self._clock.seconds() - self._crowd.alerted_at
        return self._alert if age_s < self.limits.alert_pause else ""

    def _person(self, payer: str) -> people.Person:
        return self._people.get(payer) or people.Person()

    def _keep(self, payer: str, person: people.Person) -> None:
        self._people.pop(payer, None)  # the newest stand last
        self._people[payer] = person
        if len(self._people) > MOST_PEOPLE:
            del self._people[next(iter(self._people))]

    def _alert_staff(self, now: float) -> None:
        """Tell staff once that a flood began: security log, staff channel and `aistatus`."""
        if not people.is_flood(self._crowd, now, self.limits):
            return
        names = sorted(self._crowd.names)
        shown = ", ".join(clean_output(name, 40) for name in names[:SHOWN_NAMES])
        more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
        self._alert = (
            f"a flood: {len(self._crowd.refused)} lines to characters were refused in a minute, "
            f"of {shown}{more}."
        )
        self._crowd = replace(self._crowd, alerted_at=now)
        logger.log_sec(f"evennia_ai: {self._alert}")
        tell_channel(f"NPCs: {self._alert}")


def payers_of(dbref: str) -> tuple[str, ...]:
    """Return who pays for a line: its speaker and the account; nobody for assistants."""
    character = find_object(dbref)
    if character is None or is_assistant(character):
        return ()
    return (dbref, f"account {character.db_account_id}") if character.db_account_id else (dbref,)


def tell_channel(line: str) -> None:
    """Send a line to Evennia's channel for staff, if the game has it."""
    key = (getattr(settings, "CHANNEL_MUDINFO", None) or {}).get("key", "")
    for channel in ChannelDB.objects.filter(db_key=key) if key else ():
        try:
            channel.msg(line)
        except Exception:  # noqa: BLE001  # a game's channel; an alert must not lose a player's line
            log.failure("evennia_ai: the staff channel did not take an alert; it is in the log")
