"""Rules as a builder writes them."""

import pytest

from evennia_ai.contrib.opinions.opinion_rules import DEFAULT, DeedRule, read_rules, write_rule
from evennia_ai.errors import ConfigError


def test_a_rule_changes_what_it_names_and_is_written_as_it_is_read():
    rules = read_rules("gift +3; Theft -6, at most 6 a day; give 1,fades 0 a day ; slander -2;;")
    assert rules["gift"] == DeedRule(1, 4, 0)
    assert rules["theft"] == DeedRule(-6, 6, 0.05)
    assert rules["slander"] == DeedRule(-2, 4)
    assert {**rules, **{d: DEFAULT[d] for d in ("gift", "theft")}}.keys() - {"slander"} == {
        *DEFAULT
    }
    again = read_rules("; ".join(write_rule(deed, rule) for deed, rule in rules.items()))
    assert again == rules
    assert read_rules("gift 5")["gift"].most == 5


@pytest.mark.parametrize(
    "written",
    ["gift", "gift +11", "gift many", "3", "gift 1, at most 2", "kind words 1, at most 2 a day"],
)
def test_what_is_no_rule_is_refused_with_a_sentence(written):
    with pytest.raises(ConfigError, match=r"no rule|at most 1 a day"):
        read_rules(written)
