"""A small window, and a model that reads slowly: nobody waits for a summary, and facts stay."""

from dataclasses import replace

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.config.profiles import REPLY_TOKENS
from evennia_ai.memory import embedders
from evennia_ai.messages import LLMReply
from evennia_ai.policy.limits.endpoints import EndpointFacts, Speed
from evennia_ai.policy.tool_call_modes.form import REQUEST_FORMS
from evennia_ai.turn.prompt_building import PromptRequest
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.bench.remembering import at_once, heard, prompt_lines
from tests.minds import MemoryMind
from tests.reading_requests import is_summary
from tests.short_form import short_form

ANN, BOB = "#11", "#12"
HERE = frozenset({ANN, BOB})
SLOW = Speed(140.0, 35.0)
# What is told, a question about it, and the word of the answer.
FACTS = """
My sister is called Elsbeth|What is my sister called?|Elsbeth
I was born in Eastmere|Where was I born?|Eastmere
My horse is called Marigold|What is my horse called?|Marigold
I owe old Pell sixty-two crowns|What do I owe old Pell?|sixty-two
I keep my savings under the rowing boat|Where do I keep my savings?|rowing boat
The cellar key lies behind the clock|Where does the cellar key lie?|behind the clock
My dog is afraid of thunder|What is my dog afraid of?|thunder
I sail on the Kestrel at dawn on Friday|When do I sail on the Kestrel?|Friday
My brother works in the tin mine at Oxley|Where does my brother work?|Oxley
I promise you three baskets of apples|How many baskets of apples did I promise?|three baskets
The password of the smugglers is heron|What is the password of the smugglers?|heron
My mother plays the hurdy-gurdy|What does my mother play?|hurdy-gurdy
I paid nine crowns for this coat|What did I pay for this coat?|nine crowns
My boots were made by Tolliver|Who made my boots?|Tolliver
The bridge at Fenwick is broken|Which bridge is broken?|Fenwick
I am allergic to walnuts|What am I allergic to?|walnuts
My grandfather was a lighthouse keeper|What was my grandfather?|lighthouse
The mayor has a wooden leg|What about the mayor's leg?|wooden leg
I dream of a violin of my own|What do I dream of?|violin
My lucky number is forty-one|What is my lucky number?|forty-one
The miller is in love with Rosamund|Who is the miller in love with?|Rosamund
I lost my ring at the ferry landing|Where did I lose my ring?|ferry landing
"""
LONG_PERSONA = "You keep the Gilded Gull by the harbour, sixty, dry and seldom surprised. " * 40
PLANTED = [tuple(line.split("|")) for line in FACTS.strip().splitlines()]
CHATTER = [
    f"The weather is foul tonight, is it not, and I came {n} miles on foot" for n in range(9)
]
SUMMARY = LLMReply(
    "Ann came by the harbour wall when the tide was 3, 7, 11, 12, 13 and 14 hands high."
)


class SlowModel:
    """A model that answers lines at once; a summary comes only when it is let."""

    def __init__(self):
        self.summaries, self.late = [], []

    def complete(self, request, profile, deadline_at=None):
        reply = Deferred()
        if is_summary(request):
            self.summaries.append(request)
            self.late.append(reply)
        else:
            reply.callback(LLMReply("I see."))
        return reply


def make_mind(window=2_500, speed=SLOW, persona="You keep an inn.", embedder=None):
    config = AssistantConfig(max_context_tokens=window, max_reply_tokens=REPLY_TOKENS["plain"])
    mind = MemoryMind(SlowModel(), config, persona, embedder)
    mind.settings.profile = ModelProfile(
        "home", client="openai", model="qwen-1.5b", form="plain",
        base_url="http://127.0.0.1:8080/v1", told=EndpointFacts(speed=speed, answered=True),
    )  # fmt: skip
    mind.services.world.present = HERE
    return mind


def speak(mind, text):
    """Say a line to it, and let it tick; fail if it does not answer at once."""
    mind.services.clock.advance(20)
    mind.hears(f"Mira, {text}.", ANN, "Ann", HERE)
    ticked = mind.tick()
    assert ticked.called, "somebody waits"
    assert not mind.inbox.open_events()


def talk_through(mind):
    for number, (fact, _question, _answer) in enumerate(PLANTED):
        for text in (fact, CHATTER[number % len(CHATTER)], CHATTER[(number + 4) % len(CHATTER)]):
            speak(mind, text)


def recalled(mind):
    """Return the answers that stand in the prompts of the questions about them."""
    asking = PromptRequest(form=REQUEST_FORMS["plain"])
    found = []
    for _fact, question, answer in PLANTED:
        mind.log.append([heard("Ann", ANN, f"Mira, {question}")])
        at_once(mind.memories.prepare(mind.services))
        prompt = mind.prompts.build(CONTEXT_TICK_EVENT, HERE, asking)
        mind.log.messages.pop()
        if any(answer in line for line in prompt_lines(prompt.messages[1:])):
            found.append(answer)
    return found


def compactions(mind):
    return [
        reason for reason, result in mind.status.compactions if result and result.get("success")
    ]


@pytest.mark.parametrize("persona", short_form(["You keep an inn.", LONG_PERSONA], 2))
def test_nobody_waits_for_a_summary_and_the_facts_stay(persona):
    mind = make_mind(2_000, persona=persona, embedder=embedders.default())
    talk_through(mind)
    assert compactions(mind)
    assert mind.services.gateway.summaries == []
    assert len(recalled(mind)) >= 20


def full_mind(window=2_500, **how):
    """Return one whose first emergency compaction has just taken a digest."""
    mind = make_mind(window, **how)
    for number in range(200):
        told = f"the tide was {number} hands high when I came by the harbour wall today"
        speak(mind, " and ".join([told] * (window // 2_000)))
        if compactions(mind):
            return mind
    raise AssertionError("it never compacts")


def shown(mind):
    return " ".join(mind.log.current.record.summary.values())


@pytest.mark.parametrize(("window", "speed"), short_form([(2_500, Speed()), (6_000, SLOW)], 2))
def test_a_small_window_or_a_slow_model_takes_a_digest_at_once(window, speed):
    mind = full_mind(window=window, speed=speed)
    assert mind.services.gateway.summaries == []
    assert shown(mind).startswith("[Compacted")


def test_the_summary_follows_asleep():
    mind = full_mind()
    evicted = mind.log.current.record.compacted_count
    slept = mind.compactor.in_sleep()
    mind.services.gateway.late[0].callback(SUMMARY)
    assert at_once(slept)["rung"] == "summary"
    assert shown(mind) == SUMMARY.content
    assert mind.log.current.record.compacted_count >= evicted
    assert mind.services.gateway.summaries[0].tokens > 500  # the lines, not their digest
    assert [move.undone for move in mind.log.moves] == [True, False]


def test_who_speaks_before_the_summary_comes_waits_no_longer():
    mind = full_mind()
    slept = mind.compactor.in_sleep()
    slept.addErrback(lambda _failure: None)
    slept.cancel()
    speak(mind, "are you awake")
    assert mind.meter.measure().ratio < 0.8
    assert shown(mind).startswith("[Compacted")


def test_what_no_model_can_read_at_once_stays_a_digest():
    mind = full_mind()
    move = mind.log.moves[-1]
    move.record = replace(move.record, original_token_count=2_501)
    mind.compactor.in_sleep()
    assert mind.services.gateway.summaries == []
