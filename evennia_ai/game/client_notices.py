"""What clients show of a character beside its words: that it thinks, and that it is a machine.

A filler line is no speech: no assistant hears or answers it. Both are driven only by the signals
`thinking_started` and `thinking_finished`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.client_text import as_shown, clean_output
from evennia_ai.game.perception import display_name, listening_objects
from evennia_ai.game.settings import game_setting
from evennia_ai.game.texts import FILLER_KEYS, text
from evennia_ai.messages import Audience
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import Character
from evennia_ai.scheduling import Clock
from evennia_ai.signals import thinking_finished, thinking_started
from evennia_ai.store.attributes import read_attribute, write_attribute

log = Logger()

# The type of a filler line. It is not in `hearing.KINDS`, so no assistant hears it as an emote.
FILLER = "ai_filler"
# Clients drop an indicator that is not repeated; Evennia 6.1 does so after 5 s.
REPEAT_S = 2.0
AGAIN_S = 20.0  # between filler lines
STAFF_NUMBER = re.compile(r"\(#\d+\)\Z")
# Evennia 6.1 puts the name unescaped into HTML and into a CSS selector. Of ASCII, only letters,
# digits, "_" and "-" are safe in both; similar characters replace the rest.
LOOK_ALIKES = {" ": "\u2002", "'": "\u02bc", '"': "\u201d", "<": "\u2039", ">": "\u203a"}
UNSAFE = re.compile(r"[^\w-]", re.ASCII)


@dataclass
class ThinkingNotice:
    """A character that is thinking now, and the sessions that show it."""

    script: Any
    character: Character
    audience: Audience
    private: bool
    # Session and shown name by the session's number: sessions of one address compare as equal.
    told: dict[int, tuple[Any, str]] = field(default_factory=dict)
    calls: dict[str, Any] = field(default_factory=dict)  # the delayed calls, by name

    def witnesses(self) -> list[Any]:
        """Return the parties of a whisper or all present, without those who muted it."""
        me = self.character
        present = listening_objects(me) if me.pk else []
        watchers = [obj for obj in present if not self.private or obj.dbref in self.audience]
        return [obj for obj in watchers if me.dbref not in getattr(obj, "muted_assistants", ())]


class TypingIndicator:
    """Shows that characters think; without ``typing`` only by filler lines."""

    def __init__(self, clock: Clock, typing: bool = True) -> None:
        self.clock = clock
        self.typing = typing
        self.thoughts: dict[int, ThinkingNotice] = {}

    def connect(self) -> None:
        """Start to receive the signals."""
        thinking_started.connect(self.begin)
        thinking_finished.connect(self.end)

    def disconnect(self) -> None:
        """Stop receiving the signals and clear every indicator."""
        thinking_started.disconnect(self.begin)
        thinking_finished.disconnect(self.end)
        for notice in list(self.thoughts.values()):
            self.end(notice.script)

    def begin(
        self, sender: Any, character: Character, audience: Audience, private: bool, **kwargs: Any
    ) -> None:
        """Show the indicator at the start of a turn and plan the filler line."""
        self.end(sender)
        notice = ThinkingNotice(sender, character, audience, private)
        self.thoughts[id(sender)] = notice
        if self.typing:
            self.show(notice)
        delay_s = sender.config.thinking_after
        if delay_s:
            notice.calls["filler"] = self.clock.callLater(delay_s, self.fill, notice, delay_s)

    def end(self, sender: Any, **kwargs: Any) -> None:
        """Clear the indicator and cancel the filler line at the end of a turn."""
        notice = self.thoughts.pop(id(sender), None)
        if notice is None:
            return
        for call in notice.calls.values():
            if call.active():
                call.cancel()
        for session, name in notice.told.values():
            tell_typing(session, name, state=False)

    def show(self, notice: ThinkingNotice) -> None:
        """Show the indicator to all witnesses, and again every `REPEAT_S` seconds."""
        if not notice.script.pk:  # a deleted assistant sends no signal at the end
            self.end(notice.script)
            return
        for witness in notice.witnesses():
            for session in witness.sessions.all():
                known = notice.told.get(session.sessid)
                name = known[1] if known else shown_name(notice.character, witness)
                if tell_typing(session, name, state=True):
                    notice.told[session.sessid] = (session, name)
        notice.calls["show"] = self.clock.callLater(REPEAT_S, self.show, notice)

    def fill(self, notice: ThinkingNotice, seconds: float) -> None:
        """Show a filler line after ``seconds`` without an answer, and again every `AGAIN_S`."""
        if not notice.script.pk or not notice.script.mind.status.may_think():
            return
        character = notice.character
        try:
            line = character.at_ai_thinking(seconds)
        except Exception:  # noqa: BLE001  # a builder's hook must not cost the player the answer
            log.failure("{name}: at_ai_thinking failed; no filler line", name=character.key)
            return
        send_filler(character, line or "", notice.witnesses())
        later_s = seconds + AGAIN_S
        notice.calls["filler"] = self.clock.callLater(AGAIN_S, self.fill, notice, later_s)


def shown_name(character: Any, looker: Any) -> str:
    """Return the name that the looker sees, without the number that staff is shown."""
    return STAFF_NUMBER.sub("", display_name(character, looker))


def harmless_name(name: str) -> str:
    """Return a name in characters that have no meaning in HTML and in a CSS selector."""
    return UNSAFE.sub(look_alike, name)


def look_alike(match: re.Match[str]) -> str:
    """Return the replacement of one ASCII character; any other character stays."""
    char = match[0]
    if not char.isascii() or not char.isprintable():
        return char
    return LOOK_ALIKES.get(char) or chr(ord(char) + 0xFEE0)  # the full-width forms


def tell_typing(session: Any, name: str, state: bool) -> bool:
    """Tell a client that somebody types or stopped; return False if it cannot."""
    way = way_to_tell(session)
    if way == "is_typing":
        tell_by_evennia(session, harmless_name(name), state)
    elif way:
        session.msg(ai_typing={"name": name, "state": state})
    return bool(way)


def way_to_tell(session: Any) -> str:
    """Return the message that a client understands: ``is_typing``, ``ai_typing``, ""."""
    # A web client must have announced it: it shows an unknown message as an error. Others must
    # speak GMCP or MSDP.
    flags = session.protocol_flags
    if not flags.get("ISTYPING", True):
        return ""
    if flags.get("AI_TYPING") == "is_typing":
        return "is_typing" if getattr(settings, "WEBCLIENT_TYPING_ENABLED", False) else ""
    speaks_oob = flags.get("OOB") and not is_plain_web_client(session)
    return "ai_typing" if flags.get("AI_TYPING") or speaks_oob else ""


def is_plain_web_client(session: Any) -> bool:
    """Return True for Evennia's web client, False for other clients that use its websocket."""
    # The session's `protocol_key` does not tell: it is "websocket" for all of them.
    client = str(session.protocol_flags.get("CLIENTNAME", ""))
    return client.startswith("Evennia Webclient") and "mudstandards.org" not in client


def tell_by_evennia(session: Any, name: str, state: bool) -> None:
    """Send the message of Evennia's own typing plugin, before the first one its settings.

    It asks for them at login, which is too early for a player who enters the game later.
    """
    if not session.ndb.ai_typing_ready:
        from evennia.server.is_typing import is_typing_setup

        is_typing_setup(session)
        session.ndb.ai_typing_ready = True
    session.msg(is_typing={"type": "typing", "payload": {"name": name, "state": state}})


def choose_filler(lines: Any, number: int) -> str | None:
    """Return the filler line after ``number`` others; None without usable lines of the builder."""
    if lines is None:
        lines = map(text, FILLER_KEYS)
    listed = [lines] if isinstance(lines, str) else list(lines)
    usable = [str(line) for line in listed if str(line).strip()]
    return usable[number % len(usable)] if usable else None


def send_filler(character: Any, line: str, witnesses: Sequence[Any]) -> None:
    """Show a filler line to each witness, with the character's name as they know it."""
    limit = character.assistant.config.max_speech_chars
    own = character.assistant.character_name
    bare = re.sub(rf"\A\s*{re.escape(own)}\s+", "", line)  # without a leading name
    deed = spoken_words(bare, own, limit)
    if not deed:
        return
    for witness in witnesses:
        name = clean_output(shown_name(character, witness))
        witness.msg(text=(f"{name} {as_shown(deed)}", {"type": FILLER}), from_obj=character)


MARKED = frozenset({"say", "whisper", "pose"})
WEB_CLASS = "out ai-line"  # "out" is the class that Evennia gives to all text


def mark_line(character: Any, text: Any, receiver: Any) -> None:
    """Mark a line on its way to a receiver: in web clients by the CSS class ``ai-line``.

    Other clients with GMCP or MSDP get the message ``ai_line`` with name and type first.
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
