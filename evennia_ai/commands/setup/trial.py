"""The trial talk: a dry run of a character that is not live yet, which leaves no trace."""

from __future__ import annotations

from typing import Any

from evennia.objects.objects import DefaultCharacter
from evennia.utils.create import create_object
from twisted.internet.defer import Deferred

from evennia_ai.assistant_character import add_assistant_mixin, remove_assistant_mixin
from evennia_ai.commands.common import UsageError
from evennia_ai.commands.dry_run import hear_line, start_dry_run
from evennia_ai.commands.setup.attaching import SetupCommand
from evennia_ai.commands.setup.draft import Draft, in_force, read_draft, write_draft
from evennia_ai.game.perception import find_object
from evennia_ai.policy.disclosure import DRY_RUNS
from evennia_ai.store.attributes import SCRIPT_KEY, read_attribute, write_attributes
from evennia_ai.store.lore_records import by_builder
from evennia_ai.turn.dry_run import Overlay

CHARACTER, ASSISTANT = "character", "assistant"  # what goes when the trial is over


def start_trial(actor: SetupCommand, draft: Draft, words: str) -> Deferred[None]:
    """Tell a builder what a draft would answer; raises UsageError if it cannot be asked."""
    actor.ensure_may_read(DRY_RUNS)
    if draft.trial:
        raise UsageError("A trial is in progress. Wait for its answer.")
    script = draft.script or stage(actor.caller, draft)
    staged = bool(draft.trial)
    try:
        found, personas = in_force(draft, actor.services), actor.services.personas
        seen: Any = Overlay(
            script,
            config=found.config,
            profile=found.profile,
            persona=personas.resolve(draft.persona),
            persona_authors=by_builder([actor.caller.dbref, *personas.authors_of(draft.persona)]),
        )
        heard = hear_line(seen, actor.caller, "say", words)
        running = start_dry_run(script, heard, actor.tell, seen)
    except Exception:
        strike(actor.caller)
        raise
    running.addCallbacks(
        lambda _: actor.tell("Type another line, back or next."), actor.tell_failure
    )
    # Once the menu was closed, the caller may be in another trial.
    return running.addBoth(lambda _: strike(actor.caller) if staged and script.pk else None)


def stage(caller: Any, draft: Draft) -> Any:
    """Attach an assistant for a trial, to a character that nobody sees if a new one is wanted."""
    here, character, mark = caller.location, draft.character, ASSISTANT
    if here is None:
        raise UsageError("You are in no room. Quit, and go to a room first.")
    if character is None:
        locks, mark = "view:false();search:false();get:false();puppet:false()", CHARACTER
        character = create_object(DefaultCharacter, draft.name, home=here, locks=locks)
        character.location = here
    draft.trial = character.dbref
    write_draft(caller, draft)
    add_assistant_mixin(character)
    script = character.attach_assistant()
    write_attributes(script, stopped=True, trial=mark)
    return script


def strike(caller: Any) -> None:
    """Delete what `stage` made and marked, at the end of a trial or after a crash in it."""
    draft = read_draft(caller)
    if not draft.trial:
        return
    character: Any = find_object(draft.trial)
    for script in character.scripts.get(SCRIPT_KEY) if character else ():
        mark = read_attribute(script, "trial")
        if mark == CHARACTER:
            character.delete()
        elif mark and not script.is_on:  # else somebody started it meanwhile
            script.delete()
            remove_assistant_mixin(character)
    draft.trial = ""
    write_draft(caller, draft)
