"""Only admins change ``whisper_policy``, and only for what is heard from then on."""

import pytest

from evennia_ai.models import Event, Message
from evennia_ai.store.attributes import SCRIPT_KEY
from tests.scripted import call

CANARY = "zanzibar"
OFFLINE = {"client": "offline"}
PROFILES = {"open": {**OFFLINE, "whisper_policy": "trusting"}}


@pytest.fixture
def whispered(game, mira, ann):
    game.model.add(call("whisper", target="Ann", text="I keep it."))
    ann.do(f"whisper Mira = my word is {CANARY}")
    game.run(1)
    mira.journal.add(f"Ann's word is {CANARY}.", audience=[ann.dbref], speakers=[ann.dbref])
    return mira


def prompt_of(game, player, line="say Mira, what did Ann whisper to you?"):
    """Let a player ask, and return the prompt of the answer."""
    game.model.add(call("say", text="Nothing."))
    player.do(line)
    game.run(1)
    return str(game.model.requests[-1].messages)


@pytest.mark.parametrize(
    "line",
    [
        "aisetup/set Mira/whisper_policy = trusting",
        "aisetup/set Mira/profile = open",
        f"set/script {SCRIPT_KEY}/whisper_policy = 'trusting'",
        f"set/script {SCRIPT_KEY}/profile = 'open'",
        "set Mira/whisper_policy = 'trusting'",
        "cpattr here/whisper_policy = Mira/whisper_policy",
        "script Mira = evennia_ai.assistant_script.AssistantScript",
        "typeclass/force/update Mira",
        "spawn {'prototype_key': 'x', 'key': 'Mira', 'attrs': [('whisper_policy', 'trusting')]}",
    ],
)
def test_a_builder_has_no_way_to_it(game, service, whispered, builder, line):
    service.profiles = {**service.profiles, **PROFILES}
    builder.character.location.db.whisper_policy = "trusting"
    builder.do(line)
    game.run(1)
    whispered.assistant.mind.settings.resolve()
    assert whispered.assistant.config.whisper_policy == "strict"
    assert CANARY not in prompt_of(game, builder)


def test_a_builder_cannot_leave_a_profile_that_an_admin_chose(game, service, mira, builder, admin):
    strict = {"shut": {**OFFLINE, "whisper_policy": "strict"}}
    service.profiles = {**service.profiles, **strict}
    mira.assistant.mind.settings.resolve()
    assert "Only admins" not in admin.told("aisetup/set Mira/profile = shut")
    assert "Only admins may change" in builder.told("aisetup/set Mira/profile =")
    assert mira.assistant.mind.settings.profile.name == "shut"


def test_an_admin_opens_nothing_that_was_heard_before(game, whispered, admin, builder):
    assert "whisper_policy is now trusting" in admin.told(
        "aisetup/set Mira/whisper_policy = trusting"
    )
    for player in (builder, admin):
        assert CANARY not in prompt_of(game, player)


def test_what_a_trusting_character_hears_stays_open_and_what_comes_later_is_shut(
    game, mira, ann, admin, builder
):
    admin.do("aisetup/set Mira/whisper_policy = trusting")
    assert CANARY in prompt_of(game, ann, f"whisper Mira = my word is {CANARY}")
    admin.do("aisetup/set Mira/whisper_policy = strict")
    prompt_of(game, ann, "whisper Mira = my other word is timbuktu")
    asked = prompt_of(game, builder)
    assert CANARY in asked and "timbuktu" not in asked
    first, second = Event.objects.filter(kind="whisper").order_by("id")
    assert (first.private, first.repeatable) == (True, True)
    assert (second.private, second.repeatable) == (True, False)
    assert not Message.objects.get(content__contains=CANARY, role="user").private
