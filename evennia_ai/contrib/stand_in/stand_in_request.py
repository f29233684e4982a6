"""What the stand-in is asked, as data: made of what a request was made from."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from evennia_ai.contrib.stand_in.likeness import TextVectors
from evennia_ai.messages import Situation, WireMessage
from evennia_ai.policy.audience import select_visible
from evennia_ai.policy.conversation.persona_and_lore import Persona, rules_of_talk
from evennia_ai.ports import LLMRequest
from evennia_ai.turn.prompt_contexts import lore_text


@dataclass(frozen=True)
class HeardLine:
    """One line that the character just heard."""

    kind: str
    speaker: str
    text: str
    private: bool


@dataclass(frozen=True)
class StandInRequest:
    """A request with what was selected for its audience."""

    name: str
    persona: Persona
    lines: tuple[HeardLine, ...]  # the new lines
    situation: Situation = field(default_factory=Situation)  # what the character perceives
    lore: tuple[str, ...] = ()
    step: int = 1  # number of the turn's model call, from 1
    certain: bool = False  # whether it says nothing but what it surely knows
    material: tuple[str, ...] = ()  # of a summary: the previous one, then each message's line
    room_tokens: int = 0  # the most tokens for a summary
    excuses: tuple[str, ...] = ()  # said lately in place of an answer; no message has them
    assistants: frozenset[str] = frozenset()  # names of the other assistants among the speakers
    undone: frozenset[str] = frozenset()  # ids of the turn's tool calls that were not done
    talk_rules: tuple[str, ...] = ()  # of what the persona never does: what it never talks about
    messages: Sequence[WireMessage] = ()
    tools: frozenset[str] = frozenset()  # their names
    vectors: TextVectors = field(default_factory=dict, compare=False, repr=False)  # by text


def read_source(request: LLMRequest) -> StandInRequest:
    """Return a request as the stand-in reads it; nothing in it is hidden from its audience."""
    source, events = request.source, [event.heard for event in request.events]
    scene = StandInRequest(
        "",
        Persona(),
        tuple(HeardLine(line.kind, line.speaker_name, line.text, line.private) for line in events),
        request.situation,
        step=request.trace.step if request.trace else 1,
        certain=request.certain,
        assistants=frozenset(line.speaker_name for line in events if line.hops),
        messages=request.messages,
        tools=frozenset(tool["function"]["name"] for tool in request.all_tools),
    )
    if source is None:
        return scene
    excuses = source.mind.log.current.excuses if source.turn else ()
    seen = select_visible(excuses, source.turn.audience) if source.turn else ()
    persona = source.mind.who.persona
    return replace(
        scene,
        name=source.mind.who.name,
        persona=persona,
        talk_rules=rules_of_talk(persona.never, source.mind.services.nearness.cosines),
        lore=tuple(lore_text(entry) for entry in source.prompt.lore) if source.prompt else (),
        material=source.material,
        room_tokens=source.room_tokens,
        excuses=tuple(excuse["content"] for excuse in seen),
        undone=source.undone,
    )
