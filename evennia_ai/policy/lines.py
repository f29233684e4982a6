"""A message of the log as a line that can be recalled."""

from __future__ import annotations

from evennia_ai.messages import PERCEIVED, Message, heard_line, is_offline, prompt_text
from evennia_ai.policy.audience import audience_of
from evennia_ai.policy.authors import of_message
from evennia_ai.policy.facts.sources import spoken
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.request_forms.wire_order import EMOTED, SAID, WHISPERED

LINE = "line"  # the kind of such a record
# Results that say nothing beyond the call, or only that nothing happened.
EMPTY_RESULTS = frozenset(
    {
        SAID,
        WHISPERED,
        EMOTED,
        "You do nothing.",
        "You see nothing special.",
        "You noted it.",
        "You had noted that already.",
        "You keep it in mind.",
        "You remember nothing about that.",
        "You still have all of your talk before you.",
    }
)


def line_id(seq: int) -> str:
    """Return the id of a message's line."""
    return f"{LINE}:{seq}"


def seq_of(id: str) -> int | None:
    """Return the number of a line's message, None if the id is not a line's."""
    kind, _, seq = id.partition(":")
    return int(seq) if kind == LINE and seq.isdecimal() else None


def read_line(message: Message, own_name: str) -> Record | None:
    """Return a message as a record that can be recalled, None if it is no line."""
    # Heard lines, the character's own speech and the results of its own acts are lines; excuses,
    # markers, what the offline brain said, and other tool results are not.
    meta = message["metadata"]
    if "type" in meta or message["content"] in EMPTY_RESULTS or is_offline(message):
        return None
    said = spoken(message, own_name)
    words = " ".join(text for _source, text in said).strip()
    if not words:
        return None
    source, audience = said[0][0], audience_of(message)
    heard = message["role"] == "user" and not source.own
    return {
        "id": line_id(meta["seq"]),
        "kind": LINE,
        "seq": meta["seq"],
        "content": shown_line(message, own_name, words),
        "words": words,
        "speaker_name": source.speaker,
        "source_entity": source.dbref,
        "source_type": "direct" if heard and source.nature != PERCEIVED else "observation",
        "own": not heard,
        "nature": source.nature,
        "timestamp": meta["at"],
        "audience": None if audience is None else sorted(audience),
        "speakers": sorted(of_message(message)),
    }


def shown_line(message: Message, own_name: str, words: str) -> str:
    """Return a message's words as a prompt shows them, with their speaker."""
    if message["role"] != "assistant":
        return prompt_text(message)
    calls = message.get("tool_calls") or ()
    if any(call["function"]["name"] == "emote" for call in calls):
        return heard_line("emote", own_name, words)
    return heard_line("say", own_name, words)
