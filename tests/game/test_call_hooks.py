"""Extensions judge tool calls, and note model calls in the transaction that stores them."""

import pytest
from twisted.logger import globalLogPublisher

from evennia_ai.errors import StoreUnavailable
from evennia_ai.extension import Allow, Deny, Extension, Wait
from evennia_ai.models import DailyUse, Lore, ModelCall, PendingAct
from tests.game.vault import Vault
from tests.scripted import call

pytestmark = pytest.mark.engine


class Judge(Extension):
    """Gives one verdict on every tool call but words, or raises it."""

    name = "judge"

    def __init__(self, verdict):
        self.verdict, self.asked = verdict, []

    def before_tool_call(self, context, tool, arguments):
        if tool.name != "staff_vault":
            return Allow()
        self.asked.append((tool.name, arguments.door, context.confirmed_by))
        if isinstance(self.verdict, Exception):
            raise self.verdict
        return self.verdict


class Noting(Extension):
    """Writes a row for each model call, and may fail after that."""

    name = "noting"

    def __init__(self, *errors):
        self.errors = list(errors)

    def after_model_call(self, request, record, at):
        Lore.objects.create(title=record.purpose, text=str(at), scopes=["world"])
        if self.errors:
            raise self.errors.pop()


@pytest.fixture
def vault(game):
    return Vault(game, lock="all()")


@pytest.fixture
def logged():
    """Return the failures of the log."""
    events = []
    globalLogPublisher.addObserver(events.append)
    yield lambda: [event for event in events if "log_failure" in event]
    globalLogPublisher.removeObserver(events.append)


def asks(game, player):
    game.model.add(call("staff_vault", door="north"), call("say", text="A moment."))
    player.do("say Mira, open the vault")
    game.run(2)
    return "\n".join(str(request.messages) for request in game.model.requests)


@pytest.mark.parametrize(
    ("verdict", "why"),
    [
        (Deny("The vault is sealed."), "The vault is sealed."),
        (RuntimeError("bug"), "so that is not allowed"),
        (None, "That is not allowed."),
    ],
)
def test_a_call_is_refused_also_by_a_rule_that_fails(game, mira, ann, vault, verdict, why):
    game.service.extensions = [Judge(Allow()), Judge(verdict)]
    assert why in asks(game, ann)
    assert vault.opened == []
    assert ann.last() == 'Mira says, "A moment."'


def test_what_all_allow_runs(game, mira, ann, vault):
    judge = Judge(Allow())
    game.service.extensions = [judge, Extension()]
    asks(game, ann)
    assert vault.opened == ["north"]
    assert judge.asked == [("staff_vault", "north", "")]


def test_a_call_that_waits_runs_once_when_somebody_agrees(game, mira, ann, admin, vault):
    from evennia_ai.game.confirmations import decide

    waiting = []
    judge = Judge(Wait("The council meets first.", 3_600.0, waiting.append))
    game.service.extensions = [judge]
    assert "The council meets first." in asks(game, ann)
    assert (vault.opened, PendingAct.objects.get().state) == ([], "waiting")
    assert decide(waiting[0], admin.character, agrees=True)
    game.run(2)
    assert vault.opened == ["north"]
    assert judge.asked[-1] == ("staff_vault", "north", admin.dbref)


def test_a_refusal_counts_more_than_a_yes_that_was_given(game, mira, ann, admin, vault):
    from evennia_ai.game.confirmations import decide

    waiting = []
    judge = Judge(Wait("The council meets first.", 3_600.0, waiting.append))
    game.service.extensions = [judge]
    asks(game, ann)
    judge.verdict = Deny("The council is gone.")
    assert decide(waiting[0], admin.character, agrees=True)
    game.run(2)
    assert (vault.opened, PendingAct.objects.get().state) == ([], "refused")


def test_a_model_call_is_noted_once_with_its_row(game, mira, ann):
    game.service.extensions = [Noting()]
    game.model.add(call("say", text="Good evening."))
    ann.do("say Mira, hello")
    game.run(1)
    assert ModelCall.objects.count() == Lore.objects.count() == 1


def test_what_fails_to_be_noted_is_rolled_back_and_the_call_is_stored(game, mira, ann, logged):
    game.service.extensions = [Noting(ValueError("bug")), Noting()]
    game.model.add(call("say", text="Good evening."))
    ann.do("say Mira, hello")
    game.run(1)
    assert ann.last() == 'Mira says, "Good evening."'
    assert ModelCall.objects.count() == Lore.objects.count() == DailyUse.objects.count() == 1
    assert logged()


def test_a_busy_database_lets_all_be_tried_again(game, mira, ann):
    game.service.extensions = [Noting(StoreUnavailable("busy"))]
    game.model.add(call("say", text="Good evening."))
    ann.do("say Mira, hello")
    game.run(5)
    assert ann.last() == 'Mira says, "Good evening."'
    assert ModelCall.objects.count() == Lore.objects.count() == 1
