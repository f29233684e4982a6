"""A turn answers who spoke to the character; whoever was only overheard is no party to it (P9)."""

import json

import pytest

from evennia_ai import models
from evennia_ai.policy.records.goal import PlannedBlock
from evennia_ai.tools.base import NoArguments, tool
from evennia_ai.tools.permission import only_speaker
from tests.game.compaction_records import record
from tests.game.forgetting_scene import forget, fresh
from tests.game.profile_values import history, set_attribute
from tests.scripted import call

SECRET = "the marigold key opens my third cellar"


@pytest.fixture
def eve(game, tavern, mira):
    return game.player("Eve", tavern)


def whispered(game, ann, eve):
    """Let Eve say a thing to nobody, and Ann whisper a secret, which Mira answers and notes."""
    game.model.add(
        call("add_journal_entry", content=f"Ann trusts me: {SECRET}."),
        call("whisper", text=f"I shall remember that {SECRET}.", target="Ann"),
    )
    eve.do("say What a fine evening")
    ann.do(f"whisper Mira = {SECRET}")
    game.run(2)
    (turn,) = models.Turn.objects.all()
    noted = turn.events.get(state="noted")
    assert (noted.speaker, turn.outcome) == (eve.dbref, "answered")
    return turn


def pages(player, line):
    """Return all pages of what a command shows."""
    shown = player.told(line)
    for _ in range(4):
        shown += player.told("n")
    return shown


def test_who_was_overheard_is_not_shown_the_whispered_answer_to_another(game, ann, eve, mira):
    whispered(game, ann, eve)
    shown = pages(eve, "aboutme")
    assert "What a fine evening" in shown
    assert "marigold" not in shown and "add_journal_entry" not in shown
    assert pages(ann, "aboutme").count("marigold") >= 3


def test_no_whisper_to_another_is_shown(game, ann, eve, mira):
    game.model.add({"whisper": {"text": SECRET, "target": "Ann"}, "say": {"text": "A moment."}})
    eve.do("say Mira, hello")
    game.run(2)
    assert SECRET in "\n".join(ann.heard())
    shown = pages(eve, "aboutme")
    assert "Mira, hello" in shown and "marigold" not in shown


def test_no_summary_for_another_is_shown(game, ann, eve, mira):
    game.model.add(call("noop"))
    ann.do("say Mira, good evening")
    eve.do("say Mira, hello")
    game.run(2)
    upto = models.Message.objects.order_by("-id").values_list("id", flat=True)[0]
    key, both = ann.dbref, [ann.dbref, eve.dbref]
    made = record(upto, summary={"public": "Eve came.", key: SECRET}, speakers={key: both})
    mira.assistant.conversation.compactions.commit(made)
    assert "marigold" not in pages(eve, "aboutme")
    assert "marigold" in pages(ann, "aboutme")


def test_what_was_overheard_is_forgotten_and_the_answer_to_another_stays(game, ann, eve, mira):
    turn = whispered(game, ann, eve)
    models.ModelCall.objects.update(error="400: bad message")

    def of_ann():
        return [
            list(models.Message.objects.exclude(speaker=eve.dbref).values_list("id", "content")),
            list(turn.tool_calls.values_list("id", "arguments", "result", "locks")),
            list(turn.events.exclude(speaker=eve.dbref).values_list("id", "text", "reason")),
            list(models.ModelCall.objects.values_list("id", "error")),
            list(models.Turn.objects.values_list("audience")),
            [(entry["id"], entry["content"], entry["audience"]) for entry in fresh(mira).all()],
        ]

    before = of_ann()
    assert len(before[0]) == 5 and len(before[1]) == 2 and len(before[5]) == 1
    forget(eve)
    assert of_ann() == before
    assert not models.Message.objects.filter(content__contains="fine evening").exists()
    forget(ann)
    assert [*of_ann()[:3], of_ann()[5]] == [[], [], [], []]
    assert models.Turn.objects.get().askers == " #0 "


def tag_speaker(context, arguments: NoArguments) -> str:
    """Make the one who speaks a guest."""
    only_speaker(context).tags.add("guest")
    return "They are a guest."


@pytest.fixture
def tagged(game, mira, ann, eve):
    """Return a function that says who is a guest, by the tools `welcome` and `invite`."""
    game.service.toolbox.add(tool("welcome", category="once")(tag_speaker))
    game.service.toolbox.add(tool("invite", category="once", answers_only=True)(tag_speaker))
    return lambda: [who for who in (ann, eve) if who.character.tags.has("guest")]


def test_what_a_bystander_says_hinders_no_act_that_another_confirms(game, mira, ann, eve, tagged):
    game.model.add(call("invite"), call("noop"))
    eve.do("say hm")
    ann.do("say Mira, may I stay?")
    game.run(1)
    (act,) = models.PendingAct.objects.all()
    assert act.speakers == [ann.dbref] and f" {eve.dbref} " in act.authors
    eve.do("yes")
    game.run(1)
    assert tagged() == []
    ann.do("yes")
    game.run(1)
    assert tagged() == [ann]
    assert "confirm" not in "\n".join(eve.heard())


def test_who_was_overheard_takes_no_waiting_act_of_another_along(game, mira, ann, eve, tagged):
    game.model.add(call("invite"), call("noop"))
    eve.do("say hm")
    ann.do("say Mira, may I stay?")
    game.run(1)
    forget(eve)
    (act,) = models.PendingAct.objects.all()
    assert act.speakers == [ann.dbref]
    ann.do("yes")
    game.run(1)
    assert tagged() == [ann]


def test_what_a_bystander_says_hinders_no_act_and_does_none_to_them(game, mira, ann, eve, tagged):
    game.model.add(call("welcome"), call("noop"))
    eve.do("say hm")
    ann.do("say Mira, I have come to stay")
    game.run(1)
    assert tagged() == [ann]


def test_two_who_both_speak_to_a_character_are_refused_as_before(game, mira, ann, eve, tagged):
    game.model.add(call("welcome"), call("noop"))
    eve.do("say Mira, I have come to stay")
    ann.do("say Mira, I have come to stay")
    game.run(1)
    assert "Only one person alone" in models.ToolCall.objects.first().result


def test_an_overheard_stranger_still_needs_the_tools_lock(game, mira, ann, eve, tagged):
    """P8: whose words stand in the prompt is asked, whoever asks for the act."""
    game.service.toolbox.add(tool("welcome", lock=f"id({ann.dbref})")(tag_speaker))
    game.model.add(call("welcome"), call("noop"))
    eve.do("say hm")
    ann.do("say Mira, I have come to stay")
    game.run(1)
    assert tagged() == []


def test_records_and_tellings_of_a_turn_of_another_are_not_shown_and_stay(game, mira, ann, eve):
    of_both = sorted([ann.dbref, eve.dbref])
    eve.do("say What a fine evening")
    ann.do("say Mira, my boat is green")
    game.run(1)
    seq = models.Message.objects.get(speaker=ann.dbref).id
    fields = {"speakers": of_both, "source_seqs": [seq]}
    mira.journal.add("A boat is green.", **fields)
    mira.ai_goals.add("See that boat.", **fields)
    mira.ai_profiles.observe(ann.dbref, "Owns a boat.", **fields)
    mira.ai_plan.replace([PlannedBlock(content="Look at boats.", begin=1, end=2)], [])
    now = game.service.now()
    models.SharedEntry.objects.create(
        assistant=mira.assistant, at=now, entry="j900", scope="world", teller=mira.dbref,
        text="A boat is green.", learnt_at=now, available_from=now, importance=5, trust=0.5,
        speakers=of_both, people=f" {' '.join(of_both)} ",
    )  # fmt: skip
    models.SleepPass.objects.create(
        assistant=mira.assistant, at=now, reason="quiet", errors={"reflection": "boat"}
    )
    assert "boat" not in pages(eve, "aboutme")
    assert "boat" in pages(ann, "aboutme")
    forget(eve)
    assert [entry["content"] for entry in fresh(mira).all()] == ["A boat is green."]
    (goal,) = mira.ai_goals.all()
    assert (goal["content"], eve.dbref in json.dumps(goal)) == ("See that boat.", False)
    assert any("boat" in one.get("content", "") for one in mira.ai_profiles.about(ann.dbref))
    (told,) = models.SharedEntry.objects.all()
    assert (told.speakers, eve.dbref in told.people) == (sorted(["#0", ann.dbref]), False)
    assert models.SleepPass.objects.count() == 1
    forget(ann)
    assert fresh(mira).all() == [] and not models.SharedEntry.objects.exists()


def test_a_whisper_to_two_stays_with_who_asked_when_the_other_is_forgotten(game, mira, ann, eve):
    audience = sorted([ann.dbref, eve.dbref])
    mira.journal.add("A secret of three.", audience=audience, source_entity=ann.dbref)
    forget(eve)
    (entry,) = fresh(mira).all()
    assert entry["audience"] == [ann.dbref]
    forget(ann)
    assert fresh(mira).all() == []


def test_what_was_made_of_an_entry_stays_if_the_entry_stays(game, mira, ann, eve):
    """It loses one number among its authors, which makes it no entry of theirs."""
    eve.do("say What a fine evening")
    ann.do("say Mira, my boat is green")
    game.run(1)
    seqs = [models.Message.objects.get(speaker=ann.dbref).id]
    of_both = {"speakers": [ann.dbref, eve.dbref], "source_seqs": seqs}
    source = mira.journal.add("A boat is green.", **of_both)
    made = {"speakers": [ann.dbref], "source_seqs": seqs}
    set_attribute(mira.ai_profiles, ann.dbref, "boat", "green", sources=[source], **made)
    forget(eve)
    assert [entry["content"] for entry in fresh(mira).all()] == ["A boat is green."]
    (value,) = history(mira.ai_profiles, ann.dbref, "boat")
    assert (value["value"], value["sources"]) == ("green", [source])
