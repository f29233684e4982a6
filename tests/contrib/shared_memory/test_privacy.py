"""What was whispered is never shared with other characters."""

import pytest

from evennia_ai.contrib.shared_memory.entries import open_among
from evennia_ai.messages import make_message
from evennia_ai.models import SharedEntry
from evennia_ai.policy.records.journal_entry import UNGUARDED
from tests.contrib.shared_memory import guards as scene
from tests.contrib.shared_memory.guards import learn
from tests.scripted import call

pytestmark = [pytest.mark.game, pytest.mark.engine]

guard, bruno, vera, sleep = scene.guard, scene.bruno, scene.vera, scene.sleep
knows = scene.knows


@pytest.mark.parametrize("whisper_policy", ["strict", "trusting"])
def test_what_was_whispered_in_a_turn_never_crosses(
    game, bruno, vera, ann, sleep, knows, whisper_policy
):
    bruno.assistant.attributes.add("whisper_policy", whisper_policy)
    vera.assistant.attributes.add("whisper_policy", whisper_policy)
    ann.character.location = bruno.location
    game.model.add(
        call("add_journal_entry", content="I promise: Ann hid 40 crowns at the mill bridge."),
        call("whisper", target="Ann", text="I keep it."),
    )
    ann.do("whisper Bruno = Remember: I hid 40 crowns at the mill bridge.")
    game.run(2)
    assert len(bruno.journal.all()) == 1
    assert sleep(bruno)["skipped"]
    bruno.assistant.attributes.add("whisper_policy", "strict")  # written while it was trusting
    assert sleep(bruno)["skipped"]
    assert not SharedEntry.objects.exists() and knows(vera) == []


@pytest.mark.parametrize("whisper_policy", ["strict", "trusting"])
def test_what_was_made_of_a_whisper_or_of_what_is_gone_never_crosses(
    game, bruno, ann, sleep, whisper_policy
):
    """Neither of one that its hearer might repeat, since it was trusting then."""
    ann.character.location = bruno.location
    bruno.assistant.attributes.add("whisper_policy", whisper_policy)
    game.model.add(call("noop"), call("noop"))
    ann.do("whisper Bruno = The bridge is mined.")
    game.run(1)
    ann.do("say Bruno, the bridge is down.")
    game.run(1)
    whispered, said = [
        m["metadata"]["seq"]
        for m in bruno.assistant.conversation_history
        if m["role"] == "user" and "bridge" in m["content"]
    ]
    bruno.assistant.attributes.add("whisper_policy", "strict")
    learn(bruno, "The bridge is mined.", source_seqs=[said, whispered])
    learn(bruno, "The weir is mined.", source_seqs=[said, 999_999])
    assert sleep(bruno)["skipped"]
    learn(bruno, source_seqs=[said])
    assert sleep(bruno)["told"] == 1


@pytest.mark.parametrize("tool", ["add_journal_entry", "pin_fact"])
def test_what_a_trusting_character_writes_is_marked_for_good(game, bruno, ann, tool):
    ann.character.location = bruno.location
    for whisper_policy, marked in (("trusting", True), ("strict", False)):
        bruno.assistant.attributes.add("whisper_policy", whisper_policy)
        game.model.add(call(tool, content=f"Ann is {whisper_policy}."), call("noop"))
        ann.do("say Bruno, note it.")
        game.run(2)
        assert (UNGUARDED in bruno.journal.all()[-1]["tags"]) is marked


def test_a_line_that_a_builder_hid_or_edited_is_no_open_source_any_more(bruno, ann):
    log = bruno.assistant.conversation
    for kind in ("hidden", "edited"):
        line = make_message("user", "Ann says: The bridge is down.", speaker=ann.dbref)
        seq = log.append([line])[0]["metadata"]["seq"]
        assert open_among(bruno.assistant.id, [seq]) == {seq}
        log.amendments.add(kind, [seq], ann.dbref, "It is up.")
        assert open_among(bruno.assistant.id, [seq]) == frozenset()
