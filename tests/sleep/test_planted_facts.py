"""A talk with planted facts, in short: tests/bench/test_planted_facts.py is the whole of it."""

from dataclasses import replace

import pytest

from tests.bench.planted import make_talk
from tests.bench.remembering import (
    EVERYBODY,
    METHODS,
    ONE_SHOT,
    OURS,
    WINDOW,
    Hostile,
    Offline,
    ask_all,
    leaks,
    live_through,
    log_of,
    make_script,
)
from tests.short_form import short_form

TALK = make_talk(turns=140, facts=42, seed=7)
SECRETS = [fact for fact in TALK.facts if fact.private]


def lived_through(gateway):
    script = make_script(gateway, 8_000)
    live_through(script, log_of(TALK), 3)
    return script


@pytest.mark.parametrize("gateway", short_form([Hostile(), Offline()], 2))
def test_facts_stand_in_the_prompt_of_a_question_whoever_sums_up(gateway):
    asked = ask_all(lived_through(gateway), TALK.facts, METHODS)
    assert asked.percent(OURS) >= 90
    assert asked.percent(OURS) >= asked.percent(WINDOW) + 30
    if isinstance(gateway, Hostile):
        assert asked.percent(OURS) >= asked.percent(ONE_SHOT) + 30
    assert asked.leaks == []


@pytest.mark.campaign
def test_what_has_no_room_below_a_summary_is_called_to_mind():
    talk = make_talk(turns=400, facts=70, seed=7)
    script = make_script(Hostile(), 8_000)
    live_through(script, log_of(talk), 4)
    assert ask_all(script, talk.facts, [OURS]).percent(OURS) >= 90
    script.config = replace(script.config, recall_tokens=0)
    assert ask_all(script, talk.facts, [OURS]).percent(OURS) < 75


def as_said_aloud(message):
    return {**message, "metadata": {**message["metadata"], "private": False}}


def test_a_secret_in_a_prompt_of_others_would_be_seen():
    script = make_script(Hostile(), 8_000)
    aloud = [[as_said_aloud(message) for message in turn] for turn in log_of(TALK)]
    live_through(script, aloud, 3)
    told = [listeners for fact in SECRETS for _, listeners in leaks(script, fact)]
    assert EVERYBODY in told
