"""What a character says if no model answers: who speaks, how soon, and what follows."""

import pytest
from twisted.internet.defer import Deferred, fail

from evennia_ai.errors import (
    BudgetExhausted,
    CircuitOpen,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
    QuotaExhausted,
)
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.models import Event, Turn
from evennia_ai.policy.limits.retry import GatewayLimits, RetryLimits
from tests.faults.seen import ends, seems_sane, spoken_by, tracebacks
from tests.scripted import call

StandIn = pytest.importorskip(
    "evennia_ai.contrib.stand_in", reason="the stand-in is left out"
).StandIn

pytestmark = [pytest.mark.game, pytest.mark.engine]


GAME_LINE = 'Mira says, "Forgive me, my thoughts wandered. Ask me again in a moment?"'
DEADLINE_S = 20.0
ONE_TRY = RetryLimits(max_attempts=1)


class BrokenBrain:
    """A stand-in that fails too."""

    def complete(self, request, profile):
        return fail(RuntimeError("no brain"))


@pytest.fixture
def cloud(game, mira):
    """Return a function that sets the gateway's limits or the fallback client.

    Mira uses a scripted model of another provider; the stand-in is the fallback.
    """

    def limit(brain=None, **limits):
        clients = {"openai": game.model, "offline": brain or StandIn()}
        limits = GatewayLimits(**{"retry": ONE_TRY, **limits})
        game.service.gateway = ModelGateway(game.clock, clients, limits)

    game.service.profiles["cloud"] = {"client": "openai", "model": "m"}
    mira.assistant.attributes.add("profile", "cloud")
    limit()
    return limit


def reason_for(text):
    return Event.objects.get(text=text).reason


FAILURES = [
    QuotaExhausted("The account is used up."),
    ProviderMisconfigured("The key is wrong."),
    ProviderUnavailable("It is down."),
    ProviderRejected("Not this."),
    CircuitOpen("It is left alone."),
    BudgetExhausted("Nothing is left for today."),
]


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: error.kind)
def test_the_offline_brain_speaks_at_once_where_the_model_fails(
    game, ann, mira, cloud, logged, error
):
    game.model.add(error)
    ann.do("say Mira, who are you?")
    game.run()
    lines = spoken_by("Mira says", ann)
    assert len(lines) == 1
    assert lines[0] != GAME_LINE
    assert "Mira" in lines[0].partition(",")[2]
    assert ends() == {"Mira, who are you?": "excused"}
    assert reason_for("Mira, who are you?") == f"{error.kind}: {error}"
    assert [line for line in logged if f"no answer from the model: {error}" in line]
    assert not tracebacks(logged)
    assert seems_sane(ann)


def test_a_model_that_hangs_is_stood_in_for_within_a_second_of_the_deadline(game, ann, mira, cloud):
    game.model.add(Deferred())
    ann.do("say Mira, who are you?")
    game.run(DEADLINE_S - 0.1)
    assert spoken_by("Mira says", ann) == []
    game.run(1.0)
    assert len(spoken_by("Mira says", ann)) == 1
    assert reason_for("Mira, who are you?").startswith("deadline: ")
    turn = Turn.objects.get()
    assert (turn.ended_at - turn.at).total_seconds() <= DEADLINE_S + 1.0


def test_once_the_model_is_back_old_talk_is_in_the_prompt_and_is_not_answered_again(
    game, ann, mira, cloud
):
    game.model.add(ProviderUnavailable("It is down."), call("say", text="Two it is."))
    ann.do("say Mira, one?")
    game.run(60)
    excuse = spoken_by("Mira says", ann)
    assert len(excuse) == 1 and len(game.model.requests) == 1
    ann.do("say Mira, two?")
    game.run(60)
    assert spoken_by("Mira says", ann) == [*excuse, 'Mira says, "Two it is."']
    assert ends() == {"Mira, one?": "excused", "Mira, two?": "answered"}
    _rules, _persona, *talk = (message["content"] for message in game.model.requests[-1].messages)
    assert "Mira, one?" in talk[0]
    assert not any(words and words in excuse[0] for words in talk)
    assert "two?" in game.tail() and "one?" not in game.tail()


def test_where_the_stand_in_fails_too_the_game_s_line_closes_the_matter(
    game, ann, mira, cloud, logged
):
    cloud(BrokenBrain())
    game.model.add(ProviderUnavailable("It is down."))
    ann.do("say Mira, who are you?")
    game.run()
    assert ann.last() == GAME_LINE
    assert ends() == {"Mira, who are you?": "excused"}
