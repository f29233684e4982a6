"""What `aiwhy` shows of a line: its turn, the prompt, the reply, the source of each sentence."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from evennia_ai import models
from evennia_ai.commands import rendering
from evennia_ai.contrib.explanations import attribution
from evennia_ai.contrib.explanations import why as explanations
from evennia_ai.contrib.explanations.attribution import Attribution, PromptLine, PromptPart
from evennia_ai.contrib.explanations.why import Explanation
from evennia_ai.errors import BudgetExhausted
from evennia_ai.game.client_text import clean_error, clean_output
from evennia_ai.game.texts import text
from evennia_ai.messages import is_excuse, is_puppeted
from evennia_ai.policy.call_record import RecordedReply
from evennia_ai.policy.facts.terms import normal_words
from evennia_ai.policy.read_permissions import ERRORS, Reader, memory_kind, words_kind
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.store.names import list_names, locks_of, names_of
from evennia_ai.store.reports import ANSWER

LINE_CHARS, TEXT_CHARS = 200, 4_000
BAR_CHARS = 40
ANSWERED_ANEW = "a line that was answered again in a later turn, or forgotten"
TRIGGER = "trigger"  # the context of turns whose detail is the rule that set them off
DBREF = re.compile(r"#\d+\b")
STATES = {
    explanations.EXACT: "rebuilt from the log, as it was sent",
    explanations.CHANGED: "|ynot as it was sent|n",
    explanations.ERASED: "|yerased|n, since somebody in it was forgotten",
}
NEARNESS = " |x(how near to what was said)|n"
NOT_KEPT = "|ynot kept|n: it is older than the setting RETENTION keeps prompts"
PUPPETED_LINE = (
    " Its mind did not say this: a player who controlled the character did, staff who forced it, "
    "or the game's code."
)
BY_CODE_LINE = (
    " Code did, without asking one: what was told, persona, lore or the place answers for sure, or "
    "a rule lets nothing else be said."
)


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
        yield from (f"  {line}" for line in cause_lines(why.turn, reader))
    if why.call is None:
        speaker = speaker_of(why.text, own_line) if is_excuse(why.message) else ""
        speaker += PUPPETED_LINE * is_puppeted(why.message)
        calls = list(why.turn.model_calls.all()) if why.turn is not None else []
        detail = why.turn.detail if why.turn is not None else ""
        yield f"|wNo model chose this line.|n{speaker}{BY_CODE_LINE * why.is_by_code}"
        is_rule = why.turn is not None and why.turn.context == TRIGGER
        if failed := [call for call in calls if call.error_kind and is_excuse(why.message)]:
            yield f"  {rendering.model_call_text(failed[-1], reader)}"
            is_spent = failed[-1].error_kind == BudgetExhausted.kind
            test = f"  To test that model: |waitest/provider {clean_output(failed[-1].profile)}|n"
            yield (
                "  Who used it up: |waicost/characters|n, |waicost/players|n" if is_spent else test
            )
        elif detail and not is_rule and detail not in {event.reason for event in events}:
            yield f"  {reader.show(ERRORS, clean_error(detail, LINE_CHARS), 'reason')}"
        return
    yield from prompt_lines(why, reader)
    yield from reply_lines(why, reader)
    for number, sentence in enumerate(why.sentences, 1):
        if number == 1:
            yield "|wWhere each sentence comes from|n"
        words = reader.show(kind, clean_output(sentence.sentence, LINE_CHARS), "words")
        yield f"  {number}. {words}\n     {source_of(sentence, why.private, reader)}"


def cause_lines(turn: models.Turn, reader: Reader) -> Iterator[str]:
    """Yield what set a turn off: its events, or a builder's rule, with the name of who met it."""
    events = turn.events.all()
    if turn.context == TRIGGER:
        names = names_of(DBREF.findall(turn.detail))
        rule = DBREF.sub(lambda match: names.get(match[0], match[0]), turn.detail)
        yield clean_output(rule, LINE_CHARS)
    elif events:
        yield from (rendering.event_line(event, reader) for event in events)
    else:
        yield ANSWERED_ANEW if turn.context == ANSWER else turn.context.replace("_", " ")


def speaker_of(excuse: str, own_line: str) -> str:
    """Return whose line replaced an answer; ``own_line`` is the character's setting."""
    lines = [line.strip() for key in ("fallback", "busy") for line in text(key).splitlines()]
    if excuse.strip() in (own_line.strip(), *lines):
        return " It is the game's line, since no model answered."
    return " The stand-in spoke it, since no model answered."


def prompt_lines(why: Explanation, reader: Reader) -> Iterator[str]:
    lost = f"; the log has lost {why.missing} of its messages" if why.missing else ""
    state = f"|wThe prompt|n is {STATES.get(why.state, NOT_KEPT)}"
    if why.is_offline:
        state = "|wNo prompt|n was sent: the stand-in answered from these parts"
    yield f"{state}{lost}."
    yield f"  {rendering.model_call_text(why.call, reader)}"
    yield from part_table(why.parts)
    for part in why.parts:
        if part.name in (attribution.RECALLED, attribution.LORE):
            kind = kind_of(part.name, why.private)
            yield f"|w{part.name.capitalize()}|n{NEARNESS * any(map(nearness, part.lines))}"
            for line in {item.text: item for item in part.lines}.values():
                score = f"{nearness(line):4.0%} " if nearness(line) else "     "
                words = reader.show(kind, clean_output(line.text, LINE_CHARS), "words")
                yield f"  {score}{words}"
    if why.stored is not None and why.stored.kept.trace.withheld:
        tools = ", ".join(why.stored.kept.trace.withheld)
        yield f"|wTools withheld|n, since an author of the prompt may not use them: {tools}"


def nearness(line: PromptLine) -> float:
    """Return the cosine of a line and the talk, 0.0 where words alone ranked it."""
    return line.score if line.score <= 1.0 else 0.0


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
        yield "|wWhat became of it|n"
        for act in why.acts:
            yield rendering.act_lines(act, kind, reader)
            if reader.may(kind):
                lock_lines = (clean_output(lock, TEXT_CHARS) for lock in locks_of(act.locks))
                yield from (f"    |x{lock_line}|n" for lock_line in lock_lines)
    if is_replaced(why):
        yield "|yNone of its words were said: code said others in their place.|n"
    elif is_changed(why):
        yield "|ySome of the words were changed or left out before they were said.|n"


def is_replaced(why: Explanation) -> bool:
    """Return True if a reply is mere words, and none of them was said."""
    reply = why.stored.kept.reply if why.stored and why.acts else RecordedReply()
    words = {*normal_words(reply.text)}
    return bool(words) and not reply.calls and words.isdisjoint(normal_words(why.text))


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
        return "|ynothing in the prompt says this|n"
    source = attribution.source
    label = f" ({clean_output(source.line.source, 60)})" if source.line.source else ""
    kind = kind_of(source.part, private)
    text = reader.show(kind, clean_output(source.text, LINE_CHARS), "words")
    return f"|g{source.part}{label}|n, {attribution.share:.0%}: {text}"
