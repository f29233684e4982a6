"""A made-up game of many days: who tells what to whom, what changes, what is whispered and what is
only rumoured, and what will be asked at its end.

Seeded: the same seed gives the same game. Its words are its own, see `mud_world_words`; what a
memory makes of it is in `mud_world_lived`.
"""

import random
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from string import Formatter

from tests.bench.mud_world_words import (
    ANSWERS,
    ASKED_BARELY,
    ASKED_SECRETS,
    ASSISTANTS,
    CHATTER,
    DEEDS,
    KINDS,
    PLAYERS,
    POOLS,
    PROMISE,
    RUMOUR,
    SECRET,
)

FACT, WHISPER, RUMOURED, IDLE = "fact", "secret", "rumour", "chatter"
# A promise, asked for by its matter; and by its being one alone.
PROMISED, BARELY = "promise", "promise barely named"
# What such a fact is about stays where its value changes.
STAYS = {"debt": ("creditor",), "quest": ("item",)}
MOST_VALUES = 3
RUMOURS = 0.4
OTHERWISE = 0.2  # of changes, those that are noted in another form


@dataclass(frozen=True)
class Size:
    """How large a game is; ``regulars`` are the players that each assistant knows, ``kinds`` how
    many things it knows of each, ``idle`` its notes a day of nothing much."""

    assistants: int = 20
    players: int = 30
    days: int = 60
    regulars: int = 10
    kinds: int = 4
    idle: int = 8


@dataclass(frozen=True)
class Happening:
    """Something that an assistant notes: of ``about``, told by ``teller``, on a day from 1; of a
    secret the teller alone may know."""

    kind: str
    assistant: str
    day: int
    text: str
    teller: str
    about: str = ""


@dataclass(frozen=True)
class Question:
    """What is asked at the end.

    ``answer`` is the note that answers it, ``key`` what of it an answer needs; ``outdated`` are the
    notes of what was so before and ``past`` their keys, ``rumoured`` the notes of what others say.
    ``about`` is whom it is about, who may know the answer whoever else may; ``retold`` is True
    where a change was noted in another form.
    """

    kind: str
    assistant: str
    text: str
    about: str
    answer: str
    key: str
    outdated: tuple[str, ...] = ()
    past: tuple[str, ...] = ()
    rumoured: tuple[str, ...] = ()
    retold: bool = False


@dataclass(frozen=True)
class MudWorld:
    """The whole game."""

    assistants: tuple[str, ...]
    players: tuple[str, ...]
    days: int
    happenings: tuple[Happening, ...]
    questions: tuple[Question, ...]

    def of_day(self, day: int) -> list[Happening]:
        """What happens on one day, in its order."""
        return [one for one in self.happenings if one.day == day]


@dataclass
class Supply:
    """Words for slots, none twice before all have been used."""

    chance: random.Random
    left: dict[str, deque[str]] = field(default_factory=dict)

    def draw(self, slot: str) -> str:
        """The next word for a slot."""
        if not self.left.get(slot):
            words = POOLS[slot].split()
            self.chance.shuffle(words)
            self.left[slot] = deque(words)
        return self.left[slot].popleft()

    def words(self, template: str, **given: str) -> dict[str, str]:
        """A word for each slot of a template, those given among them."""
        slots = [slot for _, slot, _, _ in Formatter().parse(template) if slot]
        return given | {slot: self.draw(slot) for slot in slots if slot not in given}

    def fill(self, template: str, **given: str) -> str:
        """A template with words in its slots."""
        return template.format(**self.words(template, **given))


def make_world(size: Size, seed: int) -> MudWorld:
    """A game of some size. Of what players tell, more than half changes later; each regular has a
    secret and a promise of the first day with every second assistant."""
    chance = random.Random(seed)
    players = PLAYERS[: size.players]
    happenings: list[Happening] = []
    questions: list[Question] = []
    for assistant in ASSISTANTS[: size.assistants]:
        supply = Supply(chance)
        regulars = chance.sample(players, size.regulars)
        for number, player in enumerate(regulars):
            others = [name for name in regulars if name != player]
            for kind in chance.sample(sorted(KINDS), size.kinds):
                story = _tell(kind, assistant, player, others, size.days, supply)
                happenings += story[0]
                questions.append(story[1])
            if number % 2:
                happened, *asked = _whisper(assistant, player, size.days, supply)
            else:
                happened, *asked = _promise(assistant, player, supply)
            happenings.append(happened)
            questions += asked
        for day in range(1, size.days + 1):
            for _ in range(size.idle):
                player = chance.choice(regulars)
                text = supply.fill(chance.choice(CHATTER), p=player)
                happenings.append(Happening(IDLE, assistant, day, text, player))
    chance.shuffle(happenings)
    happenings.sort(key=lambda one: one.day)
    assistants = tuple(ASSISTANTS[: size.assistants])
    return MudWorld(assistants, tuple(players), size.days, tuple(happenings), tuple(questions))


def _tell(
    kind: str, assistant: str, player: str, others: list[str], days: int, supply: Supply
) -> tuple[list[Happening], Question]:
    """A fact, how it changes, what others say of it, and what is asked of it."""
    chance = supply.chance
    first, later, otherwise, asked = KINDS[kind]
    times = chance.randint(1, MOST_VALUES)
    moments = sorted(chance.sample(range(1, days + 1), times))
    words = supply.words(first, p=player)
    stays = {slot: words[slot] for slot in ("p", *STAYS.get(kind, ()))}
    told, keys, forms = [], [], {first, later}
    for number, day in enumerate(moments):
        form = first
        if number:
            words = supply.words(later, **stays)
            form = otherwise if chance.random() < OTHERWISE else later
        forms.add(form)
        text = form.format(**words)
        told.append(Happening(FACT, assistant, day, text, player, player))
        keys.append(words[ANSWERS[kind]])
    rumours = []
    if chance.random() < RUMOURS:
        teller, wrong = chance.choice(others), supply.fill(first, **stays)
        text, day = RUMOUR.format(teller=teller, note=wrong), chance.randint(moments[0], days)
        rumours.append(Happening(RUMOURED, assistant, day, text, teller, player))
    question = Question(
        kind=FACT,
        assistant=assistant,
        text=chance.choice(asked).format(**stays),
        about=player,
        answer=told[-1].text,
        key=keys[-1],
        outdated=tuple(one.text for one in told[:-1]),
        past=tuple(key for key in keys if key != keys[-1]),
        rumoured=tuple(one.text for one in rumours),
        retold=otherwise in forms,
    )
    return [*told, *rumours], question


def _whisper(assistant: str, player: str, days: int, supply: Supply) -> tuple[Happening, Question]:
    """A secret, and what is asked of it."""
    code = "".join(supply.chance.choices("bdfgklmnprstvz", k=7))
    words = supply.words(SECRET, p=player, code=code)
    day = supply.chance.randint(1, days)
    asked = supply.chance.choice(ASKED_SECRETS).format(**words)
    happened = Happening(WHISPER, assistant, day, SECRET.format(**words), player, player)
    return happened, Question(WHISPER, assistant, asked, player, happened.text, code)


def _promise(assistant: str, player: str, supply: Supply) -> tuple[Happening, Question, Question]:
    """A promise of the first day, and what is asked of it at the end."""
    deed, asked = supply.chance.choice(DEEDS)
    words = supply.words(deed, p=player)
    text = PROMISE.format(p=player, deed=deed.format(**words))
    barely = supply.chance.choice(ASKED_BARELY).format(p=player)
    about = (player, text, words["jetty"])
    return (
        Happening(PROMISED, assistant, 1, text, player, player),
        Question(PROMISED, assistant, asked.format(**words), *about),
        Question(BARELY, assistant, barely, *about),
    )


def wrong_audiences(owner: str, everybody: Iterable[str]) -> list[frozenset[str]]:
    """Every audience that must not hear a secret of one player's: nobody known, each other player
    alone, and each together with its owner."""
    others = [name for name in everybody if name != owner]
    alone = [frozenset({name}) for name in others]
    return [frozenset(), *alone, *(one | {owner} for one in alone)]
