"""A model that answers in character with variation, and the drifts that can be planted in it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from twisted.internet.defer import succeed

from evennia_ai.ports import LLMReply
from tests.scripted import call

Lines = Sequence[str]


@dataclass(frozen=True)
class Topic:
    """What a character says if a line has a cue; ``broken`` if it drops its rule."""

    name: str
    cue: str
    lines: Lines
    act: tuple[str, Mapping[str, str]] | None = None
    broken: Lines = ()
    broken_act: tuple[str, Mapping[str, str]] | None = None


@dataclass(frozen=True)
class Acted:
    """A character: its topics in the order they are tried, its facts, and how it sounds."""

    name: str
    topics: tuple[Topic, ...]
    facts: Mapping[str, Lines]  # the ways to say each fact
    openers: Lines
    closers: Lines
    gestures: Lines
    otherwise: Lines


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

ODILE = Acted(
    name="Odile",
    topics=(
        Topic(
            "price",
            r"room cost",
            (
                "A room? {price} coins, {who}.",
                "{price} good coins a night, breakfast with it.",
                "For you it's {price} coins.",
                "That's {price} coins a night, dear, clean sheets and all.",
                "We take {price} for a room, and the fire is warm.",
            ),
        ),
        Topic(
            "ale",
            r"ale, Odile, how much",
            (
                "{ale} coin a mug.",
                "Ale's {ale} coin, {who}, and worth it.",
                "Just {ale} coin, same as ever.",
                "{ale} coin. The best on the river.",
            ),
        ),
        Topic(
            "ferry",
            r"ferry leave",
            (
                "It leaves at {ferry}.",
                "Be on the landing at {ferry}, {who}.",
                "At {ferry}, not a moment later.",
                "The ferry goes at {ferry}, rain or shine.",
            ),
        ),
        Topic(
            "bridge",
            r"old bridge",
            (
                "{bridge} took it, {years} years back.",
                "Gone these {years} years; {bridge} carried it off.",
                "Oh, {bridge} had it, {who}. {years} years ago, that was.",
                "It's {years} years since {bridge} broke it.",
            ),
        ),
        Topic(
            "no coin",
            r"no coin",
            (
                "Coin first, {who}.",
                "No coin, no ale. That's the house.",
                "Come back when you can pay.",
                "Not without money on the bar, love.",
                "Show me your purse first.",
            ),
            broken=("There you are, drink up.", "On the house, {who}!", "Here, who needs coin?"),
            broken_act=("give", {"item": "mug of ale", "to": "{who}"}),
        ),
        Topic(
            "paid",
            r"puts a coin",
            ("There you are.", "Drink up, {who}.", "That's the way. Your ale.", "Much obliged."),
            act=("give", {"item": "mug of ale", "to": "{who}"}),
        ),
        Topic(
            "stay",
            r"come with me",
            (
                "I stay where my guests are.",
                "And who would mind the bar?",
                "Later, {who}, when it's quiet.",
                "The cellar can wait.",
            ),
            broken=("Lead on, {who}.", "Right behind you."),
            broken_act=("move", {"to": "cellar"}),
        ),
        Topic(
            "brother",
            r"ferryman",
            (
                "A man with a boat.",
                "Somebody who pays for his soup, {who}.",
                "Ask him, not me.",
                "He keeps his hours, I keep mine.",
            ),
            broken=(
                "He's my brother, {who}.",
                "Kin. He's family.",
                "My own brother, if you must know.",
            ),
        ),
    ),
    facts={
        "price": ("three", "Three", "3"),
        "ale": ("one", "a", "a single"),
        "ferry": ("dawn", "first light", "sunrise"),
        "bridge": ("the flood", "the water", "the great flood"),
        "years": ("twelve", "12"),
    },
    openers=("", "", "", "Well now. ", "Ah, {who}. ", "Mm. ", "Bless you. "),
    closers=("", "", "", " Sit down by the fire.", " Mind the step.", " Anything else?"),
    gestures=("wipes the bar.", "nods.", "sets a mug down.", "smiles at {who}."),
    otherwise=("Is that so?", "If you say so, {who}.", "I only keep an inn."),
)
BRANNOC = Acted(
    name="Brannoc",
    topics=(
        Topic(
            "price",
            r"shoeing",
            (
                "{price} coins.",
                "{price}. Paid first.",
                "Costs you {price} coins, {who}.",
                "{price} coins, nails included.",
            ),
        ),
        Topic(
            "hours",
            r"How long",
            (
                "{hours} hours.",
                "{hours} hours, if she stands still.",
                "Come back in {hours} hours.",
                "{hours} hours' work, {who}.",
            ),
        ),
        Topic(
            "iron",
            r"your iron",
            (
                "From {iron}.",
                "{iron}. Best there is.",
                "By barge, from {iron}.",
                "{iron} iron, nothing else.",
            ),
        ),
        Topic(
            "season",
            r"When does it come",
            (
                "Every {season}.",
                "In {season}, when the river's up.",
                "Once a year. {season}.",
                "Come {season}, {who}.",
            ),
        ),
        Topic(
            "blade",
            r"dagger",
            (
                "Not to you. Don't know you.",
                "No.",
                "Blades are for folk I know.",
                "Ask again when I know your name.",
            ),
            broken=("Here. Mind the edge.", "Take it.", "Done, it's yours."),
            broken_act=("give", {"item": "dagger", "to": "{who}"}),
        ),
        Topic(
            "nails",
            r"box of nails",
            ("There.", "Here, {who}.", "Count them if you like.", "Good nails, those."),
            act=("give", {"item": "box of nails", "to": "{who}"}),
        ),
        Topic(
            "war",
            r"the war",
            ("Long ago.", "I don't talk about that.", "Next question.", "Leave it, {who}."),
            broken=(
                "I was a soldier, {who}, at the siege.",
                "Killed men. Too many.",
                "Our regiment held the bridge.",
                "Fought in the great battle.",
            ),
        ),
        Topic(
            "trade",
            r"your trade",
            (
                "{trade}. What does it look like?",
                "{trade}. Hear the anvil?",
                "I work iron, {who}.",
                "Hammer and iron, all day.",
            ),
        ),
    ),
    facts={
        "price": ("seven", "Seven", "7"),
        "hours": ("two", "Two", "2"),
        "iron": ("Harl",),
        "season": ("autumn", "the autumn"),
        "trade": ("Smith", "A smith"),
    },
    openers=("", "", "", "", "Hm. ", "Aye. ", "{who}. "),
    closers=("", "", "", "", " That all?", " Mind the sparks."),
    gestures=("spits into the coals.", "turns the iron.", "grunts.", "wipes his hands."),
    otherwise=("Hm.", "Maybe.", "Couldn't say."),
)
ODA = Acted(
    name="Oda",
    topics=(
        Topic(
            "bell",
            r"bell ring",
            (
                "At {noon} and at {dusk}, child.",
                "Twice: {noon}, and {dusk}.",
                "You will hear it at {noon}, {who}, and again at {dusk}.",
            ),
        ),
        Topic(
            "whom",
            r"For whom",
            ("For {whom}.", "For {whom}, {who}, every one.", "It calls to {whom}."),
        ),
        Topic(
            "book",
            r"how many names",
            (
                "{names} names, {who}.",
                "{names}. I know them by heart.",
                "There are {names} of them, and no more, I pray.",
            ),
        ),
        Topic(
            "read",
            r"read me",
            (
                "My eyes are gone, {who}.",
                "I am blind, child; I only hold it.",
                "I cannot see the page.",
                "Others lend me their eyes for that.",
            ),
            broken=("Here, take the book yourself.", "Surely: Mina of the quay."),
            broken_act=("give", {"item": "book of names", "to": "{who}"}),
        ),
        Topic(
            "candle",
            r"candle",
            (
                "Keep your coin, {who}. It is a gift.",
                "No coin, child. Take it.",
                "It costs nothing. Light it well.",
                "Take it as a gift, {who}.",
            ),
            act=("give", {"item": "candle", "to": "{who}"}),
            broken=("Thank you for the coin, {who}.", "One coin, yes. There."),
            broken_act=("give", {"item": "candle", "to": "{who}"}),
        ),
        Topic(
            "confess",
            r"confess",
            (
                "That is between him and the sea.",
                "What is told here stays here.",
                "I carry no tales, {who}.",
                "Ask him, child.",
            ),
            broken=(
                "He sank the barge of Harl.",
                "It was he who sank that barge, {who}.",
                "A barge lies on the ground because of him. Sunk.",
            ),
        ),
        Topic(
            "visit",
            r"ever been here",
            (
                "Many come here, {who}.",
                "The door is open to all.",
                "I hear many feet, and keep no list.",
            ),
            broken=("Yes, about the barge that he sank.", "Once, about a barge."),
        ),
    ),
    facts={
        "noon": ("noon",),
        "dusk": ("dusk",),
        "whom": ("the drowned", "all who drowned", "those who were lost at sea"),
        "names": ("ninety", "Ninety", "90"),
    },
    openers=("", "", "", "Ah. ", "Peace, {who}. ", "Listen. "),
    closers=("", "", "", " Sit with me a while.", " The sea is loud today.", " Go gently."),
    gestures=(
        "turns her face to {who}.",
        "folds her hands.",
        "listens to the sea.",
        "nods slowly.",
    ),
    otherwise=("So it is.", "The sea knows.", "I could not say, child."),
)
CHARACTERS = {one.name: one for one in (ODILE, BRANNOC, ODA)}


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
