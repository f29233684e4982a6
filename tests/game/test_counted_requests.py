"""What is counted of a request is what is sent, in every form, over a talk of thirty lines."""

import json
from dataclasses import replace
from statistics import median

import pytest
from twisted.internet.defer import succeed

from evennia_ai.llm.openai_client import build_body
from evennia_ai.messages import LLMReply, Usage
from evennia_ai.policy.tokens import stored_tokens
from tests.scripted import call
from tests.short_form import short_form

pytestmark = pytest.mark.engine

LINES = 30
PERSONA = "You are Mira, who keeps the Gilded Gull by the harbour, sixty and seldom surprised. " * 8
SERVER = {"client": "openai", "base_url": "http://127.0.0.1:8093/v1"}
KINDS = {
    "native calls": ("tools", "gpt-4o"),
    "calls as text": ("tools", "granite3.3:8b"),
    "words": ("plain", "qwen-1.5b"),
}
NATIVE = [kind for kind in KINDS.values() if kind[0] == "tools"]
RATIOS = [(*kind, ratio) for ratio in (0.4, 1.8) for kind in NATIVE]
WORST, TYPICAL = 0.15, 0.05


def count_body(body, count_text):
    """Count the tokens of a body as ChatML has them, whose frame of a message has five."""
    tokens = 3
    for message in body["messages"]:
        tokens += 5 + count_text(message["content"])
        tokens += sum(15 + count_text("{name} {arguments}".format(**called["function"]))
                      for called in message.get("tool_calls", ()))  # fmt: skip
    return tokens + sum(count_text(json.dumps(tool)) for tool in body.get("tools", ()))


class Counting:
    """A model that speaks and acts in turn, and reports what the bodies of its requests hold.

    Attributes:
        counts: (our estimate, tokens of the body, tokens in use before) of each request.
    """

    def __init__(self, ratio=1.0):
        self.ratio, self.counts, self.mind, self.window = ratio, [], None, 10**9

    def complete(self, request, profile, deadline_at=None):
        if request.certain:  # the stand-in's, which calls no model
            return succeed(LLMReply(""))
        # The tokenizer that the assistant has: it may have been loaded by an earlier test.
        count_text = self.mind.settings.count_text
        body = build_body(request, profile)
        sent = min(int(self.ratio * count_body(body, count_text)), self.window)
        use = self.mind.meter.measure().used - self.mind.settings.config.max_reply_tokens
        self.counts.append((request.tokens, sent, use))
        reply = LLMReply("", self.calls(request), usage=Usage(sent, 20))
        return succeed(reply)

    def calls(self, request):
        number = len(self.counts)
        said = call("say", text=f"That was so in year {number}, I think.")
        acts = {
            2: call("emote", text="wipes the bar with a rag"),
            3: call("give", item="pewter mug", to="Ann"),
            4: call("look", target="Bob"),
        }
        wanted = [acts[number % 5], said] if number % 5 in acts else [said]
        return tuple(replace(one, id=f"c{number}_{at}") for at, one in enumerate(wanted))


@pytest.fixture
def talk_through(service, game, mira, ann, bob):
    """A function that plays the talk with a model in a form, and returns that model."""

    def play(form, name, model):
        mira.db.ai_persona = PERSONA
        service.profiles["home"] = {**SERVER, "model": name, "form": form}
        mira.assistant.db.profile = "home"
        mira.assistant.mind.settings.resolve()
        game.thing("pewter mug", mira)
        game.model.complete = model.complete
        model.mind = mira.assistant.mind
        for number in range(LINES):
            speaker = (ann, bob)[number % 2]
            speaker.do(f"say Mira, of the {number} ships that my uncle had, which was the best?")
            game.run(5)
        return model

    return play


def off(counts):
    """Return by which share each estimate is off, and both as they are usually told."""
    return [abs(ours / truth - 1) for ours, truth in counts]


@pytest.mark.parametrize(("form", "name"), short_form(KINDS.values(), 4), ids=KINDS)
def test_the_estimate_is_that_of_the_body_that_is_sent(talk_through, form, name):
    model = talk_through(form, name, Counting())
    assert len(model.counts) >= LINES
    wrong = off((estimate, sent) for estimate, sent, _use in model.counts)
    assert median(wrong) <= TYPICAL
    assert max(wrong) <= WORST


@pytest.mark.parametrize(("form", "name", "ratio"), short_form(RATIOS, 5))
def test_the_use_of_the_window_is_what_the_model_reports(talk_through, form, name, ratio):
    model = talk_through(form, name, Counting(ratio))
    wrong = off((use, sent) for _estimate, sent, use in model.counts[1:])
    assert median(wrong) <= TYPICAL
    assert max(wrong) <= WORST


def test_plain_prompts_stay_short_and_compaction_goes_by_the_whole_talk(talk_through, mira, admin):
    model = talk_through("plain", "qwen-1.5b", Counting())
    mind, sent = mira.assistant.mind, model.counts[-1][1]
    talk = sum(map(stored_tokens, mind.log.current.messages))
    use = mind.meter.measure()
    assert use.used > talk > sent
    window = int(use.used / mind.settings.config.compact_sleep_threshold) - 1
    mira.assistant.attributes.add("max_context_tokens", window)
    mind.settings.resolve()
    assert mind.meter.measure().is_due
    told = admin.told("aistatus")
    assert f" {sent / window:.0%} " in told
    assert "home:qwen-1.5b is shown a little of each talk" in told


@pytest.mark.parametrize("ratio", short_form([0.5, 1.0], 2))
def test_a_server_that_truncates_is_told_of(talk_through, mira, admin, ratio):
    model = Counting(ratio)
    model.window = int(ratio * 2_000)
    talk_through("tools", "gpt-4o", model)
    assert "cut long prompts" in admin.told("aistatus Mira")
