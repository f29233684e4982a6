"""What those present notice while a character thinks: that it is typing, and, where that lasts,
a line of what it does meanwhile. Neither is speech; no assistant hears or answers it.

Both hang on the signals `thinking_started` and `thinking_finished`, and nothing else knows of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from twisted.logger import Logger

from evennia_ai.game.perception import display_name, listening_objects
from evennia_ai.game.texts import FILLER_KEYS, text
from evennia_ai.messages import Audience
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.signals import thinking_finished, thinking_started

log = Logger()

# The type of the line, which `hearing.KINDS` does not have: no assistant takes it for an emote.
FILLER = "ai_filler"
# Clients forget who is not named again; Evennia 6.1 after 5 s.
REPEAT_S = 2.0
STAFF_NUMBER = re.compile(r"\(#\d+\)\Z")
# Evennia 6.1 puts the name into HTML and into a CSS selector as it is. Nothing in ASCII but words
# is safe in both, so the rest is shown by characters that look alike.
LOOK_ALIKES = {" ": "\u2002", "'": "\u02bc", '"': "\u201d", "<": "\u2039", ">": "\u203a"}
UNSAFE = re.compile(r"[^\w-]", re.ASCII)


@dataclass
class Thought:
    """A character that is thinking at this moment, and who was told so.

    ``told`` goes by the session's number (sessions of one address are equal): the session and the
    name it was shown.
    """

    script: Any
    character: Any
    audience: Audience
    private: bool
    told: dict[int, tuple[Any, str]] = field(default_factory=dict)
    calls: dict[str, Any] = field(default_factory=dict)

    def witnesses(self) -> list[Any]:
        """Who may notice it now: of a whisper its parties, else everybody present, but for those
        who want to hear nothing of the character."""
        me = self.character
        present = listening_objects(me) if me.pk else []
        meant = [obj for obj in present if not self.private or obj.dbref in self.audience]
        return [obj for obj in meant if me.dbref not in getattr(obj, "muted_assistants", ())]


class TypingIndicator:
    """Shows that characters think, from `connect` to `disconnect`."""

    def __init__(self, clock: Any, typing: bool = True) -> None:
        """``typing`` False leaves the line and shows nobody typing."""
        self.clock = clock
        self.typing = typing
        self.thoughts: dict[int, Thought] = {}

    def connect(self) -> None:
        """Begin to listen to the signals."""
        thinking_started.connect(self.begin)
        thinking_finished.connect(self.end)

    def disconnect(self) -> None:
        """Take back what is shown and listen no more."""
        thinking_started.disconnect(self.begin)
        thinking_finished.disconnect(self.end)
        self.clear()

    def clear(self) -> None:
        """Take back everything that is shown."""
        for thought in list(self.thoughts.values()):
            self.end(thought.script)

    def begin(
        self, sender: Any, character: Any, audience: Audience, private: bool, **kwargs: Any
    ) -> None:
        """A turn of thought has begun."""
        self.end(sender)
        thought = Thought(sender, character, audience, private)
        self.thoughts[id(sender)] = thought
        if self.typing:
            self.show(thought)
        delay_s = sender.config.filler_after
        if delay_s:
            thought.calls["filler"] = self.clock.callLater(delay_s, self.fill, thought, delay_s)

    def end(self, sender: Any, **kwargs: Any) -> None:
        """The turn has ended, however it did."""
        thought = self.thoughts.pop(id(sender), None)
        if thought is None:
            return
        for call in thought.calls.values():
            if call.active():
                call.cancel()
        for session, name in thought.told.values():
            tell_typing(session, name, state=False)

    def show(self, thought: Thought) -> None:
        """Tell everybody who may notice, who has come meanwhile too, and again in a while.

        A deleted assistant sends no signal any more: this is where its thinking ends.
        """
        if not thought.script.pk:
            self.end(thought.script)
            return
        for witness in thought.witnesses():
            for session in witness.sessions.all():
                known = thought.told.get(session.sessid)
                name = known[1] if known else shown_name(thought.character, witness)
                if tell_typing(session, name, state=True):
                    thought.told[session.sessid] = (session, name)
        thought.calls["show"] = self.clock.callLater(REPEAT_S, self.show, thought)

    def fill(self, thought: Thought, seconds: float) -> None:
        """Bridge the time by a line."""
        if not thought.script.pk or not thought.script.may_think():
            return
        character = thought.character
        try:
            line = character.at_ai_thinking(seconds)
        except Exception:  # noqa: BLE001  # a builder's hook must not cost the player the answer
            log.failure("{name}: at_ai_thinking failed", name=character.key)
            return
        send_filler(character, line or "", thought.witnesses())


def shown_name(character: Any, looker: Any) -> str:
    """The character's name for this looker, without the number that staff is shown."""
    return STAFF_NUMBER.sub("", display_name(character, looker))


def harmless_name(name: str) -> str:
    """The name in characters that mean nothing to HTML and to a CSS selector."""
    return UNSAFE.sub(look_alike, name)


def look_alike(match: re.Match[str]) -> str:
    """What stands for one character of ASCII; all others stay."""
    char = match[0]
    if not char.isascii() or not char.isprintable():
        return char
    return LOOK_ALIKES.get(char) or chr(ord(char) + 0xFEE0)  # the full-width forms


def tell_typing(session: Any, name: str, state: bool) -> bool:
    """Tell a client in its own way who is typing or has stopped; False where it has none."""
    way = way_to_tell(session)
    if way == "is_typing":
        tell_by_evennia(session, harmless_name(name), state)
    elif way:
        session.msg(ai_typing={"name": name, "state": state})
    return bool(way)


def way_to_tell(session: Any) -> str:
    """``is_typing``, ``ai_typing`` or nothing: what this client can show.

    A web client has said so itself (an unknown message would be an error on its screen); of the
    others, those that speak GMCP or MSDP.
    """
    flags = session.protocol_flags
    if not flags.get("ISTYPING", True):
        return ""
    if flags.get("AI_TYPING") == "is_typing":
        return "is_typing" if getattr(settings, "WEBCLIENT_TYPING_ENABLED", False) else ""
    speaks_oob = flags.get("OOB") and not is_plain_web_client(session)
    return "ai_typing" if flags.get("AI_TYPING") or speaks_oob else ""


def is_plain_web_client(session: Any) -> bool:
    """True for Evennia's own web client and its like, False for GMCP and such over a websocket."""
    client = str(session.protocol_flags.get("CLIENTNAME", ""))
    return str(session.protocol_key).startswith("webclient") and "mudstandards.org" not in client


def tell_by_evennia(session: Any, name: str, state: bool) -> None:
    """Tell Evennia's own plugin, which needs its settings once before: it asks for them at login
    only, and in vain where the player enters the game later."""
    if not session.ndb.ai_typing_ready:
        from evennia.server.is_typing import is_typing_setup

        is_typing_setup(session)
        session.ndb.ai_typing_ready = True
    session.msg(is_typing={"type": "typing", "payload": {"name": name, "state": state}})


def choose_filler(lines: Any, number: int) -> str | None:
    """The builder's lines (one text, or a list) in turn, or ours where there are none at all; None
    for an empty list."""
    if lines is None:
        lines = [text(key) for key in FILLER_KEYS]
    listed = [lines] if isinstance(lines, str) else list(lines)
    usable = [str(line) for line in listed if str(line).strip()]
    return usable[number % len(usable)] if usable else None


def send_filler(character: Any, line: str, witnesses: Sequence[Any]) -> None:
    """Show what the character does meanwhile to each who may notice, by the name they know."""
    limit = character.assistant.config.max_speech_chars
    deed = spoken_words(without_name(line, character.key), character.key, limit)
    if not deed:
        return
    for witness in witnesses:
        name = character.get_display_name(looker=witness)
        witness.msg(text=(f"{name} {deed}", {"type": FILLER}), from_obj=character)


def without_name(line: str, name: str) -> str:
    """A builder's line without the name, which may or may not stand before it."""
    return re.sub(rf"\A\s*{re.escape(name)}\s+", "", line)
