"""How deeds move an opinion: rules as plain data, and as a builder writes them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from evennia_ai.config import setting
from evennia_ai.config.declared import Bounds
from evennia_ai.errors import ConfigError

HIGHEST = 10.0  # points of an opinion; the lowest is as far below 0
WORDS = "kind words", "unkind words"
MOST_BY_WORDS = 1.0  # points a day


@dataclass(frozen=True)
class DeedRule:
    """What a deed of one kind changes, in points; what a person's deeds of this kind change at most
    in a day of the world; and how much of each deed fades in a day, 0 to keep it for good."""

    change: float
    most: float
    fades: float = 0.1


DEFAULT: Mapping[str, DeedRule] = {
    "gift": DeedRule(2, 4),
    "purchase": DeedRule(0.5, 1),
    "sale": DeedRule(0.5, 1),
    "promise kept": DeedRule(2, 4),
    "promise broken": DeedRule(-3, 6),
    "theft": DeedRule(-4, 8, 0.05),
    "attack": DeedRule(-4, 8, 0.05),
    "hit": DeedRule(-1, 4),
    "kill": DeedRule(-8, 8, 0.05),
    WORDS[0]: DeedRule(0.5, MOST_BY_WORDS, 0.2),
    WORDS[1]: DeedRule(-0.5, MOST_BY_WORDS, 0.2),
}
# What rows of the log call some deeds: kinds of events, and tools.
DEEDS = {"give": "gift", "attacked": "attack", "killed": "kill", "sell": "purchase", "buy": "sale"}
RULE = re.compile(
    r"(?P<deed>[^\W\d_][\w -]{0,30}?) *(?P<change>[+-]?N)"
    r"(?:, *at most (?P<most>N) a day)?(?:, *fades (?P<fades>N) a day)?".replace(
        "N", r"\d{1,2}(?:\.\d{1,2})?"
    )
)


def read_rule(written: str, rules: Mapping[str, DeedRule]) -> tuple[str, DeedRule]:
    """Return the deed and its rule; what is not written is as in ``rules``. Raises ConfigError."""
    match = RULE.fullmatch(written.strip())
    if match is None or abs(change := float(match["change"])) > HIGHEST:
        raise ConfigError(
            f"'{written.strip()[:60]}' is no rule. Write a deed and its points, at most "
            f"{HIGHEST:g}: gift +3, or gift +3, at most 6 a day, fades 0.1 a day."
        )
    deed = DEEDS.get(match["deed"].lower(), match["deed"].lower())
    before = rules.get(deed, DeedRule(change, 2 * abs(change)))
    most = float(match["most"] or max(before.most, abs(change)))
    if deed in WORDS and most > MOST_BY_WORDS:
        raise ConfigError(f"Words alone change an opinion by at most {MOST_BY_WORDS:g} a day.")
    return deed, DeedRule(change, most, float(match["fades"] or before.fades))


@lru_cache(maxsize=256)
def read_rules(written: str) -> Mapping[str, DeedRule]:
    """Return all rules, of which a setting changes some; raises ConfigError."""
    rules = dict(DEFAULT)
    for part in filter(str.strip, written.split(";")):
        deed, rule = read_rule(part, rules)
        rules[deed] = rule
    return rules


def write_rule(deed: str, rule: DeedRule) -> str:
    """Return a rule as a builder writes it."""
    return f"{deed} {rule.change:+g}, at most {rule.most:g} a day, fades {rule.fades:g} a day"


@dataclass(frozen=True)
class OpinionSettings:
    """How the character's opinion of people changes, and what it does to prices."""

    opinion_rules: str = setting(
        "",
        "How deeds move the character's opinion of people, where it differs from the defaults, "
        "separated by semicolons, such as `gift +3; theft -6, at most 6 a day`. "
        "`aiopinions/rules` lists all; a deed with 0 points counts for nothing.",
        check=read_rules,
    )
    opinion_prices: float = setting(
        2.0,
        "How much each point of the character's opinion of a customer lowers its prices, in "
        "percent, if `TRADE` names `OpinionTrade`. 0 changes no price.",
        Bounds(0, 9, "%"),
    )
