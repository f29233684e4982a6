"""What is known of an endpoint: asked once, measured with every reply, kept across restarts."""

from dataclasses import replace

import pytest
from twisted.internet.defer import CancelledError, Deferred, fail, succeed
from twisted.internet.task import Clock

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ContextOverflow, ProviderUnavailable, StoreUnavailable
from evennia_ai.llm.endpoint_facts import EndpointRegistry, key_of
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.messages import LLMReply, Timings
from evennia_ai.policy.limits.endpoints import Speed
from evennia_ai.policy.limits.retry import GatewayLimits, RetryLimits
from evennia_ai.ports import LLMRequest
from tests.scripted import ScriptedLLM

HOME = ModelProfile("home", client="openai", model="ours", base_url="http://localhost:8000/v1")


class MemoryFacts:
    """What keeps the facts, in memory."""

    def __init__(self):
        self.facts, self.saves, self.busy = {}, 0, False

    def load(self):
        return dict(self.facts)

    def save(self, facts):
        if self.busy:
            raise StoreUnavailable("busy")
        self.facts = dict(facts)
        self.saves += 1


@pytest.fixture
def asked():
    return []


@pytest.fixture
def store():
    return MemoryFacts()


@pytest.fixture
def registry(asked, store):
    def ask(profile):
        asked.append(profile.model)
        return succeed(16_000)

    return EndpointRegistry(ask, store.load, store.save)


def learning(model, registry, clock=None):
    limits = GatewayLimits(retry=RetryLimits(max_attempts=1))
    gateway = ModelGateway(clock or Clock(), {"openai": model}, limits)
    gateway.learn = registry.learn
    return gateway


def complete(client, profile=HOME):
    came = []
    client.complete(LLMRequest([], None), profile, 60.0).addBoth(came.append)
    return came[0]


def window(registry, profile=HOME, model="ours"):
    return registry.told(replace(profile, model=model)).told.window


def timed(read=140.0, written=35.0):
    return LLMReply("hi", timings=Timings(2_000, read, 40, written))


# --- the window -----------------------------------------------------------------------------------


def test_after_its_first_good_reply_an_endpoint_is_asked_and_never_again(registry, asked):
    client = learning(ScriptedLLM(["one", "two"]), registry)
    assert window(registry) is None
    assert [complete(client).content, complete(client).content] == ["one", "two"]
    assert asked == ["ours"]
    assert window(registry) == 16_000
    elsewhere = ModelProfile("away", base_url="http://elsewhere/v1")
    assert window(registry, elsewhere) is None
    assert window(registry, model="another") is None


def test_an_endpoint_that_does_not_answer_is_not_asked(registry, asked):
    client = learning(ScriptedLLM([ProviderUnavailable("gone")]), registry)
    assert complete(client).check(ProviderUnavailable)
    assert asked == []
    assert not registry.told(HOME).told.answered


def test_where_the_profile_says_the_window_nobody_is_asked(registry, asked):
    told = ModelProfile("told", client="openai", model="ours", context_window=8_000)
    complete(learning(ScriptedLLM(["one"]), registry), told)
    assert asked == []


def test_a_fallback_has_facts_of_its_own(registry):
    fallback = replace(HOME, name="away", base_url="http://10.0.0.2/v1")
    registry.learn(fallback, timed(), 10.0)
    told = registry.told(replace(HOME, fallback=fallback))
    assert (told.told.answered, told.fallback.told.answered) == (False, True)


@pytest.mark.parametrize("error", [ProviderUnavailable("no list"), CancelledError(), ValueError()])
def test_a_failure_is_nothing_told(error, store):
    registry = EndpointRegistry(lambda _profile: fail(error), store.load, store.save)
    registry.learn(HOME, LLMReply("hi"), 1.0)
    assert window(registry) is None


def test_the_reply_does_not_wait_for_what_the_endpoint_tells(store):
    registry = EndpointRegistry(lambda _profile: Deferred(), store.load, store.save)
    assert complete(learning(ScriptedLLM(["one"]), registry)).content == "one"


# --- speed, form, and the store -------------------------------------------------------------------


def test_speed_is_measured_with_the_time_that_a_call_took(registry):
    clock, answer = Clock(), Deferred()
    learning(ScriptedLLM([answer]), registry, clock).complete(LLMRequest([], None), HOME, 60.0)
    clock.advance(10.0)
    answer.callback(timed())
    told = registry.told(HOME).told
    assert told.speed == Speed(140.0, 35.0)
    assert told.answered


def test_all_is_known_again_after_a_restart_but_for_the_first_answer(registry, store):
    registry.learn(HOME, timed(), 10.0)
    registry.note_probe(HOME, "plain", False, Speed())
    again = EndpointRegistry(lambda _profile: Deferred(), store.load, store.save).told(HOME).told
    assert (again.window, again.form, again.system) == (16_000, "plain", False)
    assert again.speed == Speed(140.0, 35.0)
    assert not again.answered


def test_a_little_more_or_less_speed_is_not_written(registry, store):
    registry.learn(HOME, timed(), 10.0)
    saves = store.saves
    for _ in range(20):
        registry.learn(HOME, timed(150.0, 33.0), 10.0)
    assert store.saves == saves
    registry.learn(HOME, timed(1_400.0), 10.0)
    assert store.saves == saves + 1


def test_what_could_not_be_written_is_written_with_the_next_reply(registry, store):
    store.busy = True
    registry.learn(HOME, timed(), 10.0)
    store.busy = False
    registry.learn(HOME, timed(), 10.0)
    assert store.facts


def test_the_store_holds_no_secret(registry, store):
    secret = "http://user:hunter22@localhost:8000/v1?key=hunter22"
    registry.learn(ModelProfile("p", model="ours", base_url=secret), timed(), 1.0)
    assert "hunter22" not in repr(store.facts)
    assert window(registry) == 16_000


def test_an_address_of_no_server_and_a_spoilt_row_harm_nothing(store):
    store.facts = {key_of(HOME): {"window": "many", "speed": 7, "form": "song"}}
    registry = EndpointRegistry(lambda _profile: Deferred(), store.load, store.save)
    told = registry.told(HOME).told
    assert (told.window, told.form, told.speed) == (None, "", Speed())
    assert registry.told(ModelProfile("p", model="x", base_url="http://[::1")).told.window is None


@pytest.mark.parametrize(("told", "window"), [(1_024, 1_024), (None, 8_192)])
def test_a_refusal_that_names_a_window_teaches_it(registry, told, window):
    for named in (8_192, told):
        refusal = ContextOverflow("too long")
        refusal.window = named
        complete(learning(ScriptedLLM([refusal]), registry))
    assert registry.told(HOME).told.window == window
