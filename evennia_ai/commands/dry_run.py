"""``aitest``: what an endpoint can, and what an assistant would do, without anything being done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.commands.history import call_text, names_for
from evennia_ai.config import ModelProfile, resolve_lenient, resolve_profile
from evennia_ai.errors import AssistantError
from evennia_ai.game.hearing import hearers_of, perceive
from evennia_ai.game.perception import plain
from evennia_ai.game.settings import game_settings
from evennia_ai.llm.probe import target_of
from evennia_ai.messages import Heard, ToolCallRequest
from evennia_ai.policy.probe.cases import BAD, FATAL, GOOD, NOTE, Finding, sum_up
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.ports import ToolContext, ToolResult
from evennia_ai.tools.registry import ToolRegistry
from evennia_ai.turn.dry_run import Check, DryRun, DryRunCall, DryRunStep, run_dry
from evennia_ai.turn.model_call import effective_profile

log = Logger()

WORDS = {GOOD: "|gok|n   ", NOTE: "|ynote|n ", BAD: "|rwrong|n", FATAL: "|rwrong|n"}
LINE_CHARS = 400
HEARD_CHARS = 20_000
WHY_NOT = {"ambient": "others are there, and nobody is named"}
USAGE = "Usage: aitest <assistant> = <line>. See |whelp aitest|n."


class CmdAITest(AICommand):
    """
    try an assistant, or the model behind it, without anything being done

    Usage:
      aitest <assistant> = <line>
      aitest/whisper <assistant> = <line>
      aitest/provider <profile> [= <model>]

    Without a switch: shows what the assistant would say and do if you now
    said that line where it is. The model is really asked, with the prompt it
    would get for you and everybody there, and that is counted; but no tool is
    run, nothing is remembered, and nobody else sees anything. It works while
    the assistant is stopped, too.

    Switches:
      whisper  - as if you whispered the line to it
      provider - asks the endpoint of a model profile a few short questions,
                 and tells what it can, what is wrong, and what to do about it.
                 For admins only. Takes half a minute at most.
    """

    key = "aitest"
    locks = "cmd:perm(Builder)"
    switch_options = ("whisper", "provider")

    def run(self) -> None:
        """Dispatch by switch."""
        if len(self.switches) > 1:
            raise UsageError("One switch at a time, please. See |whelp aitest|n.")
        if "provider" in self.switches:
            self.probe()
        else:
            self.run_dry("whisper" if self.switches else "say")

    # --- a dry turn ---------------------------------------------------------------------------

    def run_dry(self, kind: str) -> None:
        """Ask the assistant's model what it would do."""
        if not self.lhs:
            raise UsageError(USAGE)
        script = self.find_assistant(self.lhs)
        heard = self.as_heard(script, kind)
        if script.ndb.dry_running:
            raise UsageError(f"{script.character_name} is being tried already: wait a moment.")
        script.resolve_settings()
        profile = effective_profile(script)
        self.msg(f"Asking {clean_output(f'{profile.name}:{profile.model}', 80)} ...")
        script.ndb.dry_running = True
        asked = run_dry(script, heard, dry_check(script.services.toolbox), lambda: bool(script.pk))
        asked.addBoth(lambda outcome: end_rehearsal(script, outcome))
        asked.addCallback(lambda result: self.tell(rehearsal_lines(script, heard, result)))
        self.look_after(asked)

    def as_heard(self, script: Any, kind: str) -> Heard:
        """The line as the assistant would hear it; raises UsageError where it would not answer."""
        name, character = script.character_name, script.character
        words = plain(self.rhs, HEARD_CHARS)
        if not words:
            raise UsageError(f"What shall {name} hear? {USAGE}")
        if character is self.caller:
            raise UsageError(f"You are {name} yourself.")
        if character.location is None:
            raise UsageError(f"{name} is nowhere: nobody could speak to it.")
        hearers = hearers_of(kind, self.caller, character)
        heard = perceive(kind, words, self.caller, hearers, character)
        if not heard.addressed:
            raise UsageError(
                f"{name} would not answer that: it is not meant for it "
                f"({WHY_NOT.get(heard.reason, heard.reason)}). Name it "
                "in the line, or try |waitest/whisper|n."
            )
        return heard

    # --- a probe --------------------------------------------------------------------------------

    def probe(self) -> None:
        """Ask an endpoint what it can."""
        if not self.caller.locks.check_lockstring(self.caller, "use:perm(Admin)"):
            raise UsageError("Only admins may do that: it sends the game's key to the endpoint.")
        services = AssistantScript.shared_services
        name = clean_output(self.lhs, 60)
        if not name:
            known = ", ".join(sorted(services.profiles))
            raise UsageError(f"Which profile? There are: {known}.")
        profile = probed_profile(resolve_profile(name, services.profiles), plain(self.rhs))
        if profile.client == "offline":
            self.msg(
                f"The profile '{name}' asks no model: the offline brain answers. It is built in, "
                "needs nothing and costs nothing, so there is nothing to try."
            )
            return
        target = target_of(profile)
        model = clean_output(profile.model, 80) or "no model"
        self.msg(f"Trying '{name}': {clean_output(target.address, 200)}, {model}")
        asked = services.prober.probe(profile, self.tell)
        asked.addCallback(
            lambda found: self.tell([*map(finding_line, found), sum_up(found, target)])
        )
        self.look_after(asked)

    # --- what comes later -----------------------------------------------------------------------

    def tell(self, lines: str | Sequence[str]) -> None:
        """Show lines to the caller, who may be in another session by now, or in none."""
        self.caller.msg(lines if isinstance(lines, str) else "\n".join(lines))

    def look_after(self, asked: Deferred[Any]) -> None:
        """Tell the caller what went wrong; a server that stops says nothing more."""
        asked.addErrback(self.explain)

    def explain(self, failure: Failure) -> None:
        """The end of something that failed."""
        if failure.check(CancelledError):
            return
        if failure.check(AssistantError):
            self.tell(clean_output(str(failure.value), LINE_CHARS))
            return
        log.failure("aitest failed", failure=failure)
        self.tell("That went wrong for a reason of our own: the server's log has more.")


def end_rehearsal(script: Any, outcome: Any) -> Any:
    """Let the next rehearsal begin."""
    if script.pk:
        script.ndb.dry_running = None
    return outcome


class Unasked:
    """A character whose own hook is not asked, since that might do something."""

    def __init__(self, character: Any) -> None:
        self._character = character

    def __getattr__(self, name: str) -> Any:
        return getattr(self._character, name)

    def at_ai_pre_act(self, tool: str, args: dict[str, Any]) -> None:
        """Forbids nothing."""


def dry_check(toolbox: ToolRegistry) -> Check:
    """Everything that stands before a tool's use, but the character's hook, and not the use."""
    dry = ToolRegistry(replace(item, run=pretend) for item in toolbox.tools.values())

    def check(context: ToolContext, call: ToolCallRequest) -> Deferred[ToolResult]:
        return dry.run(replace(context, character=Unasked(context.character)), call)

    return check


def pretend(context: ToolContext, arguments: Any) -> str:
    """In the place of a tool."""
    return ""


def probed_profile(profile: ModelProfile, model: str) -> ModelProfile:
    """The profile with the model an assistant would get by it, or with the one that was named."""
    config, _ = resolve_lenient([game_settings(), profile.settings])
    return replace(profile, model=model or config.llm_model or profile.model)


# --- how it is shown ----------------------------------------------------------------------------


def finding_line(finding: Finding) -> str:
    """One finding, with what to do about it."""
    advice = f"\n      {clean_output(finding.advice, LINE_CHARS)}" if finding.advice else ""
    return f"{WORDS[finding.state]} {clean_output(finding.text, LINE_CHARS)}{advice}"


def rehearsal_lines(script: Any, heard: Heard, result: DryRun) -> list[str]:
    """A dry turn, step by step."""
    verb = "whispers" if heard.private else "says"
    name = clean_output(heard.speaker_name, 40)
    audience = clean_output(names_for(sorted(result.audience)), 200)
    said = clean_output(heard.text, LINE_CHARS)
    lines = [
        f"|wIf {name} {verb} to {script.character_name}:|n {said}",
        f"|xThe answer would be heard by {audience}. Nothing of this was done.|n",
    ]
    for number, step in enumerate(result.steps, 1):
        lines += step_lines(number, step, heard.private)
    return [*lines, ending(script, result)]


def step_lines(number: int, step: DryRunStep, private: bool) -> list[str]:
    """One model call and what came of it."""
    cost = step.cost
    if cost.usage:
        tokens = f"{cost.usage.prompt_tokens} tokens, reply {cost.usage.completion_tokens}"
    else:
        tokens = f"about {cost.estimated_tokens} tokens"
    lines = [
        f"|wStep {number}|n: prompt {tokens}, {len(step.offered)} tools, {cost.duration_ms} ms"
    ]
    if step.words:
        lines.append(f"  would |csay|n: {clean_output(step.words, LINE_CHARS)}")
    elif not step.calls:
        lines.append("  |rnothing|n: the reply holds no words and no call")
    return [*lines, *(call_line(item, private) for item in step.calls)]


def call_line(item: DryRunCall, private: bool) -> str:
    """One call: whether it would be tried, or why not."""
    what = call_text(item.call.name, item.call.arguments)
    if not item.would_be_tried:
        return f"  |rwould not|n {what}\n    |x= {clean_output(item.result.text, LINE_CHARS)}|n"
    return f"  would {what}" + (" (whispered)" if private and item.call.name == "say" else "")


def ending(script: Any, result: DryRun) -> str:
    """How the turn would go on."""
    if result.problem:
        return f"|rThe model gave no answer:|n {clean_output(result.problem, LINE_CHARS)}"
    last = result.steps[-1]
    if not last.words and not last.calls:
        return f"{script.character_name} would make an excuse."
    if result.ended:
        return "The turn would end here."
    return "The turn would go on from what these bring; a rehearsal does not."
