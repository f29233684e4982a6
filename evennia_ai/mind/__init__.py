"""The mind of one assistant: its parts, put together once, and what it does in a tick."""

from collections.abc import Callable
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.memory.entity_context import EntityConsolidation
from evennia_ai.memory.working_memory import clear_stale
from evennia_ai.ports import MindContext, ToolMindContext
from evennia_ai.ports.background import SleepContext
from evennia_ai.ports.extension import collect
from evennia_ai.scheduling import Coroutine
from evennia_ai.sleep import SleepPassRunner
from evennia_ai.sleep.compaction.compact import Compactor
from evennia_ai.sleep.compaction.journal_summary import FactCheck, SummaryArchive
from evennia_ai.sleep.compaction.summarising import PartSummaries, SummaryFallbacks
from evennia_ai.sleep.consolidation import MemoryLinks
from evennia_ai.sleep.emergency import Emergency
from evennia_ai.sleep.extraction import FactExtractor
from evennia_ai.sleep.journal_requests import JournalRequests
from evennia_ai.sleep.pruning import Pruning
from evennia_ai.turn.context_selection import ContextSelector
from evennia_ai.turn.context_use import ContextMeter
from evennia_ai.turn.fallback import Fallback
from evennia_ai.turn.guardrails import ModerationGate
from evennia_ai.turn.line_notes import LineNotes
from evennia_ai.turn.llm_interaction import Summariser
from evennia_ai.turn.model_call import BackgroundWork, ModelCalls
from evennia_ai.turn.pinned_context import LoreContext, PeopleContext, PinnedContext
from evennia_ai.turn.plain_turns import PlainTurns
from evennia_ai.turn.prompt_building import PromptBuilder
from evennia_ai.turn.react_loop import ReActLoop
from evennia_ai.turn.recall import Recall
from evennia_ai.turn.tool_executor import ToolExecutor
from evennia_ai.turn.turn_runner import AutonomyBudget, TurnRunner


class Mind:
    """One assistant. Every part has the collaborators that it needs, and nothing else."""

    def __init__(self, around: MindContext) -> None:
        self.around = around
        self.who, self.settings, self.log = around.who, around.settings, around.log
        self.inbox, self.turns, self.presence = around.inbox, around.turns, around.presence
        self.status, self.sleep = around.status, around.sleep
        self._make_turn(around)
        self._make_compaction(around)
        self._make_answering(around)
        self._make_sleep(around)

    @inlineCallbacks
    def tick(self) -> Coroutine[int]:
        """Make room; go on sleeping, or answer, or act unasked; then lie down if it is time.

        Fires with the number of turns: 0 if it sleeps and nobody speaks to it.

        Fails with TurnAborted and StoreUnavailable.
        """
        self.settings.resolve()
        yield self.pinned_context.load()
        yield self.compactor.archive_left_over()
        self.compactor.mask_old_results(self.meter.measure())
        yield self.emergency.make_room()
        if self.sleep.needs_pass and not self.inbox.open_events():
            yield self.sleep.sleep_through(self.sleep_pass.run)
        if self.sleep.is_asleep:
            if not self.inbox.open_events():
                return 0
            self.sleep.wake_up("somebody speaks to it")
        yield self.turn_runner.run_agreed()
        turns: int = yield self.turn_runner.answer_all()
        yield self.emergency.journal_late()
        if turns:
            self.presence.news_at = None
        elif self.autonomy.wants_to_act():
            self.autonomy.note_act()
            yield self.turn_runner.act_alone()
            turns = 1
        self.sleep.lie_down()
        return turns

    def _make_turn(self, has: MindContext) -> None:
        """Make what asks a model and does what it says."""
        shared = has.services
        self.meter = ContextMeter(has.settings, has.log, has.sizes)
        self.recall = Recall(has)
        self.lore = LoreContext(has)
        self.pinned_context = PinnedContext(has)
        self.people = PeopleContext(has)
        self.calls = ModelCalls(has, self.meter)
        self.line_notes = LineNotes(has)
        self.selector = ContextSelector(
            has,
            self.meter,
            self.pinned_context,
            self.people,
            self.recall,
            self.lore,
            self.line_notes,
        )
        self.prompts = PromptBuilder(has, self.meter, self.selector, self.calls, self.line_notes)
        self.moderation_gate = ModerationGate(has.settings, lambda: shared.extensions)
        self.tool_executor = ToolExecutor(
            has, ToolMindContext(**vars(has), line=self.recall.line, use=self.meter.measure)
        )
        self.fallback = Fallback(has, self.prompts, self.tool_executor, self.moderation_gate)
        self.loop = ReActLoop(
            has,
            self.selector,
            self.prompts,
            self.calls,
            self.tool_executor,
            self.moderation_gate,
            PlainTurns(has, self.tool_executor, self.moderation_gate, self.line_notes),
            self.fallback.answer_surely,
            lambda: self.emergency.on_overflow(),  # noqa: PLW0108  # made after the loop
        )

    def _make_compaction(self, has: MindContext) -> None:
        """Make what keeps the context window from overflowing."""
        facts = self.fact_check = FactCheck(has)
        self.summariser = Summariser(has, self.calls)
        self.summary_fallbacks = SummaryFallbacks(has, self.calls, self.summariser)
        parts = PartSummaries(has, self.summary_fallbacks, facts)
        self.compactor = Compactor(has, self.meter, self.calls, parts, facts, SummaryArchive(has))
        requests = JournalRequests(has, self.prompts, self.calls, self.summariser)
        self.extraction = FactExtractor(
            has, self.meter, requests, self.calls, self.tool_executor, self.compactor.decide
        )
        self.emergency = Emergency(has, self.meter, self.compactor, self.extraction)

    def _make_answering(self, has: MindContext) -> None:
        """Make what answers events, and what acts unasked."""
        self.turn_runner = TurnRunner(
            has,
            self.moderation_gate,
            self.loop,
            self.fallback,
            self.tool_executor,
            self.selector,
            self.emergency.make_room,
        )
        self.autonomy = AutonomyBudget(has)

    def _make_sleep(self, has: MindContext) -> None:
        background = BackgroundWork(has, self.calls)
        self.links = MemoryLinks(has, background)
        self.entities = EntityConsolidation(has, background)
        self.pruning = Pruning(has, background)
        self.clear_stale = partial(clear_stale, has)
        steps: dict[str, Callable[[], Any]] = {
            "memory_links": self.links.consolidate,
            "entity_consolidation": self.entities.consolidate,
            "orphaned_links": self.links.repair,
            "episodic_prune": self.pruning.prune,
            "stale_conversations": self.clear_stale,
            "pre_compaction_extraction": self.extraction.run,
            "context_compaction": self.compactor.in_sleep,
        }
        context = SleepContext(**vars(has), background=background)
        for step in collect(has.services.extensions, lambda extension: extension.sleep_steps()):
            steps.setdefault(step.name, partial(step.run, context))
        self.sleep_pass = SleepPassRunner(has, steps)
