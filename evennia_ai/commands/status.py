"""``aistatus``: a table of all assistants, and what is wrong with them."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands import common
from evennia_ai.commands.common import AICommand, as_sentence, told_apart
from evennia_ai.commands.rendering import ERROR_KINDS, how_it_ended, pass_summary
from evennia_ai.config import ModelProfile, usable_window, window_known
from evennia_ai.config.profiles import request_form
from evennia_ai.game.client_text import clean_error, clean_output
from evennia_ai.game.help_entries import STAFF
from evennia_ai.game.settings import full_disks
from evennia_ai.game.sleep_state import mode_of
from evennia_ai.game.world_clock import clock_words
from evennia_ai.messages import OFFLINE
from evennia_ai.models.fields import damage
from evennia_ai.policy.read_permissions import ERRORS, FIGURES, PUBLIC_MEMORIES
from evennia_ai.policy.records.goal import block_line
from evennia_ai.policy.sleep_schedule import REASONS
from evennia_ai.policy.texts import counted
from evennia_ai.sleep import step_texts
from evennia_ai.store import reports
from evennia_ai.store.attributes import read_attribute, script_of
from evennia_ai.store.call_records import cached_on, use_on

AWAKE = frozenset({"awake", "thinking"})
TITLES = ("Assistant", "Where", "Mode", "Model", "Context", "Queue", "Calls", "Tokens")
SHOWN_NAMES = 5
SHOWN_CALLS = 8
SHOWN_LITTLE = "is shown a little of each talk. Compaction goes by the whole talk."
CONNECT = (
    "No model is connected: the stand-in answers. To connect one, set "
    "OPENAI_BASE_URL (the address of a server such as Ollama) or OPENAI_API_KEY, and "
    "EVENNIA_AI_MODEL; then stop and start the game, and type aitest/provider default."
)

Problem = tuple[str, str]  # what it concerns, and what is wrong


class CmdAIStatus(AICommand):
    """
    see all assistants at a glance, and what is wrong

    Usage:
      aistatus

    The table shows for each assistant its mode, how much of its context window
    the last prompt took, how many events wait for an answer, and its model
    calls and tokens of today (UTC). Below it: who sleeps and since when, what
    the others are doing, the context window of each model, the model calls that
    wait, and what is wrong: a model that is paused after failures, a budget
    that is nearly used up, an invalid setting, a damaged row, a disk that is
    nearly full, the last error of a model, lines that nobody answered.

    If something is wrong, |whelp ai staff|n says what to type.
    """

    key = "aistatus"
    help_category = STAFF
    reads = FIGURES
    named: Sequence[tuple[AssistantScript, str]]  # every assistant with its name

    def run(self) -> None:
        scripts = common.all_assistants()
        if not scripts:
            self.msg(
                "There are no assistants yet. To attach one: |waisetup <character> = <persona>|n"
            )
            return
        self.named = list(zip(scripts, told_apart(scripts), strict=True))
        self.msg(common.table(TITLES, self.rows()))
        asleep = list(self.sleep_lines())
        for name, line in [*asleep, *self.activity_lines()]:
            self.msg(f"|x{clean_output(name, 60)}:|n {line}")
        if asleep:
            self.msg(f"|xTimes in {self.reader.zone}.|n")
        clock = self.services.world_clock
        if not clock.source.is_real:
            self.msg(f"|xIn the world it is {clean_output(clock.shown(), 120)}.|n")
        configs = [script.config for script in scripts]
        for choice in dict.fromkeys(item.sleep_clock for item in configs if item.sleep_schedule):
            self.msg(f"|xSleep hours go by {clean_output(clock_words(clock, choice), 120)}.|n")
        tell = self.services.endpoints.told
        lines = model_lines([tell(script.mind.settings.profile) for script in scripts])
        for line in [*lines, *self.cache_lines(), *self.waiting_lines()]:
            self.msg(line)
        shared = list(self.shared_problems())
        for subject, problem in [*shared, *self.all_own_problems(shared)]:
            self.msg(f"|y{clean_output(subject, 120)}:|n {clean_error(problem, 300)}")

    def rows(self) -> Iterator[list[str]]:
        queues, used = reports.queue_lengths(), use_on(self.services.now().date())
        prompts = reports.last_prompt_tokens()
        for script, name in self.named:
            calls, tokens = used.get(script.id, (0, 0))
            profile, place = script.mind.settings.profile, script.character.location
            window = usable_window(script.config, profile)
            yield [
                name,
                told_apart([place])[0] if place else "nowhere",
                mode_of(script.character, script.services),
                "the stand-in" if profile.model == OFFLINE else f"{profile.name}:{profile.model}",
                f"{prompts.get(script.id, 0) / window:.0%}",
                str(queues.get(script.id, 0)),
                f"{calls:,}",
                f"{tokens:,}",
            ]

    def sleep_lines(self) -> Iterator[tuple[str, str]]:
        """Yield each sleeper's name with since when and why it sleeps, and its last pass."""
        asleep = [(script, name) for script, name in self.named if script.mind.sleep.is_asleep]
        passes = reports.last_passes() if asleep else {}
        texts = step_texts(self.services.extensions)
        for script, name in asleep:
            rest, since = script.mind.sleep, self.since(read_attribute(script, "asleep_since"))
            parts = [f"asleep{since} ({REASONS[rest.cause]})"]
            if script.config.sleep_schedule:
                parts.append(f"sleep hours {script.config.sleep_schedule}")
            if last := passes.get(script.id):
                summary = f", {pass_summary(last, self.reader, texts)}" if last["ended_at"] else ""
                ended = how_it_ended(last, rest.pass_id)
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
        """Yield the name of each awake one with what it is about, by its settings; no query."""
        may_read = self.reader.may(PUBLIC_MEMORIES)
        for script, name in self.named:
            if mode_of(script.character, script.services) in AWAKE:
                count = len(script.character.ai_goals.open())
                plan, here = script.character.ai_plan, script.character.location
                block = plan.at(self.services.world_clock.minute()) if may_read else None
                place = here.key if here else ""
                about = [f"about to {block_line(block, place).text}"] if block else []
                about += [f"{count} open goal{'s' * (count > 1)}"] * bool(count)
                hours = script.config.sleep_schedule
                about += [f"sleep hours {hours}"] * bool(hours)
                if about:
                    yield name, clean_output("; ".join(about), 160)

    def cache_lines(self) -> Iterator[str]:
        total, cached = cached_on(self.services.now().date())
        if cached:
            share = cached / max(total, cached)
            yield f"Prompt tokens today: {total:,}, of these {cached:,} cached ({share:.0%})."

    def waiting_lines(self) -> Iterator[str]:
        known = {str(script.id): name for script, name in self.named}
        queue = self.services.gateway.lanes.queue()
        for call in queue[:SHOWN_CALLS]:
            error = f" ({self.reader.show(ERRORS, call.error, 'error')})" if call.error else ""
            name = clean_output(known.get(call.assistant, "The game"), 60)
            yield f"|xCall of {name}:|n {clean_error(f'{call.words}{error}', 300)}"
        if len(queue) > SHOWN_CALLS:
            yield f"|xFurther calls that wait:|n {len(queue) - SHOWN_CALLS}"

    def shared_problems(self) -> Iterator[Problem]:
        services, reader = self.services, self.reader
        if services.switched_off:
            yield ("Stopped", f"{as_sentence(services.switched_off)} To start them: aistart all")
        for lane in services.gateway.lanes:
            if lane.paused_s > 0:
                error = reader.show(ERRORS, lane.breaker.error, "error")
                spare = lane.profile.fallback
                instead = f" ({spare.name}:{spare.model} answers)" if spare else ""
                yield (
                    f"Model {lane.name}",
                    f"paused for {lane.paused_s:.0f} s more{instead}: {error}",
                )
        yield from services.problems_told(reader)
        yield from (("Settings, fix this", complaint) for complaint in services.complaints)
        yield from (("Database", sentence) for sentence in damage.values())
        yield from (("Disk", sentence) for sentence in full_disks())
        yield from self.unanswered_today()
        if services.crowd.trouble:
            yield "Players", services.crowd.trouble
        for subject, trouble in (
            ("Recall", services.memory.recall_trouble),
            ("Long-term memory", services.semantic.trouble),
        ):
            if trouble:
                yield subject, reader.show(ERRORS, trouble, "error")

    def unanswered_today(self) -> Iterator[Problem]:
        midnight = self.services.now().replace(hour=0, minute=0, second=0, microsecond=0)
        count, last = reports.unanswered_since(midnight)
        script = script_of(last.assistant_id) if last else None
        if last and script:
            name = script.mind.who.name
            reason = f": {as_sentence(last.reason)}" if self.reader.may(ERRORS) else "."
            lines = f"{counted(count, 'line')} today (UTC), the last one to {name}{reason}"
            yield "Unanswered", f"{lines} To see which: aihistory/unanswered {name}"

    def all_own_problems(self, shared: Iterable[Problem]) -> Iterator[Problem]:
        """Yield the problems of single assistants, each once, without those in ``shared``."""
        errors, by_problem = reports.last_error(), dict[Problem, list[str]]()
        paused = (lane.breaker.error for lane in self.services.gateway.lanes if lane.paused_s > 0)
        told_already = " ".join([*paused, *(problem for _subject, problem in shared)])
        for script, name in self.named:
            settings = script.mind.settings
            kind, words = errors.get(script.id, ("", ""))
            warnings = [("", warning) for warning in settings.warnings]
            warnings += [(", fix this", item) for item in settings.complaints]
            if words and words not in told_already:
                kind = ERROR_KINDS.get(kind, "a model error")
                warnings.insert(0, ("", self.reader.show(ERRORS, words, kind)))
            for item in warnings:
                by_problem.setdefault(item, []).append(name)
        for (request, problem), names in by_problem.items():
            more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
            yield ", ".join(names[:SHOWN_NAMES]) + more + request, problem


def learnt(part: str) -> str:
    """Return what a refusal taught: what is not sent, or a value that is (`llm.refusals`)."""
    return f"wants {part}, sent" if "=" in part else f"refuses {part}, so it is not sent"


def model_lines(profiles: Iterable[ModelProfile]) -> list[str]:
    """Return a line on each model's context window; without any model, how to connect one."""
    models = [profile for profile in profiles if profile.client == "openai"]
    lines = []
    for profile in models:
        known = window_known(profile)
        amount = f"{known.tokens:,} tokens, " if known.tokens else ""
        name = f"{profile.name}:{profile.model}".rstrip(":")
        lines.append(clean_output(as_sentence(f"Context window of {name}: {amount}{known.source}")))
        if not request_form(profile).native:
            lines.append(clean_output(f"{name} {SHOWN_LITTLE}"))
        lines += [
            clean_output(as_sentence(f"{name} {learnt(part)} for a day{words and f': {words}'}"))
            for part, words in profile.told.refused.items()
        ]
    return list(dict.fromkeys(lines)) if models else [common.wrapped(f"|x{CONNECT}|n")]
