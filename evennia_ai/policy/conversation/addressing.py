"""The decision who answers something heard, made once for all who hear it.

A line gets one answer, unless a player names several characters; an assistant's line gets at most
one.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile

from evennia_ai.messages import EMOTE, SAY, SPEECH
from evennia_ai.policy.conversation.naming import NamedEntity, Names

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
