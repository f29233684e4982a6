"""A trial talk with a draft: what it would answer, with nothing done, stored or seen."""

from typing import Any

from evennia.objects.objects import DefaultCharacter
from evennia.utils.create import create_object

from evennia_ai.assistant_character import add_assistant_mixin, remove_assistant_mixin
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import UsageError
from evennia_ai.commands.dry_run import TryingCommand
from evennia_ai.commands.setup.draft import TRIAL, Draft
from evennia_ai.game.client_text import shown_name
from evennia_ai.game.room_lines import hear_typed
from evennia_ai.mind.dry_run import as_drafted
from evennia_ai.store.attributes import SCRIPT_KEY, read_attribute, write_attributes
from evennia_ai.store.lore_records import by_builder

UNSEEN = "view:false();search:false();get:false();puppet:false()"
CHARACTER, ASSISTANT = "character", "assistant"  # what goes when a trial is over
running: set[int] = set()  # the ids of the assistants that are staged now


class Trial:
    """One line, said to the draft of a menu."""

    def __init__(self, menu: Any, draft: Draft, words: str) -> None:
        self.menu, self.draft, self.words = menu, draft, words
        self.staged: AssistantScript | None = None

    def start(self) -> None:
        """Ask a model; raises UsageError if nobody can say that line."""
        menu, draft = self.menu, self.draft
        command: TryingCommand = menu
        try:
            script = command.script = draft.script or self.stage()
            command.name = shown_name(script)
            found, personas = draft.in_force(menu.services), menu.services.personas
            authors = by_builder([menu.caller.dbref, *personas.authors_of(draft.persona)])
            persona = personas.resolve(draft.persona)
            around = as_drafted(script.mind.around, found.config, found.profile, persona, authors)
            heard = hear_typed(script.character, found.config, menu.caller, "say", self.words)
            asking = command.start_dry_run(heard, around)
        except Exception:
            self.end()
            raise
        asking.addErrback(command.tell_failure).addBoth(lambda _: self.end())

    def stage(self) -> AssistantScript:
        """Attach an assistant, if need be to a new character that nobody sees."""
        caller, character, mark = self.menu.caller, self.draft.character, ASSISTANT
        if caller.location is None:
            raise UsageError("You are in no room. Quit, and go to a room first.")
        if character is None:
            mark, here = CHARACTER, caller.location
            character = create_object(DefaultCharacter, self.draft.name, home=here, locks=UNSEEN)
            character.location = here
        add_assistant_mixin(character)
        script: AssistantScript = character.attach_assistant()
        self.staged = script
        try:
            write_attributes(script, **{TRIAL: mark, "stopped": True})
        except Exception:
            script.delete()
            remove_assistant_mixin(character)
            if mark == CHARACTER:
                character.delete()
            raise
        running.add(script.id)
        return script

    def end(self) -> None:
        if self.staged is not None and self.staged.pk:
            running.discard(self.staged.id)
            clear(self.staged)
        if self.menu.trial is self:
            self.menu.trial = None


def clear(script: AssistantScript) -> None:
    """Delete what a trial made and marked, unless somebody started it meanwhile."""
    character = script.character
    if read_attribute(script, TRIAL) == CHARACTER:
        character.delete()
    elif not script.is_on:
        script.delete()
        remove_assistant_mixin(character)


def clear_trials() -> None:
    """Delete what trials left that a crash of the server ended; one query without any."""
    staged = {"db_key": SCRIPT_KEY, "db_attributes__db_key": TRIAL}
    for script in AssistantScript.objects.filter_family(**staged).exclude(db_obj=None):
        if script.id not in running:
            clear(script)
