"""The end of the menu: what was chosen is put into the game."""

from __future__ import annotations

from evennia.utils.dbserialize import deserialize

from evennia_ai.commands.common import UsageError
from evennia_ai.commands.setup.attaching import SetupCommand
from evennia_ai.commands.setup.draft import Draft
from evennia_ai.game.assistant_context import PERSONA_AUTHORS
from evennia_ai.game.client_text import shown_name
from evennia_ai.game.script_ports import GameScript
from evennia_ai.store.attributes import read_attribute, write_attribute, write_attributes


def go_live(actor: SetupCommand, draft: Draft) -> None:
    """Create the character or attach the assistant, or change one; raises AssistantError."""
    if draft.trial:
        raise UsageError("A trial is in progress. Wait for its answer.")
    if not (draft.name and draft.persona):
        raise UsageError("Choose a character and its persona first: steps 1 and 2.")
    script = draft.script
    if script:
        change(actor, script, draft)
        return
    character = draft.character or actor.create(draft.typed)
    actor.attach(character, draft.persona, draft.own_settings())


def change(actor: SetupCommand, script: GameScript, draft: Draft) -> None:
    """Store what a draft changes of an assistant; its memories stay."""
    for name, value in draft.settings.items():
        actor.ensure_may_set(script, name, value)
    for name, value in draft.settings.items():
        if value is None:
            script.attributes.remove(name)
        else:
            write_attribute(script, name, value)
    character = script.character
    if deserialize(character.db.ai_persona) != draft.persona:
        authors = {*(read_attribute(character, PERSONA_AUTHORS) or ()), actor.caller.dbref}
        changed = {PERSONA_AUTHORS: sorted(authors), "ai_persona": draft.persona}
        write_attributes(character, **changed)
    script.resolve_settings()
    actor.msg(f"|g{shown_name(script)} is changed.|n Its memories stay.")
    actor.report_complaints(script)
