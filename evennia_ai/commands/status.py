"""``aistatus``: a table of all assistants, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date

from evennia_ai.commands.choosing import told_apart
from evennia_ai.commands.columns import table
from evennia_ai.commands.common import AICommand, all_assistants
from evennia_ai.commands.sleep_rendering import sleep_now
from evennia_ai.config import usable_window, window_known
from evennia_ai.game.budget_alerts import budget_name
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.script_ports import GameScript, GameServices
from evennia_ai.game.sleep_state import is_asleep, mode_of
from evennia_ai.game.wording import ERROR_KINDS
from evennia_ai.llm.lanes import WaitingCall
from evennia_ai.policy.disclosure import ERRORS, FIGURES, PUBLIC_MEMORIES, Reader
from evennia_ai.policy.limits.budgets import TIGHT
from evennia_ai.store.attributes import script_of
from evennia_ai.store.reports import (
    last_error,
    last_passes,
    last_prompt_tokens,
    queue_lengths,
    unanswered_since,
)
from evennia_ai.store.usage import cached_on, use_on

AWAKE = frozenset({"awake", "thinking"})
TITLES = ("Assistant", "Where", "Mode", "Model", "Context", "Queue", "Calls", "Tokens")
SHOWN_NAMES = 5
SHOWN_CALLS = 8


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
    locks = "cmd:perm(Builder)"
    reads = FIGURES

    def run(self) -> None:
        """Show the table."""
        scripts = all_assistants()
        if not scripts:
            self.msg(
                "There are no assistants yet. To attach one: |waisetup <character> = <persona>|n"
            )
            return
        queues, used = queue_lengths(), use_on(self.today())
        prompts, errors = last_prompt_tokens(), last_error()
        names = dict(zip(scripts, told_apart(scripts), strict=True))
        rows = [[names[one], *status_row(one, queues, used, prompts)] for one in scripts]
        self.msg(table(TITLES, rows))
        asleep = list(sleep_lines(scripts, self.reader))
        for script, line in [*asleep, *activity_lines(scripts, self.reader)]:
            self.msg(f"|x{clean_output(names[script], 60)}:|n {line}")
        if asleep:
            self.msg(f"|xTimes in {self.reader.zone}.|n")
        for line in [*window_lines(scripts), *cache_lines(*cached_on(self.today()))]:
            self.msg(line)
        for line in waiting_lines(self.services.gateway.queue(), names, self.reader):
            self.msg(line)
        for subject, problem in problems(self.services, names, errors, self.reader):
            self.msg(f"|y{clean_output(subject, 120)}:|n {clean_output(problem, 300)}")

    def today(self) -> date:
        """Return the current UTC day."""
        return self.services.now().date()


def cache_lines(prompt_tokens: int, cached_tokens: int) -> Iterator[str]:
    """Yield how many of today's prompt tokens came from caches of endpoints, if any did."""
    if cached_tokens:
        share = cached_tokens / max(prompt_tokens, cached_tokens)
        yield (
            f"Prompt tokens today: {prompt_tokens:,}, of these {cached_tokens:,} cached "
            f"({share:.0%})."
        )


def waiting_lines(
    queue: Sequence[WaitingCall], names: Mapping[GameScript, str], reader: Reader
) -> Iterator[str]:
    """Yield a line for each of the first calls that wait, and how many more do."""
    known = {str(script.id): name for script, name in names.items()}
    for call in queue[:SHOWN_CALLS]:
        error = f" ({reader.show(ERRORS, call.error, 'error')})" if call.error else ""
        name = clean_output(known.get(call.assistant, "The game"), 60)
        yield f"|xCall of {name}:|n {clean_output(f'{call}{error}', 300)}"
    if len(queue) > SHOWN_CALLS:
        yield f"|xFurther calls that wait:|n {len(queue) - SHOWN_CALLS}"


def sleep_lines(scripts: Sequence[GameScript], reader: Reader) -> Iterator[tuple[GameScript, str]]:
    """Yield each sleeping assistant with a line about its sleep."""
    asleep = [script for script in scripts if is_asleep(script)]
    last = last_passes() if asleep else {}
    for script in asleep:
        yield script, sleep_now(script, last.get(script.id), reader)


def activity_lines(
    scripts: Sequence[GameScript], reader: Reader
) -> Iterator[tuple[GameScript, str]]:
    """Yield each awake assistant that has a public activity or open goals; makes no query."""
    for script in scripts:
        if mode_of(script) in AWAKE:
            count = len(script.character.ai_goals.open())
            plan = script.occupation() if reader.may(PUBLIC_MEMORIES) else ()
            about = [f"about to {line.text}" for line in plan]
            after = [f"{count} open goal{'s' if count > 1 else ''}"] if count else []
            if about or after:
                yield script, clean_output("; ".join([*about, *after]), 160)


def window_lines(scripts: Sequence[GameScript]) -> list[str]:
    """Return a line for each model in use: its context window, and where the size comes from."""
    lines = []
    for script in scripts:
        profile = script.profile
        if profile.client == "openai":
            known = window_known(profile)
            amount = f"{known.tokens:,} tokens, " if known.tokens else ""
            name = f"{profile.name}:{profile.model}".rstrip(":")
            line = f"Context window of {name}: {amount}{known.source}."
            lines.append(clean_output(line, 160))
    return list(dict.fromkeys(lines))


def problems(
    services: GameServices,
    names: Mapping[GameScript, str],
    errors: Mapping[int, tuple[str, str]],
    reader: Reader,
) -> Iterator[tuple[str, str]]:
    """Yield what staff must know, as (subject, problem): first what concerns all assistants.

    One problem of several assistants is told once, and not at all if the model of all is paused
    for it.
    """
    told = {lane.error for lane in services.gateway.health() if lane.paused_s > 0}
    yield from shared_problems(services, reader)
    found: dict[tuple[str, str], list[str]] = {}
    for script, name in names.items():
        for one in own_problems(script, errors.get(script.id), told, reader):
            found.setdefault(one, []).append(name)
    for (request, problem), those in found.items():
        more = f" and {len(those) - SHOWN_NAMES} more" if len(those) > SHOWN_NAMES else ""
        yield ", ".join(those[:SHOWN_NAMES]) + more + request, problem


def own_problems(
    script: GameScript, error: tuple[str, str] | None, told: Collection[str], reader: Reader
) -> Iterator[tuple[str, str]]:
    """Yield the problems of one assistant with what staff are asked to do."""
    if error and error[1] not in told:
        kind = ERROR_KINDS.get(error[0], "a model error")
        yield "", reader.show(ERRORS, error[1], kind)
    yield from (("", warning) for warning in script.warnings)
    yield from ((", fix this", complaint) for complaint in missing_prices(script))
    yield from ((", fix this", complaint) for complaint in script.complaints)


def missing_prices(script: GameScript) -> Iterator[str]:
    """Yield a complaint if a budget in money is set, but no prices of the assistant's model."""
    limits, profile = script.services.gateway.limits, script.profile
    budgets = (script.config.money_per_day, limits.game_money_per_day, limits.player_money_per_day)
    if profile.price is None and any(budget is not None for budget in budgets):
        yield (
            f"The profile '{profile.name}' has no prices for the model '{profile.model}', so no "
            "budget in money holds for it. Set prices."
        )


def shared_problems(services: GameServices, reader: Reader) -> Iterator[tuple[str, str]]:
    """Yield the problems that concern all assistants, as for `problems`."""
    if services.switched_off:
        yield "Stopped", f"{services.switched_off} To start them: aistart all"
    for lane in services.gateway.health():
        if lane.paused_s > 0:
            error = reader.show(ERRORS, lane.error, "error")
            problem = f"paused for {lane.paused_s:.0f} s more: {error}"
            yield f"Model {lane.name}", problem
    for use in services.gateway.budgets.used():
        if use.level >= TIGHT:
            yield budget_name(use, reader), str(use)
    for complaint in services.complaints:
        yield "Settings, fix this", complaint
    yield from unanswered_today(services, reader)
    if services.crowd.trouble:
        yield "Players", services.crowd.trouble
    if services.recall_trouble:
        yield "Recall", reader.show(ERRORS, services.recall_trouble, "error")
    if services.semantic.trouble:
        yield "Long-term memory", reader.show(ERRORS, services.semantic.trouble, "error")


def unanswered_today(services: GameServices, reader: Reader) -> Iterator[tuple[str, str]]:
    """Yield how many lines expired today, and why the last one did, if any did."""
    midnight = services.now().replace(hour=0, minute=0, second=0, microsecond=0)
    count, last = unanswered_since(midnight)
    script = script_of(last.assistant_id) if last else None
    if last and script:
        name, reason = script.character_name, reader.show(ERRORS, last.reason, "reason")
        lines = f"{count:,} line{'s' * (count != 1)} today (UTC), the last one to {name}: {reason}."
        yield "Unanswered", f"{lines} To see which: aihistory/unanswered {name}"


def status_row(
    script: GameScript,
    queues: dict[int, int],
    used: dict[int, tuple[int, int]],
    prompts: dict[int, int],
) -> list[str]:
    """Return the table's cells for one assistant, without its name."""
    calls, tokens = used.get(script.id, (0, 0))
    window = usable_window(script.config, script.profile)
    place = script.character.location
    return [
        place.key if place else "nowhere",
        mode_of(script),
        f"{script.profile.name}:{script.profile.model}",
        f"{prompts.get(script.id, 0) / window:.0%}",
        str(queues.get(script.id, 0)),
        f"{calls:,}",
        f"{tokens:,}",
    ]
