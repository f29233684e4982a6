"""What comes to mind beside the talk in view: lore, pins, and facts of talk that is out of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evennia_ai.config import usable_window
from evennia_ai.messages import Audience, Message, Situation
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.conversation.lore import LoreEntry, select_lore
from evennia_ai.policy.facts.recall import Talk
from evennia_ai.policy.facts.sources import HEARD
from evennia_ai.policy.tokens import (
    estimate_tokens,
)
from evennia_ai.ports import Script
from evennia_ai.turn.people import LABEL as PEOPLE
from evennia_ai.turn.people import describe_present
from evennia_ai.turn.prompt_contexts import (
    situation_prompt,
)
from evennia_ai.turn.recall import remembered
from evennia_ai.turn.restored_materials import read_restored_materials

Labelled = tuple[str, KnownLine]

PINNED, AT_HAND, REMEMBERED = "Keep in mind", "At hand", "You remember"
GOALS, OCCUPATION = "You are after", "You are about"
TALK_LINES = 3
# Of the window. The tail is paid for anew with every call; no provider's cache keeps it.
TAIL_PART = 0.075
LORE_PART = 0.025
LEAST_RECALL = 0.02
MATERIALS_PART = 0.02
MEMORY_PART = 0.03


@dataclass(frozen=True)
class ContextItems:
    """What comes to mind beside the talk: static knowledge, and ``lines`` of what is known of
    those present, what was pinned, what it is after, what was consulted in talk out of view, and
    what is recalled of it, each with its label. ``private`` where any of it is for the prompt's
    audience alone; ``speakers`` are those whose words may be in it."""

    lore: tuple[LoreEntry, ...]
    lines: tuple[tuple[str, str], ...]
    private: bool
    speakers: Audience


def select_context_items(
    script: Script, audience: Audience, talk: Talk, situation: Situation
) -> ContextItems:
    """Everything that the talk touches upon and this audience may hear of, within its room: what
    is recalled has as much as situation, pins, lore, materials and memories leave of the tail's."""
    config = script.config
    window = usable_window(config, script.profile)
    entries, labels = script.services.world.lore(script.character, audience)
    most = min(config.lore_tokens, int(LORE_PART * window))
    lore = select_lore(entries, labels, " ".join((*talk.before, *talk.asked)), most)
    people = labelled(PEOPLE, describe_present(script, audience))
    known = [*people, *labelled(PINNED, script.pins(audience))]
    known += labelled(GOALS, script.goals(audience))
    known += labelled(OCCUPATION, script.occupation())
    free = TAIL_PART * window - count_tail(situation, lore, known)
    most = int(min(MATERIALS_PART * window, free - LEAST_RECALL * window))
    known += labelled(AT_HAND, read_restored_materials(script, audience, most))
    free = TAIL_PART * window - count_tail(situation, lore, known)
    most = int(min(config.memory_tokens, MEMORY_PART * window, free - LEAST_RECALL * window))
    told = [line.text for _label, line in known]
    memories = remembered(script, audience, talk, most, told)
    known += labelled(REMEMBERED, memories)
    free = TAIL_PART * window - count_tail(situation, lore, known)
    recalled = script.conversation.current.recall.call(
        talk,
        audience,
        min(config.recall_tokens, int(max(free, LEAST_RECALL * window))),
        config.discretion,
    )
    # A journal often has a fact in the words in which it was said.
    noted = "\n".join(memory.text for memory in memories)
    known += labelled(REMEMBERED, [line for line in recalled if line.text not in noted])
    return ContextItems(
        lore=tuple(lore),
        lines=tuple((label, line.text) for label, line in known),
        private=any(line.private for _label, line in known),
        speakers=frozenset().union(*(line.speakers for _label, line in known)),
    )


def labelled(label: str, lines: Iterable[KnownLine]) -> list[Labelled]:
    """Lines with the label under which they stand in a prompt."""
    return [(label, line) for line in lines]


def count_tail(situation: Situation, lore: Sequence[LoreEntry], known: Sequence[Labelled]) -> int:
    """The tokens of a prompt's last part, without its task."""
    shown = [(label, line.text) for label, line in known]
    return estimate_tokens(situation_prompt(situation, lore, "", "", shown))


def latest_talk(visible: Sequence[Message], unanswered: Sequence[str]) -> Talk:
    """What is being talked about: the lines without an answer, where none are told of the last
    that somebody said, and the latest before."""
    heard = [m["content"] for m in visible if m["role"] == "user" and "type" not in m["metadata"]]
    latest = heard[-TALK_LINES:]
    said = [line for line in latest if HEARD.match(line)]
    asked = list(unanswered) or said[-1:] or latest[-1:]
    return Talk(asked, [line for line in latest if line not in asked])
