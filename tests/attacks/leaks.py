"""Bugs to plant that let somebody learn a secret, to show that the dialogues find them."""

from importlib import import_module

from evennia_ai.game.extensions import OWN, own_folders
from evennia_ai.memory import recall_index
from evennia_ai.memory.index import MemoryIndex
from evennia_ai.policy.read_permissions import Reader
from evennia_ai.ports import goal_records
from evennia_ai.sleep.compaction import summarising
from evennia_ai.tools import memory_sources
from evennia_ai.turn import prompt_building, react_loop, tool_executor
from tests.simulation.plants import Plant, everything_is_public, plant

P9 = "P9"
real_journal_sources = memory_sources.sources_of


def extension_module(name):
    """Return a module of an extension, None if that is deleted."""
    return import_module(f"{OWN}.{name}") if name.partition(".")[0] in own_folders() else None


goals, sharing = extension_module("goals.goals"), extension_module("shared_memory.sharing")
real_view = MemoryIndex._view


def journal_for_everybody(context):
    """An entry that everybody may know."""
    return {**real_journal_sources(context), "audience": None}


def everything(records, *about):
    """Return all records, for whomever."""
    return list(records)


def always(*about, **more):
    """A check that everything passes."""
    return True


def view_of_everything(index, audience, upto, everything=True):
    """A search that asks nobody's leave."""
    return real_view(index, audience, upto, True)


LEAKS = {
    "every audience sees everything": plant(
        P9, prompt_building, "visible_items", lambda messages, *audience: list(messages)
    ),
    "what was whispered back is logged as public": Plant(
        P9,
        (
            (tool_executor, "audience_metadata", everything_is_public),
            (react_loop, "audience_metadata", everything_is_public),
        ),
    ),
    "a summary is made of everybody's talk together": plant(
        P9, summarising, "split_by_audience", lambda messages: {"public": list(messages)}
    ),
    "what is written down of a whisper is everybody's": plant(
        P9, memory_sources, "sources_of", journal_for_everybody
    ),
    "memories are recalled for everybody": Plant(
        P9, ((MemoryIndex, "_view", view_of_everything), (recall_index, "is_known_to", always))
    ),
    "goals are open to everybody": plant(
        P9, goal_records.Goals, "copies_known", lambda _goals, records, *about: list(records)
    ),
    "builders are shown private entries": plant(P9, Reader, "may", always),
}
if goals:
    LEAKS["a goal that was whispered is everybody's"] = plant(
        P9, goals, "sources_of", journal_for_everybody
    )
    LEAKS["builders are shown goals that were whispered"] = plant(
        P9, extension_module("goals.command"), "may_read", always
    )
if sharing:
    LEAKS["whatever is written down is shared"] = Plant(
        P9, ((sharing, "may_be_told", always), (sharing, "was_said_openly", always))
    )
