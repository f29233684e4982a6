"""What another profile would have cost, told when ``aisetup`` changes the model."""

from evennia_ai.config import resolve_profile
from evennia_ai.policy.limits.prices import Prices
from tests.game import costs_scene as scene
from tests.game.costs_scene import HOSTED, PRICES, go_back

profiles, talk = scene.profiles, scene.talk


def test_before_another_profile_costs_more_a_builder_is_told(game, talk, admin):
    talk()
    go_back(6)
    talk()
    assert admin.told("aisetup/set Mira/profile = large").splitlines()[1] == (
        "The last 7 days (5,820 tokens) cost about 0.60 USD with default:m; with large:m they "
        "would have cost about 5.90 USD."
    )
    assert "with home:m they would have cost about 0.00 USD." in admin.told(
        "aisetup/set Mira/profile = home"
    )
    assert "with bare:m they would have cost an unknown amount (no prices are set)." in admin.told(
        "aisetup/set Mira/profile = bare"
    )
    go_back(1)
    assert "The last 7 days (2,910 tokens)" in admin.told("aisetup/set Mira/profile = large")


def test_a_setting_that_does_not_change_the_model_has_no_estimate(game, talk, admin):
    talk()
    for line in ("tick_rate = 6", "profile = default", "tokens_per_day = 100000"):
        assert "would have cost" not in admin.told(f"aisetup/set Mira/{line}")


def test_another_model_of_a_profile_has_the_prices_of_its_name(game, talk, profiles, admin):
    talk()
    text = admin.told("aisetup/set Mira/llm_model = huge")
    assert "with default:huge they would have cost an unknown amount" in text
    profiles["default"] = {**HOSTED, "prices": {"m": PRICES, "huge": {"input": 1, "output": 2}}}
    found = resolve_profile("default", profiles).prices["huge"]
    assert found == Prices(1_000_000, 1_000_000, 2_000_000)
    admin.do("aisetup/set Mira/llm_model =")
    text = admin.told("aisetup/set Mira/llm_model = huge")
    assert "with default:huge they would have cost about 0.0029 USD." in text
