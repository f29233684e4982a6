"""``aicost``: what the models cost, by day, character, player and model profile."""

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from evennia_ai.commands import common
from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.contrib.costs.budgets import GAME, PLAYER
from evennia_ai.contrib.costs.limits import CostLimits, CostSettings
from evennia_ai.contrib.costs.sums import uses_of_speakers
from evennia_ai.contrib.costs.warnings import budget_name
from evennia_ai.game.client_text import clean_output
from evennia_ai.policy.limits.money import money_words, to_micros
from evennia_ai.policy.read_permissions import FIGURES, PLAYER_COSTS
from evennia_ai.store import call_records
from evennia_ai.store.names import names_of

ROWS_A_PAGE = 20
AT_A_GLANCE = 5
MOST_DAYS = 31  # more would hold the server with 1,000 assistants
LAST_FORTNIGHT = "14"
LARGE = 10_000_000
NOBODY = "(no player)"
OLD_PROFILE = "(before the upgrade)"
MONTH = re.compile(r"\d{4}-\d\d")


class CostRow(NamedTuple):
    """The use of a day, character, profile or player, and the used share of its budget."""

    name: str
    use: call_records.UsageCount
    share: str = ""  # empty without budgets, "-" for a row without one


class CmdAICost(AICommand):
    """see what the models cost, and who spent it

    Usage:
      aicost [<period>]
      aicost/days [<period>] [= <page>]
      aicost/characters [<period>] [= <page>]
      aicost/players [<period>] [= <page>]
      aicost/profiles [<period>] [= <page>]

    A period is |wtoday|n (the default), |wyesterday|n, a day such as 2026-11-22, a
    month such as 2026-11, or a number of days up to 31 that ends today. Days are
    in UTC. Without a switch: the sum, the budgets of today, and the five costliest
    characters, model profiles and players.

    If the words of several players started a call, they share it, in tenths. The
    last row is what no player started, such as sleep. Money is - if the profile
    has no prices. The stand-in costs nothing and is not counted. Budget is how
    much of the budget for one day is used. Only admins see players.
    """

    key = "aicost"
    reads = FIGURES
    switch_options = ("days", "characters", "players", "profiles")
    days: tuple[date, date]  # the first and the last, both included
    uses: call_records.Uses  # of these days, by day, or by assistant and profile
    total: call_records.UsageCount

    def run(self) -> None:
        if self.switch == "players":
            self.ensure_may_read(PLAYER_COSTS)
        default = LAST_FORTNIGHT if self.switch == "days" else ""
        self.days = read_period(self.lhs or default, self.services.now().date())
        keys = (
            (call_records.DAY,)
            if self.switch == "days"
            else (call_records.CHARACTER, call_records.PROFILE)
        )
        self.uses = call_records.uses_by(*self.days, *keys)
        self.total = call_records.total_of(self.uses.values())
        lines = self.page_lines() if self.switch else self.glance()
        if not self.total.calls:
            lines.append("|xNo model was asked. What the stand-in says costs nothing.|n")
        if tokens := self.total.unpriced_tokens:
            lines.append(
                f"|xWithout a price: {tokens:,} tokens. Set |wprices|x in their profile.|n"
            )
        self.msg("\n".join([self.total_line(), *lines]))

    def glance(self) -> list[str]:
        if self.rhs:
            raise UsageError("Pages need a list, such as |waicost/characters 7 = 2|n.")
        used = [use for use in self.extension("costs").budgets.used() if use.level or use.is_games]
        lines = [clean_output(f"{budget_name(use, self.reader)}: {use}.") for use in used]
        if self.total.free_tokens and any(use.account[0] in self.limits.waived for use in used):
            lines.append(
                f"{self.total.free_tokens:,.0f} tokens of free models are not counted there."
            )
        lists = [("Character", self.by_characters()), ("Profile", self.by_profiles())]
        if self.reader.may(PLAYER_COSTS):
            lists.append(("Player", self.by_players()))
        tables = [self.shown(title, rows[:AT_A_GLANCE]) for title, rows in lists if rows]
        return lines + [f"\n{table}" for table in tables]

    def page_lines(self) -> list[str]:
        rows = getattr(self, f"by_{self.switch}")()
        number, pages = common.page_number(self.rhs), max(1, -(-len(rows) // ROWS_A_PAGE))
        start = (min(number, pages) - 1) * ROWS_A_PAGE
        title = self.switch.removesuffix("s").capitalize()
        lines = [self.shown(title, rows[start : start + ROWS_A_PAGE])] if rows else []
        if pages > 1:
            typed = f"{self.key}/{self.switch} {clean_output(self.lhs or '', 20)}".strip()
            more = f" More: |w{typed} = {number + 1}|n" if number < pages else ""
            lines.append(f"|xPage {min(number, pages)} of {pages}.|n{more}")
        return lines

    def shown(self, title: str, rows: Sequence[CostRow]) -> str:
        titles = [title, "Calls", "In", "Cached", "Out", self.limits.currency]
        with_budgets = any(row.share not in ("", "-") for row in rows)
        cells = [[row.name, *use_cells(row.use), *[row.share] * with_budgets] for row in rows]
        return common.table([*titles, *["Budget"] * with_budgets], cells)

    def total_line(self) -> str:
        use, money = self.total, "no price is set"
        if use.money_known:
            money = f"{money_words(use.money)} {clean_output(self.limits.currency)}"
        first, last = self.days
        period = str(last) if first == last else f"{first} to {last}"
        return (
            f"|w{period}|n (UTC): {money}, {use.calls:,} call{'s' * (use.calls != 1)}\n"
            f"Tokens: {use.prompt_tokens:,} in ({use.cached_tokens:,} cached), "
            f"{use.completion_tokens:,} out."
        )

    @property
    def limits(self) -> CostLimits:
        limits: CostLimits = self.extension("costs").limits
        return limits

    def daily_share(self, kind: str, use: call_records.UsageCount) -> str:
        """Return the used share of the budget of the game or of a player for one day."""
        of, limits = "player" if kind == PLAYER else "game", self.limits
        tokens, money = (getattr(limits, f"{of}_{unit}_per_day") for unit in ("tokens", "money"))
        return share_used(use, tokens, money, kind in limits.waived)

    def by_days(self) -> list[CostRow]:
        days = sorted(call_records.folded(self.uses, 0).items(), reverse=True)
        return [CostRow(str(day), use, self.daily_share(GAME, use)) for day, use in days]

    def by_characters(self) -> list[CostRow]:
        scripts, rows = common.all_assistants(), []
        named = dict(
            zip((script.id for script in scripts), common.told_apart(scripts), strict=True)
        )
        settings = {script.id: script.config.part(CostSettings) for script in scripts}
        uses = call_records.folded(self.uses, 0)
        if self.is_one_day:  # then also whoever has a budget and has used nothing of it
            limited = [id_ for id_, own in settings.items() if own != CostSettings()]
            uses = {**dict.fromkeys(limited, call_records.UsageCount()), **uses}
        for id_, use in uses.items():
            share, own = "", settings.get(id_)
            if self.is_one_day and own:
                money = None if own.money_per_day is None else to_micros(own.money_per_day)
                share = share_used(use, own.tokens_per_day, money)
            rows.append(CostRow(named.get(id_, f"script {id_}"), use, share))
        return dearest_first(rows)

    def by_profiles(self) -> list[CostRow]:
        uses = call_records.folded(self.uses, 1).items()
        return dearest_first(CostRow(name or OLD_PROFILE, use) for name, use in uses)

    def by_players(self) -> list[CostRow]:
        uses = uses_of_speakers(*self.days)
        names = names_of(uses)
        counts = Counter(names.values())
        rows = []
        for dbref, use in uses.items():
            name = names.get(dbref, dbref)
            shown = f"{name}({dbref})" if counts[name] > 1 else name
            rows.append(
                CostRow(shown, use, self.daily_share(PLAYER, use) if self.is_one_day else "")
            )
        rest = self.total.less(call_records.total_of(uses.values()))
        nobody = [CostRow(NOBODY, rest, "-")] if rest.calls or rest.tokens else []
        return [*dearest_first(rows), *nobody]

    @property
    def is_one_day(self) -> bool:
        """True if budgets, which are for a day, can be compared with the costs."""
        return self.days[0] == self.days[1]


def read_period(typed: str, today: date) -> tuple[date, date]:
    """Return the first and the last day that were typed, by default today; raises UsageError."""
    word = typed.strip().lower() or "today"
    if word in ("today", "yesterday"):
        day = today - timedelta(days=word == "yesterday")
        return day, day
    if word.isdecimal() and 0 < int(word[:9]) <= MOST_DAYS:
        return today - timedelta(days=int(word) - 1), today
    try:
        if MONTH.fullmatch(word):
            first = date.fromisoformat(f"{word}-01")
            return first, first.replace(day=monthrange(first.year, first.month)[1])
        return date.fromisoformat(word), date.fromisoformat(word)
    except ValueError:
        raise UsageError(
            f"'{clean_output(typed.strip(), 20)}' is no period. Use today, yesterday, a day such "
            f"as {today}, a month such as {today:%Y-%m}, or a number of days up to {MOST_DAYS}. "
            "Each character: |waicost/characters|n"
        ) from None


def share_used(
    use: call_records.UsageCount, tokens: int | None, money: int | None, waived: bool = False
) -> str:
    """Return the used share of the fuller budget, in tokens or micros; "-" without both."""
    counted = use.tokens - (use.free_tokens if waived else 0)
    shares = [spent / limit for spent, limit in ((counted, tokens), (use.money, money)) if limit]
    return f"{max(shares):.0%}" if shares else "-"


def use_cells(use: call_records.UsageCount) -> Iterator[str]:
    """Return a use's cells; its money is "-" if nothing of it had a price.

    Counts have a tenth if speakers share a call, and stand in millions if they take much room.
    """
    for count in (use.calls, use.prompt_tokens, use.cached_tokens, use.completion_tokens):
        full = f"{count:,.1f}".removesuffix(".0")
        yield f"{count / 1_000_000:,.1f}M" if count >= LARGE else full
    yield money_words(use.money) if use.money_known else "-"


def dearest_first(rows: Iterable[CostRow]) -> list[CostRow]:
    return sorted(rows, key=lambda row: (-row.use.money, -row.use.tokens, row.name))
