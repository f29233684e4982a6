"""Tools to look, move, get, drop and give, with the game's own locks and hooks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from evennia.objects.objects import DefaultExit
from pydantic import BaseModel

from evennia_ai.errors import NothingDone
from evennia_ai.game.perception import (
    DESCRIPTION_CHARS,
    asked_for,
    authors_of_object,
    description_of,
    display_name,
    find_named,
    look_around,
    name_in_act,
    plain,
)
from evennia_ai.game.texts import TEXTS, text
from evennia_ai.messages import Situation, quoted
from evennia_ai.policy.audience import known
from evennia_ai.policy.compaction.restored_context import entity_ref
from evennia_ai.policy.conversation.tool_call_rules import ONCE
from evennia_ai.ports import Character, ToolContext, ToolResult
from evennia_ai.tools.base import tool
from evennia_ai.tools.permission import object_lets
from evennia_ai.tools.tool_relevance import (
    carries_things,
    has_containers,
    has_exits,
    is_open,
    sees_things,
)
from evennia_ai.turn.tool_executor import DONE


class LookArguments(BaseModel):
    """What to look at."""

    target: str = ""


class MoveArguments(BaseModel):
    """Where to go."""

    to: str


class ItemArguments(BaseModel):
    """A thing."""

    item: str


class PutArguments(ItemArguments):
    """A thing and where it goes."""

    into: str


class GiveArguments(ItemArguments):
    """A thing and who shall have it."""

    to: str


def named_thing(context: ToolContext, name: str, things: Iterable[Any]) -> Any | None:
    """Return the thing with a name, None if there is none; if it can, the one agreed to."""
    here, character = list(things), context.character
    same = [thing for thing in here if context.item == thing.dbref]
    return find_named(name, same, character) or find_named(name, here, character)


def carried(context: ToolContext, name: str) -> Any:
    """Return a thing that the character carries; raises NothingDone if there is none."""
    item = named_thing(context, name, context.character.contents)
    if item is None:
        raise NothingDone(TEXTS["cannot_find_own"].format(item=asked_for(name)))
    return item


def lying(context: ToolContext, name: str) -> Any:
    """Return a thing near the character; raises NothingDone if there is none."""
    item = named_thing(context, name, within_reach(context.character))
    if item is None or item.location is context.character:
        raise NothingDone(TEXTS["cannot_find"].format(item=asked_for(name)))
    return item


def subject_of(
    find: Callable[[ToolContext, str], Any],
) -> Callable[[ToolContext, ItemArguments], tuple[Any, ItemArguments]]:
    """Return the `Tool.subject` of a tool whose thing ``find`` returns."""
    return lambda context, arguments: (find(context, arguments.item), arguments)


@tool("look", world=False, reads=True, safe_to_retry=True)
def look(context: ToolContext, arguments: LookArguments) -> ToolResult:
    """Look at a thing or person; without target, at the place."""
    character = context.character
    if not arguments.target:
        return see_place(character)
    target = find_named(arguments.target, within_reach(character), character)
    if target is None:
        if detail := detail_of(character, arguments.target):
            sentence = f"{plain(arguments.target, 60)}: {detail}"
            return ToolResult(DONE, sentence, authors=authors_of_object(character.location))
        raise NothingDone(TEXTS["cannot_find"].format(item=asked_for(arguments.target)))
    looks = description_of(target, character) or "You see nothing special."
    inside = names(target.contents, character) if is_open(target, character) else ""
    sentence = f"{display_name(target, character)}: {looks}" + f" In it: {inside}." * bool(inside)
    read = (entity_ref(target.dbref),)
    return ToolResult(DONE, sentence, read=read, authors=authors_of_object(target))


@tool("move", needed=has_exits, leaves=True)
def move(context: ToolContext, arguments: MoveArguments) -> ToolResult:
    """Walk through an exit."""
    character = context.character
    exits = [obj for obj in around(character) if isinstance(obj, DefaultExit)]
    exit_obj = find_named(arguments.to, exits, character) or exit_to(arguments.to, exits, character)
    if exit_obj is None:
        ways = names(exits, character) or "none"
        raise NothingDone(TEXTS["cannot_reach"].format(place=asked_for(arguments.to), ways=ways))
    if not object_lets(exit_obj, context, "traverse"):
        raise NothingDone(refusal(exit_obj.db.err_traverse) or TEXTS["cannot_pass"])
    start = character.location
    exit_obj.at_traverse(character, exit_obj.destination)
    if character.location is start:
        raise NothingDone(TEXTS["cannot_pass"])
    return see_place(character)


@tool("get", needed=sees_things, subject=subject_of(lying))
def get(context: ToolContext, arguments: ItemArguments) -> str:
    """Pick up a thing here."""
    character = context.character
    item = lying(context, arguments.item)
    from_it = getattr(item.location, "at_pre_get_from", None)
    may = (from_it is None or from_it(character, item)) and object_lets(item, context, "get")
    if not (may and item.at_pre_get(character) and moved(item, character, "get")):
        raise NothingDone(refusal(item.db.get_err_msg) or TEXTS["cannot_get"])
    item.at_get(character)
    show(character, "picks_up", item=item)
    return f"You hold {name_in_act(item, character)}."


@tool("drop", category=ONCE, needed=carries_things, rare=True, subject=subject_of(carried))
def drop(context: ToolContext, arguments: ItemArguments) -> str:
    """Put down a thing you carry."""
    character = context.character
    item = carried(context, arguments.item)
    if not (item.at_pre_drop(character) and moved(item, character.location, "drop")):
        raise NothingDone(TEXTS["cannot_drop"])
    item.at_drop(character)
    show(character, "drops", item=item)
    return f"You dropped {name_in_act(item, character)}."


@tool("put", category=ONCE, needed=has_containers, rare=True, subject=subject_of(carried))
def put(context: ToolContext, arguments: PutArguments) -> str:
    """Put a thing you carry into a container."""
    character = context.character
    item = carried(context, arguments.item)
    container = find_named(arguments.into, around(character), character)
    if container is None:
        raise NothingDone(TEXTS["cannot_find"].format(item=asked_for(arguments.into)))
    name, where = name_in_act(item, character), name_in_act(container, character)
    may = is_open(container, character) and item.at_pre_drop(character)
    if not (may and container.at_pre_put_in(character, item) and moved(item, container, "drop")):
        raise NothingDone(TEXTS["cannot_put"].format(item=name, container=where))
    item.at_drop(character)
    show(character, "puts", item=item, container=container)
    return f"You put {name} in {where}."


@tool("give", category=ONCE, needed=carries_things, subject=subject_of(carried))
def give(context: ToolContext, arguments: GiveArguments) -> str:
    """Give a thing you carry to somebody."""
    character = context.character
    item = carried(context, arguments.item)
    receiver = find_named(arguments.to, around(character), character)
    if receiver is None:
        raise NothingDone(TEXTS["cannot_find"].format(item=asked_for(arguments.to)))
    if not (item.at_pre_give(character, receiver) and moved(item, receiver, "give")):
        raise NothingDone(TEXTS["cannot_give"].format(name=display_name(receiver, character)))
    item.at_give(character, receiver)
    show(character, "gives", item=item, receiver=receiver)
    return f"You gave {name_in_act(item, character)} to {name_in_act(receiver, character)}."


def moved(item: Any, target: Any, move_type: str) -> bool:
    """Move a thing; return True if it moved, even if a hook of the game failed after that."""
    return bool(item.move_to(target, quiet=True, move_type=move_type)) or item.location is target


def around(character: Character) -> list[Any]:
    """Return the visible objects in the character's place and among what it carries."""
    here = character.location.contents if character.location else []
    seen = [*here, *character.contents]
    return [obj for obj in seen if obj is not character and obj.access(character, "view")]


def within_reach(character: Character) -> list[Any]:
    """Return what is around the character, and what open containers there hold."""
    near = around(character)
    inside = [obj for box in near if is_open(box, character) for obj in box.contents]
    return [*near, *(obj for obj in inside if obj.access(character, "view"))]


def detail_of(character: Character, name: str) -> str:
    """Return a detail of an extended room, "" if the place has none of that name."""
    read = getattr(character.location, "get_detail", None)
    return plain(read(name, looker=character), DESCRIPTION_CHARS) if read else ""


def names(objects: Iterable[Any], character: Character) -> str:
    return ", ".join(display_name(obj, character) for obj in objects)


def exit_to(place: str, exits: list[Any], character: Character) -> Any | None:
    """Return the exit that leads to a place, None if there is none."""
    by_place = {obj.destination: obj for obj in exits if obj.destination}
    exit_found = find_named(place, by_place, character)
    return by_place[exit_found] if exit_found else None


def refusal(text: Any) -> str:
    """Return a thing's own words for a refusal; those that begin like an own act are quoted."""
    sentence = plain(text)
    return quoted(sentence) if sentence.startswith("You ") else sentence


@dataclass(frozen=True)
class WithArticle:
    """A thing that each onlooker sees named with its article, as by Evennia's own commands."""

    thing: Any

    def get_display_name(self, looker: Any = None, **kwargs: Any) -> str:
        singular, _plural = self.thing.get_numbered_name(1, looker)
        return str(singular)


@dataclass(frozen=True)
class Receiver:
    """A person who is given something, "you" for themselves."""

    person: Any

    def get_display_name(self, looker: Any = None, **kwargs: Any) -> str:
        return text("to_you") if looker is self.person else self.person.get_display_name(looker)


def show(character: Character, key: str, receiver: Any = None, **things: Any) -> None:
    """Show everybody in the place what happened, in the words of `game.texts`."""
    line, named = text(key), things
    shown = None if receiver is None else Receiver(receiver)
    if line == TEXTS[key]:  # Evennia's articles are English
        named = {name: WithArticle(thing) for name, thing in things.items()}
    character.location.msg_contents(
        line, from_obj=character, mapping={"actor": character, "receiver": shown, **named}
    )


def see_place(character: Character) -> ToolResult:
    situation = character.at_ai_situation(look_around(character))
    return ToolResult(DONE, describe_place(situation), authors=known(situation.authors))


def describe_place(situation: Situation) -> str:
    """Return a place in one sentence for each kind of thing."""
    seen = {"People": situation.people, "Things": situation.things, "Exits": situation.exits}
    listed = (f" {label}: {', '.join(names)}." for label, names in seen.items() if names)
    return f"{situation.place}: {situation.description}{''.join(listed)}"
