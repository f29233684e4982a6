"""Telling staff of a budget that is nearly used up."""

from __future__ import annotations

from evennia.accounts.models import AccountDB
from evennia.scripts.models import ScriptDB
from twisted.logger import Logger

from evennia_ai.game.client_text import NAME_CHARS, clean_output
from evennia_ai.game.crowd import tell_channel
from evennia_ai.game.perception import find_object
from evennia_ai.policy.disclosure import PLAYER_COSTS, Reader
from evennia_ai.policy.limits.budgets import ASSISTANT, OWNER, USED_UP, Account, BudgetUse

log = Logger()

UNTIL_TOMORROW = "; calls that could exceed the limit are refused until midnight UTC"


def warn_of_budget(use: BudgetUse) -> None:
    """Tell staff of one budget: server log and staff channel. `aistatus` shows it, too."""
    until = UNTIL_TOMORROW if use.level == USED_UP else ""
    whose = clean_output(whose_budget(use.account), NAME_CHARS)
    name = " ".join(filter(None, (use.name, whose)))
    line = f"{name}: {use} ({use.percent}%){until}. See aicost."
    log.warn("evennia_ai: {line}", line=line)
    tell_channel(f"AI characters: {line}")


def budget_name(use: BudgetUse, reader: Reader) -> str:
    """Return what a budget is called, with its owner's name if the reader may know it."""
    whose = whose_budget(use.account)
    if whose and use.account[0] != ASSISTANT:
        whose = reader.show(PLAYER_COSTS, whose, "a name")
    return " ".join(filter(None, (use.name, whose)))


def whose_budget(account: Account) -> str:
    """Return the name of whom a budget belongs to; a number if deleted, "" for the game."""
    kind, key = account
    if kind == OWNER:
        found = AccountDB.objects.filter(id=key.rpartition(" ")[2]).first()
        return found.key if found else key
    if kind == ASSISTANT:
        script = ScriptDB.objects.filter(id=key or 0).exclude(db_obj=None).first()
        return f"{script.db_obj.key}({script.db_obj.dbref})" if script else f"script {key}"
    player = find_object(key)
    return f"{player.key}({key})" if player else key
