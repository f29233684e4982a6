"""Triggers: what a character says, does or thinks about when something happens."""

from collections.abc import Iterable, Iterator
from typing import Any

from evennia.objects.objects import DefaultObject

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import all_assistants
from evennia_ai.contrib.triggers import surroundings, triggers
from evennia_ai.contrib.triggers.aitrigger import CmdAITrigger
from evennia_ai.contrib.triggers.occasions import Occasion, occasion_of
from evennia_ai.contrib.triggers.parsing import TriggerSettings
from evennia_ai.contrib.triggers.surroundings import thing_event
from evennia_ai.extension import EntryReader, Extension, wrap
from evennia_ai.messages import InboxEvent
from evennia_ai.policy.read_permissions import Reader
from evennia_ai.signals import event_heard, fight_noticed, service_started

__all__ = ["EXTENSION", "thing_event"]


class TriggersExtension(Extension):
    """Lets builders say what a character does when something happens."""

    name = "triggers"
    by_default = False
    settings = TriggerSettings

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        wrap(DefaultObject, "move_to", surroundings.move)
        fight_noticed.connect(self.see)
        event_heard.connect(self.hear)
        service_started.connect(self.resume)
        services.problems.append(self.problems)
        return True

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAITrigger,)

    def hear(self, sender: Any, event: InboxEvent, **_more: Any) -> None:
        """Look at the triggers of an assistant that heard an event."""
        occasion = occasion_of(event)
        if occasion and self in sender.services.extensions:
            triggers.consider(sender.mind, occasion)

    def see(self, sender: Any, signal: Any, character: Any, **blow: Any) -> None:
        """Look at the triggers of an assistant that sees an event of a fight."""
        if self in sender.services.extensions:
            triggers.consider(sender.mind, Occasion(**blow))

    def resume(self, sender: Any, **_more: Any) -> None:
        """Take up what triggers wait for that no event tells of, after a start."""
        scripts = AssistantScript.objects.filter_family(db_attributes__db_key="trigger_rules")
        for script in scripts.exclude(db_obj=None) if self in sender.extensions else ():
            sender.slices.put(surroundings.watch, script)

    def problems(self, _reader: Reader) -> Iterator[tuple[str, str]]:
        """Yield the triggers that are not understood."""
        for script in all_assistants():
            for item in triggers.triggers_of(script):
                if item.text and not item.kind:
                    why = f"{item.name} is not understood: see aitrigger {script.character_name}"
                    yield script.character_name, why


EXTENSION = TriggersExtension
