"""Those who will hear an answer are shown that somebody thinks about it."""

import importlib.util
import re

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.game.client_notices import REPEAT_S, harmless_name
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.policy.limits.retry import GatewayLimits
from evennia_ai.ports import LLMRequest
from tests.scripted import ScriptedLLM, call

HAS_CORE = importlib.util.find_spec("evennia.server.is_typing") is not None
# As the server knows them: `init_session` names the protocol, whatever the portal's class says.
WEB = {"key": "websocket", "CLIENTNAME": "Evennia Webclient (websocket)", "OOB": True}
NEW_WEB = {**WEB, "CLIENTNAME": "Evennia Webclient (websocket:chrome [v1.evennia.com])"}
GMCP = {"OOB": True}


@pytest.fixture
def late(game):
    """An answer on its way; the next line said sets it off."""
    answer = Deferred()
    game.model.add(answer)
    return answer


def signs_for(player, key="telnet", **flags):
    """Give the player's client these abilities; returns the list of the messages it will get that
    are neither text nor the mark of a line, as (name, content)."""
    seen, others = [], ("text", "options", "ai_line")
    player.session.protocol_key = key
    player.session.protocol_flags.update(flags)
    player.session.data_out = lambda **message: seen.extend(
        (name, content) for name, content in message.items() if name not in others
    )
    return seen


def typing(state, name="Mira"):
    return ("ai_typing", {"name": name, "state": state})


def test_it_is_shown_from_the_line_to_the_answer(game, ann, mira, late):
    seen = signs_for(ann, **GMCP)
    ann.do("say hello Mira")
    game.run()
    assert seen == [typing(True)]
    late.callback(call("say", text="Hello!"))
    assert seen == [typing(True), typing(False)]


def test_of_a_whisper_only_its_parties_see_it(game, ann, bob, late):
    seen, nothing = signs_for(ann, **GMCP), signs_for(bob, **GMCP)
    ann.do("whisper Mira = psst")
    game.run(3 * REPEAT_S)
    late.callback(call("whisper", text="Yes?"))
    assert typing(True) in seen and seen[-1] == typing(False)
    assert nothing == []


def test_who_muted_the_character_sees_nothing(game, ann, bob, mira, late):
    bob.character.toggle_mute(mira.dbref)
    nothing = signs_for(bob, **GMCP)
    ann.do("say hello Mira")
    game.run(REPEAT_S)
    assert nothing == []


@pytest.mark.parametrize(
    ("client", "why"),
    [
        ({}, "plain telnet knows no such messages"),
        (WEB, "an unknown message is an error on the screen of a web client"),
        (NEW_WEB, "an unknown message is an error on the screen of a web client"),
        ({**GMCP, "ISTYPING": False}, "the player has turned it off"),
    ],
)
def test_clients_that_cannot_show_it_are_sent_nothing(game, ann, late, client, why):
    nothing = signs_for(ann, **client)
    ann.do("say hello Mira")
    game.run(REPEAT_S)
    late.callback(call("say", text="Hello!"))
    assert nothing == [], why


def test_who_has_left_meanwhile_is_told_of_the_end(game, ann, late):
    seen = signs_for(ann, **GMCP)
    ann.do("say hello Mira")
    game.run()
    ann.character.move_to(game.room("Street"), quiet=True)
    late.callback(call("noop"))
    assert seen == [typing(True), typing(False)]


def test_it_ends_when_no_answer_comes(game, ann, late):
    seen = signs_for(ann, **GMCP)
    ann.do("say hello Mira")
    game.run()
    late.errback(ProviderUnavailable("down"))
    assert seen == [typing(True), typing(False)]


def test_it_is_repeated_in_the_queue_and_through_retries(game, ann, mira, service):
    calls = [Deferred(), Deferred(), Deferred()]
    model = ScriptedLLM(calls)
    limits = GatewayLimits(max_in_flight=1)
    service.gateway = ModelGateway(game.clock, {"offline": model}, limits, jitter=lambda: 1.0)
    other = service.gateway.complete(
        LLMRequest([], None), ModelProfile("x"), game.clock.seconds() + 99
    )
    seen = signs_for(ann, **GMCP)
    ann.do("say hello Mira")
    for _ in range(4):
        game.run(REPEAT_S)
    assert len(model.requests) == 1
    queued = len(seen)
    assert queued >= 4
    calls[0].callback("done")
    assert other.called
    game.run()
    calls[1].errback(ProviderUnavailable("busy"))
    game.run(REPEAT_S)
    assert len(model.requests) == 3
    assert len(seen) > queued
    assert set(map(repr, seen)) == {repr(typing(True))}
    calls[2].callback(call("say", text="Hello!"))
    assert seen[-1] == typing(False)


def test_it_ends_when_the_character_is_gone(game, ann, mira, late):
    seen = signs_for(ann, **GMCP)
    ann.do("say hello Mira")
    game.run()
    mira.delete()
    game.run(REPEAT_S)
    late.callback(call("say", text="a ghost"))
    assert seen[-1] == typing(False)


def test_a_game_can_turn_it_off(game, ann, late):
    game.service.signs.typing = False
    nothing = signs_for(ann, **GMCP)
    ann.do("say hello Mira")
    game.run(REPEAT_S)
    assert nothing == []


def test_a_game_hears_of_it_by_signals(game, ann, bob, mira, late):
    from evennia_ai.signals import thinking_finished, thinking_started

    told = []

    def begun(sender, character, audience, private, **kwargs):
        told.append((sender, character, audience, private))
        raise RuntimeError("a game's own mistake")

    def ended(sender, character, audience, **kwargs):
        told.append((sender, character, audience))

    thinking_started.connect(begun)
    thinking_finished.connect(ended)
    try:
        ann.do("whisper Mira = psst")
        game.run()
        late.callback(call("whisper", text="Yes?"))
    finally:
        thinking_started.disconnect(begun)
        thinking_finished.disconnect(ended)
    who = (mira.assistant, mira, frozenset({ann.dbref}))
    assert told == [(*who, True), who]
    assert ann.last() == 'Mira whispers: "Yes?"'


@pytest.mark.skipif(not HAS_CORE, reason="Evennia has it from 6.1 on")
class TestThroughEvennia:
    """Evennia's own plugin draws it."""

    client = {**WEB, "AI_TYPING": "is_typing"}

    def test_it_is_set_up_once_and_then_told(self, game, ann, late):
        seen = signs_for(ann, **self.client)
        ann.do("say hello Mira")
        game.run()
        late.callback(call("say", text="Hello!"))
        assert {name for name, _ in seen} == {"is_typing"}
        setup, begun, ended = [content for _, content in seen]
        assert setup["type"] == "setup" and setup["payload"]["typing_timeout"] > REPEAT_S * 1000
        assert begun == {"type": "typing", "payload": {"name": "Mira", "state": True}}
        assert ended == {"type": "typing", "payload": {"name": "Mira", "state": False}}

    def test_a_name_reaches_it_harmless(self, game, ann, mira, late):
        mira.key = 'Mira <img src="x"> & Co.'
        seen = signs_for(ann, **self.client)
        ann.do("say hello Mira")
        game.run()
        assert not re.search(r"[<>&\"' .]", seen[-1][1]["payload"]["name"])


@pytest.mark.parametrize("name", ["Mira", "Jean-Luc", "Åsa_2", "Дед", "老王"])
def test_plain_names_are_shown_as_they_are(name):
    assert harmless_name(name) == name
