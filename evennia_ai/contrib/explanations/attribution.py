"""The source of each sentence that a character said, among the lines of its prompt.

A sentence comes from the line that holds most of what it tells: its content words, weighted by
their rarity in the prompt (inverse document frequency, Spärck Jones 1972). Words of the question
count little, since every answer repeats them. Of the words that a line lacks, only things and names
count in full, since a fact can be told in other words; without a number of the sentence no line is
its source. A name, a greeting, or a single word that is no thing ("Go well.") tells nothing, and is
no source.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evennia_ai.contrib.explanations.small_talk import is_small_talk
from evennia_ai.messages import ChatMessage, WireMessage, prompt_text
from evennia_ai.policy import staff_controls
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.call_record import KeptCall, dumped
from evennia_ai.policy.context.situation_updates import scene_text
from evennia_ai.policy.facts import terms as fact_terms
from evennia_ai.policy.facts.terms import (
    find_terms,
    normal_words,
    parse_heard_line,
    sentences_of,
    words_of_calls,
)
from evennia_ai.policy.texts import plain_words, sentences

PEOPLE_HERE = "People here: "
LEAST_WORDS = 2  # that both have
LEAST_SHARE = 0.75  # of a sentence's weight that its source must hold
ASKED_WEIGHT = 0.2
OTHER_WORDS = 0.1  # the weight of a word that is no thing, if the source lacks it
# The word behind one of these is a thing; two may follow each other, as in "that the baker".
ARTICLE = re.compile(
    r"\b(?:an?|the|my|your|his|her|its|our|their|this|that|no|some|any|der|die|das|den|dem|des"
    r"|eine?[mnrs]?|le|la|les|une?|el|los|las)\s+(?=(\w+))",
    re.IGNORECASE,
)
# Who somebody is, as all that a sentence says.
NAMING = re.compile(
    r"(?i:\b(?:you are|you're|your name is|i am|i'm|my name is|du bist|ich bin|du heißt|ich heiße))"
    r"(?: [A-ZÄÖÜ][\w-]*+){1,3}+(?i:,? (?:of course|then|indeed|natürlich))?+\W*+$"
)
# Whom a sentence speaks to: a name at its beginning or its end.
ADDRESS = re.compile(r"^\W*[^\W\d_]+,\s|,\s+(?:[A-ZÀ-Þ][^\W\d_]+\s?){1,2}(?=[.!?…\"]*$)")
QUOTED = re.compile(r"[‘“«„]([^‘“”«»„]{8,400})[’”»“]")
OWN_SHARE = 0.9  # of the score, for the character's own earlier words


@dataclass(frozen=True)
class SourceSentence:
    """A sentence of the prompt; ``words`` are its stems that carry meaning."""

    part: str
    line: PromptLine
    text: str
    words: frozenset[str]


@dataclass(frozen=True)
class Attribution:
    """One sentence that was said: its nearest source and the share of it that the source holds.

    ``source`` is None for a claim out of nothing, and for small talk, which tells nothing.
    """

    sentence: str
    source: SourceSentence | None = None
    share: float = 0.0
    tells: bool = True  # False for small talk


def attribute(
    text: str, parts: Sequence[PromptPart], names: Sequence[str] = ()
) -> list[Attribution]:
    """Return the sentences of a text with their sources; ``names`` are the character's own."""
    sources = list(sources_in(parts, names))
    question_words = frozenset(
        word
        for part in parts
        if part.name == NEW
        for line in part.lines
        for sentence in sentences_of(line.text)
        if sentence.endswith("?")
        for word in normal_words(sentence)
    )
    own = frozenset(normal_words(" ".join(names)))
    weights = WordWeights(sources, question_words, own)
    known = [*names, people_in(parts)]
    return [
        quoted(sentence, sources)
        or (is_polite(sentence, known) and Attribution(sentence, tells=False))
        or nearest(sentence, sources, weights)
        for sentence in sentences_of(text)
    ]


def quoted(sentence: str, sources: Iterable[SourceSentence]) -> Attribution | None:
    """Return a sentence that quotes a line with that line, somebody else's first; None without."""
    match = QUOTED.search(sentence)
    words = " ".join(plain_words(match[1])) if match else ""
    holding = (item for item in sources if words and words in " ".join(plain_words(item.line.text)))
    source = min(holding, key=lambda item: item.line.own, default=None)
    return Attribution(sentence, source, 1.0) if source else None


def is_polite(sentence: str, names: Sequence[str]) -> bool:
    """Return True for small talk, also with the name of somebody whom it speaks to."""
    words = parse_heard_line(sentence, "")[1]
    if NAMING.search(words):
        return False
    return is_small_talk(words, names) or is_small_talk(ADDRESS.sub(" ", words), names)


def people_in(parts: Iterable[PromptPart]) -> str:
    """Return the names of the people whom the situation lists."""
    lines = (line.text for part in parts if part.name == SITUATION for line in part.lines)
    return " ".join(line for line in lines if line.startswith(PEOPLE_HERE))


def sources_in(parts: Iterable[PromptPart], names: Sequence[str] = ()) -> Iterable[SourceSentence]:
    """Yield the sentences that tell something; a recalled line by ``names`` is its own."""
    called = "|".join(map(re.escape, names))
    prefix = re.compile(rf"(?:\d{{4}}-\d\d-\d\d: )?(?:{called})\b[^:]{{0,80}}: ")
    for part in parts:
        for prompt_line in part.lines if part.name not in INSTRUCTIONS else ():
            is_own = bool(names and part.name == RECALLED and prefix.match(prompt_line.text))
            line = replace(prompt_line, own=prompt_line.own or is_own)
            for sentence in sentences_of(line.text):
                if not sentence.endswith("?") and not is_polite(sentence, names):
                    # The label of a line, such as "You see", tells nothing.
                    label, _, rest = sentence.partition(": ")
                    is_labelled = part.name == SITUATION and prompt_line.text.startswith(
                        f"{label}: "
                    )
                    words = frozenset(normal_words(rest if is_labelled else sentence))
                    yield SourceSentence(part.name, line, sentence, words)


@dataclass(frozen=True)
class Weighted:
    """The words of a sentence: weights if a source has them, and if it lacks them."""

    told: Mapping[str, float]
    lacked: Mapping[str, float]
    things: frozenset[str]  # and names and numbers
    needed: frozenset[str]  # words without which no source fits
    names: frozenset[str]  # of people: they alone tell nothing


class WordWeights:
    """How much each word of a sentence tells."""

    def __init__(
        self, sources: Sequence[SourceSentence], question_words: frozenset[str], own: frozenset[str]
    ) -> None:
        self._holding = Counter(word for source in sources for word in source.words)
        self._total, self._question_words, self._own = len(sources), question_words, own

    def of(self, sentence: str) -> Weighted:
        """Return the words of a sentence with their weights, without the character's name."""
        names, terms = names_in(sentence), set(normal_words(" ".join(find_terms(sentence))))
        named = normal_words(" ".join(match[1] for match in ARTICLE.finditer(sentence)))
        things = frozenset({*named, *terms})
        words = [
            fromkey for fromkey in dict.fromkeys(normal_words(sentence)) if fromkey not in self._own
        ]
        if NAMING.search(sentence):  # then the name is what it tells
            words, names = [item for item in words if item in names], frozenset()
        weights = {}
        for word in words:
            holding = self._holding[word]
            rarity = math.log(1 + (self._total - holding + 0.5) / (holding + 0.5))
            weights[word] = rarity * (ASKED_WEIGHT if word in self._question_words else 1.0)
        lacked = {
            word: weight if word in things else weight * OTHER_WORDS
            for word, weight in weights.items()
        }
        # Another number is another claim.
        numbers = {word for word in terms if any(map(str.isdigit, word))}
        return Weighted(weights, lacked, things, frozenset(numbers & weights.keys()), names)


def nearest(sentence: str, sources: Iterable[SourceSentence], weights: WordWeights) -> Attribution:
    words = weights.of(sentence)
    telling = words.told.keys() - words.names
    if not telling:
        return Attribution(sentence, tells=False)
    is_bare = len(words.told) < LEAST_WORDS and not words.things & telling
    wording = frozenset(plain_words(sentence))
    shares = (
        (share_in(source, words), len(wording.intersection(plain_words(source.text))), source)
        for source in sources
    )
    # A single word that is no thing is told by a line in the same words only.
    fitting = [
        item
        for item in shares
        if item[0] >= LEAST_SHARE and not (is_bare and item[1] <= len(wording) / 2)
    ]
    # Of equal ones, the nearest in its wording.
    share, _, best = max(fitting, key=lambda item: item[:2], default=(0.0, 0, None))
    return Attribution(sentence, best, share, tells=bool(best) or not is_bare)


def share_in(source: SourceSentence, words: Weighted) -> float:
    """Return the share of a sentence's weight that a source holds, 0 without a word it needs."""
    shared = words.told.keys() & source.words
    enough = len(shared) >= min(LEAST_WORDS, len(words.told)) and shared - words.names
    if not words.needed <= source.words or not enough:
        return 0.0
    held = sum(words.told[word] for word in shared)
    missing = sum(weight for word, weight in words.lacked.items() if word not in source.words)
    return held / (held + missing) * (OWN_SHARE if source.line.own else 1.0) if held else 0.0


def names_in(sentence: str) -> frozenset[str]:
    """Return the words of single names in a sentence; two, as in "Gilded Gull", name a thing."""
    terms = find_terms(sentence).items()
    return frozenset(
        word
        for term, kind in terms
        if kind == fact_terms.NAME and " " not in term
        for word in normal_words(term)
    )


RULES, TOOLS, PERSONA, SUMMARY = "rules", "tools", "persona", "summary"
MORE_TOOLS = "more tools"
TALK, SITUATION, NEW, ACTS, QUESTION = "talk", "situation", "new lines", "own acts", "question"
RECALLED, LORE, PEOPLE, KEPT, GOALS = "recalled", "lore", "people", "pins", "goals"
MATERIALS, NOTE = "materials", "author's note"
# The parts of the situation by the label of their lines; all other labels are the situation.
BY_LABEL = {
    "You remember": RECALLED,
    "You know": LORE,
    "You always know": LORE,
    "Of those here": PEOPLE,
    "Keep in mind": KEPT,
    "You are after": GOALS,
    "You are about": GOALS,
    "At hand": MATERIALS,
    staff_controls.LABEL: NOTE,
    "You can now also use": MORE_TOOLS,
}
# Nothing that a character says of itself or the world comes from these.
INSTRUCTIONS = frozenset({RULES, TOOLS, MORE_TOOLS, QUESTION})
# What the character knows, as opposed to what was said just now.
MEMORIES = frozenset({SUMMARY, RECALLED, PEOPLE, KEPT, GOALS, MATERIALS})


@dataclass(frozen=True)
class PromptLine:
    """One line of a prompt, with the memory, message or title that it comes from, if known."""

    text: str
    source: str = ""
    score: float = 0.0  # of the search that recalled it
    own: bool = False  # True for the character's own words


@dataclass(frozen=True)
class PromptPart:
    """One part of a prompt."""

    name: str
    lines: tuple[PromptLine, ...]

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)


def parts_of(
    kept: KeptCall,
    marker: ChatMessage | None,
    talk: Sequence[ChatMessage],
    own: Sequence[ChatMessage],
) -> list[PromptPart]:
    """Return the parts of a prompt in their order, without empty ones."""
    trace, sent = kept.trace, kept.sent
    if not trace.step:
        return parts_apart(kept, marker, talk)
    first, *others = [str(message["content"]) for message in trace.opening] or [""]
    persona = "\n".join(filter(None, (first[trace.rules_chars :].strip(), *others)))
    parts = [
        (RULES, [PromptLine(line) for line in first[: trace.rules_chars].splitlines()]),
        (TOOLS, [PromptLine(dumped(tool)) for tool in sent.tools] if sent.form == "tools" else []),
        (PERSONA, [PromptLine(line) for line in persona.splitlines()]),
        (
            SUMMARY,
            [PromptLine(line) for line in (marker["content"] if marker else "").splitlines()],
        ),
        (TALK, [*talk_lines(talk), *map(wire_line, trace.unlogged)]),
        *situation_parts(trace.scenes),
        (NEW, [PromptLine(line) for line in trace.lines]),
        (ACTS, [*talk_lines(own), *map(wire_line, (*trace.unlogged_own, *kept.extra))]),
        (QUESTION, [PromptLine(line) for line in trace.ending]),
    ]
    return [PromptPart(name, lines) for name, many in parts if (lines := filled(many))]


def parts_apart(
    kept: KeptCall, marker: ChatMessage | None, talk: Sequence[ChatMessage]
) -> list[PromptPart]:
    trace = kept.trace
    rules, *material = [str(message["content"]).splitlines() for message in kept.extra]
    previous = marker["content"] if marker else trace.previous
    shown = talk if trace.with_results else [item for item in talk if item["role"] != "tool"]
    parts = [
        (RULES, map(PromptLine, rules)),
        (SUMMARY, map(PromptLine, previous.splitlines())),
        (TALK, talk_lines(shown)),
        (MATERIALS, [PromptLine(line) for lines in material for line in lines]),
    ]
    return [PromptPart(name, lines) for name, many in parts if (lines := filled(many))]


def filled(lines: Iterable[PromptLine]) -> tuple[PromptLine, ...]:
    return tuple(line for line in lines if line.text.strip())


def talk_lines(messages: Iterable[ChatMessage]) -> Iterator[PromptLine]:
    """Yield messages as lines, each with its number in the log."""
    for message in messages:
        own = message["role"] == "assistant"
        texts = [prompt_text(message), *words_of_calls(message)]
        text = " ".join(filter(None, texts))
        if own and not text:
            calls = message.get("tool_calls") or ()
            text = " ".join(call["function"]["name"] for call in calls)
        yield PromptLine(text, f"message {message['metadata'].get('seq', '')}", own=own)


def wire_line(message: WireMessage) -> PromptLine:
    calls = [call["function"]["name"] for call in message.get("tool_calls") or ()]
    return PromptLine(" ".join(filter(None, (str(message.get("content") or ""), *calls))))


def situation_parts(scenes: Iterable[ChatMessage]) -> list[tuple[str, list[PromptLine]]]:
    """Return the situation, and what is known and recalled, as parts."""
    parts: dict[str, list[PromptLine]] = {}
    for scene in scenes:
        rows = scene["metadata"]["rows"]
        is_whole = scene["content"] == scene_text(rows)
        for label, row in rows:
            name = BY_LABEL.get(label, SITUATION)
            shown = row.text if is_whole else shown_of(row, scene["content"])
            if shown:
                line = shown if name != SITUATION else f"{label}: {shown}".removeprefix(": ")
                parts.setdefault(name, []).append(PromptLine(line, row.source, row.score))
    return list(parts.items())


def shown_of(row: KnownLine, content: str) -> str:
    """Return what of a row a scene shows: the middle of a long scene is cut, and a small model
    gets of lore the sentences that fit."""
    if row.text in content:
        return row.text
    parts = map(str.strip, sentences(row.text.removeprefix(f"{row.source}: ")))
    return " ".join(part for part in parts if part in content)
