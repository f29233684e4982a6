"""A base of commands that ask a model what an assistant would do, and show that."""

from twisted.internet.defer import Deferred

from evennia_ai.commands.common import AICommand
from evennia_ai.commands.rendering import call_text
from evennia_ai.game.client_text import clean_error, clean_output
from evennia_ai.game.room_lines import ensure_answered, hear_typed
from evennia_ai.messages import NO_USAGE, IncomingEvent
from evennia_ai.mind.dry_run import DryRun, DryRunCall, DryRunStep
from evennia_ai.ports import MindContext
from evennia_ai.store.names import list_names

LINE_CHARS = 400


class TryingCommand(AICommand):
    """A command that asks what its assistant would make of a line."""

    def addressed_line(self, kind: str, typed: str) -> IncomingEvent:
        """Return a line as the assistant would hear it; raises CannotBeHeard if not."""
        event = hear_typed(self.script.character, self.script.config, self.caller, kind, typed)
        ensure_answered(self.name, event, "add /whisper to the command")
        return event

    def start_dry_run(self, event: IncomingEvent, around: MindContext) -> Deferred[None]:
        """Ask the model, and tell what it would do; fails with DryRunning during another."""
        name, profile = self.name, around.settings.profile
        running: Deferred[DryRun] = self.script.mind.dry_run(around, event)
        model = f"the model {profile.model}" if profile.has_model else "the stand-in"
        self.tell(f"Asking {clean_output(f'{model} (profile {profile.name})', 80)} ...")
        return running.addCallback(lambda dry_run: self.tell(dry_run_lines(name, event, dry_run)))


def dry_run_lines(name: str, event: IncomingEvent, result: DryRun) -> list[str]:
    verb = "whispers" if event.private else "says"
    speaker, words = clean_output(event.speaker_name, 40), clean_output(event.text, LINE_CHARS)
    audience = clean_output(list_names(sorted(result.audience)), 200)
    lines = [
        f"|wIf {speaker} {verb} to {name}:|n {words}",
        f"|xWho would hear the answer: {audience}. Nothing of this was done.|n",
    ]
    for number, step in enumerate(result.steps, 1):
        lines += _step_lines(number, step, event.private)
    return [*lines, _ending(name, result)]


def _step_lines(number: int, step: DryRunStep, private: bool) -> list[str]:
    usage, took_ms = step.cost.usage, step.cost.duration_ms
    counted = step.cost.estimated_tokens
    tokens = f"about {counted} tokens" if counted else "not counted"
    if usage and usage != NO_USAGE:
        cached = "" if usage.cached_tokens is None else f" ({usage.cached_tokens} from a cache)"
        tokens = f"{usage.prompt_tokens} tokens{cached}, reply {usage.completion_tokens} tokens"
    shown = f"prompt {tokens}, {len(step.offered)} tools offered, {took_ms} ms"
    title = f"|wCall {number} of the model|n: {shown}"
    lines = [title if counted or usage else f"|wAnswer {number}|n, by the stand-in"]
    if not step.calls:
        lines.append("  |rnothing|n: the reply has no words and no tool call")
    return [*lines, *(_call_line(item, private) for item in step.calls)]


def _call_line(item: DryRunCall, private: bool) -> str:
    act = call_text(item.call.name, item.call.arguments)
    if not item.would_be_tried:
        return f"  |rwould not|n {act}\n    |xwhy: {clean_output(item.result.text, LINE_CHARS)}|n"
    if item.call.name == "noop":
        return "  would do nothing (|cnoop|n)"
    return f"  would {act}" + (" (whispered)" if private and item.call.name == "say" else "")


def _ending(name: str, result: DryRun) -> str:
    if result.problem:
        return f"|rThe model gave no answer:|n {clean_error(result.problem, LINE_CHARS)}"
    last = result.steps[-1]
    refused_before = len(result.steps) > 1 and result.steps[-2].refused
    if not last.calls or (not result.ended and last.refused and refused_before):
        return f"{name} would say its fallback line, since the model said nothing usable."
    if result.ended:
        return f"{name} would do nothing else."
    if last.refused:
        return "The model would be asked once more for other words; this test stops here."
    return "The model would be asked again, with what these tools did; this test stops here."
