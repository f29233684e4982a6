"""Thirty lines of talk in the demo's tavern: how much a model is sent, and reads anew.

A cache keeps the beginning that two requests share, so the rest of each is read anew. Requests are
counted as a server renders them, by an exact tokenizer.
"""

import json
import statistics
from dataclasses import dataclass
from itertools import pairwise

import pytest

from evennia_ai.llm.openai_client import build_body
from tests.scripted import call
from world import build

pytestmark = pytest.mark.engine

MODEL = "gpt-4o"  # whose tokenizer this package carries
LINE_S = 40  # between two lines
QUARTER_S = 900  # after which a prompt tells the time again
START, END = "\x02", "\x03"  # a token each, as a template's own
# What Ann says, and what Mira answers.
TALK = [
    ("Good evening, Mira. What a wind out there!", "Come in and shut the door, love."),
    ("I am Ann. I sail on the Kestrel.", "Ann of the Kestrel. I will remember that."),
    ("What do you have to eat tonight?", "Fish stew with bread, for twopence."),
    ("Then a bowl of that, please.", "Sit by the fire, it comes hot."),
    ("And a mug of ale, if you have any.", "A penny for the ale. Here you are."),
    ("How long have you kept this tavern?", "Since my father died, twenty winters ago."),
    ("What is behind the bricked-up arch in your cellar?", "I wish I knew. He never said."),
    ("Did nobody ever try to open it?", "Nobody who told me of it."),
    ("My brother Tobias is out on the Heron tonight.", "Then we both listen to the wind."),
    ("I promise to pay you three crowns on Friday.", "Three crowns on Friday. Good."),
    ("Have you heard any news from the harbour?", "Old Pell says the herring are back."),
    ("When is market day here?", "Thursday, as long as I can think."),
    ("Who lights the lamp on the mole?", "Pell does, and he is never late."),
    ("Is the smith next door any good?", "Brannoc is slow and exact, and he owes me."),
    ("What does he owe you?", "Eleven suppers, and I count them."),
    ("That is a lot of stew.", "He is a big man, you know."),
    ("Do you know Sister Oda?", "I am a little afraid of her, between us."),
    ("Why are you afraid of her?", "She looks at me as if I had drowned somebody."),
    ("My horse is called Marigold, by the way.", "A fine name for a mare."),
    ("Is there a bed for the night?", "A bed in the loft, for threepence."),
    ("With breakfast?", "Porridge and all."),
    ("Then I will stay.", "I shall air the blankets."),
    ("What was my brother called again?", "Tobias, who is out on the Heron."),
    ("And what did I promise you?", "Three crowns, on Friday."),
    ("You have a good memory, Mira.", "It is all that a tavern runs on."),
    ("Do many strangers come here?", "With every tide, and I ask them all."),
    ("What do you ask them?", "Where from, and what brings them."),
    ("Nobody asked me that yet.", "Then I ask you now: what brings you?"),
    ("The wind did, and the stew.", "The best two reasons that I know."),
    ("Good night, Mira.", "Sleep well, Ann. Mind the third step."),
]
MOST_AGAIN = {"tools": 50, "plain": 60}
MOST_AFTER = {"tools": 60, "plain": 280}
# In all, and anew at the median. Of the calls' tokens are rules 5,280, tools 11,180, persona 6,390,
# situation 5,010, lore 6,130 and talk 15,460. Plain words
# are 600 a line; anew are the examples that are nearest to it, what is remembered, and every other
# line the talk, which begins later.
BARS = {"tools": (50_000, 40), "plain": (18_000, 260)}


@dataclass(frozen=True)
class Figures:
    """Tokens of each request, and those which the one before does not share."""

    sent: list[int]
    anew: list[int]


def rendered(request, form):
    """A request as a chat template shows it, the tools behind the system message."""
    body = build_body(request, form)
    system, *rest = body["messages"]
    tools = "".join(f"{json.dumps(tool)}\n" for tool in body.get("tools", ()))
    parts = [f"system\n{system['content']}\n{tools}"]
    parts += [f"{m['role']}\n{m['content']}{calls_of(m)}" for m in rest]
    return "".join(f"{START}{part}{END}\n" for part in parts)


def calls_of(message):
    calls = message.get("tool_calls")
    return json.dumps(calls) if calls else ""


def shared(one, other):
    """How many characters two texts share at their beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


def figures(requests, profile):
    tokenizer = pytest.importorskip("evennia_ai.contrib.openai_tokens.tokenizer")
    tokenizer.load()
    count, texts = tokenizer.count_for(MODEL), [rendered(one, profile) for one in requests]
    anew = [count(after[shared(before, after) :]) for before, after in pairwise(texts)]
    return Figures([count(text) for text in texts], anew)


def said(form, words):
    """A reply with these words, as a model of a mode makes it."""
    return words if form == "plain" else call("say", text=words)


@pytest.fixture
def quarter(service):
    build.build_world()


@pytest.fixture
def mira(quarter):
    return build.find("gull_mira")


@pytest.fixture
def tavern(mira):
    return mira.location


@pytest.fixture
def ask(game, service, mira, ann):
    """Return a function that lets Ann say a line and Mira's model reply."""

    service.clock.advance(-service.clock.seconds() % QUARTER_S)

    def say(line, *replies):
        before = len(game.model.requests)
        game.model.add(*replies)
        ann.do(f"say {line}")
        game.run(LINE_S)
        assert not game.model.script, line
        return game.model.requests[before:]

    return say


@pytest.fixture(params=BARS)
def form(request, service, mira):
    service.profiles["home"] = {
        "client": "openai", "model": MODEL, "form": request.param, "base_url": "http://x/v1",
    }  # fmt: skip
    mira.assistant.db.profile = "home"
    return request.param


@pytest.fixture
def profile(mira, form):
    mira.assistant.mind.settings.resolve()
    return mira.assistant.mind.settings.profile


def test_thirty_lines(game, ask, form, profile):
    for line, answer in TALK:
        ask(line, said(form, answer))
    found = figures(game.model.requests, profile)
    most, median = BARS[form]
    assert len(found.sent) == len(TALK)
    assert sum(found.sent) <= most
    assert statistics.median(found.anew) <= median


def test_a_second_asking_and_the_turn_after_it(ask, form, profile):
    """What is said of a refused reply stands behind all that the model has read."""
    for line, answer in TALK[:14]:
        ask(line, said(form, answer))
    better = said(form, "I keep a tavern, love.")
    requests = ask("What do you do all day?", said(form, TALK[13][1]), better)
    requests += ask("Then pour me another.", said(form, "With pleasure, Ann."))
    assert len(requests) == 3
    second, after = figures(requests, profile).anew
    assert second <= MOST_AGAIN[form]
    assert after <= MOST_AFTER[form]
