"""A line of an assistant with everything that led to it, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from evennia_ai.commands.history_rendering import (
    act_lines,
    call_text,
    event_line,
    model_call_text,
)
from evennia_ai.game.client_text import clean_output
from evennia_ai.messages import is_excuse
from evennia_ai.policy.disclosure import ERRORS, Reader, memory_kind, words_kind
from evennia_ai.policy.explanation.attribution import Attribution
from evennia_ai.policy.explanation.call_record import RawReply
from evennia_ai.policy.explanation.prompt_parts import (
    INSTRUCTIONS,
    LORE,
    MEMORIES,
    RECALLED,
    TOOLS,
    Line,
    Part,
)
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.store.explanations import CHANGED, ERASED, EXACT, Explanation
from evennia_ai.store.names import list_names, locks_of

LINE_CHARS = 200
TEXT_CHARS = 4_000
BAR_CHARS = 40
STATES = {
    EXACT: "rebuilt from the log, as it was sent",
    CHANGED: "|ynot as it was sent|n",
    ERASED: "|yerased|n, since somebody in it was forgotten",
}
NOT_KEPT = "|ynot kept|n: it is older than the setting RETENTION keeps prompts"


def why_lines(name: str, why: Explanation, reader: Reader) -> Iterator[str]:
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
        yield from (event_line(event, reader) for event in events)
        if not events:
            yield f"  nobody: {why.turn.context.replace('_', ' ')}"
    if why.call is None:
        excuse = " It is the game's line." * is_excuse(why.message)
        yield f"|wNo model chose this line.|n{excuse}"
        if why.turn is not None and why.turn.detail:
            yield f"  {reader.show(ERRORS, clean_output(why.turn.detail, LINE_CHARS), 'reason')}"
        return
    yield from prompt_lines(why, reader)
    yield from reply_lines(why, reader)
    yield from sentence_lines(why, reader)


def prompt_lines(why: Explanation, reader: Reader) -> Iterator[str]:
    """Yield the parts of the prompt with their sizes, and what was recalled for it."""
    lost = f"; the log has lost {why.missing} of its messages" if why.missing else ""
    state = STATES.get(why.state, NOT_KEPT)
    if why.is_offline:
        state = "sent nowhere: the offline brain answered from what stands in it"
    yield f"|wThe prompt|n is {state}{lost}."
    if why.call is not None:
        yield f"  {model_call_text(why.call, reader)}"
    yield from part_table(why.parts)
    for part in why.parts:
        if part.name in (RECALLED, LORE):
            kind = kind_of(part.name, why.private)
            yield f"|w{part.name.capitalize()}|n"
            yield from (f"  {source_line(line, kind, reader)}" for line in part.lines)
    if why.stored is not None and why.stored.kept.trace.withheld:
        tools = ", ".join(why.stored.kept.trace.withheld)
        yield f"|wTools withheld|n, since an author of the prompt may not use them: {tools}"


def kind_of(part: str, private: bool) -> str:
    """Return the kind of content that a part of a prompt holds (`policy.disclosure`)."""
    return memory_kind(private) if part in MEMORIES else words_kind(private)


def part_table(parts: Sequence[Part]) -> list[str]:
    """Return the parts of a prompt with their tokens and a bar."""
    sizes = [(part.name, len(part.lines), estimate_tokens(part.text)) for part in parts]
    total = sum(tokens for _name, _lines, tokens in sizes) or 1
    return [
        f"  {name:<12}{tokens:>7,} {'=' * round(BAR_CHARS * tokens / total)}"
        for name, _lines, tokens in sizes
    ]


def source_line(line: Line, kind: str, reader: Reader) -> str:
    """Return a recalled line with its score and source."""
    score = f"{line.score:5.2f} " if line.score else "      "
    return f"{score}{reader.show(kind, clean_output(line.text, LINE_CHARS), 'words')}"


def reply_lines(why: Explanation, reader: Reader) -> Iterator[str]:
    """Yield the raw reply, what was read out of it, and what became of that."""
    kind = words_kind(why.reply_private)
    if why.stored is not None:
        raw = why.stored.kept.reply
        yield "|wThe reply as it came|n"
        yield from (f"  {reader.show(kind, text, 'reply')}" for text in raw_texts(raw))
    if why.acts:
        yield "|wRead and done|n"
        for act in why.acts:
            yield act_lines(act, kind, reader)
            if reader.may(kind):
                yield from (
                    f"    |x{clean_output(told, TEXT_CHARS)}|n" for told in locks_of(act.locks)
                )
    if is_changed(why):
        yield "|ySome of the words were changed or left out before they were said.|n"


def raw_texts(raw: RawReply) -> list[str]:
    """Return the text and the calls of a raw reply."""
    calls = [call_text(name, arguments) for name, arguments in raw.calls]
    return [*([clean_output(raw.text, TEXT_CHARS)] if raw.text else []), *calls] or ["nothing"]


def is_changed(why: Explanation) -> bool:
    """Return True if the words that were said do not stand in the raw reply."""
    if why.stored is None or not why.acts:
        return False
    raw = why.stored.kept.reply
    told = squeezed(" ".join([raw.text, *(arguments for _name, arguments in raw.calls)]))
    return any(squeezed(word) not in told for word in why.text.split())


def squeezed(text: str) -> str:
    """Return a text without blanks and escapes, to compare it."""
    return "".join(text.replace("\\", "").split())


def sentence_lines(why: Explanation, reader: Reader) -> Iterator[str]:
    """Yield each sentence with the line of the prompt that it comes from."""
    kind = words_kind(why.private)
    for number, one in enumerate(why.sentences, 1):
        if number == 1:
            yield "|wWhere each sentence comes from|n"
        said = reader.show(kind, clean_output(one.sentence, LINE_CHARS), "words")
        yield f"  {number}. {said}\n     {source_of(one, why.private, reader)}"


def source_of(one: Attribution, private: bool, reader: Reader) -> str:
    """Return the source of a sentence on a line."""
    if not one.tells:
        return "|xsmall talk: it tells nothing|n"
    if one.source is None:
        return "|ynone of the prompt tells this|n"
    source = f" ({clean_output(one.source.line.source, 60)})" if one.source.line.source else ""
    kind = kind_of(one.source.part, private)
    text = reader.show(kind, clean_output(one.source.text, LINE_CHARS), "words")
    return f"|g{one.source.part}{source}|n, {one.share:.0%}: {text}"


def whole_prompt(parts: Iterable[Part], private: bool, reader: Reader) -> Iterator[str]:
    """Yield all parts of a prompt as text; tools by their first characters only."""
    for part in parts:
        tokens, kind = estimate_tokens(part.text), kind_of(part.name, private)
        yield f"|w--- {part.name}, {tokens:,} tokens ---|n"
        most = LINE_CHARS if part.name == TOOLS else TEXT_CHARS
        if part.name in INSTRUCTIONS or reader.may(kind):
            reader.count(kind, part.name not in INSTRUCTIONS)
            yield from (clean_output(line.text, most) for line in part.lines)
        else:
            yield reader.show(kind, "", "words")
