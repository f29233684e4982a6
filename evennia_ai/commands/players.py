"""What players may type: to be forgotten, and to be left alone."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from evennia.objects.models import ObjectDB

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.senses import find_named
from evennia_ai.store.forget import assistants_who_know, count_traces, forget_chunk
from evennia_ai.texts import text

PAUSE_S = 0.01


class CmdForgetMe(AICommand):
    """
    make the characters with minds forget you

    Usage:
      aiforget

    Everything you said to them, and everything they answered, is deleted for
    ever, after a question. What you told other players stays with them.
    """

    key = "aiforget"
    locks = "cmd:all()"
    switch_options = ()

    def run(self) -> Generator[str, str, None]:
        """Ask, then delete."""
        return self.dialogue(self.caller.dbref)

    def dialogue(self, dbref: str) -> Generator[Any, str, None]:
        """Ask, then delete chunk by chunk, so that nobody notices."""
        count = count_traces(dbref)
        if not count and not assistants_who_know(dbref):
            self.msg(text("forget_nothing"))
            return
        answer = yield text("forget_ask", count=count)
        if answer.strip().lower() not in ("y", "yes", "j", "ja"):
            self.msg(text("forget_kept"))
            return
        scripts = AssistantScript.objects.filter_family(id__in=assistants_who_know(dbref))
        for script in scripts:
            script.drop_turn("the speaker wants to be forgotten")
        while forget_chunk(dbref):
            yield PAUSE_S
        for script in scripts:
            script.forget(dbref)
        self.msg(text("forget_done"))


class CmdMute(AICommand):
    """
    no longer hear a character with a mind

    Usage:
      mute <name>
      mute

    You no longer hear that character, and it no longer hears you. Muting it
    a second time ends that. Without a name: shows whom you muted.
    """

    key = "mute"
    aliases = ["aimute"]
    locks = "cmd:all()"
    switch_options = ()

    def run(self) -> None:
        """Mute, or end it."""
        if not hasattr(self.caller, "muted_assistants"):
            raise UsageError(text("mute_unable"))
        if not self.args.strip():
            self.show()
            return
        target = self.find_target(self.args.strip())
        muted = self.caller.toggle_mute(target.dbref)
        self.msg(text("mute_on" if muted else "mute_off", name=target.key))

    def show(self) -> None:
        """Whom the caller muted."""
        muted = self.muted_characters()
        names = ", ".join(obj.key for obj in muted)
        self.msg(text("mute_list", names=names) if names else text("mute_none"))

    def muted_characters(self) -> list[Any]:
        """The characters the caller muted, as far as they still exist."""
        ids = [int(dbref.lstrip("#")) for dbref in self.caller.muted_assistants]
        return list(ObjectDB.objects.filter(id__in=ids))

    def find_target(self, name: str) -> Any:
        """A character with a mind, here or among those muted; raises UsageError."""
        here = self.caller.location.contents if self.caller.location else []
        minds = [obj for obj in here if getattr(obj, "assistant", None)]
        target = find_named(name, [*minds, *self.muted_characters()], self.caller)
        if target is None:
            raise UsageError(text("mute_unknown", name=clean_output(name, 60)))
        return target
