"""``aigoals``: list, add and close a character's goals."""

from __future__ import annotations

import re
from typing import Any

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import AICommand, Outcome, UsageError
from evennia_ai.commands.memory_rendering import hidden_line
from evennia_ai.errors import BadRecord
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.policy.disclosure import PUBLIC_MEMORIES
from evennia_ai.policy.records.day_plan import clock
from evennia_ai.policy.records.goal import (
    BUILDER,
    DONE,
    DROPPED,
    GOAL_CHARS,
    OPEN,
    USUAL_IMPORTANCE,
    Branch,
    find_goal,
    lay_out,
)
from evennia_ai.policy.records.memory_listing import count_shown, may_read
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.names import list_names

LINE_CHARS = 160
HOW_TO_UNDO = "|waigoals/undo|n opens it again."
# "… : 8 : g3": the importance, and the goal that this is a step towards.
EXTRAS = re.compile(r"(?<!\s)\s*+(?::\s*+(?P<weight>\d{1,2})\s*+)?(?::\s*+(?P<parent>g\d+)\s*+)?\Z")


class CmdAIGoals(AICommand):
    """
    list, add and close the goals of an assistant

    Usage:
      aigoals <assistant>
      aigoals/add <assistant> = <goal> [: <importance>] [: <goal number>]
      aigoals/done <assistant> = <goal number>
      aigoals/drop <assistant> = <goal number>
      aigoals/undo <assistant> = <goal number>

    Without a switch: the goals as a tree, with their numbers and their progress,
    the goals that were closed lately, and the day plan. Only admins see goals
    that somebody confided to the assistant; others see how many there are.

    Switches:
      add  - add a goal with an importance from 1 to 10 (default 5), or a step
             towards another goal. It does not fade, and the assistant cannot
             drop it.
      done - close a goal as reached, with the open steps towards it
      drop - close a goal as given up, with the open steps towards it
      undo - open a closed goal again, with the steps that were closed with it

    Example:
      aigoals/add Otto = Find out who waters the ale. : 8

    The switches need the character's lock |wedit|n or |wcontrol|n.
    """

    key = "aigoals"
    locks = "cmd:perm(Builder)"
    switch_options = ("add", "done", "drop", "undo")

    def run(self) -> Outcome:
        """Dispatch by switch, with the assistant."""
        find = self.find_editable if self.switch else self.find_assistant
        script = find(self.lhs)
        if self.switch and not self.rhs:
            raise UsageError("Which goal? See |whelp aigoals|n.")
        return self.dispatch(script)

    def do_default(self, script: AssistantScript) -> None:
        goals, hidden = self.visible_goals(script)
        count_shown(self.reader, *goals)
        lines = [branch_line(branch) for branch in lay_out(goals)]
        if hidden:
            lines.append(hidden_line(hidden, self.reader))
        if self.reader.may(PUBLIC_MEMORIES):
            lines += map(plan_line, script.character.ai_plan.all())
        name = shown_name(script)
        self.msg(
            "\n".join(lines) or f"{name} has no goals. To add one: |waigoals/add {name} = <goal>|n"
        )

    def do_add(self, script: AssistantScript) -> None:
        extras = EXTRAS.search(self.rhs)
        content = clean_heard(self.rhs[: extras.start()] if extras else self.rhs, GOAL_CHARS)
        weight = int((extras and extras["weight"]) or USUAL_IMPORTANCE)
        fields: dict[str, Any] = {"importance": weight, "origin": BUILDER, "source_type": BUILDER}
        if extras and extras["parent"]:
            parent = self.find_goal(script, extras["parent"])
            known = {name: parent[name] for name in ("audience", "speakers")}
            fields |= known | {"parent": parent["id"]}
        try:
            kept = script.character.ai_goals.add(content, **fields)
        except BadRecord as error:
            raise UsageError(f"This goal cannot be stored: {error}") from error
        self.msg(f"Added for {shown_name(script)}: {goal_line(script, kept)}")

    def do_done(self, script: AssistantScript) -> None:
        goal, state = self.find_goal(script, self.rhs), DONE if self.switch == "done" else DROPPED
        if goal["state"] != OPEN:
            raise UsageError(f"{goal['id']} is {goal['state']} already. {HOW_TO_UNDO}")
        count = script.character.ai_goals.close(goal["id"], state)
        steps = f" with {count - 1} open steps" if count > 1 else ""
        self.msg(f"{goal['id']} is {state}{steps}. {HOW_TO_UNDO}")

    do_drop = do_done

    def do_undo(self, script: AssistantScript) -> None:
        goal = self.find_goal(script, self.rhs)
        if not script.character.ai_goals.reopen(goal["id"]):
            raise UsageError(f"{goal['id']} is open already.")
        self.msg(f"Open again: {goal_line(script, goal['id'])}")

    def visible_goals(self, script: AssistantScript) -> tuple[list[Record], int]:
        """Return the goals that the caller may see, and how many are hidden from them."""
        every = script.character.ai_goals.all()
        seen = [goal for goal in every if may_read(self.reader, goal)]
        return seen, len(every) - len(seen)

    def find_goal(self, script: AssistantScript, words: str) -> Record:
        """Return the goal that was named, if the caller may see it; raises UsageError."""
        goal = find_goal(words, self.visible_goals(script)[0])
        if goal is None:
            raise UsageError(
                f"There is no goal '{clean_output(words, 60)}'. |waigoals|n lists them."
            )
        count_shown(self.reader, goal)
        return goal


def goal_line(script: AssistantScript, goal_id: str) -> str:
    """Return one goal on a line."""
    branches = lay_out(script.character.ai_goals.all())
    return next(branch_line(b).strip() for b in branches if b.goal["id"] == goal_id)


def plan_line(block: Record) -> str:
    """Return one part of the day plan on a line."""
    where = f", at {block['where']}" if block["where"] else ""
    hours = f"{clock(block['begin'])}-{clock(block['end'])}"
    return f"|x{hours}|n {clean_output(block['content'] + where, LINE_CHARS)}"


def branch_line(branch: Branch) -> str:
    """Return a goal on a line, indented by its place in the tree."""
    goal = branch.goal
    state = f"{branch.progress:.0%}" if goal["state"] == OPEN else goal["state"]
    by = {"builder": "a builder's", "self": "its own", "reflection": "from a reflection"}
    told = [f"weight {goal['importance']}", state, by[goal["origin"]]]
    if goal["audience"] is not None:
        told.append(f"known to {list_names(goal['audience'])} alone")
    why = f" ({goal['why']})" if goal["why"] else ""
    content = clean_output(f"{goal['content']}{why}", LINE_CHARS)
    return f"{'  ' * branch.depth}|w{goal['id']}|n {content} |x({', '.join(told)})|n"
