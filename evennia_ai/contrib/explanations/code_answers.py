"""From which row of what a character knows code took a line that no model chose."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.contrib.explanations.attribution import (
    LORE,
    PERSONA,
    RECALLED,
    Attribution,
    PromptLine,
    PromptPart,
    SourceSentence,
    attribute,
    names_in,
    situation_parts,
    sources_in,
)
from evennia_ai.messages import Audience
from evennia_ai.mind.dry_run import next_step
from evennia_ai.policy.conversation.persona_and_lore import render_persona
from evennia_ai.policy.facts.terms import normal_words
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.texts import read_object
from evennia_ai.policy.tool_call_modes.plain_prompt import (
    KEEPS_SILENT,
    NOT_KNOWN,
    NOT_UNDERSTOOD,
    REFUSES,
)
from evennia_ai.scheduling import Coroutine

# Why code says one of the game's lines, by its key, and the field of the persona that makes it.
REASONS = {
    NOT_KNOWN: ("nothing that it knows answers this", ""),
    NOT_UNDERSTOOD: ("the line gives orders to a program", ""),
    REFUSES: ("its persona says that it never does this: ", "never"),
    KEEPS_SILENT: ("its persona knows this, and tells nobody: ", "knows"),
    "goes": ("it went where the line asked", ""),
    "hands_on": ("it said to somebody what the line asked", ""),
}


def sources_of(
    mind: Any, line: str, heard_texts: Sequence[str], audience: Audience, memories: Iterable[Record]
) -> list[Attribution]:
    """Return the sentences of a line with their rows in persona, lore, memories and situation.

    They are those of now. The lore must be prepared for ``heard_texts``.
    """
    persona = render_persona(mind.who.persona).splitlines()
    tried = (
        trial.entry for trial in mind.lore.try_lines(heard_texts, audience) if not trial.why_unknown
    )
    lore = [PromptLine(entry.text, entry.title) for entry in tried]
    words = " ".join(heard_texts)
    recalled = [PromptLine(mind.recall.line(item, words), item["id"]) for item in memories]
    trace = next_step(mind.around, None).request.trace
    known = dict(situation_parts(trace.scenes if trace else ()))
    known |= {PERSONA: [*map(PromptLine, persona)], LORE: lore, RECALLED: recalled}
    parts = [PromptPart(name, tuple(lines)) for name, lines in known.items()]
    sentences_said = attribute(line, parts, names := [mind.who.name])
    rows = [row for row in sources_in(parts, names) if row.words]
    return [item for item in (with_nearest(item, rows) for item in sentences_said) if item.source]


def with_nearest(item: Attribution, rows: Sequence[SourceSentence]) -> Attribution:
    """Return a sentence of code's with the row that shares most words with it, if it has none.

    Code says nothing that no row tells, so that a name or a thing is enough.
    """
    words, names = {*normal_words(item.sentence)}, names_in(item.sentence)

    def fit(row: SourceSentence) -> tuple[int, int]:  # whom it speaks to counts less
        return len(words & row.words - names), len(words & row.words)

    best = max(rows, key=fit, default=None)
    shared = len(words & best.words) if best and not item.source else 0
    return replace(item, source=best, share=shared / len(words)) if shared else item


def acts_told(line: str, acts: Sequence[Any]) -> list[Any]:
    """Return the tool calls that a line tells of: all but those that said it."""
    words = ((read_object(act.arguments) or {}).get("text") for act in acts)
    return [act for act, text in zip(acts, words, strict=True) if not text or str(text) not in line]


@inlineCallbacks
def fixed_reason(mind: Any, line: str, heard_text: str) -> Coroutine[str]:
    """Fire with why code said one of the game's lines, "" if this is none; never fails."""
    for key, (reason, field) in REASONS.items():
        if line in map(str.strip, mind.services.text(key).splitlines()):
            entries = getattr(mind.who.persona, field) if field else ()
            nearest = yield nearest_entry(mind, entries, heard_text)
            return f"the game's line '{key}': {reason}{nearest}"
    return ""


@inlineCallbacks
def nearest_entry(mind: Any, entries: Sequence[str], heard_text: str) -> Coroutine[str]:
    """Fire with the entry of a persona that is nearest to a line; all without an embedder."""
    yield mind.services.nearness.prepare(mind.services, [heard_text, *entries])
    cosines = mind.services.nearness.cosines(heard_text, entries)
    return max(zip(cosines, entries, strict=True))[1] if cosines else "; ".join(entries)
