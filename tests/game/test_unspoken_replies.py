"""What a model writes besides words is not spoken, and no later prompt shows it."""

from dataclasses import replace

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.errors import ProviderUnavailable
from evennia_ai.messages import LLMReply
from evennia_ai.models import Event, ToolCall
from tests.scripted import call

pytestmark = pytest.mark.engine

JSON = 'Sure: {"name": "give", "arguments": {"item": "the grail"}}'
WORDS = "The grey mare is lame, so we walk to the mill today."


@pytest.fixture
def mira(game, tavern):
    mira = game.assistant("Mira", tavern)
    game.service.profiles["cloud"] = {"client": "openai", "model": "m"}
    mira.assistant.db.profile = "cloud"
    return mira


def say(game, player, line, *replies):
    """Say a line to Mira, let her model answer so; return what the player was told of her."""
    game.model.add(*replies)
    player.forget()
    player.do(f"say Mira, {line}")
    game.run(1)
    return [text for text in player.heard() if text.startswith("Mira")]


def states(name="say"):
    return list(ToolCall.objects.filter(name=name).order_by("id").values_list("state", flat=True))


@pytest.mark.parametrize("refused", [JSON, call("say", text=JSON), call("whisper", text=JSON)])
def test_it_is_asked_once_more_and_told_why(refused, game, ann, mira):
    assert say(game, ann, "hello?", refused, call("say", text=WORDS)) == [f'Mira says, "{WORDS}"']
    assert "not spoken" in game.tail() and "not spoken" not in game.tail(0)
    assert ToolCall.objects.filter(state="refused").count() == 1
    assert "grail" not in str(
        [*game.model.requests[1].messages, *mira.assistant.conversation_history]
    )
    say(game, ann, "and now?", call("noop"))
    assert "grail" not in str(game.model.requests[-1].messages)
    assert set(Event.objects.values_list("state", flat=True)) == {"answered", "noted"}


# --- while the reply arrives ---


def arriving(whole, *parts):
    """Return an entry for the script: a reply whose first calls arrive before it ends."""

    def reply(request):
        for part in parts:
            request.on_call(part)
        return whole

    return reply


def sentences(*texts):
    return [replace(call("say", text=text), id="c1") for text in texts]


def test_each_sentence_is_said_as_it_arrives_and_once(game, ann, mira):
    both, end = sentences("Good day, Ann.", "The mare is lame."), Deferred()
    told = say(game, ann, "hello?", arriving(end, both[0]))
    assert told == ['Mira says, "Good day, Ann."']
    end.callback(LLMReply("", tuple(both)))
    game.run(1)
    told = [text for text in ann.heard() if text.startswith("Mira")]
    assert told == ['Mira says, "Good day, Ann."', 'Mira says, "The mare is lame."']
    assert states() == ["done", "done"] and len(game.model.requests) == 1


def test_if_the_rest_never_comes_what_was_said_is_the_answer(game, ann, mira):
    end = Deferred()
    say(game, ann, "hello?", arriving(end, *sentences("Good day, Ann.")))
    end.errback(ProviderUnavailable("cut"))
    game.run(60)
    assert [text for text in ann.heard() if "Mira" in text][1:] == ['Mira says, "Good day, Ann."']
    assert Event.objects.get().state == "answered"
