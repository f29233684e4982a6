"""The mark of a line that a machine wrote, and the line of a first meeting."""

from typing import Any

from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.perception import display_name
from evennia_ai.game.settings import game_setting
from evennia_ai.game.texts import text
from evennia_ai.game.typing_indicator import is_plain_web_client
from evennia_ai.ports import Character
from evennia_ai.store.attributes import read_attribute, write_attribute

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


def introduce(character: Character, player: Any) -> None:
    """Tell a player what the character is, before they first talk to or hear any assistant."""
    if not player.has_account or read_attribute(player, "ai_introduced"):
        return
    try:
        write_attribute(player, "ai_introduced", True)
    except StoreUnavailable:
        return  # their next line tries again
    line = text("first_meeting", name=clean_output(display_name(character, player)))
    if line:
        player.msg(line)
