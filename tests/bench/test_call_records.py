"""A thousand calls: every prompt rebuilt byte for byte, each sentence's source, bytes and time.

A model with a script tells facts that stand in its prompt, and invents others. The talk goes over
compactions, undos and masks, and at the end one player is forgotten.
"""

import random
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import pytest

from evennia_ai import models
from evennia_ai.messages import LLMReply
from evennia_ai.policy.call_record import request_digest
from evennia_ai.policy.tool_call_modes.form import PLAIN, TOOLS
from evennia_ai.sleep.compaction import compact_conversation_history
from evennia_ai.store.call_records import store_call
from evennia_ai.store.forget import Forgetting
from evennia_ai.turn.model_call import record_of
from tests.bench.figures import Sheet
from tests.facts import FACT, FACT_LINE, Teller, some_fact
from tests.game import conftest as game_tier

why = pytest.importorskip("evennia_ai.contrib.explanations.why")
stored_calls = pytest.importorskip("evennia_ai.contrib.explanations.stored_calls")
pytestmark = [pytest.mark.game, pytest.mark.timeout(3_000)]

service, model, game = game_tier.service, game_tier.model, game_tier.game

TURNS = 500  # in each form
MOST_BYTES, MOST_MS = 1_500, 5.0
MOST_WRONG = 5.0  # percent
HOME = {"client": "openai", "base_url": "http://127.0.0.1:1/v1", "model": "home"}


def play(game: Any, mira: Any, players: list[Any], rng: random.Random, number: int) -> None:
    """Let somebody tell a fact or ask for one; compact, mask and undo now and then."""
    told = FACT.format(**some_fact(rng))
    line = rng.choice([f"Mira, hear this. {told}", "Mira, what do you know?"])
    rng.choice(players).do(f"whisper Mira = {line}" if rng.random() < 0.15 else f"say {line}")
    game.run(2)
    game.run(61)
    script = mira.assistant
    if number % 80 == 60:
        compact_conversation_history(script, mira, force=True, keep_recent=10)
    if number % 160 == 120:
        script.conversation.undo()
    if number % 100 == 90:
        script.conversation.mask(script.conversation.current.messages[-3]["metadata"]["seq"])


@pytest.mark.parametrize("form", [TOOLS, PLAIN])
def test_five_hundred_turns(game: Any, sheet: Callable[[str], Sheet], form: str) -> None:
    paper = sheet(f"{TURNS} turns in the form {form}")
    game.service.profiles["home"] = {**HOME, "form": form}
    room = game.room(desc="The common room is low, warm and older than the harbour wall. " * 6)
    mira = game.assistant("Mira", room, "You are Mira, who keeps the Gilded Gull. " * 25)
    mira.assistant.db.profile = "home"
    players = [game.player(name, room) for name in ("Ann", "Bob")]
    rng = random.Random(16)
    game.model.script = teller = Teller(rng)
    for number in range(TURNS):
        play(game, mira, players, rng, number)
    turns = [one for one in game.model.requests if one.trace is not None]
    check_prompts(paper, turns)
    check_sentences(paper, mira, teller)
    check_time(paper, turns[-100:])
    check_forgetting(paper, players[0])
    paper.check()


def check_prompts(paper: Sheet, requests: list[Any]) -> None:
    """Rebuild every prompt from the log, and compare it with what was sent."""
    rows = list(models.CallRecord.objects.order_by("id"))
    assert len(rows) >= TURNS * 0.9
    sent = {request_digest(one.messages, one.sent): one for one in requests}
    exact = 0
    for row in rows:
        stored, request = stored_calls.load_call(row.id), sent[row.digest]
        exact += stored is not None and stored.is_exact and stored.messages == request.messages
    sizes = [len(bytes(row.packed)) + len(row.people) + len(row.digest) for row in rows]
    paper.add("calls", len(rows))
    paper.add("prompts not rebuilt as they were sent", len(rows) - exact, "", 0)
    paper.add("bytes a call, median", median(sizes), "", MOST_BYTES)
    paper.add("bytes a call, max", max(sizes))


def check_sentences(paper: Sheet, mira: Any, teller: Teller) -> None:
    """Compare the source of each line with the fact that the model told."""
    wrong, told, sourced, invented = 0, 0, 0, 0
    for said, fact in teller.known:
        line = why.find_line(mira.assistant.id, 1, said)
        if line is None:
            continue  # an assistant does not say the same again
        (found,) = why.explain(line, ["Mira"]).sentences
        if fact:
            told += 1
            wrong += found.source is None or not tells(found.source.text, fact)
        else:
            invented += 1
            sourced += found.source is not None
    paper.add_share("told facts with another source or none", wrong, told, MOST_WRONG)
    paper.add_share("invented facts with a source", sourced, invented, MOST_WRONG)


def tells(text: str, fact: str) -> bool:
    """Return True if a text tells a fact, in whatever words."""
    found = FACT_LINE.fullmatch(fact)
    return found is not None and all(word in text for word in found.groups())


def check_time(paper: Sheet, requests: list[Any]) -> None:
    """Time what the reactor does more for each call."""
    took, last = [], models.ModelCall.objects.latest("id")
    for number, request in enumerate(requests, 1):
        last.id = 10**9 + number
        began = time.perf_counter()
        record = record_of(request, LLMReply("Good evening."))
        assert record is not None
        store_call(last, record)
        took.append((time.perf_counter() - began) * 1000)
    models.CallRecord.objects.filter(id__gte=10**9).delete()
    paper.add_spread("recording a call", took)
    paper.add("recording a call, median", median(took), "ms", MOST_MS)


def check_forgetting(paper: Sheet, player: Any) -> None:
    """Forget a player: no record holds their words, and what is gone is told."""
    list(Forgetting({player.dbref}).steps())
    left = [row for row in models.CallRecord.objects.all() if row.packed]
    naming = [row for row in left if player.dbref in row.people.split()]
    changed = sum(1 for row in left if not stored_calls.load_call(row.id).is_exact)
    paper.add("records that name a forgotten player", len(naming), "", 0)
    paper.add("records of others that can be rebuilt no more", changed, "", 0)
