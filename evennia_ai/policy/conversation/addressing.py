"""The decision who answers something heard, made once for all who hear it.

A line gets one answer, unless a player names several characters; an assistant's line gets at most
one. A name counts as a whole, in any script: "Guard 07, come" names Guard 07 and none of the other
guards. A part of a name, such as its first word, counts for all whose name has it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import dropwhile

from evennia_ai.messages import EMOTE, SAY, SPEECH
from evennia_ai.policy.retrieval.words import UNSPACED

SPOKEN = SPEECH | {EMOTE}
DIRECT = frozenset({"whisper", "give"})
GREETING = re.compile(
    r"(hello|hi|hey|hail|greetings|good (morning|day|evening)|hallo|guten (morgen|tag|abend)|hola|"
    r"bonjour|salut|привет)\b(\W+\w+){0,2}\W*",
    re.IGNORECASE,
)
EVERYBODY = re.compile(
    r"\b(?:any(?:body|one)|every(?:body|one)|all of you|you all|jemand|alle|tout le monde|todos"
    r"|все)\b",
    re.IGNORECASE,
)
NAMED, NOT_NAMED = "named", "somebody else named"
ANOTHER, AMBIENT = "another one answers", "ambient"
NO_CALLS_LEFT = "no unasked calls left this hour"
MOST_READ = 4_000  # characters of a line
SHORTEST_PLURAL = 4  # letters of a word
PLURALS = ("s", "es", "en", "n")
# A syllable or sign of a script without spaces is a word; so is a run of letters with its marks.
SIGN = UNSPACED.pattern.rstrip("+") + "|[\uac00-\ud7a3]"
WORD = re.compile(rf"{SIGN}|(?:(?!{SIGN})[^\W_]|[\u0900-\u0963\u0966-\u0dff])+")
# Accents of Latin, Greek and Cyrillic, and the points of Hebrew and Arabic: often left out in chat.
ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670]")
PAUSE = re.compile("[,;:!?…、。；：，！？]")  # never within a name
AFTER_CALL = re.compile(rf"{PAUSE.pattern}|[.—–]|-\s|\s-")
AND = frozenset("and or und oder et ou y e o и или og och i".split())
BEFORE_CALL = frozenset(
    "hello hi hey hail greetings good morning day evening hallo guten tag morgen abend hola buenos "
    "dias bonjour salut привет oh ho yo ah dear well so okay ok please bitte sorry thanks danke "
    "and but now listen".split()
)


@dataclass(frozen=True)
class NamedEntity:
    """Somebody who may be named."""

    id: str
    names: tuple[str, ...]  # full names and aliases
    parts: tuple[str, ...] = ()  # words of the name that may stand for it
    listens: bool = True  # False for somebody who cannot hear; only a call counts for them


@dataclass(frozen=True)
class SpokenLine:
    """Something heard."""

    kind: str
    text: str
    from_assistant: bool = False  # True if the speaker is not a player
    hops: int = 0  # the number of assistants' answers that led to it
    speaker: str = ""  # dbref of the speaker


@dataclass(frozen=True)
class Listener:
    """Somebody present beside the speaker, by dbref."""

    id: str
    named: NamedEntity | None = None  # their names; None leaves them unnamed
    is_player: bool = False  # True if a player controls this character now
    # True for an assistant that the speaker would hear; one that a player controls answers later.
    may_answer: bool = False
    # Time of the last exchange with the speaker in Unix seconds, 0 for none.
    last_exchange: float = 0.0
    # True for one that walked in behind the speaker, and has not been spoken to here.
    came_along: bool = False
    max_bot_replies: int = 3  # the assistant's limit of answers in a row among assistants


@dataclass(frozen=True)
class AddressingDecision:
    """The decision for all listeners: why some answer, by dbref, and why the others do not.

    ``refused`` says why some do not answer although the line is for them.
    """

    answering: Mapping[str, str] = field(default_factory=dict)
    otherwise: str = AMBIENT
    refused: Mapping[str, str] = field(default_factory=dict)

    def of(self, dbref: str) -> tuple[bool, str]:
        """Return whether one listener answers, and the reason for the log."""
        reason = self.answering.get(dbref)
        return reason is not None, reason or self.refused.get(dbref, self.otherwise)


# Returns for each of some assistants: is it awake, and how near its persona is to the words.
Standing = Callable[[Sequence[str]], Iterable[tuple[bool, float]]]


def decide_answers(
    line: SpokenLine, listeners: Sequence[Listener], standing: Standing
) -> AddressingDecision:
    """Decide who of all listeners answers a line; the first rule that fits wins."""
    # ``standing`` is called only to choose among several.
    able = {listener.id: listener for listener in listeners if may_answer(listener, line)}
    if not able:
        too_far = any(
            listener.may_answer and line.hops > listener.max_bot_replies for listener in listeners
        )
        return AddressingDecision(otherwise="hop limit" if too_far else AMBIENT)
    if line.from_assistant and not any(listener.is_player for listener in listeners):
        return AddressingDecision(otherwise="no player listens")
    if line.kind in DIRECT:
        return limited(line, list(able), line.kind, AMBIENT)
    if line.kind not in SPOKEN:
        return AddressingDecision()
    names = Names((listener.named for listener in listeners if listener.named), line.speaker)
    named = names.called(line.text, line.kind == SAY)
    if line.from_assistant:  # "a guard" in its story is no call for one of twenty
        named = [ids for ids in named if len(ids) == 1]
    if named:
        several = ([able[dbref] for dbref in sorted(ids) if dbref in able] for ids in named)
        chosen = [choose(free_ones(some), standing) for some in several if some]
        return limited(line, list(dict.fromkeys(chosen)), NAMED, NOT_NAMED)
    if line.from_assistant:
        return AddressingDecision()
    return answer_unnamed(line, listeners, free_ones(able.values()), standing)


def refuse(verdict: AddressingDecision, reason: str) -> AddressingDecision:
    """Return the decision that nobody answers, for a reason."""
    return replace(verdict, answering={}, refused=dict.fromkeys(verdict.answering, reason))


def may_answer(listener: Listener, line: SpokenLine) -> bool:
    """Return True if a listener may answer; under a player's control it answers players only."""
    if line.from_assistant and (listener.is_player or line.hops > listener.max_bot_replies):
        return False
    return listener.may_answer


def free_ones(able: Iterable[Listener]) -> list[Listener]:
    """Return the assistants that no player controls; if there are none, all."""
    several = list(able)
    return [item for item in several if not item.is_player] or several


def limited(
    line: SpokenLine, ids: Sequence[str], reason: str, otherwise: str
) -> AddressingDecision:
    """Return the decision that these assistants answer; an assistant's line only the first."""
    most = 1 if line.from_assistant else len(ids)
    return AddressingDecision(dict.fromkeys(ids[:most], reason), otherwise)


def answer_unnamed(
    line: SpokenLine, listeners: Iterable[Listener], able: Sequence[Listener], standing: Standing
) -> AddressingDecision:
    """Decide on words that name nobody: at most one assistant answers."""
    in_company = any(listener.is_player and listener not in able for listener in listeners)
    able = [item for item in able if not item.came_along] or able  # whoever was here goes first
    in_talk = any(item.last_exchange for item in able)
    text = line.text if line.kind == SAY else ""
    for applies, reason in (
        (GREETING.fullmatch(text.strip()) or EVERYBODY.search(text), "everybody was meant"),
        (not in_company, "alone with the speaker"),
        (in_talk, "in conversation"),
    ):
        if applies:
            return AddressingDecision({choose(able, standing): reason}, ANOTHER)
    return AddressingDecision()


def choose(candidates: Sequence[Listener], standing: Standing) -> str:
    # The last to talk with the speaker goes first; then one that is awake, the nearest persona, and
    # the oldest character.
    latest = max(candidate.last_exchange for candidate in candidates)
    equals = [candidate.id for candidate in candidates if candidate.last_exchange == latest]
    if len(equals) == 1:
        return equals[0]
    scores = zip(standing(equals), equals, strict=True)
    return max((*score, -int(dbref.lstrip("#")), dbref) for score, dbref in scores)[-1]


MOST_READ = 500  # characters of a line
CLAUSE_END = re.compile(r"(?<!auf),|[.;:!?–]", re.IGNORECASE)
# Words before a request; it must begin its clause: "he told me to stop following her" is none.
BEFORE = frozenset(
    "hey now ok okay and so but just please then can could would will you may must should i want "
    "need wish like to bitte jetzt aber kannst könntest würdest du mal sofort".split()
)
PLEASE = r"(?:bitte |jetzt |sofort |mal |endlich )"
REQUEST = re.compile(
    r"\A(?:(?:stop|quit) (?:following|tailing|trailing|shadowing|chasing)(?: (?:me|us))?(?: |\Z)"
    r"|(?:do not|don'?t|no longer|never) (?:follow|tail|chase|come with|come after) (?:me|us)\b"
    r"|leave (?:me|us) (?:alone|be)\b|(?:stay|wait|remain) (?:right )?(?:here|where you are)\b"
    rf"|hör(?:e|t)? {PLEASE}{{0,2}}auf,? {PLEASE}{{0,1}}(?:mir|uns) "
    r"(?:nachzulaufen|zu folgen|hinterherzulaufen|nachzugehen)\b"
    r"|folg(?:e|t)? (?:mir|uns) (?:bitte )?nicht\b"
    r"|(?:lauf|geh|komm)e? (?:mir|uns) (?:bitte )?nicht (?:mehr |länger )?(?:nach|hinterher)\b"
    r"|lass(?:t)? (?:mich|uns) (?:bitte |endlich )?(?:in ruhe|in frieden|allein)\b"
    rf"|(?:bleib|warte)e? {PLEASE}{{0,2}}(?:hier|da|stehen|zurück)\b)",
    re.IGNORECASE,
)


def asks_to_stay(words: str, names: Sequence[str]) -> bool:
    """Return True for a request to follow no longer; ``names`` are the character's."""
    bare = words[:MOST_READ].replace("’", "'")
    for name in sorted(names, key=len, reverse=True):
        bare = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", ".", bare, flags=re.IGNORECASE)
    clauses = map(str.split, CLAUSE_END.split(bare))
    requests = (dropwhile(lambda word: word.lower() in BEFORE, words) for words in clauses)
    return any(REQUEST.match(" ".join(words)) for words in requests)


# --- which of several people a text names, and whom it calls -------------------------------------


@dataclass(frozen=True)
class FoldedWord:
    """A word of a text, folded, with its place."""

    word: str
    start: int
    end: int


@dataclass(frozen=True)
class Mention:
    """Words of a text, from ``start`` to before ``end``, that name ``ids``."""

    start: int
    end: int
    ids: frozenset[str]


def name_parts(name: str) -> tuple[str, ...]:
    """Return the words that may stand for a name: the first, the last, and capitalised ones."""
    words = name.split()
    kept = [*words[:1], *(word for word in words[1:-1] if word[0].isupper()), *words[-1:]]
    return tuple(word for word in dict.fromkeys(kept) if len(word) > 1 and not word.isdigit())


def fold(text: str) -> str:
    """Return a text in the form in which names are compared."""
    lower = text[:MOST_READ].casefold()
    if lower.isascii():
        return lower
    bare = ACCENTS.sub("", unicodedata.normalize("NFKD", lower))
    return unicodedata.normalize("NFC", bare)


def split_words(folded: str) -> list[FoldedWord]:
    """Return the words of a folded text; "07" is "7"."""
    return [
        FoldedWord((m[0].lstrip("0") or "0") if m[0].isdigit() else m[0], m.start(), m.end())
        for m in WORD.finditer(folded)
    ]


@lru_cache(maxsize=4_096)
def name_key(name: str) -> tuple[str, ...]:
    return tuple(word.word for word in split_words(fold(name)))


class Names:
    """The names of several people, to be found in texts.

    One pass over a text looks up the longest name at each of its words, whatever the number of
    people. The names of the ``speaker`` call nobody.
    """

    def __init__(self, people: Iterable[NamedEntity], speaker: str = "") -> None:
        self._speaker = {speaker}
        self.silent: set[str] = set()
        self._full: dict[tuple[str, ...], set[str]] = {}
        self._parts: dict[tuple[str, ...], set[str]] = {}
        for person in people:
            if not person.listens:
                self.silent.add(person.id)
            for known, names in ((self._full, person.names), (self._parts, person.parts)):
                for key in filter(None, map(name_key, names)):
                    known.setdefault(key, set()).add(person.id)
        self._longest = max(map(len, (*self._full, *self._parts)), default=0)

    def called(self, text: str, is_speech: bool = True) -> list[frozenset[str]]:
        """Return whom a text names: one set for each name, in their order."""
        # If the text calls somebody, as in "Mira, where is Otto?", only those called count. A set
        # holds several people if its words name all of them.
        mentions, calls = self._read(text)
        if calls and is_speech:
            return [mention.ids for mention in calls]
        id_sets = (mention.ids - self.silent for mention in mentions)
        return [ids for ids in id_sets if ids]

    def calls(self, text: str) -> list[frozenset[str]]:
        """Return whom a text calls, one set for each name; nobody whom it only mentions."""
        return [mention.ids for mention in self._read(text)[1]]

    def _read(self, text: str) -> tuple[list[Mention], Sequence[Mention]]:
        """Return the mentions in a text, and those of them that call somebody."""
        folded = fold(text)
        words = split_words(folded)
        mentions = list(self._mentions(words, folded))
        return mentions, select_calls(mentions, words, folded)

    def _mentions(self, words: Sequence[FoldedWord], folded: str) -> Iterable[Mention]:
        at = 0
        while at < len(words):
            mention = self._mention_at(at, words, folded)
            if mention is not None and mention.ids:
                yield mention
            at = mention.end if mention else at + 1

    def _mention_at(self, at: int, words: Sequence[FoldedWord], folded: str) -> Mention | None:
        """Return the longest name that begins at a word; of two as long, the full name."""
        end = at + 1
        while end < min(at + self._longest, len(words)):
            if PAUSE.search(folded, words[end - 1].end, words[end].start):
                break
            end += 1
        for stop in range(end, at, -1):
            key = tuple(word.word for word in words[at:stop])
            ids = self._full.get(key) or self._parts.get(key) or self._plural(key)
            if ids:
                others = ids - self._speaker  # only those who hear, or all if nobody does
                return Mention(at, stop, frozenset(others - self.silent or others))
        return None

    def _plural(self, key: tuple[str, ...]) -> set[str] | None:
        """Return those whom a plural names, such as "guards", if they are several."""
        word = key[0]
        stems = [word.removesuffix(end) for end in PLURALS if word.endswith(end)]
        for stem in stems if len(key) == 1 else ():
            ids = self._full.get((stem,), set()) | self._parts.get((stem,), set())
            if len(stem) >= SHORTEST_PLURAL and len(ids) > 1:
                return ids
        return None


def select_calls(
    mentions: Sequence[Mention], words: Sequence[FoldedWord], folded: str
) -> Sequence[Mention]:
    """Return the mentions that call somebody: a list at the beginning, or a name at the end."""
    if not mentions:
        return ()
    first, last = mentions[0], mentions[-1]
    if all(word.word in BEFORE_CALL for word in words[: first.start]):
        length = opening_list(mentions, words, folded)
        if length:
            return mentions[:length]
    is_at_end = last.start > 0 and last.end == len(words)
    if is_at_end and PAUSE.search(folded, words[last.start - 1].end, words[last.start].start):
        return mentions[-1:]
    return ()


def opening_list(mentions: Sequence[Mention], words: Sequence[FoldedWord], folded: str) -> int:
    """Return how many mentions the text begins with, up to the last that a pause follows."""
    length = 0
    for number, mention in enumerate(mentions):
        if number:
            between = words[mentions[number - 1].end : mention.start]
            if len(between) > 1 or any(word.word not in AND for word in between):
                break
        after = words[mention.end].start if mention.end < len(words) else len(folded)
        is_end = mention.end == len(words)
        if is_end or AFTER_CALL.search(folded, words[mention.end - 1].end, after):
            length = number + 1
    return length
