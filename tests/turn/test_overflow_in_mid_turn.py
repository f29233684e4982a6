"""A window that overflows in the middle of a turn: what was done before stays done (P2)."""

import pytest

from evennia_ai.config import AssistantConfig
from evennia_ai.errors import ContextOverflow
from evennia_ai.messages import make_message
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

SMALL = AssistantConfig(max_context_tokens=4_000, max_reply_tokens=200, compact_preserve_window=4)


@pytest.fixture
def script():
    """An assistant in the middle of a long talk."""
    script = MemoryMind(ScriptedLLM(), SMALL)
    for number in range(40):
        script.conversation.append([make_message("user", f"Ann says: {number} " + "word " * 60)])
    script.hears("a mug, please")
    return script


def call_ids(script):
    return [act.call.id for act in script.mind.turns.acts]


@pytest.mark.parametrize("first", ["look", "give"])
def test_after_the_compaction_the_turn_goes_on_where_it_was(script, first):
    lines = [call(first, item="mug"), ContextOverflow("full"), call("say", text="Here.")]
    script.services.gateway.add(*lines)
    script.mind.turn_runner.answer_all()
    assert [act.call.name for act in script.mind.turns.acts] == [first, "say"]
    assert len(set(call_ids(script))) == 2
    assert len(script.conversation.moves) == 1
    assert script.mind.states() == {"a mug, please": "answered"}


def test_what_was_done_before_the_overflow_is_not_done_again(script):
    given = []
    script.services.toolbox.behaviours["give"] = lambda context, arguments: given.append(1)
    gift = call("give", item="mug")
    script.services.gateway.add(gift, ContextOverflow("full"), gift, call("say", text="Here."))
    script.mind.turn_runner.answer_all()
    assert given == [1]
    assert len(set(call_ids(script))) == len(script.mind.turns.acts) == 3
