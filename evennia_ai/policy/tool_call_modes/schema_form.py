"""The form `schema`: one JSON object with an act, its target and the words.

It is for small models, which rarely make a valid tool call. Measured with Qwen2.5-Coder 1.5B over
24 lines, at temperature 0.6 and with slightly longer rules: with the persona behind the rules in
the system message and the character's past replies as plain words, every reply was valid and 7 of 8
requested acts were right. Past replies as JSON made it repeat one sentence in 12 of 24 replies; a
persona in a user message was quoted aloud in 5.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evennia_ai.messages import EMOTE, NOOP, SAY, WHISPER
from evennia_ai.policy.tool_call_modes.form import (
    SCHEMA,
    Call,
    ReplyContext,
    Schema,
    ToolCallMode,
    described,
    parameters_of,
    tool_name,
)

RULES = """\
You play one character in a text game. You are that person, here and now; you know nothing of \
prompts, rules, games or computers.

Answer with one JSON object: {"act": ..., "target": ..., "say": ...}
"say": what you say aloud, one to three short sentences, in the language of whoever spoke. Empty \
to stay silent.
"act", with its "target" from the scene:
- none: you only talk.
- give: hand over a thing you carry. target: the thing.
- get: pick up a thing. target: the thing.
- drop: put down a thing. target: the thing.
- move: walk through an exit. target: the exit.
- follow: walk along. target: the person, or nobody.
- emote: a gesture. target: the gesture, such as "nods slowly".
- whisper: only one person hears "say". target: the person.
- silence: nothing needs an answer.
"""

CONDUCT = """
Rules:
- Act only if you are asked to or want to. What you did not do has not happened.
- People may lie, joke or give orders: you decide, as the person you are. You help nobody by \
trade: you have your own life.
- You know only what you saw, heard or were told. If you do not know, say so.
- Only lines that begin with ◆ really happened. What people say or act out may be pretended.
- Never repeat what was just said, and never say the same thing twice.

Examples of other people:
[You carry: lamp, rope]
Ann says: Could you hand me the lamp?
{"act": "give", "target": "lamp", "say": "Take it. Mind the glass."}
[Exits: mill, road]
Ben says: Walk with me to the mill.
{"act": "move", "target": "mill", "say": "Gladly. The air will do me good."}
[You remember: Cleo says: My dog is called Bello.]
Cleo says: What is my dog's name?
{"act": "none", "target": "", "say": "Bello, wasn't it?"}"""

NONE, REMEMBER, SILENCE = "none", "remember", "silence"
# Acts with one argument besides the words: the tool, and the argument that the target fills.
TARGETS = {
    "get": ("get", "item"),
    "drop": ("drop", "item"),
    "move": ("move", "to"),
    "follow": ("follow", "target"),
    EMOTE: ("emote", "text"),
    REMEMBER: ("add_journal_entry", "content"),
}
# Small models "remember" a bare name: it is read, but not offered.
ACTS = (NONE, "give", *(act for act in TARGETS if act != REMEMBER), WHISPER, SILENCE)
TARGET_CHARS, SAY_CHARS = 80, 300
TO = " to "  # before the person who gets a thing
ADDRESSEES = frozenset({"", "me", "you", "him", "her", "them"})
# Tools that an act stands for, or that need a second look at the world, are no acts of their own.
BUILT_IN = frozenset(
    "say whisper emote move look give get drop follow wait noop go_to_sleep add_journal_entry "
    "pin_fact search_journal search_memory search_history update_entity_observation set_goal "
    "update_goal".split()
)
HANDLING, MOVE, FOLLOW = ("give", "get", "drop"), "move", "follow"
# English and German, as the examples of talk that this was measured with; names count in any
# language.
HANDLING_WORDS = re.compile(
    r"\b(?:giv|give|hand|pass|bring|fetch|tak|take|get|gett|pick|grab|drop|dropp|put|putt|lay|lend"
    r"|sell|buy|trad|trade|keep|hold|have|want|need|gib|reich|hol|nimm|nehm|leg|stell|kauf|leih"
    r"|verkauf)(?:s|es|ing|ed|e|t|st|en)?\b",
    re.IGNORECASE,
)
WALKING_WORDS = re.compile(
    r"\b(?:com|come|go|walk|lead|follow|tak|take|show|let's|enter|komm|geh|lauf|folg|führ|zeig"
    r"|begleit)(?:s|es|ing|ed|e|t|st|en)?\b",
    re.IGNORECASE,
)
LEAST_CHARS = 3  # of a word that may name a thing


class SchemaForm(ToolCallMode):
    """The form `schema`."""

    def __init__(self) -> None:
        super().__init__(SCHEMA, temperature=0.6)

    def rules(self, tools: Sequence[Schema]) -> str:
        """Return the acts, a game's own among them, the rules and three examples."""
        own = [f"- {describe_own(tool)}" for tool in own_tools(tools)]
        return "\n".join([RULES.rstrip(), *own, CONDUCT])

    def tell(self, tool: Schema) -> str:
        """Return the line about a game's own tool; of the others the rules tell."""
        return describe_own(tool) if own_tools([tool]) else ""

    def question(self, name: str, addressee: str) -> str:
        if addressee:
            return f"What do you, {name}, do and say to {addressee}?"
        return f"What do you, {name}, do and say?"

    def response_schema(self, context: ReplyContext, words_only: bool = False) -> Schema:
        """Return the schema of one object; each tool of a game adds an alternative."""
        if words_only:
            return object_schema({"act": {"enum": [NONE]}, "target": {"enum": [""]}})
        acts = wanted_acts(context, ACTS)
        usual = object_schema({"act": {"enum": acts}, "target": text(TARGET_CHARS)})
        own, shared = [], dict[str, Any]()  # what the arguments of a game's tools refer to
        for tool in own_tools(context.tools):
            own.append(object_schema({"act": {"const": tool_name(tool)}, **parameters_of(tool)}))
            shared |= tool["function"].get("parameters", {}).get("$defs", {})
        return {"anyOf": [usual, *own], "$defs": shared} if own else usual


def text(chars: int) -> Schema:
    return {"type": "string", "maxLength": chars}


def object_schema(properties: Schema) -> Schema:
    """Return the schema of an object with all of these properties, and words at its end."""
    everything = {**properties, "say": text(SAY_CHARS)}
    return {
        "type": "object",
        "properties": everything,
        "required": list(everything),
        "additionalProperties": False,
    }


def own_tools(tools: Sequence[Schema]) -> list[Schema]:
    return [tool for tool in tools if tool_name(tool) not in BUILT_IN]


def describe_own(tool: Schema) -> str:
    """Return one line about a game's tool: its name, what it does, its fields."""
    return described(tool, "Instead of target: ")


def calls_of(answer: Mapping[str, Any], context: ReplyContext) -> list[Call]:
    """Return the tool calls of an answer: the act first, then the words."""
    act, words = str(answer.get("act") or NONE), str(answer.get("say") or "").strip()
    calls = act_calls_of(answer, context)
    if words and act == WHISPER:
        calls.append(named(WHISPER, text=words, target=target_of(answer)))
    elif words:
        calls.append(named(SAY, text=words))
    return calls or [named(NOOP)]


def act_calls_of(answer: Mapping[str, Any], context: ReplyContext) -> list[Call]:
    """Return the call of an answer's act; none for talk, and for an act without its target."""
    act, target = str(answer.get("act") or NONE), target_of(answer)
    own = own_tool(act, context)
    if own is not None:
        fields = {name: answer[name] for name in parameters_of(own) if name in answer}
        return [(act, json.dumps(fields, ensure_ascii=False))]
    if act == "give":
        return give_calls(target, context)
    if act == "follow" and target.lower() in ADDRESSEES:
        target = context.addressee
    elif act == "follow" and is_among(target, context.exits):
        act = "move"
    if act not in TARGETS or not target:
        return []
    tool, argument = TARGETS[act]
    return [named(tool, **{argument: target})]


def act_fields(answer: Mapping[str, Any], context: ReplyContext) -> frozenset[str]:
    """Return the fields without which the act of an answer cannot be known."""
    own = own_tool(str(answer.get("act")), context)
    return frozenset({"act", *(parameters_of(own) if own is not None else ["target"])})


def own_tool(name: str, context: ReplyContext) -> Schema | None:
    """Return a game's own tool by its name, None for any other name."""
    return next((tool for tool in own_tools(context.tools) if tool_name(tool) == name), None)


def give_calls(target: str, context: ReplyContext) -> list[Call]:
    """Return the call that gives a thing: to whom the target names, else to who asked for it."""
    # A thing that lies here is picked up first.
    item, to = split_receiver(target) or (target, named_receiver(context))
    to = context.addressee if to.strip().lower() in ADDRESSEES else to.strip()
    if not item or not to:
        return []
    give = named("give", item=item, to=to)
    if is_among(item, context.things) and not is_among(item, context.carrying):
        return [named("get", item=item), give]
    return [give]


def split_receiver(target: str) -> tuple[str, str] | None:
    """Return the thing and the person of "rope to Ann", None if there is no person.

    A person's name has no comma; "the letter, to the king to Ann" goes to "the king to Ann".
    """
    at = target.find(TO, max(1, target.rfind(",") + 1))
    to = target[at + len(TO) :]
    return (target[:at], to) if at > 0 and to else None


def named_receiver(context: ReplyContext) -> str:
    """Return the person to whom the line asks to give something: "give Ann the rope", "to Ann"."""
    for name in context.people:
        pattern = rf"\b(?:give|hand|pass|bring|to|gib|reich)\s+{re.escape(name)}\b"
        if re.search(pattern, context.heard, re.IGNORECASE):
            return name
    return context.addressee


def is_among(name: str, names: Sequence[str]) -> bool:
    """Return True if one of the names is this one, or holds it as a whole word."""
    whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    return any(whole.search(known) for known in names)


def target_of(answer: Mapping[str, Any]) -> str:
    return str(answer.get("target") or "").strip()


def named(name: str, /, **arguments: str) -> Call:
    return name, json.dumps(arguments, ensure_ascii=False)


def wanted_acts(context: ReplyContext, acts: Iterable[str]) -> list[str]:
    """Return the acts that the model may choose: of walking and handling only what is asked for."""
    # A walk to nowhere in particular is one with the speaker. If nobody spoke, all are allowed.
    handling = HANDLING_WORDS.search(context.heard) or names_one(
        context.heard, (*context.things, *context.carrying)
    )
    left_out = set() if handling else set(HANDLING)
    to_exit = names_one(context.heard, context.exits)
    left_out |= set() if to_exit else {MOVE}
    left_out |= set() if to_exit or WALKING_WORDS.search(context.heard) else {FOLLOW}
    return [act for act in acts if not context.heard or act not in left_out]


def names_one(line: str, names: Iterable[str]) -> bool:
    """Return True if the line holds a word of one of the names."""
    words = {word for name in names for word in long_words(name)}
    return not words.isdisjoint(long_words(line))


def long_words(text: str) -> set[str]:
    """Return the words of a text that may name something, in lower case."""
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) >= LEAST_CHARS} - {"the"}
