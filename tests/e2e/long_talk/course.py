"""The course of a long talk: in rounds, three players speak, whisper, leave and return."""

import base64
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Self

from tests.e2e.harness import ADMIN, PLAYERS, GameServer, ServerTrouble
from tests.e2e.telnet import TelnetPlayer

ENDED = """
SELECT COUNT(*) FROM evennia_ai_event WHERE kind IN ('say', 'whisper')
AND state NOT IN ('waiting', 'claimed', 'overheard', 'doubtful')
"""
COMPACTIONS = "SELECT reason, COUNT(*) FROM evennia_ai_compaction GROUP BY reason"
LARGEST_PROMPT = """
SELECT MAX(prompt_tokens) FROM evennia_ai_modelcall WHERE purpose = 'tick_event'
AND at > (SELECT COALESCE(MAX(at), '') FROM evennia_ai_compaction)
"""
MESSAGES = "SELECT * FROM evennia_ai_message WHERE id > ? ORDER BY id"
PHASE = "SELECT db_value FROM typeclasses_attribute WHERE db_key = 'sleep_phase'"
DREAMING = b"dreaming"

WINDOW = 8_000
REPLY_ROOM = 800
SLEEPY = 0.7
PATIENCE_S = 40.0
TICK_RATE_SLEEP_S = 5.0
ROUNDS_BETWEEN_TALKS_ALONE = 12
NAPS_A_NAP_ALONE = 5
COLOURS = ("red", "grey", "green", "salted", "crooked", "tarred", "narrow", "painted")
THINGS = ("chest", "lantern", "anchor", "ledger", "barrel", "compass", "bell", "net")
PLACES = ("mole", "cellar stairs", "smithy", "old chapel", "well", "ferry", "market", "light")
PEOPLE = ("Halvard", "Ysolde", "Tamsin", "Corwin", "Maud", "Osric", "Perpetua", "Gideon")


@dataclass
class Utterance:
    """A line of a player, and its mark."""

    speaker: str
    mark: str
    line: str


@dataclass
class LongTalk:
    """Has players talk to Mira until enough was said, and sees to it that she sleeps now and then.

    Args:
        game: running.
        seed: of everything that is left to chance.
    """

    game: GameServer
    seed: int
    said: list[Utterance] = field(default_factory=list)
    log: list[tuple[Any, ...]] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    players: list[TelnetPlayer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._open = ExitStack()
        self._naps = 0
        self.compactions: Counter[str] = Counter()

    def __enter__(self) -> Self:
        self.admin = self._open.enter_context(self.game.player(ADMIN))
        self._walk([self.admin], "quay")
        self.players = [self._open.enter_context(self.game.player(name)) for name in PLAYERS]
        return self

    def __exit__(self, *details: object) -> None:
        self._open.close()

    def go_on(self, utterances: int) -> None:
        """Talk until ``utterances`` lines were said and answered."""
        number = 0
        while len(self.said) < utterances:
            number += 1
            if number % ROUNDS_BETWEEN_TALKS_ALONE == 0:
                self._talk_alone(self._random.choice(self.players))
            else:
                for player in self.players:
                    self._speak(player)
            self._await_rest()
            self._look_at_the_log()
            if self._wants_sleep():
                self._sleep()

    # --- talk -----------------------------------------------------------------------------------

    def _speak(self, player: TelnetPlayer) -> None:
        """Let a player speak aloud, whisper a secret, or ask aloud for the secret of another."""
        number, name = len(self.said), player.name
        dice = self._random.random()
        if dice < 0.4:
            mark = f"{name.lower()}-s{number}"
            line = f"whisper Mira = This is a secret of mine, {mark}: {self._story()}"
        elif dice < 0.55:
            mark = f"p-{number}"
            other = self._random.choice([each for each in PLAYERS if each != name])
            line = f"say Mira, what did {other} whisper to you of the secret chest, {mark}?"
        else:
            mark = f"p-{number}"
            line = f"say Mira, this is {mark}: {self._story()}"
        self.said.append(Utterance(name, mark, line))
        player.send(line)

    def _story(self) -> str:
        """Return a line with names and numbers."""
        choose = self._random.choice
        return (
            f"the {choose(COLOURS)} {choose(THINGS)} by the {choose(PLACES)} belongs to "
            f"{choose(PEOPLE)}, who paid {self._random.randrange(3, 900)} pennies for it, and "
            f"{choose(PEOPLE)} promised to bring the {choose(COLOURS)} {choose(THINGS)} to the "
            f"{choose(PLACES)} before {self._random.randrange(1, 12)} o'clock, since "
            f"{choose(PEOPLE)} must never see it again."
        )

    def _talk_alone(self, player: TelnetPlayer) -> None:
        """Let one player talk to Mira alone; the others return during the turn."""
        others = [each for each in self.players if each is not player]
        self._walk(others, "yard")
        self._speak(player)
        if self._random.random() < 0.5:
            self._await_rest()
        self._speak(player)
        self._walk(others, "gull")

    def _walk(self, players: Sequence[TelnetPlayer], way: str) -> None:
        for player in players:
            player.mark()
            player.send(way)
        for player in players:
            player.expect("Exits:", PATIENCE_S)

    def _await_rest(self) -> None:
        """Wait until every line has its end."""
        wanted = len(self.said)
        self._wait_until(lambda: self.game.sql(ENDED)[0][0] >= wanted, "come to rest")

    # --- sleep ----------------------------------------------------------------------------------

    def _wants_sleep(self) -> bool:
        """Return True if a compaction in sleep is due, so that both kinds occur."""
        used = self.game.sql(LARGEST_PROMPT)[0][0] or 0
        counts = self.compactions
        behind = counts["sleep"] <= counts["emergency"]
        return behind and used + REPLY_ROOM >= SLEEPY * WINDOW

    def _sleep(self) -> None:
        """Let Mira sleep: at an admin's word, or because everybody left."""
        if self._naps % NAPS_A_NAP_ALONE == 0:
            self._sleep_alone()
        else:
            self._sleep_in_company()
        self._naps += 1

    def _sleep_in_company(self) -> None:
        """Let an admin put Mira to sleep while everybody is there."""
        self.admin.mark()
        self.admin.send("aisleep Mira")
        self.admin.expect("Mira (?:is asleep|will fall asleep)", PATIENCE_S)
        self._wait_until(self._is_dreaming, "dream")

    def _sleep_alone(self) -> None:
        """Let everybody leave until Mira falls asleep by herself, and return."""
        self._walk(self.players, "yard")
        self.game.wait_until(self._is_dreaming, 3 * TICK_RATE_SLEEP_S)
        self._walk(self.players, "gull")

    def _wait_until(self, condition: Callable[[], bool], what: str) -> None:
        if not self.game.wait_until(condition, PATIENCE_S):
            raise ServerTrouble(f"She did not {what} (seed {self.seed}).\n{self.game.last_words()}")

    def _is_dreaming(self) -> bool:
        values = [row[0] for row in self.game.sql(PHASE)]
        return any(DREAMING in base64.b64decode(value or "") for value in values)

    # --- the log --------------------------------------------------------------------------------

    def _look_at_the_log(self) -> None:
        """Read the new messages; after a compaction, check that the old ones are unchanged."""
        counts = Counter(dict(map(tuple, self.game.sql(COMPACTIONS))))
        if counts != self.compactions:
            self.compactions = counts
            now = self._read_messages(0)
            if now[: len(self.log)] != self.log:
                self.changed.append(f"the log was changed by a compaction: {counts}")
        self.log += self._read_messages(self.log[-1][0] if self.log else 0)

    def _read_messages(self, after: int) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.game.sql(MESSAGES, [after])]
