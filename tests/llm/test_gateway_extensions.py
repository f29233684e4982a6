"""Extensions may refuse a model call, and learn what one used that they let pass."""

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import BudgetExhausted, ProviderMisconfigured
from evennia_ai.messages import NO_USAGE, Usage
from evennia_ai.ports import Extension
from tests.llm.gateway_desk import Desk


class Counting(Extension):
    """Lets every call pass, and keeps what each used."""

    name = "counting"

    def __init__(self):
        self.asked, self.used = [], []

    def before_model_call(self, request, profile):
        self.asked.append(profile.name)
        return self.used.append


class Raising(Extension):
    """Refuses every call by an error."""

    name = "raising"

    def __init__(self, error):
        self.error = error

    def before_model_call(self, request, profile):
        raise self.error


class Breaking(Extension):
    """Lets every call pass, and fails when one has ended."""

    def before_model_call(self, request, profile):
        return lambda usage: 1 / 0


@pytest.fixture
def desk():
    return Desk()


@pytest.mark.parametrize(
    ("error", "kind"),
    [(BudgetExhausted("no."), BudgetExhausted), (ValueError("bug"), ProviderMisconfigured)],
)
def test_a_call_is_refused_and_who_let_it_pass_learns_that_it_used_nothing(desk, error, kind):
    counting = Counting()
    desk.gateway.extensions = [counting, Raising(error)]
    outcome = desk.ask(tokens=10)
    assert type(outcome.error) is kind
    assert (counting.used, desk.client.asked) == ([NO_USAGE], [])
    assert not desk.gateway.lanes.calls


def test_what_a_call_used_is_told_once(desk):
    counting = Counting()
    desk.gateway.extensions = [counting]
    outcomes = [desk.ask(tokens=10) for _ in range(4)]
    desk.answer(0, Usage(9, 2))
    desk.answer(1)
    desk.gateway.switch_off("Stopped.")
    assert [len(outcome.results) for outcome in outcomes] == [1, 1, 1, 1]
    assert counting.used == [Usage(9, 2), Usage(10, 0), Usage(10, 0), Usage(10, 0)]


def test_an_extension_that_fails_at_the_end_changes_nothing(desk):
    counting = Counting()
    desk.gateway.extensions = [Breaking(), counting]
    outcome = desk.ask()
    desk.answer(0, Usage(1, 1))
    assert outcome.results[0].content == "hi"
    assert counting.used == [Usage(1, 1)]


def test_the_stand_in_is_not_judged(desk):
    desk.gateway.extensions = [Raising(BudgetExhausted("no."))]
    assert desk.ask(profile=ModelProfile("offline", "offline", "offline")).results == []
