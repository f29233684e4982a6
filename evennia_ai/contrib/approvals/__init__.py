"""Tool calls that the staff must approve: a queue, and the command ``aiapprove``."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from evennia.locks.lockhandler import check_lockstring
from pydantic import BaseModel
from twisted.logger import Logger

from evennia_ai.config import setting
from evennia_ai.config.declared import seconds
from evennia_ai.contrib.approvals.aiapprove import CmdAIApprove
from evennia_ai.extension import Allow, Deny, Extension, Tool, Wait
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.perception import puppets
from evennia_ai.policy.staff_controls import APPROVE, PendingToolCall, exact_arguments
from evennia_ai.ports import ToolContext
from evennia_ai.store import pending_acts

log = Logger()

MOST_WAITING = 20  # calls of one assistant


@dataclass(frozen=True)
class ApprovalSettings:
    """How long a call waits."""

    approve_within: float = setting(
        86_400.0, "Time in which the staff can approve an act that needs approval.", seconds(60.0)
    )


class ApprovalExtension(Extension):
    """Lets calls of a tool with ``approval`` wait for the staff."""

    name = "approvals"
    settings = ApprovalSettings

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAIApprove,)

    def before_tool_call(
        self, context: ToolContext, tool: Tool, arguments: BaseModel
    ) -> Allow | Wait | Deny:
        if context.confirmed_by or not tool.approval:
            return Allow()
        parts = context.assistant
        queue = pending_acts.waiting(parts.services.now(), APPROVE, parts.who.id)
        thing = tool.subject(context, arguments)[0].dbref if tool.subject else ""
        wanted = (tool.name, exact_arguments(arguments.model_dump(mode="json")), thing)
        if any((act.name, act.arguments, act.item) == wanted for act in queue):
            return Deny("The staff is asked for exactly that already.")
        if len(queue) >= MOST_WAITING:
            return Deny("Too much waits for the staff already.")
        text = "Not done yet. The staff is asked; it may take a long time."
        within_s = parts.config.part(ApprovalSettings).approve_within
        return Wait(text, within_s, partial(tell_staff, parts.who.name, tool.approval))


def tell_staff(character_name: str, lock: str, act: PendingToolCall) -> None:
    """Tell those who are online and may approve an act that it waits, without its words."""
    name = clean_output(character_name, 60)
    log.info("evennia_ai: act {id} of {name} waits for approval", id=act.id, name=name)
    for person in puppets():
        if check_lockstring(person, f"approve:{lock}", no_superuser_bypass=True):
            person.msg(f"{name} asks to use {act.name}: |waiapprove {act.id}|n")


EXTENSION = ApprovalExtension
