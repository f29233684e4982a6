"""What staff may read: a builder's commands show no private word, whichever they type."""

import pytest

from evennia_ai.commands.cmdset import all_commands
from evennia_ai.models import Compaction, Event, ModelCall, SleepPass, Turn
from evennia_ai.store.attributes import SCRIPT_KEY
from tests.encoded import forms
from tests.scripted import call

CANARY = "zanzibar"


@pytest.fixture
def typed(game):
    """Return a function that types a command, lets time pass and returns all output."""

    def typed(player, line):
        player.forget()
        player.do(line)
        for _ in range(3):
            game.run(0.1)
        return "\n".join(player.heard())

    return typed


@pytest.fixture
def confided(game, mira, ann, bob, admin, builder):
    """Let Ann whisper, and put the canary wherever private words are stored."""
    script = mira.assistant
    game.model.add(
        call("add_journal_entry", content=f"I promise Ann: her word is {CANARY}."),
        call("whisper", target="Ann", text=f"I keep {CANARY}."),
    )
    ann.do(f"whisper Mira = Keep my word: {CANARY}")
    game.run(2)
    audience = [ann.dbref]
    mira.journal.add(f"Ann's other word is {CANARY}.", audience=audience, speakers=audience)
    mira.journal.archive.put_away(
        mira.journal, mira.journal.add(f"{CANARY} of old", audience=audience, speakers=audience)
    )
    mira.ai_profiles.observe(ann.dbref, f"hums {CANARY}", speakers=audience, audience=audience)
    mira.ai_goals.add(f"Find {CANARY}.", why=CANARY, audience=audience)
    now = script.services.now()
    Compaction.objects.create(
        assistant_id=script.id, at=now, reason="sleep", from_seq=1, upto_seq=1, compacted_count=1,
        original_token_count=9, summary_token_count=3, undone_at=now,
        summary={"public": "They met.", ann.dbref: f"Ann's word is {CANARY}."},
    )  # fmt: skip
    SleepPass.objects.create(
        assistant_id=script.id, at=now, ended_at=now, reason="order", outcome="done",
        results={"context_compaction": {"success": False}},
        errors={"context_compaction": f"the endpoint said {CANARY}"},
    )  # fmt: skip
    turn = Turn.objects.create(
        assistant_id=script.id, at=now, ended_at=now, context="tick", outcome="expired",
        detail=f"the endpoint said {CANARY}",
    )  # fmt: skip
    Event.objects.create(
        assistant_id=script.id, at=now, kind="whisper", speaker=ann.dbref, speaker_name="Ann",
        text=CANARY, audience=audience, private=True, state="doubtful", reason=CANARY,
    )  # fmt: skip
    ModelCall.objects.create(
        assistant_id=script.id, at=now, turn=turn, purpose="tick", profile="default",
        error_kind="rejected", error=f"the endpoint said {CANARY}",
    )  # fmt: skip
    game.model.add(*[repeat_prompt] * 99)
    return mira


def repeat_prompt(request):
    """Reply with everything that the prompt holds."""
    return call("say", text=" ".join(str(message["content"]) for message in request.messages))


COMMANDS = all_commands()
ARGUMENTS = (
    "", "Mira", "Mira = 1", "Mira = 2", "Mira = j1", "Mira = j2", "Mira = j3", "Mira = g1",
    "Mira = Ann", "Mira = word", "Mira = page 1", "Mira as Ann = word",
    "Mira/whisper_policy = trusting", "Mira/j1 = new words", "all",
)  # fmt: skip
LINES = [
    f"{command.key}{'/' + switch if switch else ''} {arguments}"
    for command in COMMANDS
    for switch in ("", *command.switch_options)
    for arguments in ARGUMENTS
]


def shows(text):
    encoded = (form.decode() for form in forms(CANARY))
    return CANARY in text.lower() or any(form in text for form in encoded)


def lines_of(command):
    return [line for line in LINES if line.split()[0].split("/")[0] == command.key]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.key)
def test_a_command_shows_a_builder_no_private_word(confided, builder, typed, command):
    lines = lines_of(command)[::8]  # each argument comes by, and most switches
    assert [line for line in lines if shows(typed(builder, line))] == []


@pytest.mark.campaign
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.key)
def test_no_command_shows_a_builder_a_private_word(confided, builder, typed, command):
    lines = lines_of(command)
    assert [line for line in lines if shows(typed(builder, line))] == []


OF_ADMINS = (
    "aihistory Mira", "aihistory/turns Mira", "aihistory/search Mira = word",
    "aihistory/compaction Mira = 1", "aihistory/sleep Mira", "aihistory/sleep Mira = 1",
    "aihistory/journal Mira", "aimemory Mira", "aimemory/show Mira = j1",
    "aimemory/about Mira = Ann", "aimemory/search Mira as Ann = word",
    "aimemory/archive Mira", "aistatus",
)  # fmt: skip


def test_an_admin_reads_them_all(confided, admin, typed):
    assert [line for line in OF_ADMINS if not shows(typed(admin, line))] == []


def test_a_search_does_not_tell_a_builder_whether_whispers_hold_a_word(confided, builder, typed):
    found, not_found = (
        typed(builder, f"aihistory/search Mira = {word}") for word in (CANARY, "giraffe")
    )
    assert found == not_found
    found, not_found = (
        typed(builder, f"aimemory/search Mira = {word}") for word in (CANARY, "giraffe")
    )
    assert found == not_found


def test_reading_private_words_is_logged_without_them(confided, admin, builder, typed, sec_log):
    typed(builder, "aihistory Mira")
    typed(admin, "aistatus")
    assert sec_log == []
    typed(admin, "aihistory/journal Mira")
    dbref = admin.character.dbref
    whose = f"private items of Mira ({confided.dbref})"
    assert sec_log == [f"aihistory/journal: Ada ({dbref}) read 2 {whose}"]


@pytest.fixture
def sec_log(monkeypatch):
    from evennia.utils import logger

    lines = []
    monkeypatch.setattr(logger, "log_sec", lambda text, **kwargs: lines.append(text))
    return lines


EVENNIA_LINES = [
    "examine Mira", "examine Mira/000000", "examine Mira/000000,broken_000000", "ex Mira/*",
    "set Mira", "set Mira/000000", "set Mira/000000:ai_journal", "set/edit Mira/000000",
    "cpattr Mira/000000 = me/stolen", "mvattr Mira/000000 = me/stolen", "copy Mira = Minna",
    "examine Minna", "spawn/save Mira", "spawn/examine Mira", "find Mira", "tag Mira",
    "tag/search x", "objects", "scripts", "scripts Mira", f"examine/script {SCRIPT_KEY}",
    "look Mira", "name Mira = Mia", f"set/script {SCRIPT_KEY}",
    f"set/script {SCRIPT_KEY}/context_signals", "typeclass/show Mira",
    "typeclass/force Mira = evennia.objects.objects.DefaultCharacter", "examine Mira/000000",
]  # fmt: skip


def test_examine_names_what_it_does_not_show(confided, builder, typed):
    assert "records of an assistant; aimemory and aigoals show them" in typed(
        builder, "examine Mira"
    )


def test_no_command_of_evennia_shows_a_builder_a_private_word(confided, builder, typed):
    assert [line for line in EVENNIA_LINES if shows(typed(builder, line))] == []
