"""The acts that are possible here, and the tool calls of an act that a line asks for."""

import json
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from evennia_ai.messages import EMOTE, WHISPER, Situation, ToolCallRequest
from evennia_ai.policy.conversation.requested_acts import RequestedAct, exit_parts

# The argument of the acts that take one.
ARGUMENTS = {"get": "item", "drop": "item", "look": "target", "follow": "target", "emote": "text"}


class Deed(NamedTuple):
    """An act that is possible here, as a stage direction tells it and as somebody asks for it."""

    act: RequestedAct
    told: str
    request: str


def things_taken(here: Situation, speaker: str) -> Iterator[Deed]:
    """Yield what is done with things for whoever speaks: picked up, given, put down."""
    for thing in here.things:
        yield Deed(RequestedAct("get", thing), f"picks up {thing}", f"Pick up the {thing}.")
    for thing in here.carrying:
        yield Deed(
            RequestedAct("give", thing, to=speaker), f"gives {thing}", f"Give me the {thing}."
        )
        yield Deed(RequestedAct("drop", thing), f"puts down {thing}", f"Put down the {thing}.")


def deeds_here(here: Situation, speaker: str) -> Iterator[Deed]:
    """Yield the acts with things, exits and people that are possible here."""
    yield from things_taken(here, speaker)
    for thing in here.things:
        yield Deed(
            RequestedAct("give", thing, to=speaker), f"gives {thing}", f"Give me the {thing}."
        )
    for name in map(itemgetter(0), map(exit_parts, here.exits)):
        yield Deed(RequestedAct("move", name), f"goes {name}", f"Come with me to the {name}.")
    for name in here.people:
        yield Deed(RequestedAct(WHISPER, name), f"whispers to {name}", f"Whisper to {name}.")
        whom = "me" if name == speaker else name
        yield Deed(RequestedAct("follow", name), f"follows {name}", f"Follow {whom}.")
    for name in (*here.carrying, *here.things, *here.people):
        yield Deed(RequestedAct(EMOTE, name), f"looks at {name}", f"Look at the {name}.")
        yield Deed(RequestedAct(EMOTE, name), f"points at {name}", f"Where is the {name}?")
    for name in here.people:
        for deed in ("smiles at", "bows to", "nods to", "talks to"):
            yield Deed(RequestedAct(EMOTE, name), f"{deed} {name}", f"Be kind to {name}.")


def calls_for(act: RequestedAct, here: Situation) -> Sequence[ToolCallRequest]:
    """Return the tool calls of a requested act; a thing that lies here is picked up first."""
    named = exit_parts(act.target)[0] if act.act == "move" else act.target
    if act.act == "give":
        get = [("get", {"item": named})] if named not in here.carrying else []
        wanted = [*get, ("give", {"item": named, "to": act.to})]
    elif act.act == "move":
        wanted = [("move", {"to": named})]
    elif act.act in ARGUMENTS:
        wanted = [(act.act, {ARGUMENTS[act.act]: named})]
    else:
        wanted = []
    return [
        ToolCallRequest(f"act{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(wanted)
    ]
