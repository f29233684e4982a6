"""What budgets are called, and how staff are warned of one."""

from evennia.accounts.models import AccountDB
from evennia.scripts.models import ScriptDB
from twisted.logger import Logger

from evennia_ai.contrib.costs.budgets import ASSISTANT, OWNER, USED_UP, Account, BudgetUse
from evennia_ai.game.client_text import NAME_CHARS, clean_output
from evennia_ai.game.perception import find_object
from evennia_ai.game.rate_limits import payers_of, tell_channel
from evennia_ai.policy.read_permissions import PLAYER_COSTS, Reader
from evennia_ai.store.names import own_name

log = Logger()


def account_of(dbref: str) -> str:
    """Return the name under which the account of a character pays; "" without one."""
    return next((payer for payer in payers_of(dbref)[1:]), "")


UNTIL_TOMORROW = "; calls that could exceed the limit are refused until midnight UTC"


def warn_of_budget(use: BudgetUse) -> None:
    """Tell staff of one budget: server log and staff channel. `aistatus` shows it, too."""
    until = UNTIL_TOMORROW if use.level == USED_UP else ""
    whose = clean_output(whose_budget(use.account), NAME_CHARS)
    name = " ".join(filter(None, (use.name, whose)))
    line = f"{name}: {use} ({use.percent}%){until}. See aicost."
    log.warn("evennia_ai: {line}", line=line)
    tell_channel(f"NPCs: {line}")


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
        account_row = AccountDB.objects.filter(id=key.rpartition(" ")[2]).first()
        return own_name(account_row) if account_row else key
    if kind == ASSISTANT:
        script = ScriptDB.objects.filter(id=key or 0).exclude(db_obj=None).first()
        return f"{own_name(script.db_obj)}({script.db_obj.dbref})" if script else f"script {key}"
    player = find_object(key)
    return f"{own_name(player)}({key})" if player else key
