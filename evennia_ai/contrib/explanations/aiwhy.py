"""``aiwhy``: why a line was said, what a model is asked next, and what another would answer."""

from collections.abc import Sequence
from datetime import timedelta

from evennia.utils.evmore import EvMore
from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands import rendering
from evennia_ai.commands.common import CommandResult, UsageError, page_number
from evennia_ai.commands.dry_run import TryingCommand
from evennia_ai.commands.rendering import withheld_lines
from evennia_ai.config import ModelProfile, resolve_profile
from evennia_ai.contrib.explanations import attribution
from evennia_ai.contrib.explanations import why as explanations
from evennia_ai.contrib.explanations.aiwhy_lines import (
    LINE_CHARS,
    TEXT_CHARS,
    kind_of,
    part_table,
    source_of,
    why_lines,
)
from evennia_ai.contrib.explanations.attribution import PromptPart
from evennia_ai.contrib.explanations.code_answers import acts_told, fixed_reason, sources_of
from evennia_ai.contrib.explanations.replay import ReplayResult, ask_again
from evennia_ai.contrib.explanations.stored_calls import StoredCall, calls_of_turn, with_talk
from evennia_ai.contrib.explanations.why import Explanation, acted_in_private
from evennia_ai.game.client_text import clean_error, clean_output
from evennia_ai.game.help_entries import STAFF
from evennia_ai.game.memory_reading import search_for_staff
from evennia_ai.memory.remote_vectors import PAUSE_S
from evennia_ai.messages import LLMReply, ToolCallRequest
from evennia_ai.mind.dry_run import next_step
from evennia_ai.policy.call_record import KeptCall, RecordedReply
from evennia_ai.policy.read_permissions import (
    DRY_RUNS,
    ERRORS,
    PRIVATE_WORDS,
    PUBLIC_WORDS,
    memory_kind,
    words_kind,
)
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.ports import TASK_SUMMARY
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.reports import find_row

PAUSE = timedelta(seconds=PAUSE_S)
NO_ROW = "  a row that it knows no more, or the game's own words"


class CmdAIWhy(TryingCommand):
    """tell why an assistant said a line

    Usage:
      aiwhy <character> [= <n>, or words of the line]
      aiwhy/prompt <character> [= <n>, or words of the line]
      aiwhy/call[/prompt] <character> [= <purpose> [<n>]]
      aiwhy/next[/whisper] <character> [= <line>]        (also: aiprompt)
      aiwhy/again[/persona] <character> = <turn> [, <profile>] (also: aireplay)

    Tells of the last line that the character said, of the <n>th last one, or of
    the newest one with these words: what set it off, the parts of the prompt with
    their tokens, what was recalled, the model's reply as it came, what was done
    with it, which line of the prompt each sentence comes from, and what was near
    but left out. "nothing in the prompt says this" marks a claim that the model
    made up. The source is found by the words that both have: a hint, no proof.

    Switches:
      prompt - the whole prompt as it was sent, rebuilt from the log
      call   - the last or <n>th last model call for a summary, or for the purpose
               pre_compaction, reflection, importance, sleep_consolidate,
               goal_decompose or plan_day
      next   - what a model would be asked next, or if you said or whispered this
               line in the character's room. No model is asked.
      again  - ask the model, or that of another profile, what was asked in a turn,
               perhaps with the present persona. Nothing is said, done or stored;
               the tokens count. |waihistory/turns|n lists the turns.
    """

    key = "aiwhy"
    help_category = STAFF
    second_names = {"aiprompt": "next", "aireplay": "again"}
    aliases = tuple(second_names)
    switch_options = ("prompt", "call", "next", "whisper", "again", "persona")
    combined = (
        frozenset({"prompt", "call"}),
        frozenset({"next", "whisper"}),
        frozenset({"again", "persona"}),
    )

    def run(self) -> CommandResult:
        if not self.combined[0].issuperset(self.switches):
            self.ensure_may_read(DRY_RUNS)
            self.find_assistant(self.lhs)
            self.script.mind.settings.resolve()
            if "again" in self.switches:
                return self.again()
            self.show_next()
            return None
        self.ensure_may_read(PUBLIC_WORDS)
        self.find_assistant(self.lhs)
        why = self.called() if "call" in self.switches else self.explained()
        if "prompt" not in self.switches:
            own_line = self.script.config.fallback_line or ""
            lines = why_lines(self.name, why, self.reader, own_line)
            self.msg("\n".join([*lines, *self.unread_lines(why)]))
            return self.tell_rows(why) if why.is_by_code else self.tell_near(why)
        if why.stored is None:
            raise UsageError(f"The prompt was not kept. See |waiwhy {self.name}|n.")
        self.show_prompt(why.parts, why.private)
        return None

    def called(self) -> Explanation:
        """Return the model call that was asked for; raises UsageError, also if it is hidden."""
        purpose, _, number = (self.rhs or TASK_SUMMARY).strip().lower().partition(" ")
        call = explanations.find_call(self.script.id, purpose, page_number(number))
        if call is None:
            raise UsageError(
                f"{self.name} has made no call for '{clean_output(purpose, 40)}'. "
                "|whelp aiwhy|n lists the purposes."
            )
        why = explanations.explain_call(call, [self.script.mind.who.name])
        for kind in (words_kind(why.private), memory_kind(why.private)):
            self.ensure_may_read(kind)
        return why

    def explained(self) -> Explanation:
        wanted, name = (self.rhs or "").strip(), self.name
        number = int(wanted) if wanted.isdigit() and len(wanted) < 6 else 1
        words = "" if wanted.isdigit() else wanted
        may_search = self.reader.may(PRIVATE_WORDS)
        line = explanations.find_line(self.script.id, number, words, may_search) if number else None
        if line is not None:
            return explanations.explain(line, [self.script.mind.who.name])
        if words:
            problem = f"{name} said no line with '{clean_output(words, 60)}'."
            hidden = f" Whispers were not searched: {self.reader.whose(PRIVATE_WORDS)} read them."
            raise UsageError(problem if may_search else problem + hidden)
        if number != 1:
            raise UsageError(f"{name} has not said {number} lines. |waiwhy {name}|n is the last.")
        raise UsageError(f"{name} has said nothing yet.")

    def unread_lines(self, why: Explanation) -> list[str]:
        """Return that the meaning of what was heard was not read, if the embedder failed then."""
        if why.turn is None:
            return []
        began, ended = why.turn.at - PAUSE, why.turn.ended_at or self.services.now()
        times = [at for at in self.services.nearness.failed_at if began < at <= ended]
        late = "The embedder failed or was late at {at}: only the words of the line were read."
        return [f"|y{late.format(at=self.reader.clock(at))}|n" for at in times[-1:]]

    @inlineCallbacks
    def tell_rows(self, why: Explanation) -> Coroutine[None]:
        """Tell from which rows code took a line, by what the character knows now.

        A reader who may not read what was said is told nothing. Fails as `tell_near` does.
        """
        kinds = words_kind(why.private), memory_kind(why.private)
        if why.turn is None or not all(map(self.reader.may, kinds)):
            return
        heard_texts = [event.text for event in why.turn.events.all() if event.text]
        mind, audience = self.script.mind, frozenset(why.message["metadata"]["audience"])
        yield mind.lore.prepare(heard_texts, audience)
        reason = yield fixed_reason(mind, why.text, heard_texts[-1] if heard_texts else "")
        lines = [f"  {clean_output(reason, LINE_CHARS)}"] if reason else []
        kind = words_kind(why.reply_private)
        lines += [
            rendering.act_lines(act, kind, self.reader) for act in acts_told(why.text, why.acts)
        ]
        if not lines:
            words = " ".join(heard_texts)
            hits = yield search_for_staff(mind.around, words, audience, self.reader)
            at, of_turn = why.message["metadata"]["at"], explanations.numbers_of(why.turn)
            memories = [
                hit.record
                for hit in hits.found
                if str(hit.record.get("timestamp", "")) <= at
                and hit.record["id"] not in {f"line:{number}" for number in of_turn}
            ]
            sources = sources_of(mind, why.text, heard_texts, audience, memories)
            lines = [f"  {source_of(item, why.private, self.reader)}" for item in sources]
        self.tell(["|wWhat code said is from|n (by what it knows now)", *(lines or [NO_ROW])])

    @inlineCallbacks
    def tell_near(self, why: Explanation) -> Coroutine[None]:
        """Tell which lore and memories fit what set a line off, but are not in its prompt, and why.

        They are searched in what the character knows now. A reader who may not read what was said
        is told nothing. Fails with StoreUnavailable and TurnAborted.
        """
        if why.turn is None:
            return
        heard_texts = [event.text for event in why.turn.events.all() if event.text]
        kinds = words_kind(why.private), memory_kind(why.private)
        if not heard_texts or not why.parts or not all(map(self.reader.may, kinds)):
            return
        mind, audience = self.script.mind, frozenset(why.message["metadata"]["audience"])
        yield mind.lore.prepare(heard_texts, audience)
        shown = "\n".join(part.text for part in why.parts)
        lines = [
            f"  lore {clean_output(try_line.entry.title, 60)}: {clean_output(try_line.verdict())}"
            for try_line in mind.lore.try_lines(heard_texts, audience)
            if (try_line.reason or try_line.why_unknown) and try_line.entry.text not in shown
        ]
        words = " ".join(heard_texts)
        sources = {line.source for part in why.parts for line in part.lines}
        of_turn = {f"line:{number}" for number in explanations.numbers_of(why.turn)}
        hits = yield search_for_staff(mind.around, words, audience, self.reader)
        for hit in hits.found:
            recalled_line = mind.recall.line(hit.record, words)
            id_ = hit.record["id"]
            is_new = str(hit.record.get("timestamp", "")) > why.message["metadata"]["at"]
            is_asked = any(text in recalled_line for text in heard_texts) or id_ in of_turn
            if not (is_new or is_asked or {id_, id_.replace("line:", "message ")} & sources):
                reason = "less near than what was recalled, or no room was left"
                shown_id = clean_output(id_, 60)
                lines.append(f"  {shown_id} {clean_output(recalled_line, LINE_CHARS)}: {reason}")
        lines += [f"  {line}" for line in withheld_lines(hits, audience, self.reader)]
        if lines:
            self.tell(["|wNear, but left out|n (by what it knows now)", *lines])

    def show_next(self) -> None:
        """Show the prompt that would be sent next; nothing is sent or stored."""
        event = None
        if self.rhs or "whisper" in self.switches:
            kind = "whisper" if "whisper" in self.switches else "say"
            event = self.addressed_line(kind, self.rhs or "")
        request = next_step(self.script.mind.around, event).request
        if request.trace is None:
            raise UsageError("This prompt has no parts to show.")
        kept = KeptCall(request.trace, request.sent, RecordedReply())
        stored = with_talk(self.script.id, kept)
        parts = attribution.parts_of(stored.kept, stored.marker, stored.talk, stored.own)
        self.msg("\n".join([f"About {request.tokens:,} tokens:", *part_table(parts)]))
        self.show_prompt(parts, request.trace.private)

    def show_prompt(self, parts: Sequence[PromptPart], private: bool) -> None:
        """Show a prompt page by page; of tools their first characters only."""
        lines, reader = [], self.reader
        for part in parts:
            kind = kind_of(part.name, private)
            lines.append(f"|w--- {part.name}, {estimate_tokens(part.text):,} tokens ---|n")
            most = LINE_CHARS if part.name == attribution.TOOLS else TEXT_CHARS
            if part.name in attribution.INSTRUCTIONS or reader.may(kind):
                reader.count(kind, part.name not in attribution.INSTRUCTIONS)
                lines += [clean_output(line.text, most) for line in part.lines]
            else:
                lines.append(reader.show(kind, "", "words"))
        EvMore(self.caller, "\n".join(lines), session=self.session, exit_on_lastpage=True)

    def again(self) -> Deferred[None]:
        number, _, name = (self.rhs or "").partition(",")
        if not number.strip():
            raise UsageError(f"Which turn? |waireplay {self.name} = <turn>|n")
        profile: ModelProfile = self.script.mind.settings.profile
        if name.strip():
            profile = resolve_profile(clean_heard(name, 60), self.services.profiles)
        if not profile.has_model:
            raise UsageError(
                "The stand-in reads no prompt, so it cannot be asked again. "
                "Name another profile: |waireplay <character> = <turn>, <profile>|n"
            )
        calls = self.find_calls(page_number(number))
        shown = clean_output(f"{profile.name}:{profile.model}", 60)
        self.msg(f"Asking {shown} again; calls: {len(calls)} ...")
        return self.replay(calls, profile)

    def find_calls(self, turn_id: int) -> list[StoredCall]:
        """Return the calls of a turn whose prompts are kept; raises UsageError without any."""
        calls = calls_of_turn(self.script.id, turn_id)
        if not calls:
            raise UsageError(
                f"No prompt of turn {turn_id} is kept. |waihistory/turns {self.name}|n "
                "lists the turns, and RETENTION says how long prompts are kept."
            )
        if not all(call.is_exact for call in calls):
            raise UsageError("This turn cannot be replayed: its prompt cannot be rebuilt whole.")
        turn = find_row("Turn", self.script.id, turn_id)
        private = any(call.kept.trace.private for call in calls) or bool(turn and turn["private"])
        kind = words_kind(private or acted_in_private(turn_id))
        self.ensure_may_read(kind)
        self.reader.count(kind, len(calls))
        return calls

    @inlineCallbacks
    def replay(self, calls: Sequence[StoredCall], profile: ModelProfile) -> Coroutine[None]:
        for number, call in enumerate(calls, 1):
            result: ReplayResult = yield ask_again(
                self.script.mind, call.kept, call.messages, profile, "persona" in self.switches
            )
            lines = [f"|wCall {number} of {len(calls)}|n"]
            lines += [f"  |xthen|n {text}" for text in texts_then(call)]
            texts = rendering.texts_of(result.content, result.calls)
            now = [f"  |gnow|n  {text}" for text in texts]
            if result.problem:
                problem = clean_error(result.problem, rendering.REPLY_CHARS)
                now = [f"  |rnow|n  no reply: {self.reader.show(ERRORS, problem, 'error')}"]
            self.tell([*lines, *now])


def texts_then(call: StoredCall) -> list[str]:
    """Return the recorded reply as the calls that were read out of it."""
    raw, sent = call.kept.reply, call.kept.sent
    calls = tuple(ToolCallRequest("", name, arguments) for name, arguments in raw.calls)
    read = reply_reader(sent.form, sent.tools).finish(LLMReply(raw.text, calls))
    return rendering.texts_of(read.content, read.tool_calls)
