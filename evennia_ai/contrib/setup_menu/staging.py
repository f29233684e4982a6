"""The assistant of a trial talk, which nobody else sees and which goes with the trial."""

from typing import Any

from evennia.objects.objects import DefaultCharacter
from evennia.utils.create import create_object

from evennia_ai.assistant_character import add_assistant_mixin, remove_assistant_mixin
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import UsageError
from evennia_ai.contrib.setup_menu.draft import TRIAL, Draft
from evennia_ai.store.attributes import SCRIPT_KEY, read_attribute, write_attributes

UNSEEN = "view:false();search:false();get:false();puppet:false()"
CHARACTER, ASSISTANT = "character", "assistant"  # what goes when a trial is over
running: set[int] = set()  # the ids of the assistants that are staged now


def stage(draft: Draft, here: Any) -> AssistantScript:
    """Attach an assistant for a trial, if need be to a new character that nobody sees."""
    if here is None:
        raise UsageError("You are in no room. Quit, and go to a room first.")
    character, mark = draft.character, ASSISTANT
    if character is None:
        mark = CHARACTER
        character = create_object(DefaultCharacter, draft.name, home=here, locks=UNSEEN)
        character.location = here
    add_assistant_mixin(character)
    script: AssistantScript = character.attach_assistant()
    try:
        write_attributes(script, **{TRIAL: mark, "stopped": True})
    except Exception:
        remove(script, mark)
        raise
    running.add(script.id)
    return script


def clear(script: AssistantScript) -> None:
    """Delete what a trial made and marked, unless somebody started it meanwhile."""
    running.discard(script.id)
    mark = read_attribute(script, TRIAL)
    if mark == CHARACTER or not script.is_on:
        remove(script, mark)


def remove(script: AssistantScript, mark: str) -> None:
    character = script.character
    script.delete()
    remove_assistant_mixin(character)
    if mark == CHARACTER:
        character.delete()


def clear_trials() -> None:
    """Delete what trials left that a crash of the server ended; one query without any."""
    staged = {"db_key": SCRIPT_KEY, "db_attributes__db_key": TRIAL}
    for script in AssistantScript.objects.filter_family(**staged).exclude(db_obj=None):
        if script.id not in running:
            clear(script)
