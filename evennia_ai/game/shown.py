"""What clients show of assistants: safe words, the mark of a line, and a first meeting's line."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.conf import settings

from evennia_ai.errors import ConfigError, StoreUnavailable
from evennia_ai.game.perception import display_name
from evennia_ai.game.settings import game_setting
from evennia_ai.game.texts import text
from evennia_ai.game.typing_indicator import is_plain_web_client
from evennia_ai.policy.sanitize import ANY_HOST, clean_heard, inert
from evennia_ai.ports import Character
from evennia_ai.store.attributes import read_attribute, write_attribute

NAME_CHARS = 60
ADDRESS_CHARS = 200


def link_hosts() -> Collection[str]:
    """Return the hosts to which addresses stay links; none if the setting is wrong."""
    try:
        return read_hosts(game_setting("LINK_HOSTS", ()))
    except ConfigError:  # `aistatus` shows it
        return ()


def read_hosts(value: Any) -> tuple[str, ...]:
    """Return the setting ``LINK_HOSTS``; raises ConfigError if it is no list of host names."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        raise ConfigError(f'must be a list of host names, such as ["example.org"], not {value!r}')
    return tuple(host.strip().lower().removeprefix("*.") for host in value if host.strip())


def as_shown(words: str, hosts: Collection[str] | None = None) -> str:
    """Return words, already one line, escaped for a client; ``hosts`` replaces the setting."""
    parses = getattr(settings, "FUNCPARSER_PARSE_OUTGOING_MESSAGES_ENABLED", False)
    return inert(words, link_hosts() if hosts is None else hosts, functions=bool(parses))


def clean_output(text: str, limit: int = 6_000) -> str:
    """Return any text as one escaped line for a client; ``limit`` counts what a person sees."""
    return as_shown(clean_heard(text, limit))


def clean_address(address: str) -> str:
    """Return an address of the game's own settings, which staff may copy."""
    return as_shown(clean_heard(address, ADDRESS_CHARS), hosts=(ANY_HOST,))


def shown_name(obj: Any) -> str:
    """Return the key of an object, or of an assistant's character, escaped for a client."""
    return clean_output(str(getattr(obj, "character_name", "") or obj.key), NAME_CHARS)


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
