"""``aistop`` and ``aistart``: the switch for one assistant, and for all of them."""

from __future__ import annotations

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.script_ports import GameScript, GameServices
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import write_attribute

EVERYBODY = "all"


class SwitchCommand(AICommand):
    """A switch with two positions: ``turn_one`` assistant, or ``turn_all`` by the services.

    Both raise UsageError if the switch is in that position already.
    """

    locks = "cmd:perm(Builder)"

    def run(self) -> None:
        """Switch the named assistant, or all of them."""
        name = self.args.strip()
        if not name:
            raise UsageError(f"Which character? |w{self.key} <character>|n, or |w{self.key} all|n.")
        if name.lower() != EVERYBODY:
            self.turn_one(self.find_editable(name))
        elif not self.has_permission("Admin"):
            raise UsageError(f"Only admins may use |w{self.key} all|n.")
        else:
            self.turn_all(self.services)


class CmdAIStop(SwitchCommand):
    """
    stop an assistant, or all of them, at once

    Usage:
      aistop <character>
      aistop all

    A stopped assistant thinks and says nothing; a turn in progress is dropped.
    |waistop all|n (for admins) ends every model call at once and allows no new
    one, also after a restart, until |waistart all|n. Players who speak to a
    character meanwhile are told that it is silent; their lines are stored as
    expired and are never answered.
    """

    key = "aistop"

    def turn_one(self, script: GameScript) -> None:
        """Stop one assistant."""
        if not script.is_on:
            raise UsageError(f"{shown_name(script)} is stopped already.")
        script.stop_thinking()
        name = shown_name(script)
        self.msg(f"{name} is stopped. To start it again: |waistart {name}|n")

    def turn_all(self, services: GameServices) -> None:
        """Stop all assistants and end every model call."""
        if services.switched_off:
            raise UsageError(
                f"All assistants are stopped already: {clean_output(services.switched_off)}"
            )
        by = clean_heard(self.caller.key, 60)
        services.switch_off(f"All assistants were stopped by {by}.")
        self.msg(
            "All assistants are stopped, and no model is called. To start them: |waistart all|n"
        )


class CmdAIStart(SwitchCommand):
    """
    start a stopped assistant, or all of them

    Usage:
      aistart <character>
      aistart all

    Undoes |waistop|n. An assistant that was stopped by name stays stopped when
    you start all of them.
    """

    key = "aistart"

    def turn_one(self, script: GameScript) -> None:
        """Start one assistant."""
        if script.is_on:
            raise UsageError(f"{shown_name(script)} is not stopped.")
        write_attribute(script, "stopped", None)
        script.wake()
        self.msg(f"{shown_name(script)} is started.")
        if script.services.switched_off:
            self.msg("But all assistants are stopped by an admin. To start them: |waistart all|n")

    def turn_all(self, services: GameServices) -> None:
        """Start all assistants except those that were stopped by name."""
        if not services.switched_off:
            raise UsageError("The assistants are not stopped.")
        services.switch_on()
        self.msg("All assistants are started, except those that were stopped by name.")
