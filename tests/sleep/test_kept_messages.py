"""How many messages stay, what a refusal tells of it, and what is told after many compactions."""

from evennia_ai.config import AssistantConfig
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM
from tests.test_context_compaction import SUMMARY, sleep, talk


def make_mind(replies=(), **settings):
    config = AssistantConfig(max_context_tokens=4_000, max_reply_tokens=200, **settings)
    return MemoryMind(ScriptedLLM(replies), config)


def test_a_number_of_messages_that_was_set_is_held():
    mind = make_mind([SUMMARY], compact_preserve_window=3)
    talk(mind, 46, length=5)
    result = sleep(mind, force=True)
    assert result["success"]
    assert result["preserved_messages"] in (3, 4)  # no answer without its line


def test_with_the_default_a_share_of_the_window_stays_too():
    mind = make_mind([SUMMARY])
    talk(mind, 60)
    assert sleep(mind, force=True)["preserved_messages"] >= 20
    assert mind.conversation.current.sizes.largest() >= 0.2 * 4_000


def test_a_refusal_names_the_rule_and_its_figures():
    mind = make_mind()
    talk(mind, 12, length=5)
    result = sleep(mind, force=True)
    assert result["reason"] == "history within preserve window"
    assert result["detail"].startswith(
        "of its 24 messages, the newest 20 stay, and as many as fill 20% of the window, 800"
    )
    mind = make_mind(compact_preserve_window=30)
    talk(mind, 12, length=5)
    assert sleep(mind, force=True)["detail"].startswith("of its 24 messages, the newest 30 stay; ")


def test_from_the_fifth_compaction_of_a_talk_on_it_tells_what_was_lost():
    mind = make_mind([SUMMARY] * 9, compact_preserve_window=4)
    told = []
    for _ in range(6):
        talk(mind, 30)
        told.append(sleep(mind, force=True).get("warning", ""))
    assert told[:4] == [""] * 4
    assert all(text.startswith("5 or more compactions of one talk; of ") for text in told[4:])
