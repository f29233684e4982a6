"""Triggers: what a character says, does or thinks about when something happens; fights, too."""

from collections.abc import Iterable
from typing import Any

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.contrib.triggers.aitrigger import CmdAITrigger
from evennia_ai.contrib.triggers.combat import combat_event, follow_combat, read_systems
from evennia_ai.contrib.triggers.firing import consider
from evennia_ai.contrib.triggers.occasions import TRIGGERS, occasion_of, triggers_of
from evennia_ai.contrib.triggers.surroundings import (
    follow_clock,
    follow_things,
    offer_use,
    thing_event,
)
from evennia_ai.extension import EntryReader, Extension
from evennia_ai.messages import InboxEvent
from evennia_ai.signals import event_heard, service_started
from evennia_ai.store.attributes import SCRIPT_KEY

__all__ = ["EXTENSION", "combat_event", "thing_event"]


class TriggersExtension(Extension):
    """Lets builders say what a character does when something happens, and fights be noticed."""

    name = "triggers"
    by_default = False
    entries = frozenset({"COMBAT"})

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        follow_combat(settings.read("COMBAT", read_systems, ()))
        follow_things()
        event_heard.connect(self.hear)
        service_started.connect(self.resume)
        return True

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAITrigger,)

    def hear(self, sender: Any, event: InboxEvent, **_more: Any) -> None:
        """Look at the triggers of an assistant that heard an event."""
        is_ours = sender.services and self in sender.services.extensions
        if is_ours and triggers_of(sender) and (occasion := occasion_of(event)):
            consider(sender.mind, occasion)

    def resume(self, sender: Any, **_more: Any) -> None:
        """Take up what triggers wait for that no event tells of, after a start."""
        if self in sender.extensions:
            scripts = AssistantScript.objects.filter_family(db_key=SCRIPT_KEY)
            for script in scripts.filter(db_attributes__db_key=TRIGGERS).exclude(db_obj=None):
                for work in (follow_clock, offer_use):
                    sender.slices.put(work, script)


EXTENSION = TriggersExtension
