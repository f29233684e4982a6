"""``ailore``: write and list what characters know about the world."""

from __future__ import annotations

import re

from evennia.objects.models import ObjectDB

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.policy.conversation.character import EVERYBODY, LoreEntry, check_scope, try_lore

LINE_CHARS = 120
HERE = "room:here"
ROOM_NUMBER = re.compile(r"room:#?(\d{1,18})")


class CmdAILore(AICommand):
    """
    write down what assistants know about the world

    Usage:
      ailore
      ailore <title>
      ailore/set <title> [: <scope>, <scope> ...] = <text>
      ailore/delete <title>
      ailore/for <character> [= <words>]

    Without a switch: all entries, or one of them in full.

    Switches:
      set    - write an entry; it replaces the one with the same title
      delete - delete an entry, and show how to write it again
      for    - list what a character knows; with words, what of it the prompt
               would hold if somebody said them

    Scopes say who knows an entry: all (the default), tag:<tag>,
    faction:<name> (a tag of the category "faction") and room:<tag>, room:#12
    or room:here. One matching scope is enough. quest:<flag> says who may hear
    it: everybody present must have that tag, in the category "quest".

    Examples:
      ailore/set The north gate : faction:guard, room:tower = Hanno built it.
      ailore/set The draught : room:here = The window does not close.
    """

    key = "ailore"
    locks = "cmd:perm(Builder)"
    switch_options = ("set", "delete", "for")

    def do_default(self) -> None:
        title = self.args.strip()
        if title:
            entry = self.find(title)
            scopes = clean_output(", ".join(entry.scopes))
            self.msg(f"|w{clean_output(entry.title)}|n ({scopes})\n{clean_output(entry.text)}")
            return
        lines = map(entry_line, self.services.lore.entries())
        self.msg("\n".join(lines) or "There is no lore yet. |whelp ailore|n says how to write it.")

    def find(self, title: str) -> LoreEntry:
        """Return the entry with a title; raises UsageError."""
        entry: LoreEntry | None = self.services.lore.find(title)
        if entry is None:
            raise UsageError(
                f"There is no lore called '{clean_output(title, 60)}'. |wailore|n lists all."
            )
        return entry

    def do_set(self) -> None:
        title, _, scopes = self.lhs.partition(":")
        if not title.strip() or not self.rhs:
            raise UsageError("Usage: ailore/set <title> [: <scope>, <scope> ...] = <text>")
        written = scopes.split(",") if scopes.strip() else [EVERYBODY]
        checked = tuple(self.check_scope(scope) for scope in written)
        entry = LoreEntry(title.strip(), self.rhs.strip(), checked, frozenset({self.caller.dbref}))
        before = self.services.lore.find(entry.title)
        self.services.lore.write(entry)
        self.msg(f"Written: {entry_line(entry)}")
        if before:
            self.msg(f"It replaces: {as_typed(before)}")

    def check_scope(self, written: str) -> str:
        """Return a scope in its normal form, a room as its tag or number; raises AssistantError."""
        scope = check_scope(written)
        if scope == HERE:
            if self.caller.location is None:
                raise UsageError("You are in no room. Name the room by its number or by a tag.")
            return f"room:{self.caller.location.dbref}"
        number = ROOM_NUMBER.fullmatch(scope)
        if number is None:
            return scope
        if not ObjectDB.objects.filter(id=number[1], db_location=None).exists():
            raise UsageError(
                f"There is no room #{number[1]}. For the room you are in, use |wroom:here|n."
            )
        return f"room:#{number[1]}"

    def do_delete(self) -> None:
        entry = self.find(self.args.strip())
        if not self.services.lore.remove(entry.title):
            raise UsageError(
                f"'{entry.title}' comes from a module in LORE: delete it in that module."
            )
        self.msg(f"Deleted. To write it again: {as_typed(entry)}")

    def do_for(self) -> None:
        script = self.find_assistant(self.lhs)
        audience = frozenset({self.caller.dbref})
        entries, labels = script.services.world.lore(script.character, audience)
        trials = try_lore(entries, labels, self.rhs or "", script.config.lore_tokens)
        fit = (one for one in trials if (one.is_chosen if self.rhs else not one.why_unknown))
        lines = [entry_line(one.entry) for one in fit]
        self.msg("\n".join(lines) or f"{shown_name(script)} knows no lore for this.")


def entry_line(entry: LoreEntry) -> str:
    """Return an entry on one line."""
    scopes = clean_output(", ".join(entry.scopes), 60)
    return (
        f"|w{clean_output(entry.title, 60)}|n |x({scopes})|n {clean_output(entry.text, LINE_CHARS)}"
    )


def as_typed(entry: LoreEntry) -> str:
    """Return the command that writes an entry."""
    scopes = ", ".join(entry.scopes)
    return clean_output(f"ailore/set {entry.title} : {scopes} = {entry.text}")
