"""Which model calls wait, since when and for what: in ``aistatus`` and the metrics."""

from dataclasses import replace

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.errors import ProviderUnavailable
from evennia_ai.game.texts import TEXTS
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.policy.limits.retry import GatewayLimits

SECRET = "the password is swordfish"


@pytest.fixture
def narrow(game, service, tavern, mira, ann):
    """Return the service with a place for one call, and a second assistant."""
    game.assistant("Ben", tavern)
    service.gateway = ModelGateway(
        game.clock, {"offline": game.model}, GatewayLimits(max_in_flight=1), jitter=lambda: 1.0
    )
    return service


def status(player):
    return " ".join(player.told("aistatus").split())


def test_a_call_that_waits_for_a_place_is_told_without_a_word_of_the_talk(game, narrow, admin, ann):
    game.model.add(Deferred())
    ann.do("say Mira, hello")
    game.run(1)
    assert "Call of" not in status(admin)
    ann.do(f"whisper Ben = {SECRET}")
    game.run(4)
    text = status(admin)
    assert "Call of Ben: waits" in text
    assert ("s for default:offline: all places of the game are taken") in text
    assert "swordfish" not in text


def test_a_call_that_pauses_tells_its_error_to_those_who_may_read_errors(game, narrow, admin, ann):
    game.model.add(ProviderUnavailable("The server at hall:9 is busy.", retry_after_s=10.0))
    ann.do("say Mira, hello")
    game.run(1)
    waits = "Call of Mira: waits 1 s for default:offline: the last attempt failed, for"
    assert waits in status(admin)
    assert "The server at hall:9 is busy." in status(admin)
    builder = game.player("Bo", admin.character.location, permissions=["Builder"])
    assert waits in status(builder)
    assert "hall:9" not in status(builder)


def test_where_too_many_wait_the_character_says_so(game, narrow, ann):
    narrow.gateway.limits = replace(narrow.gateway.limits, max_queued=0)
    game.model.add(Deferred())
    ann.do("say Mira, hello")
    ann.do("say Ben, hello")
    game.run(1)
    assert ann.last() in [f'Ben says, "{line}"' for line in TEXTS["busy"].split("\n")]
