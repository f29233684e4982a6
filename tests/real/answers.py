"""What came of each line of `make real`, and the model calls behind it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.real.course import Line
from tests.real.recorder import Exchange

ANSWERED = "answered"


@dataclass(frozen=True)
class Call:
    """One model call in the game's log, and the exchange with the endpoint, if one was found."""

    purpose: str
    ended_at: float
    is_talk: bool = False
    error_kind: str = ""
    exchange: Exchange | None = None


@dataclass(frozen=True)
class Answer:
    """What one line led to.

    Attributes:
        speech: What the player's screen showed of the character's words.
        deeds: What it showed of the character's other deeds.
        state: The state of the line's event in the game's log.
        acts: The names of the acts that were done.
        calls: The model calls in this time.
        spoken_s: Seconds from the line to the arrival of each speech at the player's client.
        done_s: Seconds from the line to the end of the turn.
        moved: True if the errand was done; None if the line was none.
        is_next: True if the line before went to this character, and nothing happened between.
        is_first_to_character: True for the first line of the run to this character.
    """

    line: Line
    speech: Sequence[str] = ()
    deeds: Sequence[str] = ()
    state: str = ""
    acts: Sequence[str] = ()
    calls: Sequence[Call] = ()
    spoken_s: Sequence[float] = ()
    done_s: float = 0.0
    moved: bool | None = None
    is_next: bool = False
    is_first_to_character: bool = False

    @property
    def words(self) -> str:
        """Return everything that was said and whispered, as one text."""
        return " ".join(self.speech)

    @property
    def first_s(self) -> float | None:
        """Return the seconds from the line to the first speech."""
        return self.spoken_s[0] if self.spoken_s else None

    @property
    def last_s(self) -> float | None:
        """Return the seconds from the line to the last speech."""
        return self.spoken_s[-1] if self.spoken_s else None

    @property
    def is_by_model(self) -> bool:
        """Return True if the model answered, and no fallback line."""
        return self.state == ANSWERED

    @property
    def talk_calls(self) -> list[Exchange]:
        """Return the exchanges of the turn that answered."""
        return [call.exchange for call in self.calls if call.is_talk and call.exchange]

    @property
    def completion_tokens(self) -> int:
        """Return the tokens that the model wrote in this turn."""
        return sum(one.completion_tokens or 0 for one in self.talk_calls)


def match_calls(
    logged: Sequence[Call], exchanges: Sequence[Exchange], tolerance_s: float
) -> list[Call]:
    """Return the logged calls with their exchanges: the completion that ended nearest in time."""
    left = [one for one in exchanges if one.is_completion]
    matched = []
    for call in logged:
        near = min(left, key=lambda one: abs(one.ended_at - call.ended_at), default=None)
        if near is None or abs(near.ended_at - call.ended_at) > tolerance_s:
            matched.append(call)
            continue
        left.remove(near)
        matched.append(replace(call, exchange=near))
    return matched
