"""The switch for one assistant and for all."""

from evennia.utils import logger
from twisted.internet.defer import Deferred

from evennia_ai.models import Event
from evennia_ai.services.assistant_service import AssistantService
from tests.game.conftest import gateway_to
from tests.scripted import call


def test_all_are_stopped_at_once_and_whoever_waits_is_told(game, admin, ann, mira):
    late = Deferred()
    game.model.add(late)
    ann.do("say Mira, hello")
    game.run()
    assert admin.told("aistop all").startswith("All assistants are stopped")
    assert ann.last() == "(Mira is silent: the staff has stopped all such characters.)"
    assert late.called
    assert [e.reason for e in Event.objects.filter(state="expired")] == [
        "All assistants were stopped by Ada."
    ]


def test_who_stopped_and_started_is_in_the_security_log(admin, mira, monkeypatch):
    lines = []
    monkeypatch.setattr(logger, "log_sec", lines.append)
    for command in ("aistop Mira", "aistart Mira", "aistop all", "aistart all"):
        admin.told(command)
    who = f"Ada ({admin.dbref})"
    assert lines == [
        f"{typed}: {who} = {name}"
        for name in ("Mira", "all")
        for typed in ("aistop", "aistop/start")
    ]


def test_while_all_are_stopped_no_model_is_asked_and_speakers_are_told(game, admin, ann, mira):
    admin.told("aistop all")
    ann.do("say Mira, hello")
    game.run(10)
    assert game.model.requests == []
    assert ann.last() == "(Mira is silent: the staff has stopped all such characters.)"


def test_what_waits_as_all_are_stopped_waits_on(game, admin, ann, mira):
    ann.do("say Mira, hello")
    admin.told("aistop all")
    ann.forget()
    mira.assistant.at_tick()
    game.run(10)
    assert (ann.heard(), Event.objects.get().state) == ([], "waiting")
    game.model.add(call("say", text="Hello."))
    admin.told("aistart all")
    game.run(10)
    assert ann.last() == 'Mira says, "Hello."'


def test_what_is_said_to_a_stopped_character_is_stored_and_its_speaker_is_told_now_and_then(
    game, admin, ann, mira
):
    admin.told("aistop Mira")
    for line in ("say Mira, hello?", "whisper Mira = psst", "say Bob, hello!"):
        ann.do(line)
        game.run(1)
    rows = Event.objects.order_by("id").values_list("text", "state", "reason")
    assert list(rows) == [
        ("Mira, hello?", "expired", "the character is stopped (aistop)"),
        ("psst", "expired", "the character is stopped (aistop)"),
    ]
    silent = "(Mira is silent: the staff has stopped this character.)"
    assert [line for line in ann.heard() if "silent" in line] == [silent]
    admin.told("aistart Mira")
    game.run(10)
    assert game.model.requests == []


def test_a_stopped_character_does_not_speak_for_one_who_answers_or_who_is_played(
    game, admin, ann, mira, tavern
):
    game.assistant("Otto", tavern)
    admin.told("aistop Mira")
    game.model.add(call("say", text="Hello."))
    ann.do("say Hello!")
    game.run(1)
    assert ann.last() == 'Otto says, "Hello."'
    assert not Event.objects.filter(assistant_id=mira.assistant.id).exists()


def test_who_stays_stopped_by_name_is_named_when_all_are_started(game, admin, mira, tavern):
    game.assistant("Otto", tavern)
    admin.told("aistop Mira")
    admin.told("aistop all")
    told = admin.told("aistart all")
    assert "All assistants are started. Still stopped by name: Mira." in told


def test_the_switch_outlives_a_restart_and_is_undone(game, admin, ann, mira):
    admin.told("aistop all")
    service = AssistantService(clock=game.clock, environ={})
    service.gateway = gateway_to(game.model, game.clock)
    service.startService()
    try:
        assert service.switched_off == "All assistants were stopped by Ada."
        assert "are started" in admin.told("aistart all")
        game.model.add(call("say", text="Hello."))
        ann.do("say Mira, hello")
        game.run(1)
        assert ann.last() == 'Mira says, "Hello."'
    finally:
        service.stopService()


def test_an_account_that_is_admin_may_stop_all_unless_it_is_quelled(game, tavern, mira):
    chief = game.player("Chief", tavern, permissions=["Builder"])
    chief.account.permissions.add("Admin")
    chief.account.attributes.add("_quell", True)
    assert "Only admins may stop or start all assistants." in chief.told("aistop all")
    chief.account.attributes.add("_quell", False)
    assert "All assistants are stopped" in chief.told("aistop all")


def test_only_a_stop_and_a_start_take_all_and_an_unknown_switch_is_told(admin, mira):
    assert "no character called 'all'" in admin.told("aistop/sleep all")
    assert "There is no switch /soon. There are: /start, /sleep, /wake." in admin.told(
        "aistop/soon Mira"
    )
    assert "There is no switch /soon: aistatus has none." in admin.told("aistatus/soon")


def test_who_starts_all_is_told_who_is_stopped_by_name(admin, mira):
    admin.told("aistop Mira")
    assert (
        admin.told("aistart all") == "The assistants are not stopped. Still stopped by name: Mira."
    )
