"""Commands for players: ``aiforget`` deletes what they said, ``mute`` silences a character."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.utils import logger

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import AICommand, Dialogue, UsageError, names_of, number_of
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.perception import find_named
from evennia_ai.game.texts import TEXTS, is_yes, text
from evennia_ai.store.forget import assistants_who_know, count_traces, forget_chunk
from evennia_ai.store.speakers import last_name_of, speakers_among, speakers_named

PAUSE_S = 0.01
NUMBER = re.compile(r"#\d{1,18}")
FOR_ADMINS = """
For admins:
  aiforget <name or #number>

Does the same for another player. They may be offline or deleted: the logs
keep their last name and their number."""


class PlayersCommand(AICommand):
    """A command whose help a game can reword and translate."""

    help_text = ""

    def get_help(self, caller: Any, cmdset: Any) -> str:
        """Return the help in the game's own words, or translated."""
        return text(self.help_text)


@dataclass(frozen=True)
class Speaker:
    """Whose words are to be forgotten: the caller's, if the name is empty."""

    dbref: str
    name: str = ""

    def line(self, key: str, **values: Any) -> str:
        """Return a line to the caller about themselves, or about the named speaker."""
        return text(f"{key}_of", name=self.name, **values) if self.name else text(key, **values)


class CmdForgetMe(PlayersCommand):
    __doc__ = TEXTS["help_forget"]

    key = "aiforget"
    locks = "cmd:all();others:perm(Admin)"
    help_text = "help_forget"

    def get_help(self, caller: Any, cmdset: Any) -> str:
        """Return the help, for admins with what only they can do."""
        more = FOR_ADMINS if self.access(caller, "others") else ""
        return f"{super().get_help(caller, cmdset)}\n{more}"

    def run(self) -> Dialogue:
        """Ask, then delete in chunks with pauses, so that the server stays responsive."""
        who = self.args.strip()
        speaker = self.find_speaker(who) if who else Speaker(self.caller.dbref)
        dbref = speaker.dbref
        count = count_traces(dbref)
        if not count and not assistants_who_know(dbref):
            self.msg(speaker.line("forget_nothing"))
            return
        answer = yield speaker.line("forget_ask", count=count)
        if not is_yes(answer):
            self.msg(text("forget_kept"))
            return
        if speaker.name:
            logger.log_sec(f"aiforget: {self.caller} has {speaker.name} ({dbref}) forgotten")
        scripts = AssistantScript.objects.filter_family(id__in=assistants_who_know(dbref))
        for script in scripts:
            script.drop_turn("the speaker wants to be forgotten")
        while forget_chunk(dbref):
            yield PAUSE_S
        for script in scripts:
            script.forget(dbref)
        self.msg(text("forget_done"))

    def find_speaker(self, who: str) -> Speaker:
        """Return the speaker whom an admin named; raises UsageError."""
        if not self.access(self.caller, "others"):
            raise UsageError(text("forget_only_own"))
        shown = clean_output(who, 60)
        if NUMBER.fullmatch(who):
            if not name_of(who):
                raise UsageError(f"There is no object {shown}, and no assistant ever heard it.")
            return Speaker(who, name_of(who))
        found = objects_called(who) | speakers_named(who)
        # Of several of one name, those who never spoke near an assistant are not meant.
        candidates = sorted(speakers_among(found) or found, key=number_of)
        if not candidates:
            raise UsageError(
                f"There is nobody called '{shown}', and no assistant ever heard anybody of that "
                "name. You can also use a number: |waiforget #12|n."
            )
        if len(candidates) > 1:
            options = ", ".join(map(describe, candidates))
            raise UsageError(f"Several match: {options}. Use the number.")
        return Speaker(candidates[0], name_of(candidates[0]))


def objects_called(name: str) -> frozenset[str]:
    """Return the dbrefs of the objects of a name, and of the characters of an account of it."""
    found = list(ObjectDB.objects.filter(db_key__iexact=name))
    for account in AccountDB.objects.filter(username__iexact=name):
        found += [character for character in account.characters if character]
    return frozenset(obj.dbref for obj in found)


def name_of(dbref: str) -> str:
    """Return the name of an object, or the last one in the logs; empty if neither is known."""
    return clean_output(names_of([dbref]).get(dbref) or last_name_of(dbref), 60)


def describe(dbref: str) -> str:
    """Return a speaker with what tells them from others of the same name."""
    gone = "" if names_of([dbref]) else ", deleted"
    return f"{name_of(dbref)} ({dbref}{gone}, {count_traces(dbref)} lines)"


class CmdMute(PlayersCommand):
    __doc__ = TEXTS["help_mute"]

    key = "mute"
    aliases = ["aimute"]
    locks = "cmd:all()"
    help_text = "help_mute"

    def run(self) -> None:
        """Mute a character, or end that; without a name list those who are muted."""
        if not hasattr(self.caller, "muted_assistants"):
            raise UsageError(text("mute_unable"))
        name = self.args.strip()
        if name:
            target = self.find_target(name)
            muted = self.caller.toggle_mute(target.dbref)
            self.msg(text("mute_on" if muted else "mute_off", name=shown_name(target)))
        else:
            names = ", ".join(shown_name(obj) for obj in self.muted_characters())
            self.msg(text("mute_list", names=names) if names else text("mute_none"))

    def muted_characters(self) -> list[Any]:
        """Return the characters that the caller muted and that still exist."""
        ids = [number_of(dbref) for dbref in self.caller.muted_assistants]
        return list(ObjectDB.objects.filter(id__in=ids))

    def find_target(self, name: str) -> Any:
        """Return a character with an assistant, here or muted; raises UsageError."""
        here = self.caller.location.contents if self.caller.location else []
        characters = [obj for obj in here if getattr(obj, "assistant", None)]
        target = find_named(name, [*characters, *self.muted_characters()], self.caller)
        if target is None:
            raise UsageError(text("mute_unknown", name=clean_output(name, 60)))
        return target
