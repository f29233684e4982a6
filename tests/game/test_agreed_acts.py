"""Sensitive acts wait for the yes of the one who spoke. Each runs once."""

import pytest

from evennia_ai import models
from evennia_ai.services.startup import StartupRecovery
from evennia_ai.store import pending_acts
from tests.game.vault import Vault
from tests.scripted import call

pytestmark = pytest.mark.engine


@pytest.fixture
def vault(game):
    return Vault(game, lock="perm(Admin)", answers_only=True)


def asks(game, player, door="north", line="say Mira, open the vault"):
    """Let the model call the tool at somebody's words."""
    game.model.add(call("staff_vault", door=door), call("say", text="A moment."))
    player.do(line)
    game.run(1)
    game.model.script.clear()


def says(game, player, line):
    """Type a line that the model answers with silence."""
    game.model.add(call("noop"))
    player.do(line)
    game.run(1)
    game.model.script.clear()


def states():
    return [row.state for row in models.PendingAct.objects.order_by("id")]


def restart(game, mira):
    """Forget what is in memory, as a reload does."""
    for obj in mira.location.contents:
        obj.ndb.ai_asked = None
        obj.cmdset.remove("evennia_ai.commands.oversight.AnswerCmdSet")
    mira.assistant.mind.turn_runner.acts_due = None
    StartupRecovery(game.service).begin()
    game.run(5)


def test_it_is_offered_to_the_speaker_although_strangers_talked(game, mira, ann, admin, vault):
    says(game, ann, "say Mira, CALL staff_vault")
    assert not vault.is_offered()
    asks(game, admin)
    assert vault.is_offered(-2)
    assert vault.opened == []


def test_a_stranger_who_speaks_too_takes_it_away(game, mira, ann, admin, vault):
    ann.do("say Nice weather.")
    asks(game, admin)
    assert not vault.is_offered(0)


def test_the_speaker_is_told_exactly_what_would_be_done(game, mira, admin, vault):
    asks(game, admin, door="the 2nd, red")
    told = "\n".join(admin.heard())
    assert "Mira asks you for leave to use 'staff_vault': Open a door of the vault." in told
    assert 'With exactly: door: "the 2nd, red".' in told
    assert "within 60 seconds" in told
    assert "Not done yet" in str(game.model.requests[-1].messages)
    assert models.ToolCall.objects.get(name="staff_vault").state == "asked"


def test_what_a_model_wrote_into_the_question_is_plain_text(game, mira, admin, vault, monkeypatch):
    sent = []
    monkeypatch.setattr(admin.character, "msg", lambda text="", **_more: sent.append(str(text)))
    asks(game, admin, door="the |rred|n |lcquit|ltdoor|le")
    (question,) = [line for line in sent if "With exactly" in line]
    assert "the ||rred||n " in question
    assert "|lc" not in question.replace("||", "")


@pytest.mark.parametrize("word", ["yes", "say yes", "say Yes, Mira!", "whisper Mira = yes"])
def test_a_yes_runs_it_once(game, mira, admin, vault, word):
    asks(game, admin)
    says(game, admin, word)
    says(game, admin, "say yes")
    game.run(5)
    assert vault.opened == ["north"]
    assert states() == ["done"]
    assert "(Mira has done what was allowed.)" in admin.heard()
    row = models.ToolCall.objects.filter(name="staff_vault").order_by("id").last()
    assert (row.state, row.result) == ("done", "The north door is open.")
    logged = mira.assistant.conversation_history
    assert any("The north door is open." in message["content"] for message in logged)


HIDDEN = "for bread\u200b\u202e" + "".join(chr(0xE0000 + ord(char)) for char in "and gold")


def test_the_call_runs_with_what_the_speaker_read_and_nothing_hidden(game, mira, admin, vault):
    asks(game, admin, door=HIDDEN)
    assert 'With exactly: door: "for bread".' in "\n".join(admin.heard())
    says(game, admin, "yes")
    assert vault.opened == ["for bread"]


@pytest.mark.parametrize("word", ["no", "say no", "say No, Mira."])
def test_a_no_forbids_it(game, mira, admin, vault, word):
    asks(game, admin)
    says(game, admin, word)
    says(game, admin, "say yes")
    assert vault.opened == []
    assert states() == ["refused"]


@pytest.mark.parametrize("word", ["say yes", "emote says yes", "say yes yes yes"])
def test_nobody_elses_yes_counts(game, mira, ann, admin, vault, word):
    asks(game, admin)
    says(game, ann, word)
    assert "yes" in ann.told("yes")  # is no command of hers
    assert vault.opened == []
    assert states() == ["waiting"]


@pytest.mark.parametrize("word", ["say yes, the weather is fine", "emote says yes", "say maybe"])
def test_other_words_are_no_answer(game, mira, admin, vault, word):
    asks(game, admin)
    says(game, admin, word)
    assert states() == ["waiting"]


def test_while_one_waits_no_other_takes_its_place(game, mira, admin, vault):
    asks(game, admin, door="north")
    asks(game, admin, door="south")
    says(game, admin, "yes")
    assert vault.opened == ["north"]


def test_of_two_who_ask_at_once_neither_may_confirm(game, mira, admin, tavern, vault):
    other = game.player("Abe", tavern, permissions=["Admin"])
    other.do("say Mira, open the vault")
    asks(game, admin)
    assert models.ToolCall.objects.get(name="staff_vault").state == "refused"
    assert (states(), vault.opened) == ([], [])


def test_arguments_that_nobody_could_read_are_not_asked_for(game, mira, admin, vault):
    asks(game, admin, door="x" * 700)
    assert "be shorter" in str(game.model.requests[-1].messages)
    assert states() == []


def test_a_tool_cannot_wait_for_both(game):
    with pytest.raises(ValueError, match="choose either"):
        Vault(game, answers_only=True, approval="perm(Admin)")


def test_after_a_minute_it_is_too_late(game, mira, admin, vault):
    asks(game, admin)
    game.clock.advance(61)
    assert "Nothing waits" in admin.told("yes")
    game.run(5)
    assert vault.opened == []


def test_the_lock_is_asked_again_when_it_runs(game, mira, admin, vault):
    asks(game, admin)
    admin.account.permissions.clear()
    says(game, admin, "yes")
    assert vault.opened == []
    assert states() == ["refused"]


def test_a_reload_between_question_and_answer_changes_nothing(game, mira, admin, vault):
    asks(game, admin)
    restart(game, mira)
    says(game, admin, "yes")
    assert vault.opened == ["north"]


def test_what_was_allowed_before_a_crash_runs_after_it(game, mira, admin, vault):
    asks(game, admin)
    models.PendingAct.objects.update(state="agreed", decided_by=admin.dbref)
    restart(game, mira)
    assert vault.opened == ["north"]
    restart(game, mira)
    assert vault.opened == ["north"]


def test_what_somebody_whispered_for_stays_private_until_it_is_done(game, mira, admin, vault):
    asks(game, admin, line="whisper Mira = open the vault")
    says(game, admin, "yes")
    assert vault.opened == ["north"]
    rows = models.Message.objects.filter(tool_calls__icontains="staff_vault")
    assert [(row.private, row.audience) for row in rows] == [(True, [admin.dbref])] * 2


def test_what_was_allowed_long_before_a_crash_does_not_run(game, mira, admin, vault):
    asks(game, admin)
    act, now = models.PendingAct.objects.get(), game.service.now()
    assert pending_acts.decide(act.id, admin.dbref, True, now)
    game.clock.advance(pending_acts.RUN_WITHIN.total_seconds() + 1)
    restart(game, mira)
    assert vault.opened == []
    assert states() == ["expired"]


@pytest.mark.parametrize("state", ["agreed", "running", "refused", "done", "unknown"])
def test_an_act_that_does_not_wait_any_more_cannot_be_decided_again(
    game, mira, admin, vault, state
):
    asks(game, admin)
    models.PendingAct.objects.update(state=state)
    (act,) = models.PendingAct.objects.all()
    assert not pending_acts.decide(act.id, admin.dbref, True, game.service.now())
    assert states() == [state]
    mira.assistant.mind.around.pending_acts.finish(act.id, "failed", "late")
    assert states() == ["failed" if state == "running" else state]


def test_what_a_crash_cut_off_is_not_run_again(game, mira, admin, vault):
    asks(game, admin)
    models.PendingAct.objects.update(state="running", decided_by=admin.dbref)
    restart(game, mira)
    assert vault.opened == []
    assert states() == ["unknown"]


def test_without_staff_who_can_be_asked_it_never_runs(game, mira, admin):
    queued = Vault(game, lock="all()", approval="perm(Admin)")
    game.service.extensions = []
    asks(game, admin)
    assert "cannot be asked" in str(game.model.requests[-1].messages)
    assert (queued.opened, states()) == ([], [])
