"""Take out of Evennia 5 what costs tests much and changes nothing, as `tests/e2e/site` does.

Each test makes characters anew, and half of that time went into their command sets: with each new
command, all commands of a set are compared with each other. Evennia 6 has a better hash.
"""

from typing import Any

from evennia.commands.cmdset import CmdSet
from evennia.commands.command import Command


def make_quick() -> None:
    """Let command sets look for duplicates only if a name is there already."""
    if hash(Command(key="one")) != hash(Command(key="another")):
        return
    add_to_set = CmdSet.add

    def add(self: Any, cmd: Any, allow_duplicates: bool = False) -> None:
        if isinstance(cmd, type) and issubclass(cmd, (Command, CmdSet)):
            cmd = self._instantiate(cmd)
        if isinstance(cmd, (Command, CmdSet)):
            names = set().union(*(known._matchset for known in self.commands))
            new = cmd.commands if isinstance(cmd, CmdSet) else [cmd]
            allow_duplicates |= all(names.isdisjoint(one._matchset) for one in new)
        add_to_set(self, cmd, allow_duplicates)

    CmdSet.add = add
