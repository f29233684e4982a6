"""``ailore``: what characters know about the world."""

from dataclasses import replace
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.setup import read_scope
from evennia_ai.policy.conversation.persona_and_lore import (
    EVERYBODY,
    LoreEntry,
    quests_of,
    split_keys,
)
from evennia_ai.policy.texts import counted
from evennia_ai.scheduling import Coroutine

LORE_CHARS, MOST_WHY = 120, 5


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
      set    - write an entry; it replaces the one with the same title, and keeps
               its scopes unless you give others
      keys   - words that bring an entry into the prompt when somebody says one of
               them, as its title does; endings may differ
      always - keep an entry in every prompt; again: only when it fits
      delete - delete an entry, and show how to write it again
      for    - list what a character knows and may tell you, and why not the rest;
               with a line, which entries the prompt would hold if you said it,
               and why; and which are left out

    Scopes say who knows an entry: all (the default), tag:<tag>,
    faction:<name> (a tag of the category "faction") and room:<tag>, room:#12
    or room:here. One matching scope is enough. quest:<flag> says who may hear
    it: everybody present must have that tag, in the category "quest".

    Examples:
      ailore/set The north gate : faction:guard, room:tower = Hanno built it.
      ailore/keys The north gate = gate, portcullis
      ailore/for Hanno = Who built this?
    """

    key = "ailore"
    switch_options = ("set", "keys", "always", "delete", "for")

    def do_default(self) -> None:
        if not self.args.strip():
            lines = map(entry_line, self.services.lore.entries())
            none = (
                "There is no lore yet that several may know. |whelp ailore|n says how to write it; "
                "|wailore/for <character>|n shows what a character knows of its own."
            )
            self.msg("\n".join(lines) or none)
            return
        entry = self.find(self.args)
        about = clean_output(", ".join((*entry.scopes, *["always"] * entry.always)))
        keys = f"\n|xKeys:|n {clean_output(', '.join(entry.keys))}" if entry.keys else ""
        title, text = clean_output(entry.title), clean_output(entry.text)
        self.msg(f"|w{title}|n ({about})\n{text}{keys}")

    def find(self, title: str) -> LoreEntry:
        entry: LoreEntry | None = self.services.lore.find(title.strip())
        if entry is None:
            shown = clean_output(title.strip(), 60)
            none = f"There is no lore called '{shown}'. |wailore|n lists all."
            elsewhere = self.services.lore.kept_elsewhere(title.strip())
            raise UsageError(clean_output(elsewhere, 300) if elsewhere else none)
        return entry

    def ensure_of_game(self, entry: LoreEntry | None) -> None:
        """Raise UsageError for an entry of a module."""
        lore = self.services.lore
        if entry is not None and entry in lore.fixed:
            raise UsageError(clean_output(lore.kept_elsewhere(entry.title), 300))

    def do_set(self) -> None:
        title, _, scopes = self.lhs.partition(":")
        if not title.strip() or not self.rhs:
            raise UsageError("Usage: ailore/set <title> [: <scope>, <scope> ...] = <text>")
        before = self.services.lore.find(title.strip())
        self.ensure_of_game(before)
        kept = before.scopes if before else [EVERYBODY]
        written = scopes.split(",") if scopes.strip() else kept
        here = self.caller.location.dbref if self.caller.location else ""
        checked = tuple(read_scope(scope, here) for scope in written)
        entry = LoreEntry(title.strip(), self.rhs.strip(), checked, frozenset({self.caller.dbref}))
        if before:
            entry = replace(entry, keys=before.keys, always=before.always)
        self.services.lore.write(entry)
        self.msg(f"Written: {entry_line(entry)}")
        if who_hears := told_to(entry):
            self.msg(who_hears)
        if before and not scopes.strip():
            self.msg(f"It keeps its scope: {clean_output(', '.join(checked))}.")
        if before:
            self.msg(f"It replaces: {as_typed(before)}")

    def do_keys(self) -> None:
        if self.rhs is None:
            raise UsageError("Usage: ailore/keys <title> = [<word or phrase>, ...]")
        entry = self.change(self.lhs, keys=split_keys(self.rhs))
        keys = clean_output(", ".join(entry.keys)) or "none"
        self.msg(f"Keys of {clean_output(entry.title, 60)}: {keys}")

    def do_always(self) -> None:
        entry = self.change(self.args, always=not self.find(self.args).always)
        when = "always in the prompt, within its budget" if entry.always else "told when it fits"
        self.msg(f"{clean_output(entry.title, 60)} is {when}.")

    def change(self, title: str, **fields: Any) -> LoreEntry:
        """Change an entry that was written in the game, and return it; raises UsageError."""
        entry = self.find(title)
        self.ensure_of_game(entry)
        changed = replace(entry, authors=entry.authors | {self.caller.dbref}, **fields)
        self.services.lore.write(changed)
        return changed

    def do_delete(self) -> None:
        entry = self.find(self.args)
        self.ensure_of_game(entry)
        self.services.lore.remove(entry.title)
        self.msg(f"Deleted. To write it again: {as_typed(entry)}")

    def do_for(self) -> Deferred[None] | None:
        script, audience = self.find_assistant(self.lhs), frozenset({self.caller.dbref})
        if self.rhs:
            return self.try_line(self.rhs)
        trials = script.mind.lore.try_lines([], audience)
        lines = [entry_line(trial.entry) for trial in trials if not trial.why_unknown]
        rest = [trial for trial in trials if trial.why_unknown]
        entries = partial(counted, noun="entry", plural="entries")
        lines.append(f"Lore that {self.name} may tell you: {len(lines)} of {entries(len(trials))}.")
        if own := len({trial.entry for trial in trials}.difference(self.services.lore.entries())):
            lines.append(f"|xIts own, from its Attribute ai_lore: {entries(own)}.|n")
        lines += [
            f"  |w{clean_output(t.entry.title, 60)}|n {clean_output(t.verdict())}"
            for t in rest[:MOST_WHY]
        ]
        self.msg("\n".join(lines + ["  ..."] * (len(rest) > MOST_WHY)))
        return None

    @inlineCallbacks
    def try_line(self, line: str) -> Coroutine[None]:
        lore, audience = self.script.mind.lore, frozenset({self.caller.dbref})
        yield lore.prepare([line], audience)
        trials = lore.try_lines([line], audience)
        reasoned = [trial for trial in trials if trial.reason or trial.why_unknown]
        lines = [
            f"{entry_line(item.entry)} |x{clean_output(item.verdict())}|n" for item in reasoned
        ]
        if not any(item.is_chosen for item in reasoned):
            lines.insert(0, f"{self.name} knows no lore for this.")
        others = counted(len(trials) - len(reasoned), "other entry", "other entries")
        lines.append(f"|xBudget: {lore.budget_words}. Not about this line: {others}.|n")
        self.tell(lines)


def told_to(entry: LoreEntry) -> str:
    """Return who may be told an entry, "" for one that everybody knows and may hear."""
    quests = clean_output(" and ".join(quests_of(entry)))
    if quests:
        return f"|xA character tells it only if everybody who hears it has {quests}.|n"
    if EVERYBODY in entry.scopes:
        return ""
    where = {True: "in", False: "with"}
    knowers = (f"{where[scope.startswith('room:')]} {scope}" for scope in entry.scopes)
    return (
        f"|xCharacters {clean_output(' or '.join(knowers))} know it, and may tell it to anybody. "
        "To limit who hears it, add a scope such as quest:scout.|n"
    )


def entry_line(entry: LoreEntry) -> str:
    title, scopes = clean_output(entry.title, 60), clean_output(", ".join(entry.scopes), 60)
    return f"|w{title}|n |x({scopes})|n {clean_output(entry.text, LORE_CHARS)}"


def as_typed(entry: LoreEntry) -> str:
    typed = [f"ailore/set {entry.title} : {', '.join(entry.scopes)} = {entry.text}"]
    typed += [f"ailore/keys {entry.title} = {', '.join(entry.keys)}"] * bool(entry.keys)
    typed += [f"ailore/always {entry.title}"] * entry.always
    return "\n".join(map(clean_output, typed))
