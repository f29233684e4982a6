"""The lines of three characters that a model acts, by subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
