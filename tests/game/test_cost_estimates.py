"""What another profile would have cost, told when ``aisetup`` changes the model."""

from tests.game import costs_scene as scene
from tests.game.costs_scene import go_back

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
