"""``ailore``: write and list what characters know about the world."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from evennia.objects.models import ObjectDB
from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.messages import Audience
from evennia_ai.policy.conversation.character import EVERYBODY, LoreEntry, check_scope, split_keys
from evennia_ai.scheduling import Steps

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
      ailore/keys <title> = [<word or phrase>, ...]
      ailore/always <title>
      ailore/delete <title>
      ailore/for <character> [= <line>]

    Without a switch: all entries, or one of them in full.

    Switches:
      set    - write an entry; it replaces the text and the scopes of the one
               with the same title
      keys   - words and phrases that bring an entry into the prompt when
               somebody says one of them, as its title does; endings may differ
      always - keep an entry in every prompt; again: only when it fits
      delete - delete an entry, and show how to write it again
      for    - list what a character knows; with a line, which entries the
               prompt would hold if you said it, in order, and why: always, a
               key, the title, words, or the meaning; and which are left out
               because of the budget, a scope or a quest

    Scopes say who knows an entry: all (the default), tag:<tag>,
    faction:<name> (a tag of the category "faction") and room:<tag>, room:#12
    or room:here. One matching scope is enough. quest:<flag> says who may hear
    it: everybody present must have that tag, in the category "quest".

    Examples:
      ailore/set The north gate : faction:guard, room:tower = Hanno built it.
      ailore/set The draught : room:here = The window does not close.
      ailore/keys The draught = cold, freezing, warm up
      ailore/for Hanno = Why is it so cold in here?
    """

    key = "ailore"
    locks = "cmd:perm(Builder)"
    switch_options = ("set", "keys", "always", "delete", "for")

    def do_default(self) -> None:
        title = self.args.strip()
        if title:
            entry = self.find(title)
            about = clean_output(", ".join((*entry.scopes, *["always"] * entry.always)))
            keys = f"\n|xKeys:|n {clean_output(', '.join(entry.keys))}" if entry.keys else ""
            text = clean_output(entry.text)
            self.msg(f"|w{clean_output(entry.title)}|n ({about})\n{text}{keys}")
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
        if before:
            entry = replace(entry, keys=before.keys, always=before.always)
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

    def do_keys(self) -> None:
        if self.rhs is None:
            raise UsageError("Usage: ailore/keys <title> = [<word or phrase>, ...]")
        entry = self.change(self.lhs, keys=split_keys(self.rhs))
        keys = clean_output(", ".join(entry.keys)) or "none"
        self.msg(f"Keys of {clean_output(entry.title, 60)}: {keys}")

    def do_always(self) -> None:
        entry = self.change(self.args, always=not self.find(self.args.strip()).always)
        when = "always in the prompt, within its budget" if entry.always else "told when it fits"
        self.msg(f"{clean_output(entry.title, 60)} is {when}.")

    def change(self, title: str, **fields: Any) -> LoreEntry:
        """Change an entry that was written in the game, and return it; raises UsageError."""
        entry = self.find(title.strip())
        if entry in self.services.lore.fixed:
            raise UsageError(
                f"'{entry.title}' comes from a module in LORE: change it in that module."
            )
        authors = entry.authors | {self.caller.dbref}
        changed = replace(entry, authors=authors, **fields)
        self.services.lore.write(changed)
        return changed

    def do_delete(self) -> None:
        entry = self.find(self.args.strip())
        if not self.services.lore.remove(entry.title):
            raise UsageError(
                f"'{entry.title}' comes from a module in LORE: delete it in that module."
            )
        self.msg(f"Deleted. To write it again: {as_typed(entry)}")

    def do_for(self) -> Deferred[None] | None:
        script, audience = self.find_assistant(self.lhs), frozenset({self.caller.dbref})
        if self.rhs:
            return self.try_line(script, self.rhs, audience)
        known = script.mind.lore.known(audience)
        nothing = f"{shown_name(script)} knows no lore that you may hear."
        self.msg("\n".join(map(entry_line, known)) or nothing)
        return None

    @inlineCallbacks
    def try_line(self, script: Any, line: str, audience: Audience) -> Steps[None]:
        """Show which entries a prompt would hold if the caller said a line."""
        lore = script.mind.lore
        yield lore.prepare([line], audience)
        trials = lore.try_lines([line], audience)
        told = [one for one in trials if one.reason or one.why_unknown]
        lines = [f"{entry_line(one.entry)} |x{clean_output(one.verdict())}|n" for one in told]
        if not any(one.is_chosen for one in told):
            lines.insert(0, f"{shown_name(script)} knows no lore for this.")
        others = len(trials) - len(told)
        lines.append(f"|xBudget: {lore.budget_tokens} tokens. Entries that do not fit: {others}.|n")
        self.tell(lines)


def entry_line(entry: LoreEntry) -> str:
    """Return an entry on one line."""
    scopes = clean_output(", ".join(entry.scopes), 60)
    return (
        f"|w{clean_output(entry.title, 60)}|n |x({scopes})|n {clean_output(entry.text, LINE_CHARS)}"
    )


def as_typed(entry: LoreEntry) -> str:
    """Return the commands that write an entry."""
    typed = [f"ailore/set {entry.title} : {', '.join(entry.scopes)} = {entry.text}"]
    typed += [f"ailore/keys {entry.title} = {', '.join(entry.keys)}"] * bool(entry.keys)
    typed += [f"ailore/always {entry.title}"] * entry.always
    return "\n".join(map(clean_output, typed))
