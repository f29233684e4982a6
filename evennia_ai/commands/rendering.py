"""Rows of the log as lines: messages, events, turns, model calls, compactions, sleep passes.

Every command shows rows with these. A reader sees a placeholder in place of words that they may not
read.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from evennia_ai.commands.common import unbroken
from evennia_ai.game.client_text import clean_error, clean_output
from evennia_ai.game.memory_reading import SearchReport
from evennia_ai.game.texts import translated
from evennia_ai.messages import EMOTE, EXCUSE, PUPPETED, SAY, SAYS, Audience, heard_line
from evennia_ai.policy import sleep_schedule
from evennia_ai.policy.audience import STRANGER
from evennia_ai.policy.context.projection import PUBLIC
from evennia_ai.policy.facts.check import Fact, source_label
from evennia_ai.policy.facts.terms import whispered_to
from evennia_ai.policy.limits.money import CALLS, MS, NOTHING, TOKENS_IN, TOKENS_OUT
from evennia_ai.policy.read_permissions import ERRORS, PRIVATE_MEMORIES, Reader, words_kind
from evennia_ai.policy.recallable_lines import LineAmendment
from evennia_ai.policy.records.memory_listing import (
    NamesByDbref,
    count_shown,
    may_read,
    named,
    why_withheld,
)
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.texts import counted
from evennia_ai.store.conversation import MASK
from evennia_ai.store.inbox import WAITING
from evennia_ai.store.names import list_names, names_in, names_of
from evennia_ai.store.reports import is_erased, is_log_unchanged, is_whispered, seconds_between

LINE_CHARS, REPLY_CHARS = 400, 600
MOST_LOST = 40
INTERRUPTED = "interrupted by the server's stop; /turns and /compactions show what it did"
ERROR_KINDS = {
    "unavailable": "the model is unavailable",
    "deadline": "the model did not reply in time",
    "circuit": "the model is paused after failures",
    "unspoken": "the model's reply could not be spoken",
    "memory": "long-term memory is unavailable",
    "busy": "too many model calls at once",
    "quota": "the account at the provider is used up",
    "budget": "a budget of today does not allow the call",
    "stopped": "an admin stopped all model calls",
    "rejected": "the model refused the request",
    "misconfigured": "a key, address or model name is wrong",
    "overflow": "the request is longer than the context window",
}
COMPACTED_FOR = {
    "sleep": "while asleep",
    "emergency": "the context window was nearly full",
    "overflow": "the model refused so long a request",
    "manual": "an admin asked for it",
}
SUMMARISED = {
    "summary": "summarised",
    "cleared": "summarised without tool results",
    "chunks": "summarised in parts",
    "other model": "summarised by another model",
    "digest": "condensed without a model",
    "last turn": "only the last turn is left",
}
ACT_STATES = {
    "intended": "begun", "unknown": "outcome unknown", "asked": "waits for a person's yes",
}  # fmt: skip


def message_line(
    row: Mapping[str, Any], own_name: str, reader: Reader, change: LineAmendment | None = None
) -> str:
    """Return a message on lines, with the ``change`` that a builder made of it, if any."""
    kind = words_kind(row["private"])
    if row["role"] == "tool":
        result = reader.show(kind, clean_output(row["content"], LINE_CHARS), "result")
        return f"    |x= {result} ({counted(row['tokens'], 'token')})|n"
    excuse, aloud = row["role"] == EXCUSE, is_aloud(row)
    marks = f" |r({'aloud, kept private' if aloud else 'private'})|n" * row["private"]
    marks += " |y(excuse: no prompt shows it)|n" * excuse
    by = PUPPETED if STRANGER in row["authors"] else "by code"
    marks += f" |y({by})|n" * (row["evidence"] == PUPPETED)
    marks += f" |y({change.kind})|n" if change else ""
    when = f"|w{row['id']}|n |x{reader.clock(row['at'])}"
    if not reader.may(kind):
        words = reader.show(kind, "", "words" if aloud else "whisper")
        return f"{when}, {counted(row['tokens'], 'token')}|n{marks}\n    {words}"
    reader.count(kind)
    who = own_name if excuse or row["role"] == "assistant" else row["speaker_name"]
    calls = [call["function"] for call in row["tool_calls"]]
    content = whispered_to(row["content"], own_name)
    parts = [clean_output(content, LINE_CHARS)] if content else []
    text = " ".join([*parts, *(call_text(call["name"], call["arguments"]) for call in calls)])
    heard_by = clean_output(hearers(row, own_name, names_of(row["audience"])), 120)
    if change and change.text:
        text += f"\n    |ynow:|n {clean_output(change.text, LINE_CHARS)}"
    return (
        f"{when}|n |w{clean_output(who, 40)}|n"
        f" |x> {heard_by}, {counted(row['tokens'], 'token')}|n{marks}\n    {text}"
    )


def is_aloud(row: Mapping[str, Any]) -> bool:
    """Return False for a whisper; what is said aloud is private if its prompt held private words.

    It may repeat them, so that only those who heard it may ever know it.
    """
    if not row["private"]:
        return True
    if row["role"] == "user":
        return bool(row["content"].startswith(f"{row['speaker_name']} {SAYS}"))
    acts = {call["function"]["name"] for call in row["tool_calls"]}
    is_spoken = row["role"] == EXCUSE or not acts.isdisjoint((SAY, EMOTE))
    return is_spoken and not is_whispered(row["turn_id"])


def hearers(row: Mapping[str, Any], own_name: str, names: NamesByDbref) -> str:
    """Return who heard a message beside its speaker, the character among them."""
    others = [item for item in row["audience"] if item != row["speaker"]]
    listeners = [own_name] * (row["role"] == "user") + [named(others, names)] * bool(others)
    return ", ".join(listeners) or "nobody"


def call_words(arguments: str) -> tuple[str, str]:
    """Return the text of a tool call, and its other arguments in words, such as ``target Ann``."""
    try:
        values = json.loads(arguments or "{}")
    except ValueError:
        values = arguments
    if not isinstance(values, dict):
        return str(values), ""
    words = str(values.pop("text", ""))
    return words, ", ".join(f"{key} {value}" for key, value in values.items())


def call_text(name: str, arguments: str) -> str:
    """Return a tool call on a line, such as ``whisper (target Ann): Hello``."""
    words, others = call_words(arguments)
    title = f"|c{clean_output(name, 40)}|n"
    title += f" ({clean_output(others, 120)})" if words and others else ""
    return f"{title}: {clean_output(words or others, LINE_CHARS)}".rstrip(": ")


def waiting_line(event: Mapping[str, Any], reader: Reader) -> str:
    kind = event["kind"]  # while it waits, the reason says only to whom it was said
    reason = event["reason"] if reader.may(ERRORS) and event["state"] != WAITING else ""
    why = f": {clean_output(reason, 80)}" if reason not in ("", kind) else ""
    when = f"|x{reader.clock(event['at'])}|n |y({event['state']}, {kind}{why})|n"
    return f"{when} {_event_words(event, reader)}"


def event_line(event: Any, reader: Reader) -> str:
    """Return an event of a turn; the reason of its end may quote an error."""
    reason = event.reason if reader.may(ERRORS) else ""
    how = dict.fromkeys([event.kind, clean_error(reason or event.state, 60)])
    return f"heard ({', '.join(how)}) {_event_words(vars(event), reader)}"


def _event_words(event: Mapping[str, Any], reader: Reader) -> str:
    kind, who, words = event["kind"], unbroken(event["speaker_name"]), event["text"]
    line = f"{who}: {words}" if words and event["speaker_name"] else words
    text = clean_output(line or heard_line(kind, who, "", event["evidence"]), LINE_CHARS)
    private = event["private"]
    return reader.show(words_kind(private), text, kind if private else "words")


def turn_lines(turn: Any, public_calls: Collection[tuple[int, str]], reader: Reader) -> list[str]:
    """Return a turn with its events and calls; ``public_calls`` are (turn, id of the call)."""
    lines = [turn_title(turn, reader)]
    lines += [f"  {event_line(event, reader)}" for event in turn.events.all()]
    lines += [f"  model {model_call_text(call, reader)}" for call in turn.model_calls.all()]
    for act in turn.tool_calls.all():
        private = turn.private or (turn.id, act.call_id) not in public_calls
        lines.append(act_lines(act, words_kind(private), reader))
    return lines


def turn_title(turn: Any, reader: Reader) -> str:
    took = seconds_between(turn.at, turn.ended_at)
    ended = f"{turn.outcome or 'in progress'} after {took:.1f} s" if turn.ended_at else "open"
    heard_by = "somebody in private"
    if reader.may(words_kind(turn.private)):
        heard_by = clean_output(list_names(turn.audience), 120)
    if is_erased(turn.context, turn.audience):
        heard_by = "a player who was forgotten"
    title = f"|wTurn {turn.id}|n |x{reader.clock(turn.at)}, for {heard_by}|n: {ended}"
    # The reason of an event stands behind the event, too.
    if turn.detail and turn.detail not in {event.reason for event in turn.events.all()}:
        title += f" ({reader.show(ERRORS, clean_error(turn.detail, 200), 'detail')})"
    return title


def act_lines(act: Any, kind: str, reader: Reader) -> str:
    state = ACT_STATES.get(act.state, act.state)
    if not reader.may(kind):
        hidden = reader.show(kind, "", "words")
        return f"  |c{clean_output(act.name, 40)}|n\n    |x= {state}: {hidden}|n"
    reader.count(kind)
    result = clean_output(translated(act.result), LINE_CHARS)
    return f"  {call_text(act.name, act.arguments)}\n    |x= {state}: {result}|n"


def model_call_text(call: Any, reader: Reader) -> str:
    if call.prompt_tokens == 0:
        tokens = "no tokens used"
    elif call.prompt_tokens is None:
        tokens = f"about {call.estimated_tokens} tokens in"
    else:
        cached = f" ({call.cached_tokens} cached)" if call.cached_tokens is not None else ""
        tokens = f"{call.prompt_tokens} tokens in{cached}, {call.completion_tokens or 0} out"
    problem = ""
    if call.error:
        error = reader.show(ERRORS, clean_error(call.error, 300), "text")
        problem = f", |r{ERROR_KINDS.get(call.error_kind, call.error_kind)}: {error}|n"
    model = clean_output(f"{call.profile}:{call.model}", 60)
    return f"{model}, {call.duration_ms} ms, {tokens}{problem}"


def compaction_line(row: Mapping[str, Any], reader: Reader) -> str:
    when = f"|w{row['id']}|n |x{reader.clock(row['at'])}|n"
    sealed = " |x(permanent)|n" if row["sealed"] else ""
    undone = " |y(undone)|n" if row["undone_at"] else sealed
    count = row["compacted_count"]
    if row["reason"] == MASK:
        return f"{when} {count} tool results masked{undone}"
    facts = ""
    if row["facts_found"]:
        known, kept, rescued = (row[f"facts_{name}"] for name in ("found", "kept", "rescued"))
        facts = (
            f"; of {known} facts {kept} kept in the summary, "
            f"{rescued} of the others recalled from the log, {known - kept - rescued} in neither"
        )
    why, how = COMPACTED_FOR.get(row["reason"], row["reason"]), row["rung"]
    return (
        f"{when} {why}: {counted(count, 'message')} {SUMMARISED.get(how, how)}, "
        f"{row['original_token_count']:,} tokens into {row['summary_token_count']:,}{facts}{undone}"
    )


def whole_compaction(row: Mapping[str, Any], reader: Reader) -> str:
    lines = [compaction_line(row, reader)]
    if row["reason"] != MASK:
        cost, spent = {**NOTHING, **row["cost"]}, "no model call"
        if cost[CALLS]:
            tokens = f"{cost[TOKENS_IN]:,} tokens in, {cost[TOKENS_OUT]:,} out"
            spent = f"{cost[CALLS]} model calls, {tokens}, {cost[MS] / 1_000:.1f} s"
        unchanged = is_log_unchanged(row)
        state = "unchanged" if unchanged else "|ychanged|n: messages were deleted"
        known = "" if unchanged is None else f" The summarised messages are {state}."
        lines.append(f"Cost: {spent}.{known}")
    for key, text in row["summary"].items():
        kind = words_kind(key != PUBLIC)
        audience = list_names(key.split(",")) if key != PUBLIC else "everybody"
        audience = audience if reader.may(kind) else "somebody in private"
        shown = "\n".join(clean_output(line, 500) for line in text.splitlines())
        lines.append(f"|wFor {audience}|n:\n{reader.show(kind, shown, 'summary')}")
    return "\n".join(lines)


def lost_facts(facts: Sequence[Fact], reader: Reader, name: str) -> str:
    """Return the facts that neither a summary nor a search holds, and how to pin them."""
    lines = ["|wIn no summary, and found by no search:|n"]
    for fact in facts[:MOST_LOST]:
        source, kind = fact.source, words_kind(fact.source.audience is not None)
        words = clean_output(f"{source_label(source.speaker, source.evidence)}{fact.sentence}", 300)
        lines.append(f"  |wline:{source.seq}|n {reader.show(kind, words, 'line')}")
    if len(facts) > MOST_LOST:
        lines.append(f"  and {len(facts) - MOST_LOST} more")
    return "\n".join([*lines, f"To keep one in mind: |waimemory/pin {name} = line:<number>|n"])


def pass_lines(
    row: Mapping[str, Any],
    running: int | None,
    reader: Reader,
    texts: sleep_schedule.StepTexts,
    whole: bool = False,
) -> str:
    """Return a sleep pass and what it did, as a ``whole`` by steps; ``running`` is one's id.

    ``texts`` are those of the steps (`sleep.step_texts`).
    """
    why = sleep_schedule.REASONS.get(row["reason"], "asleep")
    when = f"|w{row['id']}|n |x{reader.clock(row['at'])}|n"
    lines, errors = [f"{when} {why}: {how_it_ended(row, running)}"], _pass_errors(row, reader)
    for name, figures in row["results"].items() if whole else ():
        step = sleep_schedule.describe_step(texts, name, figures, errors.get(name, ""))
        lines.append(f"  {clean_output(step, LINE_CHARS)}")
    if row["ended_at"]:
        cost = f"  Cost: {sleep_schedule.describe_cost(row['cost'])}."
        lines.append(cost if whole else f"    {pass_summary(row, reader, texts)}")
    return "\n".join(lines)


def how_it_ended(row: Mapping[str, Any], running: int | None) -> str:
    if row["ended_at"] is None:
        return f"|y{'in progress' if running == row['id'] else INTERRUPTED}|n"
    took_s = seconds_between(row["at"], row["ended_at"])
    return sleep_schedule.OUTCOMES.get(row["outcome"], "ended").format(took_s=took_s)


def pass_summary(row: Mapping[str, Any], reader: Reader, texts: sleep_schedule.StepTexts) -> str:
    done = sleep_schedule.summarise_pass(texts, row["results"], _pass_errors(row, reader))
    return clean_output(f"{done} ({sleep_schedule.describe_cost(row['cost'])})", LINE_CHARS)


def _pass_errors(row: Mapping[str, Any], reader: Reader) -> dict[str, str]:
    return {step: reader.show(ERRORS, error, "error") for step, error in row["errors"].items()}


def texts_of(content: str, calls: Sequence[Any]) -> list[str]:
    """Return a reply's text and calls, each as staff read it."""
    texts = [clean_output(content, REPLY_CHARS)] if content.strip() else []
    texts += [call_text(call.name, call.arguments) for call in calls]
    return texts or ["nothing"]


def withheld_lines(report: SearchReport, audience: Audience, reader: Reader) -> list[str]:
    names, lines = names_in(*report.withheld, besides=audience), []
    if report.withheld:
        rules = [why_withheld(record, audience, names) for record in report.withheld]
        shown = clean_output("; ".join(rules), 600)
        lines.append(f"|yWithheld|n (with its audience): {shown}.")
    return [*lines, *([hidden_line(report.hidden, reader)] if report.hidden else [])]


def seen_lines(
    reader: Reader, records: Sequence[Record], line: Callable[[Record], str]
) -> list[str]:
    """Return the lines of the records that a reader may see, and one for all others."""
    seen = [record for record in records if may_read(reader, record)]
    count_shown(reader, *seen)
    hidden = len(records) - len(seen)
    return [*map(line, seen), *([hidden_line(hidden, reader, bool(seen))] if hidden else ())]


def hidden_line(count: int, reader: Reader, after_others: bool = True) -> str:
    readers = reader.whose(PRIVATE_MEMORIES).lower()
    return f"|x{count}{' more' * after_others}: private, only {readers} may read this.|n"
