"""Every kind of request that the package sends, from the engine with stand-ins."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.llm.openai_client import build_body
from evennia_ai.messages import EMOTED, SAID, ChatMessage, make_message, wire_call
from evennia_ai.ports import LLMRequest, ToolContext, ToolSpec
from evennia_ai.sleep.compaction.compact import compact_conversation_history
from evennia_ai.sleep.extraction import run_pre_compaction_extraction
from evennia_ai.tools.registry import load_registry
from tests.minds import MemoryMind, StandInToolbox
from tests.scripted import Line, ScriptedLLM, call

ANN, BEN = "#5", "#6"
EVERYBODY = frozenset({ANN, BEN})
GAVE = "You gave nails to Ann."
SUMMARY = (
    "Annika is a smith from Dunmore and owes forty crowns. "
    "Words to keep: marker0, marker1, marker2, marker3, marker4 and marker5."
)
TALK = "the talk"
MANY = 40
FILLER = " and so on" * 30  # or the talk would be too short to compact
# As `cases` has them; a list, so that nothing runs where the tests are skipped.
KINDS = (
    "first words", TALK, "mid-turn", "whisper", "summary", "after a compaction", "extraction",
    "extraction goes on",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One request, and the words that must stand in the rendered prompt."""

    request: LLMRequest
    shown: Sequence[str]


class Toolbox(StandInToolbox):
    """Stand-ins for the package's tools, with their schemas as a game sends them."""

    def __init__(self) -> None:
        self.specs = {name: tool.spec for name, tool in load_registry(()).tools.items()}
        super().__init__({name: spec.category for name, spec in self.specs.items()})
        self.behaviours["give"] = lambda context, arguments: GAVE

    def offered(self, context: ToolContext) -> Sequence[ToolSpec]:
        allowed = self.specs if context.allowed is None else context.allowed
        return [spec for name, spec in self.specs.items() if name in allowed]


def body_of(case: Case, model: str) -> Mapping[str, Any]:
    """Return what the client sends."""
    return build_body(case.request, ModelProfile("test", model=model))


@cache
def cases(model: str) -> Mapping[str, Case]:
    """Return a request of every kind, as an assistant with this model makes it."""
    return {
        "first words": first_words(model),
        TALK: talk(model),
        "mid-turn": mid_turn(model),
        "whisper": whispered(model),
        **compaction(model),
        **extraction(model),
    }


def assistant(model: str, *replies: Line, window: int = 16_000) -> MemoryMind:
    """Return an assistant whose model replies like this."""
    config = AssistantConfig(max_context_tokens=window, compact_preserve_window=6)
    script = MemoryMind(ScriptedLLM(replies), config)
    script.settings.profile = ModelProfile("test", model=model, context_window=window)
    script.services.toolbox = Toolbox()
    script.services.world.present = EVERYBODY
    script.rebuild()  # with that toolbox
    return script


def last_request(script: MemoryMind, of: int = -1) -> LLMRequest:
    """Return a request that the assistant's model got."""
    return script.services.gateway.requests[of]


def answered(script: MemoryMind) -> MemoryMind:
    """Let the assistant answer what waits."""
    fired: list[Any] = []
    script.mind.turn_runner.answer_all().addBoth(fired.append)
    assert fired == [1], fired
    return script


def first_words(model: str) -> Case:
    script = assistant(model, call("say", text="Good day."))
    script.hears("good day, I am Annika")
    return Case(last_request(answered(script)), ["Ann says: good day, I am Annika"])


def talk(model: str) -> Case:
    script = with_talk(assistant(model, call("say", text="Indeed.")))
    script.hears("and what does the anvil cost?", audience=EVERYBODY)
    shown = [f"marker{number}" for number in range(MANY)] + [GAVE, "Here you are", "anvil cost"]
    return Case(last_request(answered(script)), shown)


def mid_turn(model: str) -> Case:
    give = call("give", item="nails", to="Ann")
    look = call("look", target="anvil")
    script = with_talk(assistant(model, (look, give), call("say", text="There.")), 4)
    script.hears("give me nails, and look at the anvil", audience=EVERYBODY)
    return Case(last_request(answered(script)), ["marker0", "look at the anvil", GAVE])


def whispered(model: str) -> Case:
    script = with_talk(assistant(model, call("whisper", text="Hush.", target="Ann")), 4)
    script.whispered("the key lies under the mat")
    return Case(last_request(answered(script)), ["Ann whispers to you: the key lies under the mat"])


def compaction(model: str) -> dict[str, Case]:
    script = with_talk(assistant(model, SUMMARY, call("say", text="Forty.")))
    asked: list[Any] = []
    compact_conversation_history(script, script, force=True).addBoth(asked.append)
    assert asked[0].get("success"), asked
    summary = Case(last_request(script), ["marker0", GAVE])
    script.hears("how much do I owe?", audience=EVERYBODY)
    after = Case(last_request(answered(script)), [SUMMARY, "how much do I owe?"])
    return {"summary": summary, "after a compaction": after}


def extraction(model: str) -> dict[str, Case]:
    noted = call("add_journal_entry", content="Annika owes forty crowns.")
    script = with_talk(assistant(model, noted, call("noop"), window=6_500))
    done: list[Any] = []
    run_pre_compaction_extraction(script, script).addBoth(done.append)
    assert done[0]["facts_recorded"] == 1, done
    first, second = script.services.gateway.requests
    return {
        "extraction": Case(first, ["marker0", GAVE]),
        "extraction goes on": Case(second, ["marker0", "forty crowns"]),
    }


def with_talk(script: MemoryMind, lines: int = MANY) -> MemoryMind:
    """Give the assistant a talk with two people, with speech, acts and several lines in a row."""
    for number in range(lines):
        who = ("Ann", "Ben")[number % 3 == 1]
        heard = make_message("user", f"{who} says: marker{number} is a word to keep{FILLER}")
        script.conversation.append([in_public(heard), *map(in_public, own_part(number))])
    return script


def own_part(number: int) -> Iterable[ChatMessage]:
    """Return what the character did after a line: now and then nothing, or several things."""
    yield from (
        (),
        acted(number, "say", SAID, text=f"Aye, {number}."),
        [*acted(number, "give", GAVE, item="nails", to="Ann"),
         *acted(number + 500, "say", SAID, text="Here you are.")],
        acted(number, "emote", EMOTED, text="nods."),
        [make_message("assistant", f"Well, {number}.")],
        [*acted(number, "say", SAID, text="Wait."),
         *acted(number + 500, "get", "You hold a rope.", item="rope")],
        acted(number, "noop", "You do nothing."),
    )[number % 7]  # fmt: skip


def acted(number: int, name: str, result: str, **arguments: str) -> list[ChatMessage]:
    """Return a call and its result, as the log holds them."""
    call_id = f"{number:09}"
    asked = wire_call(call_id, name, json.dumps(arguments))
    return [
        make_message("assistant", "", tool_calls=[asked]),
        make_message("tool", result, tool_call_id=call_id),
    ]


def in_public(message: ChatMessage) -> ChatMessage:
    """Return a message that everybody heard."""
    return {**message, "metadata": {"audience": [ANN, BEN]}}
