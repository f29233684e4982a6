"""The real classes, and the stand-ins, have what the ports promise."""

import inspect

import pytest

from evennia_ai import ports
from evennia_ai.game import script_ports
from evennia_ai.scheduling import Clock
from evennia_ai.testing.minds import MemoryMind
from tests.scripted import ScriptedLLM

pytestmark = pytest.mark.game

STAND_IN = MemoryMind(ScriptedLLM())


def members_of(port):
    """The names a Protocol declares, its bases' included."""
    names = set()
    for base in port.__mro__:
        if getattr(base, "_is_protocol", False):
            names |= {*inspect.get_annotations(base), *vars(base)}
    return sorted(name for name in names if not name.startswith("_"))


def missing(port, instance):
    return [name for name in members_of(port) if not hasattr(instance, name)]


def parts_of(script):
    """A script and everything that hangs on it, with the port of each."""
    character, services = script.character, script.services
    return {
        "character": (ports.Character, character),
        "journal": (ports.Journal, character.journal),
        "archive": (ports.JournalArchive, character.journal.archive),
        "profiles": (ports.EntityProfiles, character.ai_profiles),
        "goals": (ports.Goals, character.ai_goals),
        "plan": (ports.DayPlan, character.ai_plan),
        "conversation": (ports.Conversation, script.conversation),
        "inbox": (ports.Inbox, script.mind.inbox),
        "turns": (ports.Turns, script.mind.turns),
        "memories": (ports.Memories, script.mind.memories()),
        "world": (ports.World, services.world),
        "slices": (ports.Slices, services.slices),
        "clock": (Clock, services.clock),
        "semantic": (ports.SemanticMemory, services.semantic),
        "shared_memory": (ports.SharedMemory, services.shared_memory),
        "watch": (ports.Watch, services.watch),
        "gateway": (ports.Gateway, services.gateway),
        "toolbox": (ports.Toolbox, services.toolbox),
    }


PARTS = list(parts_of(STAND_IN))


@pytest.mark.parametrize("part", PARTS)
def test_what_hangs_on_a_script_has_what_its_port_promises(mira, part):
    assert missing(*parts_of(mira.assistant)[part]) == []


@pytest.mark.parametrize("part", PARTS)
def test_what_hangs_on_a_stand_in_has_what_its_port_promises(part):
    assert missing(*parts_of(STAND_IN)[part]) == []


def test_the_script_and_its_services_have_what_their_ports_promise(mira):
    assert missing(script_ports.GameScript, mira.assistant) == []
    assert missing(script_ports.GameServices, mira.assistant.services) == []


def test_the_stand_ins_have_what_the_engine_uses():
    assert missing(ports.Script, STAND_IN) == []
    assert missing(ports.Services, STAND_IN.services) == []


def test_the_check_itself_can_fail():
    assert "journal" in missing(ports.Character, object())
