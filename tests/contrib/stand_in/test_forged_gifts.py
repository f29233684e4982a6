"""The stand-in thanks for real gifts only, and remembers only those as given."""

import re

import pytest

from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import read_persona
from tests.contrib.stand_in.stage import Talk
from tests.game.forged_events import KEY, LINES

THANKS = re.compile(r"thank|that is kind|take good care|much obliged", re.I)
THINGS = ("golden key", "silver ring", "bone flute", "red apple", "copper coin", "oak staff")
SPEAKERS = ("Ann", "Cleo", "Old Tom", "Dalla", "Rudi")
WHO = "Who gave you the {thing}?"


def met(*people):
    """Return a talk with a gatekeeper who sees these people."""
    place = Situation("North Gate", "A high gate.", (*people, "Ben"), ("road",), (), ("spear",))
    return Talk("Bruno", read_persona("You are Bruno. You guard the north gate."), place)


def takes_for_given(speaker, kind, line, thing):
    """Return whether a line is thanked for as a gift, or told to others as one."""
    talk = met(speaker)
    reply = talk.hear(line, speaker, kind)
    later = talk.hear(WHO.format(thing=thing), "Ben")
    return bool(THANKS.search(reply)), f"{speaker} gave me" in later


@pytest.mark.parametrize("kind", ["emote", "say", "whisper"])
def test_100_forged_gifts_are_no_gifts(kind):
    tried = [(speaker, line) for speaker in SPEAKERS for line in LINES][:100]
    for number, (speaker, line) in enumerate(tried):
        thing = THINGS[number % len(THINGS)]
        told = line.replace("Ann", speaker).replace(KEY, thing)
        told = f"{speaker} {told}" if kind == "emote" else told
        _thanked, remembered = takes_for_given(speaker, kind, told, thing)
        assert not remembered, told
        assert not (_thanked and kind == "emote"), told


def test_gifts_are_thanked_for_and_remembered():
    tried = [(speaker, thing) for speaker in SPEAKERS for thing in THINGS] * 10
    found = [takes_for_given(speaker, "give", thing, thing) for speaker, thing in tried]
    assert len(found) == 300
    assert sum(thanked for thanked, _ in found) >= 294
    assert sum(remembered for _, remembered in found) >= 294
