"""Settings that have other names now are read by their former ones, with a word to staff."""

import pytest

from evennia_ai.config import FIELDS
from evennia_ai.config.declared import FORMER_NAMES, FORMER_TOOLS
from evennia_ai.game.extensions import own_classes
from evennia_ai.services.assistant_service import AssistantService

VALUES = {"max_hops": 7, "discretion": "trusting", "filler_after": 9.0,
          "machine_line": "I am a program.", "prune_floor": 77}  # fmt: skip


def test_each_former_name_leads_to_a_setting():
    assert set(FORMER_NAMES.values()) <= set(FIELDS)
    assert not set(FORMER_NAMES) & set(FIELDS)
    assert set(VALUES) == set(FORMER_NAMES)


@pytest.mark.parametrize(("former", "name"), FORMER_NAMES.items())
def test_the_settings_file_may_use_the_former_name(game, mira, settings, former, name):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, former: VALUES[former]}
    mira.assistant.mind.settings.resolve()
    assert getattr(mira.assistant.config, name) == VALUES[former]
    complaints = AssistantService(clock=game.clock, environ={}).complaints
    assert [line for line in complaints if f"'{former}', which is called '{name}' now" in line]


@pytest.mark.parametrize(("former", "name"), FORMER_TOOLS.items())
def test_a_former_module_of_tools_adds_its_extension(game, settings, former, name):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "TOOLS": [former]}
    service = AssistantService(clock=game.clock, environ={})
    names = {item.name for item in own_classes()}
    assert {item.name for item in service.extensions} & {name} == names & {name}
    assert [line for line in service.complaints if f"write '{name}' into" in line]
    assert not [line for line in service.complaints if "cannot be imported" in line]


def test_a_profile_may_use_the_former_name(game, mira, settings):
    profiles = {"long": {"client": "offline", "max_hops": 9}}
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PROFILES": profiles, "profile": "long"}
    service = AssistantService(clock=game.clock, environ={})
    mira.assistant.ndb.services = service
    assert mira.assistant.config.max_bot_replies == 9
    assert [line for line in service.complaints if "profile 'long' has 'max_hops'" in line]


def test_what_an_older_version_stored_on_an_assistant_counts_until_it_is_changed(mira):
    own = mira.assistant.mind.settings
    mira.assistant.attributes.add("max_hops", 8)
    own.resolve()
    assert mira.assistant.config.max_bot_replies == 8
    own.write({"max_bot_replies": 2})
    assert mira.assistant.config.max_bot_replies == 2
    own.write({"max_bot_replies": None})
    assert mira.assistant.config.max_bot_replies == FIELDS["max_bot_replies"].default


def test_only_admins_loosen_the_policy_by_its_former_name_too(game, builder, mira):
    for line in (
        "aisetup/set Mira/discretion = trusting",
        "set/script assistant/discretion = 'trusting'",
        "set Mira/discretion = 'trusting'",
    ):
        builder.do(line)
    mira.assistant.mind.settings.resolve()
    assert mira.assistant.config.whisper_policy == "strict"


def test_who_types_a_former_name_reads_the_present_one(admin, mira):
    assert "'max_hops' is called 'max_bot_replies' now." in admin.told(
        "aisetup/set Mira/max_hops = 2"
    )
