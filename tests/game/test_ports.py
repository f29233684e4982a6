"""The real classes, and those of memory, have what the ports promise."""

import inspect

import pytest

from evennia_ai import ports
from evennia_ai.scheduling import Clock
from evennia_ai.testing.minds import MemoryMind
from tests.scripted import ScriptedLLM

pytestmark = pytest.mark.game

MEMORY = MemoryMind(ScriptedLLM())


def members_of(port):
    """The names a Protocol declares, its bases' included."""
    names = set()
    for base in port.__mro__:
        if getattr(base, "_is_protocol", False):
            names |= {*inspect.get_annotations(base), *vars(base)}
    return sorted(name for name in names if not name.startswith("_"))


def missing(port, instance):
    return [name for name in members_of(port) if not hasattr(instance, name)]


def parts_of(mind):
    """All that a mind is made of, with the port of each."""
    around, character, services = mind.around, mind.around.who.character, mind.around.services
    return {
        "character": (ports.Character, character),
        "journal": (ports.Journal, character.journal),
        "archive": (ports.JournalArchive, character.journal.archive),
        "profiles": (ports.EntityProfiles, character.ai_profiles),
        "goals": (ports.Goals, character.ai_goals),
        "plan": (ports.DayPlan, character.ai_plan),
        "identity": (ports.Identity, around.who),
        "settings": (ports.Settings, around.settings),
        "conversation": (ports.Conversation, around.log),
        "inbox": (ports.Inbox, around.inbox),
        "turns": (ports.Turns, around.turns),
        "agreed acts": (ports.PendingActs, around.pending_acts),
        "memories": (ports.Memories, around.memories()),
        "company": (ports.Company, around.company),
        "life": (ports.Life, around.life),
        "rest": (ports.Rest, around.rest),
        "services": (ports.Services, services),
        "world": (ports.World, services.world),
        "slices": (ports.Slices, services.slices),
        "clock": (Clock, services.clock),
        "semantic": (ports.SemanticMemory, services.semantic),
        "shared memory": (ports.SharedMemory, services.shared_memory),
        "gateway": (ports.Gateway, services.gateway),
        "toolbox": (ports.Toolbox, services.toolbox),
    }


PARTS = list(parts_of(MEMORY))


@pytest.mark.parametrize("part", PARTS)
def test_a_mind_in_the_game_is_made_of_what_its_ports_promise(mira, part):
    assert missing(*parts_of(mira.assistant.mind)[part]) == []


@pytest.mark.parametrize("part", PARTS)
def test_a_mind_in_memory_is_made_of_what_its_ports_promise(part):
    assert missing(*parts_of(MEMORY)[part]) == []


def test_the_check_itself_can_fail():
    assert "journal" in missing(ports.Character, object())
