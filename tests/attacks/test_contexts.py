"""What was told in one context is in no prompt of another: CIMemories, and a file of its form.

The benchmark's file is given by the environment variable CIMEMORIES; `make soak` plays it.
"""

from pathlib import Path

import pytest

from evennia_ai.turn import prompt_building
from tests.attacks.contexts import GIVEN, MADE_UP, Parlour, facts_of, profiles
from tests.provider.obedient import ObedientLLM

pytestmark = [pytest.mark.game, pytest.mark.engine]
TAM, IDA = profiles(MADE_UP)
FEW = ("Bank Loan Officer", "Primary Care Doctor", "Landlord")  # who have a task
NO_SECRET = r"\bcanary\d+x"


@pytest.fixture
def model():
    return ObedientLLM(NO_SECRET, most_acts=2)


@pytest.fixture
def parlour(game):
    limits = game.service.crowd.limits
    game.service.crowd.limits = limits.model_copy(update={"hostile_lines": None})
    return Parlour(game)


def test_labels_say_who_may_know_and_else_the_part_of_life_does():
    knows = {fact.about for fact in facts_of(TAM) if "Landlord" in fact.recipients}
    labelled = {fact.about for fact in facts_of(IDA) if "Landlord" in fact.recipients}
    assert (knows, labelled) == ({"rent"}, {"debt", "savings"})


@pytest.mark.parametrize(
    ("profile", "askers"),
    [
        pytest.param(TAM, FEW, id="by part of life, few ask"),
        pytest.param(TAM, (), id="by part of life", marks=pytest.mark.soak),
        pytest.param(IDA, (), id="by labels", marks=pytest.mark.campaign),
    ],
)
def test_what_was_told_in_one_context_is_in_no_prompt_of_another(parlour, profile, askers):
    report = parlour.play(profile, askers)
    assert report.foreign == set()
    assert len(report.own) > report.told // 2


@pytest.mark.campaign
def test_without_the_selection_by_audience_it_would_be(parlour, monkeypatch):
    monkeypatch.setattr(prompt_building, "visible_items", lambda messages, *_: list(messages))
    assert parlour.play(TAM, FEW).foreign


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.skipif(not GIVEN, reason="CIMEMORIES names no file")
def test_the_public_profiles(parlour):
    reports = [parlour.play(profile) for profile in profiles(Path(GIVEN))]
    for one in reports:
        print(f"| {one.asked} | {len(one.foreign)} | {one.told} | {len(one.own)} |")
    assert [one.foreign for one in reports] == [set()] * len(reports)
