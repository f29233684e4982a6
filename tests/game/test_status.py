"""``aistatus``: what is wrong stands below the table."""

from twisted.internet.defer import succeed

from evennia_ai.config import ModelProfile, usable_window
from evennia_ai.errors import ProviderMisconfigured
from evennia_ai.llm.endpoint_facts import EndpointRegistry
from evennia_ai.messages import LLMReply, Usage
from tests.scripted import call


def status(player):
    player.forget()
    player.do("aistatus")
    return "\n".join(player.heard())


def test_a_model_that_is_left_alone_is_told_with_its_error(game, admin, ann):
    game.model.add(ProviderMisconfigured("The key in X is refused (HTTP 401)."))
    ann.do("say Mira, hello")
    game.run(1)
    assert (
        "Model default:offline: paused for 4 s more: The key in X is refused (HTTP 401)."
        in status(admin)
    )


def test_cached_tokens_of_today_are_told_if_there_are_any(game, admin, ann):
    assert "cached" not in status(admin)
    for cached in (None, 2_300):
        usage = Usage(3_000, 7, cached)
        game.model.add(LLMReply("", (call("say", text="Hello."),), usage=usage))
        ann.do("say Mira, hello")
        game.run(1)
    text = status(admin)
    assert "Prompt tokens today: 6,000, of these 2,300 cached (38%)." in text
    assert "6,014" in text
    assert max(map(len, text.splitlines())) <= 78
    turns = admin.told("aihistory/turns Mira")
    assert " ms, 3000 tokens in, 7 out" in turns
    assert " ms, 3000 tokens in (2300 cached), 7 out" in turns
    assert all(len(line) <= 78 for line in turns.splitlines() if " ms, " in line)


def test_who_says_how_much_a_model_can_read_is_told(service, admin, mira, settings):
    profiles = {"home": {"client": "openai", "model": "ours", "base_url": "http://localhost/v1"}}
    service.profiles = profiles
    mira.assistant.db.profile = "home"
    line = "Context window of home:ours: not known, so max_context_tokens counts."
    assert line in status(admin)
    service.endpoints = EndpointRegistry(lambda _profile: succeed(6_000), dict, lambda facts: None)
    home = ModelProfile("home", model="ours", base_url="http://localhost/v1")
    service.endpoints.learn(home, LLMReply("hi"), 1.0)
    told = status(admin)  # also before its next turn reads the settings again
    assert "Context window of home:ours: 6,000 tokens, as its endpoint tells." in told
    assert line not in told
    refused = {"temperature": "Only 1 is supported", "stream": ""}
    for _ in range(2):
        service.endpoints.learn(home, LLMReply("hi", refused=refused), 1.0)
    text = status(admin)
    assert (
        text.count(
            "home:ours refuses temperature, so it is not sent for a day: Only 1 is supported."
        )
        == 1
    )
    assert text.count("home:ours refuses stream, so it is not sent for a day.") == 1
    mira.assistant.mind.settings.resolve()
    assert usable_window(mira.assistant.config, mira.assistant.mind.settings.profile) == 6_000
