"""The marks on what an assistant says and does: for web clients, other clients, and as words."""

from __future__ import annotations

from typing import Any

from evennia_ai.game.perception import display_name
from evennia_ai.game.settings import game_setting
from evennia_ai.game.typing_indicator import is_plain_web_client

MARKED = frozenset({"say", "whisper", "pose"})
WEB_CLASS = "out ai-line"  # "out" is the class that Evennia gives to all text


def mark_line(character: Any, text: Any, receiver: Any) -> None:
    """Mark a line of an assistant on its way to a receiver.

    For Evennia's web client the line has the CSS class ``ai-line``. Other clients with GMCP or MSDP
    get the message ``ai_line`` with name and type first; the web client would show it as an error.
    """
    options = text[1] if isinstance(text, tuple) and len(text) > 1 else None
    if not isinstance(options, dict) or options.get("type") not in MARKED:
        return
    if character.dbref in getattr(receiver, "muted_assistants", ()):
        return
    options.setdefault("cls", WEB_CLASS)
    mark = {"name": display_name(character, receiver), "type": options["type"]}
    for session in receiver.sessions.all():
        if session.protocol_flags.get("OOB") and not is_plain_web_client(session):
            session.msg(ai_line=mark)


def word_mark() -> str:
    """Return the words that follow a line of an assistant, such as "(AI)"; "" for none."""
    mark = game_setting("LINE_MARK", "")
    return mark if isinstance(mark, str) else ""
