"""``aigoals``: what a character is after."""

import re
from typing import Any

from evennia_ai.commands.common import AICommand, CommandResult, UsageError
from evennia_ai.commands.rendering import hidden_line
from evennia_ai.contrib.goals.tree import Branch, find_goal, lay_out
from evennia_ai.errors import BadRecord
from evennia_ai.game.client_text import clean_output
from evennia_ai.policy.read_permissions import PUBLIC_MEMORIES
from evennia_ai.policy.records import goal as goal_record
from evennia_ai.policy.records.goal import BUILDER, DONE, DROPPED, OPEN, clock
from evennia_ai.policy.records.memory_listing import count_shown, may_read
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.names import list_names

GOAL_LINE_CHARS = 160
HOW_TO_UNDO = "|waigoals/undo|n opens it again."
# "… : 8 : g3": the importance, and the goal that this is a step towards.
EXTRAS = re.compile(r"(?<!\s)\s*+(?::\s*+(?P<weight>\d{1,2})\s*+)?(?::\s*+(?P<parent>g\d+)\s*+)?\Z")
ORIGINS = {"builder": "a builder's", "self": "its own", "reflection": "from a reflection"}


class CmdAIGoals(AICommand):
    """list, add and close the goals of an assistant

    Usage:
      aigoals <assistant>
      aigoals/add <assistant> = <goal> [: <importance>] [: <goal number>]
      aigoals/done <assistant> = <goal number>
      aigoals/drop <assistant> = <goal number>
      aigoals/undo <assistant> = <goal number>

    Without a switch: the goals as a tree, with their numbers and their progress,
    and the day plan. Only admins see goals that somebody confided to it.

    Switches:
      add  - add a goal with an importance from 1 to 10 (default 5), or a step
             towards another goal. It does not fade, and the assistant cannot
             drop it.
      done, drop - close a goal as reached or given up, with its open steps
      undo - open a closed goal again, with the steps that were closed with it

    Example:
      aigoals/add Otto = Find out who waters the ale. : 8
    """

    key = "aigoals"
    switch_options = ("add", "done", "drop", "undo")

    def run(self) -> CommandResult:
        find = self.find_editable if self.switch else self.find_assistant
        find(self.lhs)
        if self.switch and not self.rhs:
            raise UsageError("Which goal? See |whelp aigoals|n.")
        return self.dispatch()

    @property
    def goals(self) -> Any:
        return self.script.character.ai_goals

    def do_default(self) -> None:
        goals, hidden = self.visible_goals()
        count_shown(self.reader, *goals)
        lines = [branch_line(branch) for branch in lay_out(goals)]
        if hidden:
            lines.append(hidden_line(hidden, self.reader))
        if self.reader.may(PUBLIC_MEMORIES):
            lines += map(plan_line, self.script.character.ai_plan.all())
        none = f"{self.name} has no goals. To add one: |waigoals/add {self.name} = <goal>|n"
        self.msg("\n".join(lines) or none)

    def do_add(self) -> None:
        extras = EXTRAS.search(self.rhs)
        words = self.rhs[: extras.start()] if extras else self.rhs
        content = clean_heard(words, goal_record.GOAL_CHARS)
        weight = int((extras and extras["weight"]) or goal_record.USUAL_IMPORTANCE)
        fields: dict[str, Any] = {"importance": weight, "origin": BUILDER, "source_type": BUILDER}
        if extras and extras["parent"]:
            parent = self.find_goal(extras["parent"])
            fields |= {name: parent[name] for name in ("audience", "speakers")}
            fields["parent"] = parent["id"]
        try:
            kept = self.goals.add(content, **fields)
        except BadRecord as error:
            raise UsageError(f"This goal cannot be stored: {error}") from error
        self.msg(f"Added for {self.name}: {self.goal_line(kept)}")

    def do_done(self) -> None:
        goal, state = (self.find_goal(self.rhs), DONE if self.switch == "done" else DROPPED)
        if goal["state"] != OPEN:
            raise UsageError(f"{goal['id']} is {goal['state']} already. {HOW_TO_UNDO}")
        count = self.goals.close(goal["id"], state)
        steps = f" with {count - 1} open steps" if count > 1 else ""
        self.msg(f"{goal['id']} is {state}{steps}. {HOW_TO_UNDO}")

    do_drop = do_done

    def do_undo(self) -> None:
        goal = self.find_goal(self.rhs)
        if not self.goals.reopen(goal["id"]):
            raise UsageError(f"{goal['id']} is open already.")
        self.msg(f"Open again: {self.goal_line(goal['id'])}")

    def visible_goals(self) -> tuple[list[Record], int]:
        """Return the goals that the caller may see, and how many are hidden from them."""
        every = self.goals.all()
        seen = [goal for goal in every if may_read(self.reader, goal)]
        return seen, len(every) - len(seen)

    def find_goal(self, words: str) -> Record:
        """Return the goal that was named, if the caller may see it; raises UsageError."""
        goal = find_goal(words, self.visible_goals()[0])
        if goal is None:
            shown = clean_output(words, 60)
            raise UsageError(f"There is no goal '{shown}'. |waigoals|n lists them.")
        count_shown(self.reader, goal)
        return goal

    def goal_line(self, goal_id: str) -> str:
        branches = lay_out(self.goals.all())
        return next(branch_line(b).strip() for b in branches if b.goal["id"] == goal_id)


def plan_line(block: Record) -> str:
    where = f", at {block['where']}" if block["where"] else ""
    hours = f"{clock(block['begin'])}-{clock(block['end'])}"
    return f"|x{hours}|n {clean_output(block['content'] + where, GOAL_LINE_CHARS)}"


def branch_line(branch: Branch) -> str:
    goal = branch.goal
    state = f"{branch.progress:.0%}" if goal["state"] == OPEN else goal["state"]
    details = [f"weight {goal['importance']}", state, ORIGINS[goal["origin"]]]
    if goal["audience"] is not None:
        details.append(f"known to {list_names(goal['audience'])} alone")
    why = f" ({goal['why']})" if goal["why"] else ""
    content = clean_output(f"{goal['content']}{why}", GOAL_LINE_CHARS)
    return f"{'  ' * branch.depth}|w{goal['id']}|n {content} |x({', '.join(details)})|n"
