"""``aigoals``: what a character is after."""

from __future__ import annotations

import re
from typing import Any

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.errors import BadRecord
from evennia_ai.policy.records.day_plan import clock
from evennia_ai.policy.records.goal import (
    BUILDER,
    DONE,
    DROPPED,
    GOAL_CHARS,
    OPEN,
    USUAL_IMPORTANCE,
    find_goal,
)
from evennia_ai.policy.records.goal_tree import Branch, lay_out
from evennia_ai.policy.records.provenance import Record, select_known
from evennia_ai.policy.sanitize import clean_heard, clean_output

LINE_CHARS = 160
# "… : 8 : g3": its weight and the goal it is a step of, both at the end.
EXTRAS = re.compile(r"\s*(?::\s*(?P<weight>\d{1,2}))?\s*(?::\s*(?P<parent>g\d+))?\s*\Z")


class CmdAIGoals(AICommand):
    """
    see and set what a character with a mind is after

    Usage:
      aigoals <assistant>
      aigoals/add <assistant> = <goal> [: <importance>] [: <goal number>]
      aigoals/done <assistant> = <goal number>
      aigoals/drop <assistant> = <goal number>
      aigoals/undo <assistant> = <goal number>

    Without a switch: its goals as a tree, with their numbers, how far each has
    come, and what ended lately; then what it plans to do with its day. Goals
    that somebody confided to it are shown to admins; others are told how many
    there are.

    Switches:
      add  - give it a goal, from 1 to 10 important (5), or a step towards
             another. What you give it never fades, and it cannot drop it.
      done - it is reached; the steps towards it end with it
      drop - it is given up, likewise
      undo - a goal that ended is open again, with the steps that ended with it

    Example:
      aigoals/add Otto = Find out who waters the ale. : 8
    """

    key = "aigoals"
    locks = "cmd:perm(Builder);secrets:perm(Admin)"
    switch_options = ("add", "done", "drop", "undo")

    def run(self) -> None:
        """Dispatch by switch."""
        if len(self.switches) > 1:
            raise UsageError("One switch at a time, please. See |whelp aigoals|n.")
        script = self.find_assistant(self.lhs)
        if not self.switches:
            self.show(script)
            return
        if not self.rhs:
            raise UsageError("Which goal? See |whelp aigoals|n.")
        getattr(self, f"do_{self.switches[0]}")(script, script.character.ai_goals)

    def goals_of(self, script: Any) -> tuple[list[Record], int]:
        """The goals that the caller may see, and how many there are besides."""
        every = script.character.ai_goals.all()
        if self.access(self.caller, "secrets"):
            return every, 0
        seen = list(select_known(every, None))
        return seen, len(every) - len(seen)

    def show(self, script: Any) -> None:
        """The tree."""
        goals, hidden = self.goals_of(script)
        lines = [branch_line(branch) for branch in lay_out(goals)]
        if hidden:
            lines.append(f"|xand {hidden} that somebody confided to it|n")
        lines += map(part_line, script.character.ai_plan.all())
        name = clean_output(script.character_name, 60)
        self.msg("\n".join(lines) or f"{name} is after nothing. |waigoals/add|n gives it a goal.")

    def do_add(self, script: Any, goals: Any) -> None:
        """Give it a goal."""
        extras = EXTRAS.search(self.rhs)
        content = clean_heard(self.rhs[: extras.start()] if extras else self.rhs, GOAL_CHARS)
        weight = int((extras and extras["weight"]) or USUAL_IMPORTANCE)
        fields: dict[str, Any] = {"importance": weight, "origin": BUILDER, "source_type": BUILDER}
        if extras and extras["parent"]:
            parent = self.meant(script, extras["parent"])
            fields |= {name: parent[name] for name in ("audience", "speakers")}
            fields["parent"] = parent["id"]
        try:
            kept = goals.add(content, **fields)
        except BadRecord as error:
            raise UsageError(f"That is no goal: {error}") from error
        self.msg(
            f"Given to {clean_output(script.character_name, 60)}: {self.line_of(script, kept)}"
        )

    def do_done(self, script: Any, goals: Any) -> None:
        """It is reached."""
        self.end(script, goals, DONE)

    def do_drop(self, script: Any, goals: Any) -> None:
        """It is given up."""
        self.end(script, goals, DROPPED)

    def end(self, script: Any, goals: Any, state: str) -> None:
        """End a goal."""
        goal = self.meant(script, self.rhs)
        if goal["state"] != OPEN:
            raise UsageError(f"{goal['id']} is {goal['state']} already.")
        count = goals.close(goal["id"], state)
        steps = f" with {count - 1} open steps" if count > 1 else ""
        self.msg(f"{goal['id']} is {state}{steps}. |waigoals/undo|n takes that back.")

    def do_undo(self, script: Any, goals: Any) -> None:
        """Take an end back."""
        goal = self.meant(script, self.rhs)
        if not goals.reopen(goal["id"]):
            raise UsageError(f"{goal['id']} is open: there is nothing to take back.")
        self.msg(f"Open again: {self.line_of(script, goal['id'])}")

    def meant(self, script: Any, words: str) -> Record:
        """The goal that is meant, of those the caller may see; raises UsageError."""
        goals, _hidden = self.goals_of(script)
        goal = find_goal(words, goals)
        if goal is None:
            raise UsageError(f"There is no goal '{clean_output(words, 60)}'. See |waigoals|n.")
        return goal

    def line_of(self, script: Any, goal_id: str) -> str:
        """One goal on a line."""
        branches = lay_out(script.character.ai_goals.all())
        return next(branch_line(b).strip() for b in branches if b.goal["id"] == goal_id)


def part_line(block: Record) -> str:
    """A part of its day."""
    where = f", at {block['where']}" if block["where"] else ""
    hours = f"{clock(block['begin'])}-{clock(block['end'])}"
    return f"|x{hours}|n {clean_output(block['content'] + where, LINE_CHARS)}"


def branch_line(branch: Branch) -> str:
    """A goal in its place in the tree."""
    goal = branch.goal
    state = f"{branch.progress:.0%}" if goal["state"] == OPEN else goal["state"]
    by = {"builder": "a builder's", "self": "its own", "reflection": "from a reflection"}
    told = [f"weight {goal['importance']}", state, by[goal["origin"]]]
    if goal["audience"] is not None:
        told.append(f"known to {', '.join(goal['audience'])} alone")
    why = f" ({goal['why']})" if goal["why"] else ""
    content = clean_output(f"{goal['content']}{why}", LINE_CHARS)
    return f"{'  ' * branch.depth}|w{goal['id']}|n {content} |x({', '.join(told)})|n"
