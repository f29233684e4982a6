"""Let a call of a tool wait for a person instead of running it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from evennia_ai.errors import NothingDone, ToolDenied
from evennia_ai.game.act_answers import ask_to_confirm, tell_staff
from evennia_ai.game.perception import display_name, find_objects
from evennia_ai.policy.pending_acts import (
    APPROVE,
    CONFIRM,
    MOST_CHARS,
    MOST_WAITING,
    WAITING,
    PendingAct,
    exact_arguments,
)
from evennia_ai.ports import ToolContext, ToolResult
from evennia_ai.store import pending_acts
from evennia_ai.tools.base import Tool
from evennia_ai.turn.tool_execution import ASKED


def let_wait(item: Tool, context: ToolContext, arguments: BaseModel) -> ToolResult:
    """Store a call and ask the person who must agree; raises ToolDenied and NothingDone."""
    exact = exact_arguments(arguments.model_dump(mode="json"))
    if len(exact) > MOST_CHARS:
        raise NothingDone(
            "A person must read and allow that first, and it is too long: be shorter."
        )
    if item.approval:
        return wait_for_staff(item, context, exact)
    return wait_for_speaker(item, context, exact)


def wait_for_speaker(item: Tool, context: ToolContext, exact: str) -> ToolResult:
    """Ask the one person who spoke to confirm a call."""
    person = only_speaker(context)
    if pending_acts.asked_of(person.dbref, context.assistant.services.now()):
        raise ToolDenied("They have not answered yet whether you may do the last such thing.")
    act = pending_act(item, context, exact, CONFIRM)
    act = replace(act, id=pending_acts.put(act))
    ask_to_confirm(person, context.character, act, item.purpose)
    name = display_name(person, context.character)
    return ToolResult(ASKED, f"Not done yet. {name} is asked whether you may: wait for the answer.")


def wait_for_staff(item: Tool, context: ToolContext, exact: str) -> ToolResult:
    """Put a call into the staff's queue."""
    parts = context.assistant
    queue = pending_acts.waiting(parts.services.now(), APPROVE, parts.id)
    if any((act.name, act.arguments) == (item.name, exact) for act in queue):
        raise ToolDenied("The staff is asked for exactly that already.")
    if len(queue) >= MOST_WAITING:
        raise ToolDenied("Too much waits for the staff already.")
    act = pending_act(item, context, exact, APPROVE)
    act = replace(act, id=pending_acts.put(act))
    tell_staff(context.assistant.name, act, item.approval)
    return ToolResult(ASKED, "Not done yet. The staff is asked; it may take a long time.")


def only_speaker(context: ToolContext) -> Any:
    """Return the player whose new words are the only ones in the turn; raises ToolDenied."""
    people = find_objects(context.speakers)
    if len(people) != 1:
        raise ToolDenied("Only one person alone can have that done: let them ask again, alone.")
    if not people[0].has_account:
        raise ToolDenied("Nobody is there who could confirm that.")
    return people[0]


def pending_act(item: Tool, context: ToolContext, exact: str, needs: str) -> PendingAct:
    """Return a call as an act that waits."""
    parts = context.assistant
    now, config = parts.services.now(), parts.config
    within_s = config.approve_within if needs == APPROVE else config.confirm_within
    return PendingAct(
        id=0,
        assistant_id=parts.id,
        needs=needs,
        state=WAITING,
        name=item.name,
        arguments=exact,
        speakers=tuple(sorted(context.speakers)),
        authors=context.all_authors,
        audience=context.audience,
        private=context.private,
        at=now,
        expires_at=now + timedelta(seconds=within_s),
    )
