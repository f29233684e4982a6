"""The tool to search evicted messages."""

from __future__ import annotations

from functools import partial

from pydantic import BaseModel

from evennia_ai.messages import Audience, Message, is_excuse, is_private
from evennia_ai.policy.audience import audience_of, visible
from evennia_ai.policy.compaction.summary import transcript_lines
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.ports import Script, ToolContext, ToolResult
from evennia_ai.store.search import find_messages
from evennia_ai.tools.base import tool
from evennia_ai.tools.needs import has_evicted_talk
from evennia_ai.turn.tool_execution import DONE

FOUND = 6
SHOWN_CHARS = 240


class HistoryArguments(BaseModel):
    """What to look for."""

    words: str


@tool("search_history", world=False, safe_to_retry=True, needed=has_evicted_talk)
def search_history(context: ToolContext, arguments: HistoryArguments) -> str | ToolResult:
    """Search earlier talk for the exact words that were said."""
    script = context.script
    record = script.conversation.current.record
    if record is None:
        return "You still have all of your talk before you."
    strict = script.config.discretion == "strict"
    known = partial(may_know, context.audience, script.config.discretion)
    found = find_messages(script.id, arguments.words, FOUND, record.upto_seq, known)
    if not found:
        return "Nothing of that kind was said."
    text = "\n".join(line for message in found for line in found_lines(message, script))
    binds = strict and any(map(is_private, found))
    speakers = frozenset(message["metadata"].get("speaker") or "" for message in found) - {""}
    return ToolResult(DONE, text, context.audience if binds else None, speakers=speakers)


def may_know(audience: Audience, discretion: str, message: Message) -> bool:
    """Return True if everybody who will hear the answer may know a message, and it is no excuse."""
    return visible(audience_of(message), audience, discretion) and not is_excuse(message)


def found_lines(message: Message, script: Script) -> list[str]:
    """Return the lines of a message as the model reads them, each with its day."""
    day = message["metadata"]["at"][:10]
    lines = transcript_lines([message], script.character_name)
    return [f"- {day}: {clean_heard(line, SHOWN_CHARS)}" for line in lines]
