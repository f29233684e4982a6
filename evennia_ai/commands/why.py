"""``aiwhy`` and ``aiprompt``: why a line was said, and what the next prompt holds."""

from __future__ import annotations

from collections.abc import Sequence

from evennia.utils.evmore import EvMore

from evennia_ai.commands.common import AICommand, UsageError, page_number
from evennia_ai.commands.dry_run import addressed_line
from evennia_ai.commands.why_rendering import part_table, whole_prompt, why_lines
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.script_ports import GameScript
from evennia_ai.policy.disclosure import (
    DRY_RUNS,
    PRIVATE_WORDS,
    PUBLIC_WORDS,
    memory_kind,
    words_kind,
)
from evennia_ai.policy.explanation.call_record import KeptCall, RawReply
from evennia_ai.policy.explanation.prompt_parts import Part, parts_of
from evennia_ai.ports import TASK_SUMMARY
from evennia_ai.store.call_records import with_talk
from evennia_ai.store.explanations import (
    Explanation,
    explain,
    explain_call,
    find_call,
    find_line,
)
from evennia_ai.turn.dry_run import next_request


class CmdAIWhy(AICommand):
    """
    tell why an assistant said a line

    Usage:
      aiwhy <character> [= <n>, or words of the line]
      aiwhy/prompt <character> [= <n>, or words of the line]
      aiwhy/call[/prompt] <character> [= <purpose> [<n>]]

    Tells of the last line that the character said, of the <n>th last one, or of
    the newest one with these words: what set it off, the parts of the prompt with
    their tokens, what was recalled, the model's reply as it came, what was done
    with it, and which line of the prompt each sentence comes from.

    Switches:
      prompt - the whole prompt as it was sent, rebuilt from the log
      call   - the last or <n>th last model call for a summary, or for the purpose
               pre_compaction, reflection, importance, sleep_consolidate,
               goal_decompose or plan_day: what was asked and what came of it

    "none of the prompt tells this" marks a claim that the model made up. The
    source is found by the words that both have, so it is a hint and no proof.
    The setting RETENTION says how long prompts are kept, by default 14 days.
    """

    key = "aiwhy"
    locks = "cmd:perm(Builder)"
    reads = PUBLIC_WORDS
    switch_options = ("prompt", "call")
    combined = frozenset(switch_options)

    def run(self) -> None:
        """Find the line or the call, and show why, or the prompt."""
        script = self.find_assistant(self.lhs)
        why = self.called(script) if "call" in self.switches else self.explained(script)
        if "prompt" in self.switches:
            self.show_kept_prompt(script, why)
        else:
            self.msg("\n".join(why_lines(shown_name(script), why, self.reader)))

    def called(self, script: GameScript) -> Explanation:
        """Return the model call that was asked for; raises UsageError, also if it is hidden."""
        purpose, _, number = (self.rhs or TASK_SUMMARY).strip().lower().partition(" ")
        call = find_call(script.id, purpose, page_number(number))
        if call is None:
            raise UsageError(
                f"{shown_name(script)} has no such call for '{clean_output(purpose, 40)}'. "
                "|whelp aiwhy|n lists the purposes."
            )
        why = explain_call(call, [script.character_name])
        for kind in (words_kind(why.private), memory_kind(why.private)):
            self.ensure_may_read(kind)
        return why

    def explained(self, script: GameScript) -> Explanation:
        """Return the line that was asked for with its reasons; raises UsageError."""
        wanted, name = (self.rhs or "").strip(), shown_name(script)
        number = int(wanted) if wanted.isdigit() and len(wanted) < 6 else 1
        words = "" if wanted.isdigit() else wanted
        may_search = self.reader.may(PRIVATE_WORDS)
        line = find_line(script.id, number, words, may_search) if number else None
        if line is None and words:
            told = f"{name} said no line with '{clean_output(words, 60)}'."
            hidden = f" Whispers were not searched: {self.reader.whose(PRIVATE_WORDS)} read them."
            raise UsageError(told if may_search else told + hidden)
        if line is None and number != 1:
            raise UsageError(f"{name} has not said {number} lines. |waiwhy {name}|n is the last.")
        if line is None:
            raise UsageError(f"{name} has said nothing yet.")
        return explain(line, [script.character_name])

    def show_kept_prompt(self, script: GameScript, why: Explanation) -> None:
        """Show the whole prompt; raises UsageError if it was not kept."""
        if why.stored is None:
            raise UsageError(f"The prompt was not kept. See |waiwhy {shown_name(script)}|n.")
        show_prompt(self, why.parts, why.private)


class CmdAIPrompt(AICommand):
    """
    show what a model would be asked next

    Usage:
      aiprompt <character>
      aiprompt <character> = <line>
      aiprompt/whisper <character> = <line>

    Shows the whole prompt for everybody in the character's room, part by part with
    its tokens: without a line that of an unasked turn, with a line the one that
    would follow if you said it there. No model is asked, and nothing is stored.

    Switches:
      whisper - as if you whispered the line to the character
    """

    key = "aiprompt"
    locks = "cmd:perm(Builder)"
    reads = DRY_RUNS
    switch_options = ("whisper",)

    def run(self) -> None:
        """Build the prompt and show it."""
        script = self.find_assistant(self.lhs)
        heard = None
        if self.rhs or self.switch:
            heard = addressed_line(script, self.caller, self.switch or "say", self.rhs or "")
        script.resolve_settings()
        request = next_request(script, heard)
        if request.trace is None:
            raise UsageError("This prompt has no parts to show.")
        stored = with_talk(script.id, KeptCall(request.trace, request.sent, RawReply()))
        parts = parts_of(stored.kept, stored.marker, stored.talk, stored.own)
        self.msg(f"About {request.tokens:,} tokens:")
        self.msg("\n".join(part_table(parts)))
        show_prompt(self, parts, request.trace.private)


def show_prompt(command: AICommand, parts: Sequence[Part], private: bool) -> None:
    """Show a prompt page by page, as far as the caller may read it."""
    lines = whole_prompt(parts, private, command.reader)
    EvMore(command.caller, "\n".join(lines), session=command.session, exit_on_lastpage=True)
