"""Act unasked, within a budget for each hour."""

from collections.abc import Callable
from datetime import datetime, timedelta

from evennia_ai.errors import StoreUnavailable
from evennia_ai.policy.conversation.inbox import (
    HOUR_S,
    AutonomyState,
    may_answer_assistant,
    should_act,
)
from evennia_ai.ports import Company, Inbox, Settings, Turns
from evennia_ai.scheduling import Clock
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_AUTONOMOUS


class Will:
    """Decides when an assistant acts unasked, and counts how often it did.

    Answers to other assistants count as unasked: no player said the line.
    """

    def __init__(
        self,
        settings: Settings,
        inbox: Inbox,
        turns: Turns,
        company: Company,
        clock: Clock,
        now: Callable[[], datetime],
    ) -> None:
        self._settings, self._inbox, self._turns = settings, inbox, turns
        self._company, self._clock, self._now = company, clock, now
        self._acts: list[float] | None = None

    def acts(self) -> list[float]:
        """Return the times of the last hour's unasked turns, in the clock's seconds.

        Raises StoreUnavailable where the log has to be read and cannot be.
        """
        if self._acts is None:
            now, seconds = self._now(), self._clock.seconds()
            since = now - timedelta(seconds=HOUR_S)
            times = self._turns.times_of(CONTEXT_TICK_AUTONOMOUS.name, since)
            times = sorted([*times, *self._inbox.times_of_assistants(since)])
            self._acts = [seconds - (now - at).total_seconds() for at in times]
        return self._acts

    def note_act(self) -> None:
        """Count an unasked turn. Before the budget is first read, the log counts it."""
        if self._acts is not None:
            now = self._clock.seconds()
            self._acts = [*(at for at in self._acts if now - at < HOUR_S), now]

    def may_answer_assistants(self) -> bool:
        """Return True if the hour has a call left; also if the database cannot tell now."""
        try:
            acts = self.acts()
        except StoreUnavailable:
            return True
        limit = self._settings.config.autonomous_calls_per_hour
        return may_answer_assistant(acts, self._clock.seconds(), limit)

    def wants_to_act(self) -> bool:
        """Return True if the assistant should act unasked now."""
        config = self._settings.config
        if config.autonomous_calls_per_hour == 0:
            return False
        state = AutonomyState(
            now=self._clock.seconds(),
            players_near=self._company.players_near(),
            acts=tuple(self.acts()),
            last_talk_at=self._company.last_talk_at,
            news_at=self._company.news_at,
        )
        return should_act(state, config.autonomous_calls_per_hour, config.autonomy_quiet)
