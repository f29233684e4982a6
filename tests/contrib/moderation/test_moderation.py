"""What moderation refuses is neither heard nor spoken, and players read so in character."""

import json

import pytest
from twisted.internet.defer import Deferred, succeed

from evennia_ai.contrib.moderation import ModerationExtension
from evennia_ai.contrib.moderation.moderator import Moderation
from evennia_ai.contrib.moderation.rules import DOWN, read_rules
from evennia_ai.errors import ProviderRejected
from evennia_ai.llm.openai_client import RawResponse
from evennia_ai.models import Event, Message
from evennia_ai.services.assistant_service import AssistantService
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

ASKED = []


def judge(text, direction):
    """Refuse a word as a game's own function might; one word breaks it."""
    ASKED.append((direction, text))
    if "breaks" in text:
        raise RuntimeError("no")
    return "mustard" if "mustard" in text else ""


class Endpoint:
    """Answers as an OpenAI-compatible moderation endpoint, or in another way."""

    def __init__(self, answer=None):
        self.answer, self.asked = answer, []

    def exchange(self, profile, method, path, body):
        self.asked.append((profile.base_url, method, path, body))
        if self.answer is not None:
            return self.answer
        results = [
            {"flagged": "poison" in text, "categories": {"violence": "poison" in text}}
            for text in body["input"]
        ]
        return succeed(RawResponse(200, json.dumps({"results": results}).encode()))


@pytest.fixture
def moderated(game):
    """Return a function that sets the moderation of the game."""

    def use(server=None, **rules):
        server = server or Endpoint()
        rules = read_rules(rules)
        extension = ModerationExtension()
        extension.moderation = Moderation(game.clock, server.exchange, rules)
        game.service.extensions = [extension]
        return server

    return use


def last_event():
    row = Event.objects.order_by("-id")[0]
    return row.state, row.reason


def test_refused_words_are_stored_but_in_no_prompt_and_the_speaker_reads_why(
    game, ann, mira, moderated
):
    moderated(words=["Bad Word"])
    ann.do("say Mira, you BAD   wörd!")
    game.run()
    assert not game.model.requests and not Message.objects.exists()
    assert "Mira frowns, and gives no answer to such words." in ann.heard()
    assert last_event() == ("expired", "moderation: word list")
    game.model.add(call("say", text="Good evening."))
    ann.do("say Good evening, Mira.")
    game.run()
    assert "BAD" not in str(game.model.requests[0].messages)
    assert ann.last() == 'Mira says, "Good evening."'


def test_what_is_overheard_is_checked_too(game, ann, bob, mira, moderated):
    moderated(words=["bad word"])
    ann.do("say Bob, a bad word.")
    game.model.add(call("say", text="Hello, Bob."))
    bob.do("say Hello, Mira.")
    game.run()
    assert "bad word" not in str(game.model.requests[0].messages)


@pytest.mark.parametrize("refused", [call("say", text="Utter nonsense!"), "Utter nonsense!"])
def test_refused_speech_is_not_spoken_and_the_model_may_try_again(
    game, ann, mira, moderated, refused
):
    moderated(words=["nonsense"])
    game.model.add(refused, call("say", text="I beg to differ."))
    ann.do("say Mira, is it so?")
    game.run()
    assert ann.last() == 'Mira says, "I beg to differ."'
    assert not any("nonsense" in line for line in ann.heard())


def test_a_function_of_the_game_decides_and_may_fail(game, ann, mira, moderated):
    moderated(callable=f"{__name__}.judge")
    ann.do("say Mira, mustard?")
    game.run()
    assert last_event() == ("expired", "moderation: mustard")
    assert ASKED[-1] == ("heard", "Mira, mustard?")
    ann.do("say Mira, it breaks.")
    game.run()
    assert last_event() == ("expired", f"moderation: {DOWN}")
    moderated(callable=f"{__name__}.judge", fail="open")
    game.model.add(call("say", text="Aye."))
    ann.do("say Mira, it breaks.")
    game.run()
    assert ann.last() == 'Mira says, "Aye."'


def test_an_endpoint_is_asked_once_for_all_that_was_heard(game, ann, mira, moderated):
    endpoint = moderated(endpoint={"base_url": "http://127.0.0.1:9/v1", "model": "guard"})
    ann.do("say Mira, poison?")
    game.run()
    assert last_event() == ("expired", "moderation: violence")
    ((address, method, path, body),) = endpoint.asked
    assert (address, method, path) == ("http://127.0.0.1:9/v1", "POST", "moderations")
    assert body == {"model": "guard", "input": ["Mira, poison?"]}


@pytest.mark.parametrize(
    "answer",
    [
        RawResponse(500, b"no"),
        RawResponse(200, b"[]"),
        RawResponse(200, b'{"results": []}'),
        RawResponse(200, b'{"results": [{"flagged": "x"}]}'),
        RawResponse(200, b"<html>"),
    ],
)
def test_an_endpoint_that_gives_no_verdict_refuses_if_the_game_says_so(
    game, ann, mira, moderated, answer
):
    url = {"base_url": "http://127.0.0.1:9/v1"}
    moderated(Endpoint(succeed(answer)), endpoint=url)
    ann.do("say Mira, hello.")
    game.run()
    assert last_event() == ("expired", f"moderation: {DOWN}")
    moderated(Endpoint(succeed(answer)), endpoint=url, fail="open", spoken=False)
    game.model.add(call("say", text="Hello."))
    ann.do("say Mira, hello.")
    game.run()
    assert ann.last() == 'Mira says, "Hello."'


def test_a_slow_endpoint_is_not_waited_for(game, ann, mira, moderated):
    endpoint = Endpoint(Deferred())
    moderated(endpoint, endpoint={"base_url": "http://127.0.0.1:9/v1"}, timeout=2)
    ann.do("say Mira, hello.")
    game.run()
    assert "frowns" not in ann.last()
    game.run(2)
    assert "frowns" in ann.last()


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ([], "must be a mapping"),
        ({"word": ["x"]}, "no entry 'word'"),
        ({"fail": "maybe"}, "'open' or 'closed'"),
        ({"timeout": 0}, "timeout must be above 0"),
        ({"endpoint": "http://x"}, "endpoint must be a mapping"),
    ],
)
def test_a_wrong_setting_is_named(rules, told):
    from evennia_ai.errors import ConfigError

    with pytest.raises(ConfigError, match=told):
        read_rules(rules)


def test_what_is_forgotten_while_moderation_is_asked_stays_forgotten(game, ann, mira, moderated):
    answer = Deferred()
    moderated(Endpoint(answer), endpoint={"base_url": "http://127.0.0.1:9/v1"}, timeout=5)
    ann.do("say Mira, my secret.")
    game.run()
    Event.objects.all().delete()
    answer.callback(RawResponse(200, b'{"results": [{"flagged": false}]}'))
    game.run()
    assert not Message.objects.exists() and not game.model.requests


@pytest.mark.parametrize(
    "wrong",
    [["bad"], {"word": ["bad"]}, {"fail": "ajar"}, {"callable": "no.such.path"}, {"words": 3}],
)
def test_a_wrong_setting_lets_a_model_say_nothing_and_admins_read_why(
    game, ann, admin, mira, settings, wrong
):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "MODERATION": wrong}
    service = AssistantService(clock=game.clock, environ={})
    game.service.extensions, game.service.complaints = service.extensions, service.complaints
    mira.assistant.attributes.add("fallback_line", "Hm?")
    game.model.add(*[call("say", text="Aye, I know it."), call("emote", text="nods.")] * 3)
    ann.do("say Mira, is it so?")
    game.run(1)
    assert 'Mira says, "Hm?"' in ann.heard()
    assert not [line for line in ann.heard() if "Aye" in line or "nods" in line]
    text = admin.told("aistatus")
    assert "fix this: AI_ASSISTANT['MODERATION']: " in text
    assert "characters say nothing but their fallback line." in text


def test_a_refused_fallback_line_is_replaced_by_the_games_own(game, ann, mira, moderated):
    moderated(words=["mustard", "wandered"])
    mira.assistant.attributes.add("fallback_line", "Mustard!")
    game.model.add(ProviderRejected("No."))
    ann.do("say Mira, is it so?")
    game.run(1)
    assert ann.last() == 'Mira says, "Hm, I lost the thread there. What was it?"'


def test_while_moderation_is_down_the_staffs_own_line_is_said(game, ann, mira, moderated):
    moderated(callable=f"{__name__}.judge", heard=False)
    mira.assistant.attributes.add("fallback_line", "My head breaks.")
    game.model.add(*[call("say", text="It breaks.")] * 6)
    ann.do("say Mira, is it so?")
    game.run(1)
    assert ann.last() == 'Mira says, "My head breaks."'
