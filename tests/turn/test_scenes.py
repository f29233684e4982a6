"""What a talk is told of the moment: once, to those who may know it, and never of what is gone."""

from types import SimpleNamespace

import pytest

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.messages import IncomingEvent, Situation, make_message
from evennia_ai.mind.dry_run import DryConversation, next_step, run_dry
from evennia_ai.policy.compaction.plan import MANUAL, CompactionOrder
from evennia_ai.policy.context.projection import LogInView
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry
from evennia_ai.policy.recallable_lines import HIDDEN, LineAmendment
from evennia_ai.policy.tool_call_modes.wire_order import count_stored
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from tests.minds import MemoryMind
from tests.scripted import ScriptedLLM, call

ANN, BOTH = frozenset({"#5"}), frozenset({"#5", "#6"})
HI = call("say", text="Well met.")


@pytest.fixture
def mira():
    script = MemoryMind(ScriptedLLM())
    script.services.world.present = BOTH
    script.services.world.names = {"#5": "Ann", "#6": "Bob"}
    return script


def talk(mira, *lines, whisper=False, answer=HI):
    for line in lines:
        mira.services.gateway.add(answer)
        if whisper:
            mira.whispered(line)
        else:
            mira.hears(line, audience=BOTH)
        fired = []
        mira.mind.turn_runner.answer_all().addBoth(fired.append)
        assert fired == [1], fired
    return told(mira)


def told(mira):
    """The scenes of the last request."""
    texts = (str(one["content"]) for one in mira.services.gateway.requests[-1].messages)
    return [text for text in texts if text.startswith("<situation>")]


def test_what_stands_in_view_is_not_told_again(mira):
    assert talk(mira, "hi") == talk(mira, "a cold night", "is there ale?")
    mira.services.world.seen = Situation(place="Tavern", people=("Ann", "Bob"))
    (*_, second) = talk(mira, "Bob is here")
    assert second == "<situation>\nPeople here: Ann, Bob\n</situation>"


def test_what_is_recalled_for_a_whisper_is_in_no_prompt_for_others(mira):
    mira.journal.add("Ann hid the ruby in the well.", audience=["#5"], source_entity="#5")
    mira.journal.add("The ruby was the mayor's.")
    assert "the well" in str(talk(mira, "Where is the ruby?", whisper=True))
    shown = str(talk(mira, "hello", "Fine weather."))
    assert "the well" not in shown
    assert "the well" in str(talk(mira, "Where was the ruby again?", whisper=True))
    assert "the mayor's" in str(talk(mira, "Who owned the ruby?"))


@pytest.mark.parametrize("pinned", [True, False])
def test_a_private_memory_makes_the_prompt_private(mira, pinned):
    told = "Ann hid the ruby in the well."
    mira.journal.add(told, audience=["#5"], source_entity="#5", pinned=pinned)
    for present in (ANN, BOTH):
        mira.services.world.present = present
        talk(mira, "Where is the ruby?")
        request = mira.services.gateway.requests[-1]
        knows = "the well" in str(request.messages)
        assert [knows, request.trace.private] == [present == ANN] * 2


def test_lore_that_a_whisper_touched_is_in_no_prompt_for_others(mira):
    mira.mind.settings.profile = ModelProfile("far", client="openai", model="m")
    mira.services.world.known = [LoreEntry("The ruby", "A ruby lies in the mill race.")]
    assert "mill race" in str(talk(mira, "Where is the ruby?", whisper=True))
    assert "mill race" not in str(talk(mira, "hello"))  # others would learn what was asked
    assert "mill race" in str(talk(mira, "Well?", whisper=True))


def test_lore_that_is_always_told_stays_when_much_else_was_touched(mira):
    mira.mind.settings.profile = ModelProfile("far", client="openai", model="m")
    rule = LoreEntry("House rules", "No knives.", always=True)
    tales = [LoreEntry(f"Tale{n}", "It is long. " * 60, keys=(f"key{n}",)) for n in range(4)]
    mira.services.world.known = [rule, *tales]
    shown = talk(mira, "hi", *(f"and key{n}?" for n in range(4)))
    parts = ("always know", "Tale0:", "Tale3:")
    assert [str(shown).count(part) for part in parts] == [1, 0, 1]
    assert "Tale0:" in str(talk(mira, "key0 again?"))


def test_its_authors_are_those_of_the_prompt(mira):
    mira.journal.add("Cay keeps bees.", source_entity="#9", speakers=["#9"], pinned=True)
    talk(mira, "Who keeps bees?")
    talk(mira, "a cold night")
    assert "#9" in mira.services.gateway.requests[-1].authors


@pytest.mark.parametrize("change", ["removed", "withheld", "edited", "confided"])
def test_a_memory_that_is_gone_or_changed_stands_in_no_later_prompt(mira, change, monkeypatch):
    entry = mira.journal.add("Cay keeps bees.", pinned=True, source_seqs=[1])
    assert "Cay keeps bees." in str(talk(mira, "Who keeps bees?"))
    if change == "removed":
        mira.journal.remove(entry)
    elif change == "withheld":  # a builder hid the line that it was made of
        hidden = LineAmendment(1, 1, HIDDEN, "2026-01-01T00:00:00+00:00")
        amendments = SimpleNamespace(shown={1: hidden})
        monkeypatch.setattr(type(mira.journal), "amendments", amendments)
    else:
        words = {"content": "Cay has ducks."} if change == "edited" else {"audience": ["#6"]}
        mira.journal.update(entry, **words)
    shown = str(talk(mira, "a cold night"))
    assert "keeps bees" not in shown and "Place: Tavern" in shown


def test_after_a_compaction_all_is_told_again(mira):
    mira.config = AssistantConfig(max_context_tokens=4_000, compact_preserve_window=4)
    talk(mira, "hi", *(f"line {n} of the talk " + "word " * 30 for n in range(20)))
    assert "Place: Tavern" in str(mira.log.current.scenes)
    mira.services.gateway.add(*["Ann spoke of line 1 of the talk, of line 5 and of line 12."] * 5)
    fired = []
    request = CompactionOrder(MANUAL, force=True)
    mira.mind.compactor.compact(request).addBoth(fired.append)
    assert fired[0].get("success"), fired
    assert "Place: Tavern" not in str(mira.log.current.scenes)
    assert "Place: Tavern" in str(talk(mira, "a cold night"))


def test_what_a_failed_call_told_is_told_again(mira):
    talk(mira, "hi", answer=ProviderUnavailable("down"))
    assert mira.log.current.scenes == []
    (scene,) = talk(mira, "hello?")
    assert "Place: Tavern" in scene


def test_lines_of_an_outage_are_one_row_and_still_recalled(mira):
    talk(mira, "hi")
    lines = ["My cow is called Elsa.", "She eats thistles.", "Are you asleep?", "Wake up, Mira!"]
    talk(mira, *lines, answer=ProviderUnavailable("down"))
    shown = str(talk(mira, "There you are."))
    row = "While you could not answer: Ann said 4 things; the last: Ann says: Wake up, Mira!"
    assert row in shown
    prompt = str(mira.services.gateway.requests[-1].messages)
    assert "Ann says: She eats" not in prompt and "Ann says: hi" in prompt
    assert row in str(talk(mira, "What is my cow called?"))
    prompt = str(mira.services.gateway.requests[-1].messages)
    assert "My cow is called Elsa." in prompt and prompt.count("Ann says: hi") == 1
    assert [m["content"] for m in mira.log.view() if "cow is called Elsa" in m["content"]]


def test_what_was_whispered_in_an_outage_is_in_the_row_of_its_parties_alone(mira):
    talk(
        mira,
        "I hid the ruby.",
        "In the well.",
        "Hush!",
        whisper=True,
        answer=ProviderUnavailable("x"),
    )
    assert "While you" not in str(talk(mira, "hello"))
    row = "Ann said 3 things; the last: Ann whispers to you: Hush!"
    assert row in str(talk(mira, "Well?", whisper=True))


def test_a_dry_run_and_a_look_at_the_next_prompt_leave_no_scene(mira):
    heard = IncomingEvent("say", "#5", "Ann", "hi", BOTH, addressed=True)
    mira.services.gateway.add(HI)
    run_dry(mira.around, heard)
    assert "Place: Tavern" in str(next_step(mira.around, heard).request.messages)
    mira.mind.prompts.build(CONTEXT_TICK_EVENT, BOTH)
    assert mira.log.current.scenes == []


def test_what_changes_within_a_turn_is_told_before_its_lines(mira):
    def goes_out(context, arguments):
        mira.services.world.seen = Situation(place="Yard")
        return "You see nothing special."

    mira.services.toolbox.behaviours["look"] = goes_out
    mira.services.gateway.add(call("look"))
    talk(mira, "look outside")
    texts = [one["content"] for one in mira.services.gateway.requests[-1].messages]
    scenes = [n for n, text in enumerate(texts) if text.startswith("<situation>")]
    assert "Place: Yard" in texts[scenes[-1]]
    assert texts[scenes[-1] + 1] == "Ann says: look outside"
    before = list(mira.services.gateway.requests[-1].messages)
    talk(mira, "and now?")
    assert list(mira.services.gateway.requests[-1].messages)[: len(before)] == before


def test_what_a_dry_run_adds_stands_in_no_view_that_the_talk_goes_on_from():
    log = SimpleNamespace(current=LogInView(None, (), 0, count_stored), hidden=())
    DryConversation(log.current.copy()).append([make_message("user", "Ann says: hi")])
    assert log.current.items == []
