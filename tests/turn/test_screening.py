"""What a guard refuses is in no prompt, and everything heard is judged once."""

import pytest
from twisted.internet.defer import succeed

from evennia_ai.extension import Extension, Revision
from evennia_ai.policy.replies.speech import spoken
from evennia_ai.turn.guardrails import ModerationGate
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

BOB = "#6"
FOUL = "you rotten goat"


class RefusesFoulWords(Extension):
    """A guard that refuses one line and records what it judges."""

    def __init__(self):
        self.judged = []

    def before_turn(self, events):
        self.judged += [event.heard.text for event in events]
        return succeed({event.id: "foul" for event in events if event.heard.text == FOUL})

    def before_speech(self, words, by_staff):
        return succeed("foul" if words == FOUL else "")


@pytest.fixture
def script():
    script = MemoryMind(ScriptedLLM([call("say", text="Aye."), call("say", text="Nay.")]))
    script.services.world.present = frozenset({"#5", BOB})
    script.services.extensions = [RefusesFoulWords()]
    return script


def prompts(script):
    return [str(request.messages) for request in script.services.gateway.requests]


def answer(script):
    """Answer all that waits; return the number of turns."""
    fired = []
    script.mind.turn_runner.answer_all().addBoth(fired.append)
    return fired[0]


def test_a_refused_line_is_closed_with_the_reason_and_its_speaker_is_told(script):
    script.hears(FOUL)
    assert answer(script) == 0
    assert [(row.state, row.reason) for row in script.mind.inbox.rows] == [("expired", "foul")]
    assert script.mind.status.told == [("refuses_words", "#5")]
    assert prompts(script) == []


def test_beside_a_refused_line_the_others_are_answered(script):
    script.hears(FOUL)
    script.hears("a beer, please", BOB, "Bob")
    assert answer(script) == 1
    assert script.mind.states() == {FOUL: "expired", "a beer, please": "answered"}
    assert script.mind.status.told == [("refuses_words", "#5")]
    assert FOUL not in prompts(script)[0]


def test_refused_words_that_were_overheard_are_in_no_prompt_and_nobody_is_told(script):
    script.hears(FOUL, BOB, "Bob", addressed=False)
    script.hears("what did Bob say?")
    assert answer(script) == 1
    assert script.mind.states() == {FOUL: "expired", "what did Bob say?": "answered"}
    assert script.mind.status.told == []
    assert FOUL not in prompts(script)[0]


def test_each_line_is_judged_once(script):
    script.hears("fine weather", BOB, "Bob", addressed=False)
    script.hears("a beer, please")
    script.hears("and one for Bob", private=True)
    assert answer(script) == 2
    assert sorted(script.services.extensions[0].judged) == [
        "a beer, please",
        "and one for Bob",
        "fine weather",
    ]


class LeavesWords(Extension):
    """Leaves the same words of every speech and records what it judges."""

    def __init__(self, words):
        self.words, self.judged = words, []

    def revise_speech(self, context, words):
        self.judged.append(words)
        return succeed(Revision(self.words, f"not {words}"))


def test_an_extension_revises_what_those_before_it_left_and_is_not_asked_of_nothing():
    first, second, third = extensions = [LeavesWords("Nay."), LeavesWords(""), LeavesWords("Hm.")]
    fired = []
    gate = ModerationGate(None, lambda: extensions)
    gate.revise_speech(spoken("Aye."), None).addCallback(fired.append)
    assert fired == [Revision("", "not Aye.")]
    assert [first.judged, second.judged, third.judged] == [["Aye."], ["Nay."], []]
