"""``aistatus``: all assistants at a glance."""

from __future__ import annotations

from typing import Any

from evennia.utils.evtable import EvTable

from evennia_ai.commands.common import AICommand, all_assistants
from evennia_ai.config import usable_window
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.store.reports import last_error, last_prompt_tokens, queue_lengths
from evennia_ai.store.usage import use_on


class CmdAIStatus(AICommand):
    """
    see all assistants at a glance

    Usage:
      aistatus

    Shows for each assistant whether it is awake, how full its context is,
    how many lines wait for an answer, and what it cost today (UTC). A last
    error of its model is told below the table.
    """

    key = "aistatus"
    locks = "cmd:perm(Builder)"
    switch_options = ()

    def run(self) -> None:
        """Show the table."""
        scripts = all_assistants()
        if not scripts:
            self.msg("There are no assistants yet. |waisetup <character> = <persona>|n makes one.")
            return
        services = scripts[0].services
        queues, used = queue_lengths(), use_on(services.now().date())
        prompts, errors = last_prompt_tokens(), last_error()
        table = EvTable(
            "Assistant", "Where", "Mode", "Model", "Context", "Queue", "Calls", "Tokens",
            border="header", pad_left=0,
        )  # fmt: skip
        for script in scripts:
            table.add_row(*status_row(script, queues, used, prompts))
        self.msg(str(table))
        for complaint in services.complaints:
            self.msg(f"|ySettings, not used:|n {clean_output(complaint, 300)}")
        for script in scripts:
            if script.id in errors:
                self.msg(f"|y{script.character_name}:|n {clean_output(errors[script.id], 300)}")
            for complaint in script.complaints:
                self.msg(f"|y{script.character_name}, not used:|n {clean_output(complaint, 300)}")


def status_row(
    script: Any,
    queues: dict[int, int],
    used: dict[int, tuple[int, int]],
    prompts: dict[int, int],
) -> list[str]:
    """One assistant's cells."""
    calls, tokens = used.get(script.id, (0, 0))
    window = usable_window(script.config, script.profile)
    place = script.character.location
    model = script.config.llm_model or script.profile.model
    return [
        clean_output(script.character_name, 20),
        clean_output(place.key if place else "nowhere", 16),
        mode_of(script),
        clean_output(f"{script.profile.name}:{model}", 20),
        f"{prompts.get(script.id, 0) / window:.0%}",
        str(queues.get(script.id, 0)),
        str(calls),
        f"{tokens:,}",
    ]


def mode_of(script: Any) -> str:
    """What it is doing, in a word."""
    if getattr(script.character, "assistant", None) is None:
        return "deaf"
    if not script.is_on:
        return "stopped"
    if script.character.has_account:
        return "puppeted"
    return "thinking" if script.ndb.ticking else "awake"
