"""The names that games and guides import stay where they were promised, with their arguments.

Attributes of instances, such as ``AssistantScript.conversation``, count as they stand in the class.
"""

import inspect
from importlib import import_module

import pytest

PAIR = "script character"
FUNCTIONS = {
    "sleep.run_sleep_tick": PAIR,
    "sleep.compaction.compact_conversation_history": (
        "script character force=False focus=None keep_recent=None"
    ),
    "sleep.extraction.run_pre_compaction_extraction": "script character max_iterations=None",
    "sleep.consolidation.consolidate_memories_to_semantic": PAIR,
    "sleep.consolidation.prune_orphaned_memory_links": PAIR,
    "sleep.pruning.prune_low_importance_entries": PAIR,
    "memory.entity_context.run_entity_consolidation_batch": PAIR,
    "memory.working_memory.clear_stale_conversations": PAIR,
    "memory.embedders.default": "",
    "memory.index.MemoryIndex": "embedder",
    "memory.index.MemoryIndex.add": (
        "self id text speaker=None at=None importance=5 audience=None sources=()"
    ),
    "memory.index.MemoryIndex.find": "self query k audience=None now=None",
    "memory.index.MemoryIndex.remove": "self id",
    "turn.llm_interaction.generate_context_summary": "script messages_to_compact focus=None",
    "turn.llm_interaction.build_llm_messages": "script context audience",
    "policy.tokens.count_conversation_tokens": "history model count_text=None",
    "policy.compaction.needs_compaction": "used window threshold",
    "policy.compaction.safe_cut": "messages index",
    "policy.compaction.plan_compaction": "messages limits count",
    "policy.overflow.is_context_overflow": "message status=None code=None",
    "assistant_character.AssistantMixin.at_ai_hear": "self event",
    "assistant_character.AssistantMixin.at_ai_pre_act": "self tool args",
    "assistant_character.AssistantMixin.at_ai_say": "self text",
    "assistant_script.AssistantScript.at_tick": "self",
}
NAMES = {
    "assistant_script.AssistantScript": "character conversation conversation_history config",
    "assistant_character": "AssistantCharacter AssistantMixin SpeakerMixin",
    "assistant_character.AssistantMixin": "journal",
    "policy.compaction": "CompactionPlan Skip",
    "turn.prompt_contexts": (
        "CONTEXT_TICK_EVENT CONTEXT_TICK_AUTONOMOUS CONTEXT_REFLECTION CONTEXT_SLEEP_CONSOLIDATE "
        "CONTEXT_GOAL_DECOMPOSE CONTEXT_PRE_COMPACTION"
    ),
    "tools.journal": "AddJournalEntryTool",
    "signals": (
        "compaction_started compaction_finished turn_finished assistant_slept assistant_woke"
    ),
}


def found(path):
    """Return what a dotted path below the package names."""
    module, *rest = path.split(".")
    value = import_module(f"evennia_ai.{module}")
    for name in rest:
        if inspect.ismodule(value) and not hasattr(value, name):
            value = import_module(f"{value.__name__}.{name}")
        else:
            value = getattr(value, name)
    return value


@pytest.mark.parametrize("path", FUNCTIONS)
def test_a_promised_function_takes_the_promised_arguments(path):
    """Others that it takes may be left out."""
    given = list(inspect.signature(found(path)).parameters.values())
    promised = FUNCTIONS[path].split()
    for one, told in zip(given, promised, strict=False):
        name, _, default = told.partition("=")
        assert one.name == name
        assert not default or repr(one.default) == default
    assert len(given) >= len(promised)
    optional = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    for one in given[len(promised) :]:
        assert one.default is not inspect.Parameter.empty or one.kind in optional
    assert found(path).__doc__


@pytest.mark.parametrize("path", NAMES)
def test_a_promised_name_is_where_it_was_promised(path):
    assert [name for name in NAMES[path].split() if not hasattr(found(path), name)] == []
