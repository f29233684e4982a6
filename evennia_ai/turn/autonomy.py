"""Act unasked, within a budget for each hour."""

from dataclasses import dataclass
from datetime import timedelta

from evennia_ai.errors import StoreUnavailable
from evennia_ai.policy.conversation.inbox import (
    HOUR_S,
    AutonomyState,
    may_answer_assistant,
    should_act,
)
from evennia_ai.ports import Company, Inbox, Services, Settings, Turns
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_AUTONOMOUS


@dataclass(eq=False)
class Will:
    """Decides when an assistant acts unasked, and counts how often it did.

    Answers to other assistants count as unasked: no player said the line.
    """

    _settings: Settings
    _inbox: Inbox
    _turns: Turns
    _company: Company
    _services: Services
    _acts: list[float] | None = None

    def acts(self) -> list[float]:
        """Return the times of the last hour's unasked turns, in the clock's seconds.

        Raises StoreUnavailable where the log has to be read and cannot be.
        """
        if self._acts is None:
            now, seconds = self._services.now(), self._services.clock.seconds()
            since = now - timedelta(seconds=HOUR_S)
            times = self._turns.times_of(CONTEXT_TICK_AUTONOMOUS.name, since)
            times = sorted([*times, *self._inbox.times_of_assistants(since)])
            self._acts = [seconds - (now - at).total_seconds() for at in times]
        return self._acts

    def note_act(self) -> None:
        """Count an unasked turn. Before the budget is first read, the log counts it."""
        if self._acts is not None:
            now = self._services.clock.seconds()
            self._acts = [*(at for at in self._acts if now - at < HOUR_S), now]

    def may_answer_assistants(self) -> bool:
        """Return True if the hour has a call left; also if the database cannot tell now."""
        try:
            acts = self.acts()
        except StoreUnavailable:
            return True
        limit = self._settings.config.autonomous_calls_per_hour
        return may_answer_assistant(acts, self._services.clock.seconds(), limit)

    def wants_to_act(self) -> bool:
        """Return True if the assistant should act unasked now."""
        config = self._settings.config
        if config.autonomous_calls_per_hour == 0:
            return False
        state = AutonomyState(
            now=self._services.clock.seconds(),
            players_near=self._company.players_near(),
            acts=tuple(self.acts()),
            last_talk_at=self._company.last_talk_at,
            news_at=self._company.news_at,
        )
        return should_act(state, config.autonomous_calls_per_hour, config.autonomy_quiet)
