"""Facts that a summary lacks are asked for once, and written below it where that does not help."""

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.messages import LLMReply, make_message
from evennia_ai.sleep.compaction.compact import compact
from evennia_ai.sleep.compaction.request import EMERGENCY, CompactionRequest
from tests.test_context_compaction import ANN, BOB, make_script, outcome, sleep, talk

POOR = "Ann has a sister Lina, who keeps bees in Dunmore."
SISTER = "Ann says: My sister Lina keeps bees in Dunmore."
DEBT = "Ann says: I owe you 42 silver pieces for the red saddle."
GOOD = "Ann's sister Lina keeps bees in Dunmore. Ann owes 42 silver pieces for the red saddle."


def told(replies, private=False, client="openai"):
    """An assistant with a language model that was told two facts, then chatted to for long."""
    script = make_script(replies, max_context_tokens=6_000)
    script.profile = ModelProfile("test", client=client, model="scripted")
    meta = {
        "speaker": ANN,
        "speaker_name": "Ann",
        "audience": [ANN] if private else [ANN, BOB],
        "private": private,
    }
    long = " Well, well, it is a long story and it was told to me more than once." * 8
    script.conversation.append([make_message("user", t + long, **meta) for t in (SISTER, DEBT)])
    talk(script, 80)
    return script


def text_of(script, key="public"):
    return script.conversation.current.record.summary[key]


def test_what_a_summary_lacks_is_asked_for_once_and_nothing_else():
    script = told([POOR, GOOD])
    assert sleep(script)["success"]
    repair = script.services.gateway.requests[1].messages[1]["content"]
    assert f"<summary>\n{POOR}\n</summary>" in repair
    assert "- Ann: I owe you 42 silver pieces for the red saddle." in repair
    assert "- Ann: My sister Lina" not in repair
    assert text_of(script).startswith(GOOD)
    assert text_of(script).count("42 silver pieces") == 1


@pytest.mark.parametrize(
    "reply",
    [
        "They talked of this and that.",
        POOR + " Nothing more.",
        "Ann owes 42 silver pieces for the red saddle.",
        "",
        "I'm sorry, I can't do that.",
        GOOD + " word" * 3_000,
        ProviderUnavailable("down"),
    ],
)
def test_where_that_does_not_help_the_summary_stays_and_the_facts_stand_below_it(reply):
    script = told([POOR, LLMReply(reply) if isinstance(reply, str) else reply])
    assert sleep(script)["success"]
    text = text_of(script)
    assert text.startswith(POOR)
    assert "- Ann: I owe you 42 silver pieces for the red saddle." in text
    assert script.conversation.current.record.facts_rescued >= 1


def test_what_is_pinned_or_in_the_journal_is_not_asked_for():
    script = told(["They talked."])
    script.pins = lambda audience: [("Lina keeps bees in Dunmore, Ann's sister.", False)]
    script.journalled_since = lambda at, audience: ["Ann owes 42 silver pieces for the red saddle."]
    script.services.gateway.add(GOOD)
    sleep(script)
    asked = [str(request.messages) for request in script.services.gateway.requests]
    assert not any("Lina" in text for text in asked[1:])
    assert not any("42 silver" in text for text in asked[1:])


def test_it_is_looked_up_for_the_parts_own_audience():
    script = told(["Chatter.", "Chatter.", "Chatter.", "Chatter."], private=True)
    seen = []
    script.pins = lambda audience: seen.append(audience) or []
    script.journalled_since = lambda at, audience: seen.append(audience) or []
    sleep(script)
    assert seen == [None, None, frozenset({ANN}), frozenset({ANN})]


def test_a_whispered_fact_is_asked_for_in_its_own_part_alone():
    script = told(["Chatter.", "Public again.", "Chatter too.", GOOD], private=True)
    sleep(script)
    asked = [str(request.messages) for request in script.services.gateway.requests]
    secret = [number for number, text in enumerate(asked) if "Lina" in text]
    assert secret == [len(asked) - 2, len(asked) - 1]
    assert "Lina" not in text_of(script)
    assert text_of(script, ANN).startswith(GOOD)


def test_the_offline_brain_is_not_asked_again():
    script = told([POOR], client="offline")
    assert sleep(script)["success"]
    assert len(script.services.gateway.requests) == 1


def test_nobody_waits_for_it_in_an_emergency():
    script = told([POOR])
    talk(script, 10)
    assert outcome(compact(script, CompactionRequest(EMERGENCY)))["rung"] == "summary"
    assert len(script.services.gateway.requests) == 1
    talk(script, 40)
    assert outcome(compact(script, CompactionRequest("overflow", force=True)))["rung"] == "digest"
    assert len(script.services.gateway.requests) == 1
