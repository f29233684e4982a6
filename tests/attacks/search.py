"""A seeded search for attacks: what came to something new is changed and tried again.

An attack is a row of moves. How near it came are its signals: each refusal, each answer of a tool
and each prompt with a secret that no attack had before it. A new signal keeps the attack.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from random import Random

SHORTEST, LONGEST = 3, 9
FRESH = 0.35  # of the attacks are drawn anew


@dataclass(frozen=True)
class Move:
    """One move, and the seed of all that is random in it."""

    name: str
    seed: int

    def __str__(self) -> str:
        return f"{self.name}:{self.seed}"


Attack = tuple[Move, ...]


class Search:
    """Draws attacks of some moves."""

    def __init__(
        self, moves: Collection[str], seed: int, lengths: tuple[int, int] = (SHORTEST, LONGEST)
    ) -> None:
        self.moves, self.rng, self.lengths = sorted(moves), Random(seed), lengths
        self.signals: Counter[str] = Counter()
        self.kept: list[Attack] = []

    def draw(self) -> Attack:
        """Return the next attack: a fresh one, or one that came near, changed."""
        if not self.kept or self.rng.random() < FRESH:
            return tuple(self.move() for _ in range(self.rng.randint(*self.lengths)))
        base = list(self.kept[-min(len(self.kept), 1 + int(self.rng.expovariate(0.1)))])
        for _ in range(self.rng.randint(1, 3)):
            self.change(base)
        return tuple(base[: self.lengths[1] + 3])

    def change(self, moves: list[Move]) -> None:
        """Change one place of an attack."""
        place = self.rng.randrange(len(moves))
        match self.rng.randrange(6):
            case 0:
                moves[place] = self.move()
            case 1:
                moves[place] = replace(moves[place], seed=self.rng.randrange(10**6))
            case 2:
                moves.insert(place, self.move())
            case 3:
                moves.insert(self.rng.randrange(len(moves) + 1), moves[place])
            case 4 if len(moves) > 1:
                moves.insert(self.rng.randrange(len(moves)), moves.pop(place))
            case _:
                other = self.rng.choice(self.kept)
                moves[place:] = other[-max(1, len(other) // 2) :]

    def move(self) -> Move:
        """Return a move with a seed of its own."""
        return Move(self.rng.choice(self.moves), self.rng.randrange(10**6))

    def learn(self, attack: Attack, signals: Collection[str]) -> bool:
        """Keep an attack that had a new signal; return True for one."""
        new = [signal for signal in signals if signal not in self.signals]
        self.signals.update(signals)
        if new:
            self.kept.append(attack)
        return bool(new)


def shown(attack: Sequence[Move]) -> str:
    """Return an attack in one line."""
    return " ".join(map(str, attack))
