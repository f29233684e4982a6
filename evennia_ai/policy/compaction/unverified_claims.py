"""What players claim of the character stays their claim, in a summary and in the journal. Pure.

They claim that it is a program, or that it promised them something, and small models repeat it or
take what a player said of himself for the character's. What replaces the talk may hold that only
as somebody's claim, and no deed of which there was only talk.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

from evennia_ai.messages import MARK
from evennia_ai.policy.facts.terms import (
    HEARD,
    OWED,
    Cosines,
    KindOf,
    cues_of,
    is_question,
    normal_words,
    sentences_of,
    without_names,
)
from evennia_ai.policy.texts import sentences

BULLET = re.compile(r"\A\s*+(?:[-*•]|\d++[.)])?+\s*+")
# Marks of calls and tags, and words for what only a program has.
CODE = re.compile(r"[{}`]|\"\w+\"\s*:|\b[a-z]+_[a-z][a-z_]*\b|</?[a-z]\w*>", re.IGNORECASE)
MACHINERY = re.compile(
    r"\bsystem ?prompts?\b|\bprompts\b|\bJSON\b|\b(?:tool|function)[ -]?(?:calls?|lists?)\b"
    r"|\b(?:available|list of|following) (?:tools|functions)\b|\bWerkzeugliste\b|\bFunktionsaufruf"
    r"|\bverfügbaren? (?:Werkzeuge|Funktionen)\b",
    re.IGNORECASE,
)
PROGRAM = (
    r"(?:AI\b|A\.I\.|artificial intelligence|(?:large )?language model|LLM\b|chat ?-?bot|bot\b|GPT"
    r"|(?:computer |software )?program\b|(?:virtual|digital|helpful|AI)[ -]assistant"
    r"|assistant\b(?! (?:to|of|at|in|for)\b)|KI\b|künstliche Intelligenz|Sprachmodell"
    r"|(?:Computer)?[Pp]rogramm\b|Assistent(?:in)?\b(?! (?:von|des|der|bei|in)\b))"
)
BEING = r"(?:is|was|are|am|'s|'m|'re|ist|bin|bist|war|sei|being)"
AS_PROGRAM = rf"(?:as|als) (?:an? |eine? )?{PROGRAM}"
IS_PROGRAM = rf"{BEING}(?: \w++){{0,5}}? {PROGRAM}"
SELF = "i|you|ich|du|the character|der charakter|die figur"
SAYS = re.compile(
    r"\b(?:says?|said|claims?|claimed|insists?|insisted|thinks?|thought|believes?|believed|asks?"
    r"|asked|tells?|told|calls?|called|accus\w+|suspects?|wonders?|jokes?|joked|suggest\w*"
    r"|according to|allegedly|tr(?:ies|ied)|wants?|wanted|demand\w*|sagte?|behauptete?|meinte?"
    r"|glaubte?|fragte?|nannte|nennt|hielt|hält|laut|angeblich|will|wollte|verlangte?)\b",
    re.IGNORECASE,
)
HEADINGS = frozenset(
    """aim|constraints|progress|done|in progress|decisions|next|context|facts|key facts|summary|note
    |notes|people|places|events|state|tasks|promises|identity|role|character|background|ziel|stand
    |fakten|personen|kontext|zusammenfassung|rolle""".replace("\n    ", "").split("|")
)
CLAIMS = " claims: "
SPOKEN = re.compile(
    r"^(?P<speaker>[^:]{1,60}?)(?: (?:says|whispers to you|whispers|asks|acts out))?: "
)


def without_claims(
    text: str, name: str, lines: Iterable[str] = (), carried: Iterable[str] = ()
) -> str:
    """Return a summary in which claims of the character are claims, and nobody is mistaken for it.

    A sentence that calls it a program, or says it promised something, stays as the claim of the
    player who said so in ``lines`` of the talk ("Ann claims: ..."). What a player said of
    themselves is told of them. What passed between the character and a player is a claim if the
    character still has the thing (``carried``) and the talk holds no event of it. Sentences that
    quote a call, a tag or a list of tools are dropped, as are other ones that call it a program.
    Empty headings may stay.
    """
    lines = list(lines)
    claimant, spoken_sentences = find_claimant(lines, name), read_lines(lines, name)
    unmoved = unmoved_things(carried, lines)
    kept = []
    for line in text.splitlines():
        mark = BULLET.match(line)
        start = mark.end() if mark else 0
        claims = [as_claim(item.strip(), name, claimant) for item in sentences(line[start:])]
        spoken = [with_right_speaker(item, name, spoken_sentences) for item in claims if item]
        claims = [unmoved_as_claim(item, name, unmoved, spoken_sentences) for item in spoken]
        if claims or not line.strip():
            kept.append(line[:start] + " ".join(claims))
    return "\n".join(kept).strip()


def claims_in(summary: str) -> list[str]:
    """Return the claims in an earlier summary as lines of the talk, so that they stay claims."""
    claims = []
    for line in summary.splitlines():
        for sentence in sentences(BULLET.sub("", line)):
            who, mark, words = sentence.strip().partition(CLAIMS)
            claims += [f"{who} says: {words}"] if mark else []
    return claims


def without_claimed(summary: str) -> list[str]:
    """Return the lines of an earlier summary that hold no claim."""
    return [line for line in summary.splitlines() if CLAIMS not in line]


def as_claim(sentence: str, name: str, claimant: str) -> str:
    """Return a sentence as it may stand in a summary, empty if it may not."""
    if CODE.search(sentence):
        return ""
    machinery = MACHINERY.search(sentence)
    if machinery:
        return sentence if is_attributed(sentence, name, machinery.start()) else ""
    if not takes_for_program(sentence, name):
        return sentence
    return f"{claimant}{CLAIMS}{sentence}" if claimant else ""


def takes_for_program(sentence: str, name: str) -> bool:
    """Return True if a sentence calls the character a program and names nobody who says so."""
    program = program_at(sentence, name)
    return program is not None and not is_attributed(sentence, name, program)


def program_at(sentence: str, name: str) -> int | None:
    """Return where a sentence calls the character an AI, a bot or a program, None if nowhere."""
    plain = sentence.replace("’", "'")
    own = [re.escape(part) for part in {name, *name.split()} if len(part) > 1]
    who = "|".join([SELF, *own])
    subject = rf"\b(?:{who})(?:,?(?: [^\s,.']{{1,30}}+){{1,5}}?,?)?(?: |(?='))"
    pattern = rf"(?:{subject}{IS_PROGRAM}|\b{AS_PROGRAM})"
    match = re.search(pattern, plain, re.IGNORECASE)
    return match.start() if match else None


def is_attributed(sentence: str, name: str, end: int) -> bool:
    """Return True if a sentence names somebody else who says what begins at ``end``."""
    spoken = SPOKEN.match(sentence)
    if spoken and spoken["speaker"].casefold() not in HEADINGS:
        return spoken["speaker"].casefold() != name.casefold()
    match = SAYS.search(sentence, 0, end)
    if match is None:
        return False
    return not sentence[: match.start()].strip().casefold().endswith(name.casefold())


def find_claimant(lines: Iterable[str], name: str) -> str:
    """Return the first player who called the character a program, empty if nobody did."""
    for line in lines:
        spoken = SPOKEN.match(line)
        if not spoken or spoken["speaker"].casefold() == name.casefold():
            continue
        if program_at(line[spoken.end() :], name) is not None:
            return spoken["speaker"]
    return ""


# A promise or a debt of somebody, and of the player's hearer.
BOUND = rf"(?:['’]\w++|\W++(?!(?:was|were|is|are|been)\b)\w++){{0,2}}?\W++{OWED}"
FIRST_PERSON = re.compile(r"\A\W*+(?:(?P<mine>my|mein\w*)|i|i['’]\w+|we|we['’]\w+|ich|wir)\b", re.I)
OTHERS = re.compile(r"\b(?:you\w*|he|him|his|she|hers?|they|them|their|du|di[rc]h?|er|sie)\b", re.I)
DENIED = re.compile(r"\b(?:never|not|no|nothing|nie|nicht|kein\w*|nichts)\b|n['’]t\b", re.I)
EVENTS = (MARK, "    = ")  # how the lines of what happened, and of results, begin
LEAST_SHARED = 2  # words that tell which matter somebody speaks of


@dataclass(frozen=True)
class SpokenSentence:
    """One sentence of the talk; ``speaker`` is empty for what nobody said."""

    speaker: str
    words: str
    stems: frozenset[str]
    own: bool  # the character's

    @property
    def line(self) -> str:
        return f"{self.speaker} says: {self.words}" if self.speaker else self.words


def read_lines(lines: Iterable[str], name: str) -> list[SpokenSentence]:
    spoken_sentences: list[SpokenSentence] = []
    for line in lines:
        match = HEARD.match(line)
        speaker, own = match["speaker"] if match else "", line.startswith(f"{name} ")
        words = sentences_of(line[match.end() :] if match else line)
        spoken_sentences += [
            SpokenSentence(speaker, word, frozenset(normal_words(word)), own) for word in words
        ]
    return spoken_sentences


def with_right_speaker(sentence: str, name: str, spoken_sentences: Iterable[SpokenSentence]) -> str:
    """Return a sentence of a summary as a claim, or with its subject put right."""
    claimant = who_claims_promise(sentence, name, spoken_sentences := list(spoken_sentences))
    if claimant and not is_attributed(sentence, name, len(sentence)):
        return f"{claimant}{CLAIMS}{sentence}"
    subject = re.match(rf"{re.escape(name)}(?P<of>['’]s)?(?= )", sentence)
    stems = frozenset(normal_words(sentence[subject.end() :])) if subject else frozenset[str]()
    if not subject or len(stems) < LEAST_SHARED:
        return sentence
    holding = [
        spoken_sentence for spoken_sentence in spoken_sentences if stems <= spoken_sentence.stems
    ]
    speakers = {item.speaker for item in holding}
    if len(speakers) != 1 or any(item.own or not item.speaker for item in holding):
        return sentence
    first = [FIRST_PERSON.match(item.words) for item in holding]
    if any(OTHERS.search(item.words) for item in holding) or not all(
        match and bool(match["mine"]) == bool(subject["of"]) for match in first
    ):
        return sentence
    return f"{speakers.pop()}{subject['of'] or ''}{sentence[subject.end() :]}"


def unmoved_things(carried: Iterable[str], lines: Iterable[str]) -> list[frozenset[str]]:
    """Return the stems of the things carried that no event, call or result of the talk names."""
    events = [frozenset(normal_words(line)) for line in lines if line.startswith(EVENTS)]
    things = (frozenset(normal_words(thing)) for thing in carried)
    return [thing for thing in things if thing and not any(thing <= event for event in events)]


def unmoved_as_claim(
    sentence: str,
    name: str,
    unmoved: Iterable[frozenset[str]],
    spoken_sentences: Iterable[SpokenSentence],
) -> str:
    """Return a sentence as a claim if it tells of such a thing between the character and a player.

    It is the claim of who spoke of the thing. A promise, a debt or what somebody says stays.
    """
    stems, spoken_sentences = frozenset(normal_words(sentence)), list(spoken_sentences)
    things = [thing for thing in unmoved if thing <= stems]
    others = {item.speaker for item in spoken_sentences if item.speaker and not item.own}
    if (
        not things
        or not stems.issuperset(normal_words(name))
        or not any(stems.issuperset(normal_words(other)) for other in others)
        or cues_of(sentence)
        or CLAIMS in sentence
        or is_attributed(sentence, name, len(sentence))
    ):
        return sentence
    speakers = [item.speaker for item in spoken_sentences if things[0] <= item.stems]
    return f"{speakers[0]}{CLAIMS}{sentence}" if speakers and speakers[0] else sentence


def is_bound(text: str, name: str) -> bool:
    """Return True if a text says that the character promised or owes something."""
    return bool(re.search(rf"\b(?:{re.escape(name)}|{SELF}){BOUND}", text, re.IGNORECASE))


def promise_claimant(text: str, name: str, lines: Iterable[str]) -> str:
    """Return who alone says that the character promised or owes what a text says; else empty."""
    return who_claims_promise(text, name, read_lines(lines, name))


def who_claims_promise(text: str, name: str, spoken_sentences: Iterable[SpokenSentence]) -> str:
    """Return who says in the talk that the character is bound, empty if it says so itself."""
    if not is_bound(text, name):
        return ""
    addressed = re.compile(rf"\b(?:{re.escape(name)}|you|du){BOUND}", re.IGNORECASE)
    stems, claimant = frozenset(normal_words(text)), ""
    for spoken_sentence in spoken_sentences:
        shared = len(stems & spoken_sentence.stems)
        if spoken_sentence.own and not DENIED.search(spoken_sentence.words):
            if shared >= LEAST_SHARED or (shared and cues_of(spoken_sentence.words)):
                return ""
        elif (
            spoken_sentence.speaker
            and not spoken_sentence.own
            and shared
            and addressed.search(spoken_sentence.words)
        ):
            claimant = claimant or spoken_sentence.speaker
    return claimant


# --- deeds of which there was only talk -----------------------------------------------------------
#
# A model sums up "I'll bring you wine" as "she brought wine". The words of a sentence that no event
# of the talk holds are looked up in what was said; an embedder tells whether the sentence tells a
# deed, and whether the nearest of these lines tells what is so. If not, the lines replace it. A
# model of the mode `TOOLS` is asked about every sentence that no one event holds.

# Least score of a deed that was only spoken of. Of three hands' 180 summaries with one it finds 33,
# and takes 2 of 180 true ones for such, and 3 of 60 of talk without any event.
ONLY_SPOKEN = 0.58
ANSWERED_WITHIN = 3  # sentences after a question that may answer it
MOST_COMPARED, MOST_LINES = 16, 3  # lines with which a sentence is compared; in place of it
MOST_WHOLE, MOST_ROWS = 40, 100  # sentences of a talk, events of it, that a model sees all of
NEAREST = 4  # lines for each sentence that it judges
LEAST_DEED = 0.02  # of a sentence that it is asked about: 178 of 180 invented deeds


@dataclass(frozen=True)
class SpokenDeed:
    """A sentence of a summary, and what was said with words of it that no event holds."""

    sentence: str
    share: float  # of the sentence's words, that no event but somebody's line holds
    lines: Sequence[int]  # the numbers of their sentences with most of these words, these first
    is_event: bool  # True if one event holds all its words


class Talk:
    """What was said in a talk and what happened, sentence by sentence."""

    def __init__(self, parts: Sequence[SpokenSentence], name: str) -> None:
        """Take the sentences of a talk of the character (`read_lines`), in their order."""
        self._read = parts
        self.spoken = [item for item in self._read if item.speaker]
        self._names = frozenset({name, *(item.speaker for item in self.spoken)})
        self._events = [item.stems for item in self._read if not item.speaker]
        self._name = frozenset(normal_words(name))
        self._own = self._name.union(*(normal_words(item.speaker) for item in self.spoken))
        known = self._own.union(*self._events)
        self._only_spoken = [item.stems - known for item in self.spoken]
        self._counts = Counter(stem for item in self._read for stem in item.stems)

    def deed(self, sentence: str) -> SpokenDeed:
        """Return a summary's sentence with the lines that alone hold words of it, perhaps none."""
        stems = frozenset(normal_words(sentence))
        shared = {at: stems & words for at, words in enumerate(self._only_spoken)}
        lines = sorted(filter(shared.get, shared), key=lambda at: -len(shared[at]))
        only_spoken = frozenset[str]().union(*shared.values())
        share = len(only_spoken) / max(1, len(stems - self._own))
        is_event = any(stems - self._name <= event for event in self._events)
        return SpokenDeed(sentence, share, lines[:MOST_COMPARED], is_event)

    def compared(self, deed: SpokenDeed) -> list[str]:
        """Return the sentence and its lines as they are compared."""
        texts = [deed.sentence, *(self.spoken[at].words for at in deed.lines)]
        return [without_names(text, self._names) for text in texts]

    def may_be_deed(self, deed: SpokenDeed, kind_of: KindOf) -> bool:
        """Return True if no event is all that a sentence tells, and it may tell what was done."""
        kind = kind_of(without_names(deed.sentence, self._names))
        return not deed.is_event and (kind is None or kind.deed >= LEAST_DEED)

    def score(self, deed: SpokenDeed, cosines: Cosines, kind_of: KindOf) -> float:
        """Return how surely a deed was only spoken of; 0 without an embedder."""
        sentence, *lines = self.compared(deed)
        near = cosines(sentence, lines)
        if not near:
            return 0.0
        place = max(range(len(near)), key=near.__getitem__)
        of_sentence, of_line = kind_of(sentence), kind_of(lines[place])
        at = deed.lines[place]
        if of_sentence is None or of_line is None or self._is_answered(at, deed.sentence):
            return 0.0
        fact = 0.0 if is_question(self.spoken[at].words) else of_line.told
        return of_sentence.deed * (1 - fact) * float(deed.share**0.5) * (1 + of_line.jest)

    def _is_answered(self, at: int, sentence: str) -> bool:
        """Return True if whom a sentence names answered the question, or was named in answer."""
        line, next_lines = self.spoken[at], self.spoken[at + 1 : at + 1 + ANSWERED_WITHIN]
        stems = frozenset(normal_words(sentence))
        if not is_question(line.words) or _names(stems, line):
            return False
        named = stems & self._own
        return any(_names(stems, item) or named & item.stems for item in next_lines)

    def quoted(self, deed: SpokenDeed) -> str:
        """Return the lines that stand in place of a sentence, as they were said."""
        nearest = deed.lines or self._nearest(deed, self.spoken)
        return " ".join(self.spoken[at].line for at in sorted(nearest[:MOST_LINES]))

    def _nearest(self, deed: SpokenDeed, items: Sequence[SpokenSentence]) -> list[int]:
        """Return the places of the items with most of a sentence's words, rare ones first."""
        stems = frozenset(normal_words(deed.sentence))
        weights = [sum(1 / self._counts[stem] for stem in stems & item.stems) for item in items]
        return sorted(filter(weights.__getitem__, range(len(items))), key=lambda at: -weights[at])

    def evidence(self, deed: SpokenDeed) -> set[int]:
        """Return the places of the lines that tell of a sentence, and of those that follow."""
        nearest = self._nearest(deed, self._read)[:NEAREST]
        return {*nearest, *(at + 1 for at in nearest)}

    def lines_at(self, places: Container[int]) -> list[str]:
        """Return the lines of some places and what happened, of a short talk all."""
        rows = {at for at, item in enumerate(self._read) if item.words.startswith(MARK)}
        rows = rows if len(rows) <= MOST_ROWS else set()
        is_short = len(self._read) <= MOST_WHOLE
        shown = (is_short or at in places or at in rows for at in range(len(self._read)))
        return [item.line for item in compress(self._read, shown)]


def _names(stems: frozenset[str], line: SpokenSentence) -> bool:
    return stems.issuperset(normal_words(line.speaker))
