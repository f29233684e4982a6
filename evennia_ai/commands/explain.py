"""``aiwhy``: why a line was said, what a model is asked next, and what another would answer."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from evennia.utils.evmore import EvMore
from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands import rendering
from evennia_ai.commands.common import Outcome, UsageError, page_number
from evennia_ai.commands.dry_run import TryingCommand
from evennia_ai.commands.memories import withheld_lines
from evennia_ai.config import ModelProfile, resolve_profile
from evennia_ai.errors import BudgetExhausted
from evennia_ai.game.client_text import clean_error, clean_output
from evennia_ai.game.help_entries import STAFF
from evennia_ai.game.memory_reading import search_for_staff
from evennia_ai.game.texts import text
from evennia_ai.messages import LLMReply, ToolCallRequest, is_excuse, is_puppeted
from evennia_ai.mind.dry_run import next_step
from evennia_ai.policy.explanation import attribution
from evennia_ai.policy.explanation.attribution import Attribution, PromptPart
from evennia_ai.policy.explanation.call_record import KeptCall, RecordedReply
from evennia_ai.policy.read_permissions import (
    DRY_RUNS,
    ERRORS,
    PRIVATE_WORDS,
    PUBLIC_WORDS,
    Reader,
    memory_kind,
    words_kind,
)
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.policy.tool_call_modes.form import ReplyContext
from evennia_ai.ports import TASK_SUMMARY
from evennia_ai.scheduling import Coroutine
from evennia_ai.store import explanations
from evennia_ai.store.explanations import Explanation, StoredCall, calls_of_turn, with_talk
from evennia_ai.store.names import list_names, locks_of
from evennia_ai.store.reports import acted_in_private, find_row
from evennia_ai.turn.llm_interaction import ReplayResult

LINE_CHARS, TEXT_CHARS = 200, 4_000
BAR_CHARS = 40
STATES = {
    explanations.EXACT: "rebuilt from the log, as it was sent",
    explanations.CHANGED: "|ynot as it was sent|n",
    explanations.ERASED: "|yerased|n, since somebody in it was forgotten",
}
NOT_KEPT = "|ynot kept|n: it is older than the setting RETENTION keeps prompts"
PUPPETED_LINE = (
    " Its mind did not say this: a player who controlled the character did, staff who forced it, "
    "or the game's code."
)


class CmdAIWhy(TryingCommand):
    """
    tell why an assistant said a line

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
    but left out. "none of the prompt tells this" marks a claim that the model
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

    def run(self) -> Outcome:
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
            self.msg("\n".join(why_lines(self.name, why, self.reader, own_line)))
            return self.tell_near(why)
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
                f"{self.name} has no such call for '{clean_output(purpose, 40)}'. "
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
        if profile.client == "offline":
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
            result: ReplayResult = yield self.script.mind.replay.replay(
                call.kept, call.messages, profile, "persona" in self.switches
            )
            lines = [f"|wCall {number} of {len(calls)}|n"]
            lines += [f"  |xthen|n {text}" for text in texts_then(call)]
            texts = rendering.texts_of(result.content, result.calls)
            now = [f"  |gnow|n  {text}" for text in texts]
            if result.problem:
                problem = clean_error(result.problem, rendering.REPLY_CHARS)
                now = [f"  |rnow|n  no reply: {self.reader.show(ERRORS, problem, 'error')}"]
            self.tell([*lines, *now])


def why_lines(name: str, why: Explanation, reader: Reader, own_line: str) -> Iterator[str]:
    """Yield the explanation of a line, as far as the reader may see it."""
    kind = words_kind(why.private)
    heard_by = "somebody in private"
    if reader.may(kind):
        heard_by = list_names(why.message["metadata"].get("audience") or [])
    where = f"turn {why.turn.id}, to {heard_by}" if why.turn else f"to {heard_by}"
    if why.turn is None and why.call is not None:
        where = f"{why.call.purpose}, for {heard_by if why.private else 'everybody'}"
    text = f'"{clean_output(why.text, TEXT_CHARS)}"' if why.text else "no text came of it"
    words = reader.show(kind, text, "words")
    at = reader.clock(datetime.fromisoformat(why.message["metadata"]["at"]))
    yield f"|w{name}|n at {at} {reader.zone}, {clean_output(where, 120)}:\n  {words}"
    events = why.turn.events.all() if why.turn else []
    if why.turn is not None:
        yield "|wSet off by|n"
        yield from (f"  {rendering.event_line(event, reader)}" for event in events)
        if not events:
            yield f"  nobody: {why.turn.context.replace('_', ' ')}"
    if why.call is None:
        speaker = speaker_of(why.text, own_line) if is_excuse(why.message) else ""
        speaker += PUPPETED_LINE * is_puppeted(why.message)
        yield f"|wNo model chose this line.|n{speaker}"
        calls = list(why.turn.model_calls.all()) if why.turn is not None else []
        detail = why.turn.detail if why.turn is not None else ""
        if failed := [call for call in calls if call.error_kind and is_excuse(why.message)]:
            yield f"  {rendering.model_call_text(failed[-1], reader)}"
            is_spent = failed[-1].error_kind == BudgetExhausted.kind
            test = f"  To test that model: |waitest/provider {clean_output(failed[-1].profile)}|n"
            yield (
                "  Who used it up: |waicost/characters|n, |waicost/players|n" if is_spent else test
            )
        elif detail and detail not in {event.reason for event in events}:
            yield f"  {reader.show(ERRORS, clean_error(detail, LINE_CHARS), 'reason')}"
        return
    yield from prompt_lines(why, reader)
    yield from reply_lines(why, reader)
    for number, sentence in enumerate(why.sentences, 1):
        if number == 1:
            yield "|wWhere each sentence comes from|n"
        words = reader.show(kind, clean_output(sentence.sentence, LINE_CHARS), "words")
        yield f"  {number}. {words}\n     {source_of(sentence, why.private, reader)}"


def speaker_of(excuse: str, own_line: str) -> str:
    """Return whose line replaced an answer; ``own_line`` is the character's setting."""
    lines = [line.strip() for key in ("fallback", "busy") for line in text(key).splitlines()]
    if excuse.strip() in (own_line.strip(), *lines):
        return " It is the game's line, since no model answered."
    return " The stand-in spoke it, since no model answered."


def prompt_lines(why: Explanation, reader: Reader) -> Iterator[str]:
    lost = f"; the log has lost {why.missing} of its messages" if why.missing else ""
    state = STATES.get(why.state, NOT_KEPT)
    if why.is_offline:
        state = "sent nowhere: the stand-in answered from what stands in it"
    yield f"|wThe prompt|n is {state}{lost}."
    yield f"  {rendering.model_call_text(why.call, reader)}"
    yield from part_table(why.parts)
    for part in why.parts:
        if part.name in (attribution.RECALLED, attribution.LORE):
            kind = kind_of(part.name, why.private)
            yield f"|w{part.name.capitalize()}|n"
            for line in part.lines:
                score = f"{line.score:5.2f} " if line.score else "      "
                words = reader.show(kind, clean_output(line.text, LINE_CHARS), "words")
                yield f"  {score}{words}"
    if why.stored is not None and why.stored.kept.trace.withheld:
        tools = ", ".join(why.stored.kept.trace.withheld)
        yield f"|wTools withheld|n, since an author of the prompt may not use them: {tools}"


def kind_of(part: str, private: bool) -> str:
    return memory_kind(private) if part in attribution.MEMORIES else words_kind(private)


def part_table(parts: Sequence[PromptPart]) -> list[str]:
    sizes = [(part.name, estimate_tokens(part.text)) for part in parts]
    total = sum(tokens for _name, tokens in sizes) or 1
    return [
        f"  {name:<12}{tokens:>7,} tokens {'=' * round(BAR_CHARS * tokens / total)}"
        for name, tokens in sizes
    ]


def reply_lines(why: Explanation, reader: Reader) -> Iterator[str]:
    kind = words_kind(why.reply_private)
    if why.stored is not None:
        raw = why.stored.kept.reply
        calls = [rendering.call_text(name, arguments) for name, arguments in raw.calls]
        texts = [*([clean_output(raw.text, TEXT_CHARS)] if raw.text else []), *calls]
        yield "|wThe reply as it came|n"
        yield from (f"  {reader.show(kind, text, 'reply')}" for text in texts or ["nothing"])
    if why.acts:
        yield "|wRead and done|n"
        for act in why.acts:
            yield rendering.act_lines(act, kind, reader)
            if reader.may(kind):
                lock_lines = (clean_output(lock, TEXT_CHARS) for lock in locks_of(act.locks))
                yield from (f"    |x{lock_line}|n" for lock_line in lock_lines)
    if is_changed(why):
        yield "|ySome of the words were changed or left out before they were said.|n"


def is_changed(why: Explanation) -> bool:
    """Return True if the words that were said do not stand in the raw reply."""
    if why.stored is None or not why.acts:
        return False
    raw = why.stored.kept.reply
    sent_text = " ".join([raw.text, *(arguments for _name, arguments in raw.calls)])
    squeezed = "".join(sent_text.replace("\\", "").split())
    return any(word.replace("\\", "") not in squeezed for word in why.text.split())


def source_of(attribution: Attribution, private: bool, reader: Reader) -> str:
    if not attribution.tells:
        return "|xsmall talk: it tells nothing|n"
    if attribution.source is None:
        return "|ynone of the prompt tells this|n"
    source = attribution.source
    label = f" ({clean_output(source.line.source, 60)})" if source.line.source else ""
    kind = kind_of(source.part, private)
    text = reader.show(kind, clean_output(source.text, LINE_CHARS), "words")
    return f"|g{source.part}{label}|n, {attribution.share:.0%}: {text}"


def texts_then(call: StoredCall) -> list[str]:
    """Return the recorded reply as the calls that were read out of it."""
    raw, sent = call.kept.reply, call.kept.sent
    calls = tuple(ToolCallRequest("", name, arguments) for name, arguments in raw.calls)
    read = reply_reader(sent.form, ReplyContext(tools=sent.tools)).finish(LLMReply(raw.text, calls))
    return rendering.texts_of(read.content, read.tool_calls)
