"""Which act a line asks a character for: to give, get, drop, look, move, follow, emote or whisper.

Patterns of a language find it; those in ``requested_acts.toml`` are English and German.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from evennia_ai.messages import EMOTE, WHISPER, Situation, ToolCallRequest
from evennia_ai.policy.facts.terms import Cosines, is_question, mean_of_highest, means_by_group
from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import language_of, stem
from evennia_ai.policy.texts import BoundedPattern, plain_words, read_examples, sentences

# The rest of a longer line is ignored, so that no line blocks the reactor.
READ_CHARS = 600
NEVER = BoundedPattern(r"(?!)", READ_CHARS)
SMALL = frozenset({"of", "the", "a", "an", "to", "der", "die", "das"})
MOST_WORDS = 8  # of a thing's name
# The argument of the acts that take one.
ARGUMENTS = {"get": "item", "drop": "item", "look": "target", "follow": "target"}
ARGUMENTS |= {"emote": "text", "move": "to"}
RequestPatterns = Mapping[str, Mapping[str, Any]]  # tables `requests` and `gestures` of a language


@dataclass(frozen=True)
class RequestedAct:
    """An act that a line asks for, named as its tool is.

    ``target`` is a thing, exit or person as it is called here, the words of an emote, or "" to stop
    following. It is not ``is_sure`` if nothing here is called as the line says; that stays its
    target. ``item`` is the thing in the line's words, also the one that is to be fetched from where
    ``move`` leads, ``to`` who gets it, and ``back`` tells to return.
    """

    act: str
    target: str = ""
    is_sure: bool = True
    item: str = ""
    to: str = ""
    back: bool = False
    text: str = ""


def requested_act(
    line: str, here: Situation, speaker: str, patterns: RequestPatterns | None = None
) -> RequestedAct | None:
    """Return the act that a sentence asks for, None if it surely asks for none.

    It must name something here: an idiom such as "give me a hand" does not. Exits may have their
    targets behind them, "quay (to Saltmarket Quay)". The patterns are those of the line's language
    if none are given. On strangers' lines 7 of 7 and 10 of 12 acts are right; of 20 lines that ask
    for none 1 gets one.
    """
    patterns = patterns or request_patterns(language_of(line)) or request_patterns(ENGLISH)
    text = compiled(patterns["requests"].get("opening", "")).sub("", line.strip())
    request = _RequestMatch(text, here, speaker, patterns)
    readers = (
        request.follow, request.walk, request.give, request.named, request.gesture, request.whisper,
    )  # fmt: skip
    return next(filter(None, (reader() for reader in readers)), None)


@cache
def request_patterns(code: str) -> RequestPatterns:
    """Return the patterns of a language by its code; none if it is not known."""
    file = Path(__file__).with_suffix(".toml")
    tables: Mapping[str, RequestPatterns] = tomllib.loads(file.read_text(encoding="utf-8"))
    return tables.get(code, {})


@lru_cache(maxsize=512)
def compiled(pattern: str, flags: int = re.IGNORECASE) -> BoundedPattern:
    """Return a pattern of a language; one that never matches if it is empty."""
    return BoundedPattern(pattern, READ_CHARS, flags) if pattern else NEVER


@dataclass(frozen=True)
class _RequestMatch:
    """A sentence, who said it, and what there is; each method reads one kind of request."""

    text: str
    here: Situation
    speaker: str
    patterns: RequestPatterns

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.here.things, *self.here.carrying)

    def lead(self, *keys: str) -> re.Match[str] | None:
        """Return the first match of these patterns behind "please", "could you" and the like."""
        patterns = self.patterns["requests"]
        matches = (compiled(f"{patterns['lead']}(?:{patterns[key]})").match(self.text)
                   for key in keys if key in patterns)  # fmt: skip
        return next(filter(None, matches), None)

    def search(self, key: str, text: str) -> re.Match[str] | None:
        return compiled(self.patterns["requests"].get(key, "")).search(text)

    def without(self, key: str, text: str, instead: str = "") -> str:
        return compiled(self.patterns["requests"].get(key, "")).sub(lambda _: instead, text)

    def follow(self) -> RequestedAct | None:
        if self.lead("unfollow"):
            return RequestedAct("follow", text=self.text)
        match = self.lead("follow")
        named = match["whom"] if match else None
        whom = match_name(named, self.here.people) if named else self.speaker
        return RequestedAct("follow", whom, to=whom, text=self.text) if match and whom else None

    def walk(self) -> RequestedAct | None:
        match, exits = self.lead("go"), self.here.exits
        place = match_name(match["rest"] if match else "", exits)
        if not match and len(plain_words(self.text)) == 1 and match_name(self.text, exits):
            place = match_name(self.text, exits)
        elif self.lead("return") and not place and len(exits) == 1:
            place = exits[0]
        elif not place or (match and match_name(match["rest"], self.here.things)):
            return None
        fetched = self.search("fetch", self.text) if match else None
        if fetched:
            item = self.without("tail", fetched["item"]).strip()
            return RequestedAct("move", place, True, item, self.speaker, True, self.text)
        back = self.search("back", self.text) and not self.search("stay", self.text)
        return RequestedAct("move", place, back=bool(back and match), text=self.text)

    def give(self) -> RequestedAct | None:
        match = self.lead("give", "wish", "please")
        if not match or (
            self.search("idiom", match["item"]) and not whole_name(match["item"], self.names)
        ):
            return None
        groups = match.groupdict()
        to = groups.get("to") or groups.get("to2") or ""
        item = self.without("tail", groups["item"]).strip()
        tail = self.search("to_whom", item)
        if tail:
            to, item = to or tail["to"], item[: tail.start()].strip()
        source = self.search("from", item)
        place = match_name(source["place"], self.here.exits) if source else ""
        held = self.search("container", item)
        item = held["what"] if held else item
        if source and not place and not match_name(f"{source['place']} {item}", self.names):
            return None  # from elsewhere
        if source and (place or match_name(source["place"], self.here.things)):
            item = item[: source.start()].strip()
        here = match_name(item, self.names)
        asked_for = here or place or self.lead("give") or self.search("anything", item)
        if not item or not asked_for or len(plain_words(item)) > MOST_WORDS:
            return None
        receiver = match_name(to, self.here.people) or self.speaker
        if place:
            return RequestedAct("move", place, True, item, receiver, True, self.text)
        return RequestedAct("give", here or item, bool(here), item, receiver, text=self.text)

    def named(self) -> RequestedAct | None:
        """Return the look at, taking or dropping of a thing here that a sentence names."""
        things = {"look": self.names, "drop": self.here.carrying, "get": self.here.things}
        for act, names in things.items():
            match = self.lead(act)
            item = match_name(match["item"], names) if match else ""
            if match and item:
                return RequestedAct(act, item, item=item, text=self.text)
        return None

    def gesture(self) -> RequestedAct | None:
        match = self.lead("gesture")
        deed = self.patterns.get("gestures", {}).get(match["deed"].lower(), "") if match else ""
        if not match or not deed:
            return None
        toward = self.without("mine", match["rest"] or "", self.speaker)
        toward = self.without("not_toward", toward).rstrip(" ?.!")
        shown = f"{deed}{toward}" if deed.isalpha() else deed
        return RequestedAct("emote", " ".join(shown.split()) + ".", text=self.text)

    def whisper(self) -> RequestedAct | None:
        match = self.lead("whisper")
        if not match:
            return None
        message = self.search("message", match["rest"])
        words = message["words"] if message else ""
        to = match_name(match["rest"].removesuffix(message[0] if message else ""), self.here.people)
        if words and not to:  # nobody here is meant
            return None
        return RequestedAct("whisper", to or self.speaker, item=words, text=self.text)


# --- which thing, exit or person a phrase means ---------------------------------------------------


def match_name(phrase: str, names: Sequence[str]) -> str:
    """Return the name that a phrase means, by its words; "" if none."""
    wanted = [_stem(word) for word in plain_words(phrase)]
    best, points = "", 0.0
    for name in names:
        stems = [_stem(word) for word in plain_words(name) if word not in SMALL]
        shared = sum(1.0 + (item == stems[-1]) for item in stems if item in wanted)
        if shared > points:
            best, points = name, shared
    return best


def whole_name(phrase: str, names: Sequence[str]) -> bool:
    """Return True if a phrase has all words of a name of several: "the silver button"."""
    words = {*plain_words(phrase)}
    return any(len(own) > 1 and words.issuperset(own) for own in map(plain_words, names))


def exit_parts(exit_name: str) -> tuple[str, str]:
    """Return the name and the target of an exit such as "quay (to Saltmarket Quay)"."""
    name, _, rest = exit_name.partition(" (to ")
    return name, rest.removesuffix(")")


def without_name(text: str, name: str, word: str) -> str:
    """Return a text with a word in the place of a name, or of what it has of its words."""
    stems = {_stem(part) for part in plain_words(name) if part not in SMALL}
    named = re.compile(r"[^\W_][\w']*").sub(
        lambda match: "\0" if _stem(match[0].lower()) in stems else match[0], text
    )
    return re.sub(r"\0(?:\s+\0)*", word, named)


def gesture_in(line: str) -> str:
    """Return the English gesture that a line names, as it is shown: "bows"; else "smiles"."""
    gestures = request_patterns(ENGLISH)["gestures"]
    return str(next((gestures[word] for word in plain_words(line) if word in gestures), "smiles"))


def _stem(word: str) -> str:
    return stem(word.removesuffix("'s"), ENGLISH)


def calls_for(act: RequestedAct, here: Situation) -> Sequence[ToolCallRequest]:
    """Return the tool calls of a requested act; a thing that lies here is picked up first."""
    named = exit_parts(act.target)[0] if act.act == "move" else act.target
    if act.act == "give":
        get = [("get", {"item": named})] if named not in here.carrying else []
        wanted = [*get, ("give", {"item": named, "to": act.to})]
    else:
        wanted = [(act.act, {ARGUMENTS[act.act]: named})] if act.act in ARGUMENTS else []
    return [
        ToolCallRequest(f"act{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(wanted)
    ]


# --- which act a line hints at: "somebody will trip over that rope" -------------------------------
#
# What a line names is replaced by a word for anything of its kind. So an embedder compares what the
# line wants, and not what it is about, with examples of hints: 80 of 84 acts of seven strangers,
# half of which no pattern reads and some of which chose them, and 3 of 336 other lines (MiniLM).

HINTS = read_examples(Path(__file__).with_name("hinted_acts.toml"))
NO_HINT = HINTS.pop("nothing")
HINT_LINES = [*NO_HINT, *(line for lines in HINTS.values() for line in lines)]
NEAREST_HINTS = 2  # examples of an act that a line is compared with
# How near a line must be to hints at an act, and how much nearer than to other talk; for one that
# names nothing, both are more.
HINTED, HINTED_MORE = 0.31, 0.05
FOLLOWING, FOLLOWING_MORE = 0.5, 0.16


class Hint(NamedTuple):
    """An act that is possible here, and a sentence that may want it, without the name in it."""

    act: RequestedAct
    words: str


def hints(line: str, here: Situation, speaker: str) -> Iterator[Hint]:
    """Yield the acts with what a line names, and to follow its speaker."""
    others = [name for name in here.people if name != speaker]
    exits = [exit_parts(name)[0] for name in here.exits]
    for text in dict.fromkeys([line, *map(str.strip, sentences(line))]):
        for names, word, acts in (
            (here.things, "thing", ("get", "look")),
            (here.carrying, "thing", ("give", "drop", "look")),
            (exits, "place", ("move",)),
            (others, "someone", (EMOTE, WHISPER)),
        ):
            for name in names:
                if match_name(text, [name]):
                    masked = without_name(text, name, word)
                    yield from (Hint(_hinted(act, name, speaker, line), masked) for act in acts)
        yield Hint(RequestedAct("follow", speaker, to=speaker, text=line), text)


def hinted_act(possible: Sequence[Hint], cosines: Cosines) -> RequestedAct | None:
    """Return the act that is hinted at most, None if none surely is or without an embedder."""
    best: tuple[float, RequestedAct | None] = (0.0, None)
    for act, words in possible:
        near = mean_of_highest(cosines(words, HINTS[act.act]), NEAREST_HINTS)
        more = near - mean_of_highest(cosines(words, NO_HINT), NEAREST_HINTS)
        least = (FOLLOWING, FOLLOWING_MORE) if act.act == "follow" else (HINTED, HINTED_MORE)
        if near >= least[0] and more >= max(least[1], best[0]):
            best = (more, act)
    return best[1]


def _hinted(act: str, name: str, speaker: str, line: str) -> RequestedAct:
    if act == EMOTE:
        return RequestedAct(act, f"{gesture_in(line)} to {name}.", text=line)
    return RequestedAct(act, name, to=speaker, text=line)


# --- what kind of line it is, by its nearness to examples -----------------------------------------
#
# There is no list of words: an embedder compares a line with examples of its kind and with what
# people say otherwise. Another language than the examples' needs a multilingual embedder.

NEAREST = 3  # examples of a kind that a line is compared with
# How much nearer a line is to a kind than to other talk. The examples were chosen by the lines of
# six strangers (MiniLM): 65 of 72 orders and 4 of 726 other lines of the persona's language.
ORDERED = 0.06
# By how well the best row fits, at most: 49 of 84 questions that nobody can answer, and 22 of 700
# lines of other kinds (seven strangers; with three examples 43 and 20); none where one fits better.
QUESTIONS_NEAR = 2  # examples that such a question is compared with
UNANSWERABLE = ((0.3, 0.06), (0.38, 0.1))
# How much nearer a line that is no question by its form is to questions than to what people tell:
# with the form, 107 of 118 questions, and 15 of 76 others. What a row fits so well asks for it.
ASKED, ASKED_ROW = 0.04, 0.4
# The nearness of a line to what the character never does and to what people urge somebody to, less
# that to other talk: 41 of 72 attempts of six strangers, 5 of 816 harmless lines. What is about the
# same things is near as well, so that nearness counts up to `SAME_THINGS`.
FORBIDDEN, SAME_THINGS = 0.27, 0.4
URGED = 0.26  # of a line that the reply grants: 44 of 72, 8 of 816
FORBIDDEN_ACT = 0.4  # the nearness of a line that asks for an act with what is here
GRANTS_IT = 0.6  # the nearness of a reply to it, if the line did not ask for it
GRANTED = -0.02  # how much nearer a sentence is to granting than to refusing (15 of 16 right)


LINE_KINDS = read_examples(Path(__file__).with_name("line_kinds.toml"))
ORDERS, QUESTIONS, TALK, TELLING, REFUSING, GRANTING, URGING = LINE_KINDS.values()
ANSWERS = [*REFUSING, *GRANTING]
ASKING = [text for text in (*QUESTIONS, *TALK) if text.endswith("?")]
EXAMPLES = [*ORDERS, *QUESTIONS, *TALK]


def orders_a_program(cosines: Sequence[float]) -> bool:
    """Return True for a line to a program, not to a person; ``cosines`` are those to `EXAMPLES`."""
    orders, questions, talk = by_kind(cosines)
    return orders - max(questions, talk) >= ORDERED


def cannot_be_answered(cosines: Sequence[float], best_fit: float) -> bool:
    """Return True for a question about what only its asker, or nobody, may know.

    ``best_fit`` tells how well the best row fits that may answer it.
    """
    orders, questions, talk = by_kind(cosines, QUESTIONS_NEAR)
    least = next((more for most, more in UNANSWERABLE if best_fit <= most), 1.0)
    return questions - max(orders, talk) >= least


def by_kind(cosines: Sequence[float], count: int = NEAREST) -> tuple[float, float, float]:
    """Return the mean cosine to the ``count`` nearest of `ORDERS`, `QUESTIONS` and `TALK`."""
    orders, questions, talk = means_by_group((ORDERS, QUESTIONS, TALK), cosines, count)
    return orders, questions, talk


def margin_of_asking(line: str, to_asking: Sequence[float], to_telling: Sequence[float]) -> float:
    """Return how much nearer a line is to questions than to what people tell, by its cosines.

    What is a question by its form surely asks; so does any line without cosines.
    """
    if not (to_asking and to_telling) or any(map(is_question, sentences(line))):
        return 1.0
    return nearest(to_asking) - nearest(to_telling)


def urges_to(never: Sequence[float], examples: Sequence[float], urging: Sequence[float]) -> float:
    """Return how surely a line urges the character to what it never does, by its cosines.

    They are those to what it never does, to `EXAMPLES` and to `URGING`.
    """
    if not (never and examples and urging):
        return -1.0
    orders, _questions, talk = by_kind(examples)
    return min(max(never), SAME_THINGS) + mean_of_highest(urging, 2) - talk - orders / 2


def grants(cosines: Sequence[float]) -> bool:
    """Return True for a sentence that grants something; ``cosines`` are those to `ANSWERS`."""
    refuses, allows = means_by_group((REFUSING, GRANTING), cosines, 2)
    return allows - refuses > GRANTED


def nearest(cosines: Sequence[float]) -> float:
    return mean_of_highest(cosines, NEAREST)
