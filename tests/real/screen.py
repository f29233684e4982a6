"""What a player's screen shows of a character: its words, and its other deeds. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

# Evennia's own lines about a character that comes, goes, or is moved.
MOVES = r"is leaving |arrives to |has arrived|teleports "


@dataclass(frozen=True)
class Shown:
    """Something that a character said, whispered or did, and its end in the text."""

    words: str
    end: int
    is_speech: bool


def read_screen(text: str, name: str, others: Iterable[str] = ()) -> list[Shown]:
    """Return what a character said and did, in order.

    A speech goes on over line ends until its closing quotation mark. Lines of Evennia about moves,
    and those that match one of the patterns ``others``, are not the character's.
    """
    who = re.escape(name)
    spoken = re.compile(rf'^{who} (?:says, |whispers: )"((?s:.*?))"[ ]*$', re.M)
    ignored = re.compile("|".join([MOVES, *others]))
    deed = re.compile(rf"^{who} (?!says, |whispers: )(.+)$", re.M)
    found = [Shown(one[1], one.end(1), True) for one in spoken.finditer(text)]
    found += [
        Shown(one[1], one.end(1), False) for one in deed.finditer(text) if not ignored.match(one[1])
    ]
    return sorted(found, key=lambda shown: shown.end)
