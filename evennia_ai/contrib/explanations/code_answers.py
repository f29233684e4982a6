"""From which row of what a character knows code took a line that no model chose."""

from collections.abc import Iterable, Sequence
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.contrib.explanations.attribution import (
    LORE,
    PERSONA,
    RECALLED,
    Attribution,
    PromptLine,
    PromptPart,
    attribute,
    situation_parts,
)
from evennia_ai.messages import Audience
from evennia_ai.mind.dry_run import next_step
from evennia_ai.policy.conversation.persona_and_lore import render_persona
from evennia_ai.policy.records.record import Record
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
    return [item for item in attribute(line, parts, [mind.who.name]) if item.source]


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
