"""``aiwhy``, ``aiprompt`` and ``aireplay``: why a line was said, and what a model was asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from evennia.utils.evmore import EvMore
from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands import history_rendering as rendering
from evennia_ai.commands.common import AICommand, UsageError, page_number
from evennia_ai.commands.dry_run import TryingCommand
from evennia_ai.config import ModelProfile, resolve_profile
from evennia_ai.game.client_text import clean_output
from evennia_ai.messages import LLMReply, ToolCallRequest, is_excuse, is_puppeted
from evennia_ai.mind.dry_run import next_request
from evennia_ai.policy import disclosure
from evennia_ai.policy.disclosure import ERRORS, PRIVATE_WORDS, Reader, words_kind
from evennia_ai.policy.explanation import attribution
from evennia_ai.policy.explanation.attribution import Attribution
from evennia_ai.policy.explanation.call_record import KeptCall, RawReply
from evennia_ai.policy.replies.reply_reader import reply_reader
from evennia_ai.policy.request_forms.form import Asked
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.ports import TASK_SUMMARY
from evennia_ai.scheduling import Steps
from evennia_ai.store import explanations
from evennia_ai.store.call_records import StoredCall, calls_of_turn, with_talk
from evennia_ai.store.names import list_names, locks_of
from evennia_ai.store.reports import acted_in_private, find_row
from evennia_ai.turn.replay import Replayed

LINE_CHARS = 200
TEXT_CHARS = 4_000
REPLY_CHARS = 600
BAR_CHARS = 40
STATES = {
    explanations.EXACT: "rebuilt from the log, as it was sent",
    explanations.CHANGED: "|ynot as it was sent|n",
    explanations.ERASED: "|yerased|n, since somebody in it was forgotten",
}
NOT_KEPT = "|ynot kept|n: it is older than the setting RETENTION keeps prompts"


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
    reads = disclosure.PUBLIC_WORDS
    switch_options = ("prompt", "call")
    combined = frozenset(switch_options)

    def run(self) -> None:
        self.find_assistant(self.lhs)
        why = self.called() if "call" in self.switches else self.explained()
        if "prompt" not in self.switches:
            self.msg("\n".join(why_lines(self.name, why, self.reader)))
        elif why.stored is None:
            raise UsageError(f"The prompt was not kept. See |waiwhy {self.name}|n.")
        else:
            show_prompt(self, why.parts, why.private)

    def called(self) -> explanations.Explanation:
        """Return the model call that was asked for; raises UsageError, also if it is hidden."""
        purpose, _, number = (self.rhs or TASK_SUMMARY).strip().lower().partition(" ")
        call = explanations.find_call(self.script.id, purpose, page_number(number))
        if call is None:
            raise UsageError(
                f"{self.name} has no such call for '{clean_output(purpose, 40)}'. "
                "|whelp aiwhy|n lists the purposes."
            )
        why = explanations.explain_call(call, [self.script.mind.who.name])
        for kind in (words_kind(why.private), disclosure.memory_kind(why.private)):
            self.ensure_may_read(kind)
        return why

    def explained(self) -> explanations.Explanation:
        wanted, name = (self.rhs or "").strip(), self.name
        number = int(wanted) if wanted.isdigit() and len(wanted) < 6 else 1
        words = "" if wanted.isdigit() else wanted
        may_search = self.reader.may(PRIVATE_WORDS)
        line = explanations.find_line(self.script.id, number, words, may_search) if number else None
        if line is not None:
            return explanations.explain(line, [self.script.mind.who.name])
        if words:
            told = f"{name} said no line with '{clean_output(words, 60)}'."
            hidden = f" Whispers were not searched: {self.reader.whose(PRIVATE_WORDS)} read them."
            raise UsageError(told if may_search else told + hidden)
        if number != 1:
            raise UsageError(f"{name} has not said {number} lines. |waiwhy {name}|n is the last.")
        raise UsageError(f"{name} has said nothing yet.")


PUPPETED_LINE = (
    " Its mind did not say this: a player who controlled the character did, staff who forced it, "
    "or the game's code."
)


class CmdAIPrompt(TryingCommand):
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
    reads = disclosure.DRY_RUNS
    switch_options = ("whisper",)

    def run(self) -> None:
        script, heard = self.find_assistant(self.lhs), None
        if self.rhs or self.switch:
            heard = self.addressed_line(self.switch or "say", self.rhs or "")
        script.mind.settings.resolve()
        request = next_request(script.mind.around, heard)
        if request.trace is None:
            raise UsageError("This prompt has no parts to show.")
        stored = with_talk(script.id, KeptCall(request.trace, request.sent, RawReply()))
        parts = attribution.parts_of(stored.kept, stored.marker, stored.talk, stored.own)
        self.msg(f"About {request.tokens:,} tokens:")
        self.msg("\n".join(part_table(parts)))
        show_prompt(self, parts, request.trace.private)


def show_prompt(command: AICommand, parts: Sequence[attribution.Part], private: bool) -> None:
    """Show a prompt page by page; of tools their first characters only."""
    lines, reader = [], command.reader
    for part in parts:
        kind = _kind_of(part.name, private)
        lines.append(f"|w--- {part.name}, {estimate_tokens(part.text):,} tokens ---|n")
        most = LINE_CHARS if part.name == attribution.TOOLS else TEXT_CHARS
        if part.name in attribution.INSTRUCTIONS or reader.may(kind):
            reader.count(kind, part.name not in attribution.INSTRUCTIONS)
            lines += [clean_output(line.text, most) for line in part.lines]
        else:
            lines.append(reader.show(kind, "", "words"))
    EvMore(command.caller, "\n".join(lines), session=command.session, exit_on_lastpage=True)


def why_lines(name: str, why: explanations.Explanation, reader: Reader) -> Iterator[str]:
    """Yield the explanation of a line, as far as the reader may see it."""
    kind = words_kind(why.private)
    heard_by = "somebody in private"
    if reader.may(kind):
        heard_by = list_names(why.message["metadata"].get("audience") or [])
    where = f"turn {why.turn.id}, to {heard_by}" if why.turn else f"to {heard_by}"
    if why.turn is None and why.call is not None:
        where = f"{why.call.purpose}, for {heard_by if why.private else 'everybody'}"
    text = f'"{clean_output(why.text, TEXT_CHARS)}"' if why.text else "no text came of it"
    said = reader.show(kind, text, "words")
    at = reader.clock(datetime.fromisoformat(why.message["metadata"]["at"]))
    yield f"|w{name}|n at {at} {reader.zone}, {clean_output(where, 120)}:\n  {said}"
    if why.turn is not None:
        events = why.turn.events.all()
        yield "|wSet off by|n"
        yield from (rendering.event_line(event, reader) for event in events)
        if not events:
            yield f"  nobody: {why.turn.context.replace('_', ' ')}"
    if why.call is None:
        excuse = " It is the game's line." * is_excuse(why.message)
        excuse += PUPPETED_LINE * is_puppeted(why.message)
        yield f"|wNo model chose this line.|n{excuse}"
        if why.turn is not None and why.turn.detail:
            yield f"  {reader.show(ERRORS, clean_output(why.turn.detail, LINE_CHARS), 'reason')}"
        return
    yield from _prompt_lines(why, reader)
    yield from _reply_lines(why, reader)
    for number, one in enumerate(why.sentences, 1):
        if number == 1:
            yield "|wWhere each sentence comes from|n"
        said = reader.show(kind, clean_output(one.sentence, LINE_CHARS), "words")
        yield f"  {number}. {said}\n     {_source_of(one, why.private, reader)}"


def _prompt_lines(why: explanations.Explanation, reader: Reader) -> Iterator[str]:
    lost = f"; the log has lost {why.missing} of its messages" if why.missing else ""
    state = STATES.get(why.state, NOT_KEPT)
    if why.is_offline:
        state = "sent nowhere: the offline brain answered from what stands in it"
    yield f"|wThe prompt|n is {state}{lost}."
    yield f"  {rendering.model_call_text(why.call, reader)}"
    yield from part_table(why.parts)
    for part in why.parts:
        if part.name in (attribution.RECALLED, attribution.LORE):
            kind = _kind_of(part.name, why.private)
            yield f"|w{part.name.capitalize()}|n"
            for line in part.lines:
                score = f"{line.score:5.2f} " if line.score else "      "
                words = reader.show(kind, clean_output(line.text, LINE_CHARS), "words")
                yield f"  {score}{words}"
    if why.stored is not None and why.stored.kept.trace.withheld:
        tools = ", ".join(why.stored.kept.trace.withheld)
        yield f"|wTools withheld|n, since an author of the prompt may not use them: {tools}"


def _kind_of(part: str, private: bool) -> str:
    return disclosure.memory_kind(private) if part in attribution.MEMORIES else words_kind(private)


def part_table(parts: Sequence[attribution.Part]) -> list[str]:
    sizes = [(part.name, estimate_tokens(part.text)) for part in parts]
    total = sum(tokens for _name, tokens in sizes) or 1
    bars = ["=" * round(BAR_CHARS * tokens / total) for _name, tokens in sizes]
    return [f"  {name:<12}{size:>7,} {bar}" for (name, size), bar in zip(sizes, bars, strict=True)]


def _reply_lines(why: explanations.Explanation, reader: Reader) -> Iterator[str]:
    kind = words_kind(why.reply_private)
    if why.stored is not None:
        yield "|wThe reply as it came|n"
        texts = raw_texts(why.stored.kept.reply)
        yield from (f"  {reader.show(kind, text, 'reply')}" for text in texts)
    if why.acts:
        yield "|wRead and done|n"
        for act in why.acts:
            yield rendering.act_lines(act, kind, reader)
            if reader.may(kind):
                told = (clean_output(one, TEXT_CHARS) for one in locks_of(act.locks))
                yield from (f"    |x{one}|n" for one in told)
    if _is_changed(why):
        yield "|ySome of the words were changed or left out before they were said.|n"


def raw_texts(raw: RawReply) -> list[str]:
    calls = [rendering.call_text(name, arguments) for name, arguments in raw.calls]
    return [*([clean_output(raw.text, TEXT_CHARS)] if raw.text else []), *calls] or ["nothing"]


def _is_changed(why: explanations.Explanation) -> bool:
    """Return True if the words that were said do not stand in the raw reply."""

    def squeezed(text: str) -> str:
        return "".join(text.replace("\\", "").split())

    if why.stored is None or not why.acts:
        return False
    raw = why.stored.kept.reply
    told = squeezed(" ".join([raw.text, *(arguments for _name, arguments in raw.calls)]))
    return any(squeezed(word) not in told for word in why.text.split())


def _source_of(one: Attribution, private: bool, reader: Reader) -> str:
    if not one.tells:
        return "|xsmall talk: it tells nothing|n"
    if one.source is None:
        return "|ynone of the prompt tells this|n"
    source = f" ({clean_output(one.source.line.source, 60)})" if one.source.line.source else ""
    kind = _kind_of(one.source.part, private)
    text = reader.show(kind, clean_output(one.source.text, LINE_CHARS), "words")
    return f"|g{one.source.part}{source}|n, {one.share:.0%}: {text}"


class CmdAIReplay(AICommand):
    """
    ask a model again what was asked in an earlier turn

    Usage:
      aireplay <character> = <turn> [, <profile>]
      aireplay/persona <character> = <turn> [, <profile>]

    Sends the same prompt as in that turn, to the character's model or to that of
    another profile, and shows what was answered then and what is answered now. The
    results of tools are those of the turn. Nothing is said, done or stored; the
    tokens count. |waihistory/turns|n and |waiwhy|n tell the numbers of turns.

    Switches:
      persona - with the persona that the character has now
    """

    key = "aireplay"
    reads = disclosure.DRY_RUNS
    switch_options = ("persona",)

    def run(self) -> Deferred[None]:
        self.find_assistant(self.lhs)
        number, _, name = (self.rhs or "").partition(",")
        if not number.strip():
            raise UsageError(f"Which turn? |waireplay {self.name} = <turn>|n")
        self.script.mind.settings.resolve()
        profile = self.find_profile(name.strip())
        calls = self.find_calls(page_number(number))
        shown = clean_output(f"{profile.name}:{profile.model}", 60)
        self.msg(f"Asking {shown} again; calls: {len(calls)} ...")
        return self.replay(calls, profile)

    def find_profile(self, name: str) -> ModelProfile:
        profile: ModelProfile = self.script.mind.settings.profile
        if name:
            profile = resolve_profile(clean_heard(name, 60), self.services.profiles)
        if profile.client == "offline":
            raise UsageError(
                "The offline brain reads no prompt, so it cannot be asked again. "
                "Name another profile: |waireplay <character> = <turn>, <profile>|n"
            )
        return profile

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
    def replay(self, calls: Sequence[StoredCall], profile: ModelProfile) -> Steps[None]:
        for number, call in enumerate(calls, 1):
            found: Replayed = yield self.script.mind.replay.replay(
                call.kept, call.messages, profile, self.switch == "persona"
            )
            lines = [f"|wCall {number} of {len(calls)}|n"]
            lines += [f"  |xthen|n {text}" for text in _texts_then(call)]
            now = [f"  |gnow|n  {text}" for text in _texts_of(found.content, found.calls)]
            if found.problem:
                problem = clean_output(found.problem, REPLY_CHARS)
                now = [f"  |rnow|n  no reply: {self.reader.show(ERRORS, problem, 'error')}"]
            self.tell([*lines, *now])


def _texts_then(call: StoredCall) -> list[str]:
    """Return the recorded reply as the calls that were read out of it."""
    raw, sent = call.kept.reply, call.kept.sent
    calls = tuple(ToolCallRequest("", name, arguments) for name, arguments in raw.calls)
    read = reply_reader(sent.form, Asked(tools=sent.tools)).finish(LLMReply(raw.text, calls))
    return _texts_of(read.content, read.tool_calls)


def _texts_of(content: str, calls: Sequence[ToolCallRequest]) -> list[str]:
    said = [clean_output(content, REPLY_CHARS)] if content.strip() else []
    return [*said, *(rendering.call_text(call.name, call.arguments) for call in calls)] or [
        "nothing"
    ]
