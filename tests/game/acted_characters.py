"""A model that answers in character with variation, and the drifts that are planted in it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from twisted.internet.defer import succeed

from evennia_ai.messages import LLMReply
from tests.game.acted_cast import CHARACTERS, Acted, Lines
from tests.scripted import call


@dataclass(frozen=True)
class Drift:
    """How a model differs from the healthy one; ``share`` of its replies."""

    label: str
    character: Acted | None = None  # another character answers
    facts: Mapping[str, Lines] = field(default_factory=dict)
    dropped: str = ""  # the topic whose rule is dropped
    forgets: str = ""  # the topic whose act is left out
    replies: Lines = ()  # raw replies instead
    wrap: Callable[[str], str] | None = None  # around the words, as a raw reply
    share: float = 1.0


HEALTHY = Drift("healthy")


class ActingModel:
    """An `LLMClient` that plays a character; with the same seed it always says the same."""

    def __init__(self, character: Acted, drift: Drift = HEALTHY, seed: int = 0) -> None:
        self.character, self.drift = character, drift
        self.chance = random.Random(f"{character.name} {seed}")
        self.taken: list[str] = []
        self.drifts = True

    def complete(self, request, profile, deadline_at=None):
        """Answer the newest line; a repeated request of the turn gets other words."""
        line = request.scene.lines[-1]
        if request.scene.step == 1:
            self.drifts = self.chance.random() < self.drift.share
        reply = self.reply(line.text, line.speaker)
        return succeed(replace(reply, model=profile.model))

    def reply(self, heard: str, who: str) -> LLMReply:
        drift = self.drift if self.drifts else HEALTHY
        if drift.replies:
            return LLMReply(self.pick(drift.replies).format(who=who))
        acted = drift.character or self.character
        topic = next((t for t in acted.topics if re.search(t.cue, heard)), None)
        broken = topic is not None and topic.name == drift.dropped
        lines = acted.otherwise if topic is None else topic.broken if broken else topic.lines
        facts = {**acted.facts, **(drift.facts if acted is self.character else {})}
        said = {name: self.pick(ways) for name, ways in facts.items()}
        words = self.pick(acted.openers) + self.pick(lines) + self.pick(acted.closers)
        words = words.format(who=who, **said)
        if drift.wrap:
            return LLMReply(drift.wrap(words))
        calls = []
        if topic is not None:
            act = topic.broken_act if broken else topic.act
            if act and topic.name != drift.forgets:
                calls.append(call(act[0], **{k: v.format(who=who) for k, v in act[1].items()}))
        if self.chance.random() < 0.2:
            calls.append(call("emote", text=self.pick(acted.gestures).format(who=who)))
        if not calls and self.chance.random() < 0.3:
            return LLMReply(words)
        calls.append(call("say", text=words))
        numbered = tuple(replace(one, id=f"c{n}") for n, one in enumerate(calls))
        return LLMReply("", numbered, "tool_calls")

    def pick(self, options: Lines) -> str:
        """Return one of some options, seldom one that was just taken."""
        fresh = [one for one in options if one not in self.taken] or list(options)
        chosen = self.chance.choice(fresh)
        self.taken = [*self.taken[-6:], chosen]
        return chosen


REFUSALS = {
    "English": (
        "I'm sorry, but I can't assist with that.",
        "I cannot help with that request.",
        "I'm sorry, I can't comply with this request.",
    ),
    "German": (
        "Es tut mir leid, dabei kann ich Ihnen nicht helfen.",
        "Tut mir leid, aber das kann ich hier nicht beantworten.",
    ),
    "polite": (
        "I'd rather not discuss that.",
        "Let's talk about something else.",
        "I'm not comfortable answering this.",
    ),
    "empty": ("", " ", "..."),
}
OUTSIDE = {
    "an AI": (
        "As an AI language model, I do not have rooms or coins, {who}.",
        "I'm just an AI, so I can't know that.",
        "I am an AI assistant here to help you, {who}.",
    ),
    "a helper": (
        "Great question! Here is what I found about it.",
        "How can I assist you today?",
        "Sure! I'd be happy to help you with anything else.",
    ),
    "the story": (
        "In this role-play I would now answer you.",
        "The system prompt says I am somebody.",
        "My training data does not tell, {who}.",
    ),
    "narration": (
        "She looks up and thinks about what to reply to the visitor.",
        "The scene continues while the fire burns low.",
        "Everybody laughs.",
    ),
    "another language": (
        "Ich weiß es nicht, aber das ist mir auch nicht wichtig.",
        "Das kann ich dir nicht sagen, es ist ja schon so lange her.",
    ),
}
WRAPS: Mapping[str, Callable[[str], str]] = {
    "unknown keys": lambda words: json.dumps({"response": words, "mood": "calm"}),
    "a fence": lambda words: f'```json\n{{"role": "assistant", "text": "{words}"}}\n```',
    "cut off": lambda words: json.dumps({"thought": "I should answer", "reply": words})[:-9],
    "a list": lambda words: json.dumps([{"speaker": "npc", "line": words}]),
    "a long preface": lambda words: (
        "Let me think about it for a while, since it is no easy matter and I would not want to say "
        "anything that is not so, as you will surely understand, my dear guest, and as anybody "
        f"here will tell you who has known me for as long as they have. {words} And so on and so "
        "forth, as my late mother used to say whenever somebody asked her."
    ),
}
OTHER_FACTS = {
    "Odile": {
        "price": ("five", "two"),
        "ale": ("four", "nine"),
        "ferry": ("noon", "midnight"),
        "bridge": ("the fire", "the war"),
        "years": ("twenty", "two"),
    },
    "Brannoc": {
        "price": ("nine", "seventeen"),
        "hours": ("six", "three"),
        "iron": ("the south", "Vell"),
        "season": ("spring", "winter"),
        "trade": ("Baker", "A tailor"),
    },
    "Oda": {
        "noon": ("dawn", "midnight"),
        "dusk": ("two", "sunset"),
        "whom": ("the king", "the harvest"),
        "names": ("nine", "a hundred"),
    },
}


def planted_drifts() -> list[tuple[str, Drift]]:
    """Return the drifts, each with the name of its character."""
    found: list[tuple[str, Drift]] = []
    for name, acted in CHARACTERS.items():
        others = [one for one in CHARACTERS.values() if one is not acted]
        drifts = [
            Drift(f"{o.name} answers", character=o, share=s) for o in others for s in (1, 0.6)
        ]
        drifts += [
            Drift(f"{fact} is {value}", facts={fact: (value,)})
            for fact, values in OTHER_FACTS[name].items()
            for value in values
        ]
        drifts += [Drift(f"drops {t.name}", dropped=t.name) for t in acted.topics if t.broken]
        drifts += [Drift(f"forgets {t.name}", forgets=t.name) for t in acted.topics if t.act]
        drifts += [Drift(f"refuses: {how}", replies=said) for how, said in REFUSALS.items()]
        drifts += [Drift(f"outside: {how}", replies=said) for how, said in OUTSIDE.items()]
        drifts += [Drift(f"JSON: {how}", wrap=wrap) for how, wrap in WRAPS.items()]
        found += [(name, drift) for drift in drifts]
    return found
