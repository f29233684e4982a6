"""Which act a line hints at: "somebody will trip over that rope" wants the rope picked up.

What a line names is replaced by a word for anything of its kind. So an embedder compares what the
line wants, and not what it is about, with examples of hints.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evennia_ai.messages import EMOTE, WHISPER, Situation
from evennia_ai.policy.conversation.requested_acts import (
    RequestedAct,
    exit_parts,
    gesture_in,
    match_name,
    without_name,
)
from evennia_ai.policy.facts.terms import Cosines, mean_of_highest
from evennia_ai.policy.texts import read_examples, sentences

EXAMPLES = read_examples(Path(__file__).with_suffix(".toml"))
NOTHING = EXAMPLES.pop("nothing")
EVERY = [*NOTHING, *(line for lines in EXAMPLES.values() for line in lines)]
NEAREST = 2  # examples of an act that a line is compared with
# How near a line must be to hints at an act, and how much nearer than to other talk; for one that
# names nothing, both are more.
NEAR, MORE = 0.31, 0.07
FOLLOW_NEAR, FOLLOW_MORE = 0.5, 0.16


class Hint(NamedTuple):
    """An act that is possible here, and a sentence that may want it, without the name in it."""

    act: RequestedAct
    words: str


def hints(line: str, here: Situation, speaker: str) -> Iterator[Hint]:
    """Yield the acts with what a line names, and to follow its speaker."""
    others = [name for name in here.people if name != speaker]
    exits = [exit_parts(name)[0] for name in here.exits]
    for text in dict.fromkeys([line, *map(str.strip, sentences(line))]):
        for names, word, acts in (
            (here.things, "thing", ("get", "look")),
            (here.carrying, "thing", ("give", "drop", "look")),
            (exits, "place", ("move",)),
            (others, "someone", (EMOTE, WHISPER)),
        ):
            for name in names:
                if match_name(text, [name]):
                    masked = without_name(text, name, word)
                    yield from (Hint(_act(act, name, speaker, line), masked) for act in acts)
        yield Hint(RequestedAct("follow", speaker, text=line), text)


def hinted_act(possible: Sequence[Hint], cosines: Cosines) -> RequestedAct | None:
    """Return the act that is hinted at most, None if none surely is or without an embedder."""
    best: tuple[float, RequestedAct | None] = (0.0, None)
    for act, words in possible:
        near = mean_of_highest(cosines(words, EXAMPLES[act.act]), NEAREST)
        more = near - mean_of_highest(cosines(words, NOTHING), NEAREST)
        least = (FOLLOW_NEAR, FOLLOW_MORE) if act.act == "follow" else (NEAR, MORE)
        if near >= least[0] and more >= max(least[1], best[0]):
            best = (more, act)
    return best[1]


def _act(act: str, name: str, speaker: str, line: str) -> RequestedAct:
    if act == EMOTE:
        return RequestedAct(act, f"{gesture_in(line)} to {name}.", text=line)
    return RequestedAct(act, name, to=speaker, text=line)
