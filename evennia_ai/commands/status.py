"""``aistatus``: a table of all assistants, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import AICommand, all_assistants, table, told_apart
from evennia_ai.commands.history_rendering import how_it_ended, pass_summary
from evennia_ai.config import ModelProfile, usable_window, window_known
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.crowd import budget_name
from evennia_ai.game.sleep_state import mode_of
from evennia_ai.game.texts import ERROR_KINDS
from evennia_ai.policy.disclosure import ERRORS, FIGURES, PUBLIC_MEMORIES
from evennia_ai.policy.limits.money import TIGHT
from evennia_ai.policy.sleep_schedule import GAME, REASONS
from evennia_ai.store import reports
from evennia_ai.store.attributes import read_attribute, script_of
from evennia_ai.store.usage import cached_on, use_on

AWAKE = frozenset({"awake", "thinking"})
TITLES = ("Assistant", "Where", "Mode", "Model", "Context", "Queue", "Calls", "Tokens")
SHOWN_NAMES = 5
SHOWN_CALLS = 8

Problem = tuple[str, str]  # what it concerns, and what is wrong


class CmdAIStatus(AICommand):
    """
    see all assistants at a glance

    Usage:
      aistatus

    The table shows for each assistant its mode, how full its context window is,
    how many events wait for an answer, and its model calls and tokens of today
    (UTC).

    Below the table stand
      - the sleeping assistants: since when they sleep, and what they did
      - the awake assistants: what they are doing by their day plan, and how
        many goals they have
      - the models: the size of each context window, and where that number comes
        from (the profile, the endpoint, or a table by the model's name)
      - today's prompt tokens that endpoints took from their caches
      - the model calls that wait: whose, since when, and for what
      - what is wrong: a model that is paused after failures, a budget that is
        nearly used up, an invalid setting, the last error of a model, how many
        lines nobody answered today, and why
    """

    key = "aistatus"
    reads = FIGURES
    named: Sequence[tuple[AssistantScript, str]]  # every assistant with its name

    def run(self) -> None:
        scripts = all_assistants()
        if not scripts:
            self.msg(
                "There are no assistants yet. To attach one: |waisetup <character> = <persona>|n"
            )
            return
        self.named = list(zip(scripts, told_apart(scripts), strict=True))
        self.msg(table(TITLES, self.rows()))
        asleep = list(self.sleep_lines())
        for name, line in [*asleep, *self.activity_lines()]:
            self.msg(f"|x{clean_output(name, 60)}:|n {line}")
        if asleep:
            self.msg(f"|xTimes in {self.reader.zone}.|n")
        lines = window_lines(script.mind.settings.profile for script in scripts)
        for line in [*lines, *self.cache_lines(), *self.waiting_lines()]:
            self.msg(line)
        for subject, problem in [*self.shared_problems(), *self.all_own_problems()]:
            self.msg(f"|y{clean_output(subject, 120)}:|n {clean_output(problem, 300)}")

    def rows(self) -> Iterator[list[str]]:
        queues, used = reports.queue_lengths(), use_on(self.services.now().date())
        prompts = reports.last_prompt_tokens()
        for script, name in self.named:
            calls, tokens = used.get(script.id, (0, 0))
            window = usable_window(script.config, script.mind.settings.profile)
            place = script.character.location
            yield [
                name,
                told_apart([place])[0] if place else "nowhere",
                mode_of(script.character, script.services),
                f"{script.mind.settings.profile.name}:{script.mind.settings.profile.model}",
                f"{prompts.get(script.id, 0) / window:.0%}",
                str(queues.get(script.id, 0)),
                f"{calls:,}",
                f"{tokens:,}",
            ]

    def sleep_lines(self) -> Iterator[tuple[str, str]]:
        """Yield each sleeper's name with since when and why it sleeps, and its last pass."""
        asleep = [(script, name) for script, name in self.named if script.mind.rest.is_asleep]
        passes = reports.last_passes() if asleep else {}
        for script, name in asleep:
            since = self.since(read_attribute(script, "asleep_since"))
            parts = [f"asleep{since} ({REASONS[script.mind.rest.cause]})"]
            if script.config.sleep_schedule:
                clock = " of the game world" if script.config.sleep_clock == GAME else ""
                parts.append(f"sleep hours {script.config.sleep_schedule}{clock}")
            if last := passes.get(script.id):
                summary = f", {pass_summary(last, self.reader)}" if last["ended_at"] else ""
                ended = how_it_ended(last, script.mind.rest.state.pass_id)
                parts.append(f"last pass ({last['id']}): {ended}{summary}")
            yield name, "; ".join(parts)

    def since(self, seconds: Any) -> str:
        """Return when an assistant fell asleep; empty if that is unknown."""
        try:
            at = datetime.fromtimestamp(seconds, UTC)
            return f" since {self.reader.clock(at, '%m-%d %H:%M')}"
        except (TypeError, ValueError, OverflowError, OSError):
            return ""

    def activity_lines(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each awake one with its public activity and open goals; no query."""
        for script, name in self.named:
            if mode_of(script.character, script.services) in AWAKE:
                count = len(script.character.ai_goals.open())
                plan = (
                    script.mind.knowledge.occupation() if self.reader.may(PUBLIC_MEMORIES) else ()
                )
                about = [f"about to {line.text}" for line in plan]
                about += [f"{count} open goal{'s' if count > 1 else ''}"] if count else []
                if about:
                    yield name, clean_output("; ".join(about), 160)

    def cache_lines(self) -> Iterator[str]:
        prompt_tokens, cached_tokens = cached_on(self.services.now().date())
        if cached_tokens:
            share = cached_tokens / max(prompt_tokens, cached_tokens)
            yield (
                f"Prompt tokens today: {prompt_tokens:,}, of these {cached_tokens:,} cached "
                f"({share:.0%})."
            )

    def waiting_lines(self) -> Iterator[str]:
        known = {str(script.id): name for script, name in self.named}
        queue = self.services.gateway.lanes.queue()
        for call in queue[:SHOWN_CALLS]:
            error = f" ({self.reader.show(ERRORS, call.error, 'error')})" if call.error else ""
            name = clean_output(known.get(call.assistant, "The game"), 60)
            yield f"|xCall of {name}:|n {clean_output(f'{call}{error}', 300)}"
        if len(queue) > SHOWN_CALLS:
            yield f"|xFurther calls that wait:|n {len(queue) - SHOWN_CALLS}"

    def shared_problems(self) -> Iterator[Problem]:
        services, reader = self.services, self.reader
        if services.switched_off:
            yield "Stopped", f"{services.switched_off} To start them: aistart all"
        for lane in services.gateway.lanes:
            if lane.paused_s > 0:
                error = reader.show(ERRORS, lane.breaker.error, "error")
                spare = lane.profile.fallback
                instead = f" ({spare.name}:{spare.model} answers)" if spare else ""
                yield (
                    f"Model {lane.name}",
                    f"paused for {lane.paused_s:.0f} s more{instead}: {error}",
                )
        for use in services.gateway.budgets.used():
            if use.level >= TIGHT:
                yield budget_name(use, reader), str(use)
        for complaint in services.complaints:
            yield "Settings, fix this", complaint
        yield from self.unanswered_today()
        if services.crowd.trouble:
            yield "Players", services.crowd.trouble
        if services.recall_trouble:
            yield "Recall", reader.show(ERRORS, services.recall_trouble, "error")
        if services.semantic.trouble:
            yield "Long-term memory", reader.show(ERRORS, services.semantic.trouble, "error")

    def unanswered_today(self) -> Iterator[Problem]:
        """Yield how many lines expired today, and why the last one did, if any did."""
        midnight = self.services.now().replace(hour=0, minute=0, second=0, microsecond=0)
        count, last = reports.unanswered_since(midnight)
        script = script_of(last.assistant_id) if last else None
        if last and script:
            name, reason = script.mind.who.name, self.reader.show(ERRORS, last.reason, "reason")
            lines = f"{count:,} line{'s' * (count != 1)} today (UTC), the last one to {name}"
            yield "Unanswered", f"{lines}: {reason}. To see which: aihistory/unanswered {name}"

    def all_own_problems(self) -> Iterator[Problem]:
        """Yield the problems of single assistants.

        One that several have is told once, and not at all if the model of all is paused for it.
        """
        errors, found = reports.last_error(), dict[Problem, list[str]]()
        paused = {one.breaker.error for one in self.services.gateway.lanes if one.paused_s > 0}
        for script, name in self.named:
            kind, words = errors.get(script.id, ("", ""))
            told = []
            if words and words not in paused:
                kind = ERROR_KINDS.get(kind, "a model error")
                told.append(("", self.reader.show(ERRORS, words, kind)))
            told += [("", warning) for warning in script.mind.settings.warnings]
            wrong = [
                *self.missing_prices(script.mind.settings.profile, script.config.money_per_day)
            ]
            told += [(", fix this", one) for one in [*wrong, *script.mind.settings.complaints]]
            for one in told:
                found.setdefault(one, []).append(name)
        for (request, problem), names in found.items():
            yield shortened(names) + request, problem

    def missing_prices(self, profile: ModelProfile, own_budget: float | None) -> Iterator[str]:
        limits = self.services.gateway.limits
        budgets = (own_budget, limits.game_money_per_day, limits.player_money_per_day)
        for one in (profile, profile.fallback):
            if one and one.price is None and any(budget is not None for budget in budgets):
                yield (
                    f"The profile '{one.name}' has no prices for the model '{one.model}', so no "
                    "budget in money holds for it. Set prices."
                )


def shortened(names: Collection[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join([*names][:SHOWN_NAMES]) + more


def window_lines(profiles: Iterator[ModelProfile]) -> list[str]:
    """Return a line for each model in use: its context window, and where the size comes from."""
    lines = []
    for profile in profiles:
        if profile.client == "openai":
            known = window_known(profile)
            amount = f"{known.tokens:,} tokens, " if known.tokens else ""
            name = f"{profile.name}:{profile.model}".rstrip(":")
            line = f"Context window of {name}: {amount}{known.source}."
            lines.append(clean_output(line, 160))
    return list(dict.fromkeys(lines))
