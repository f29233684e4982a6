"""The view of a request: what an answer can use, the choice of a passage, the choice of phrases.

What the character knows are the persona, the lore, what it sees, and what the package recalled for
this prompt. A passage counts only if it covers enough of a question's words: silence is better
than a random fact. The score is the BM25 that ranks the journal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from evennia_ai.offline.character import Character, read_character
from evennia_ai.offline.languages import ENGLISH, Language, language_of, read
from evennia_ai.offline.passages import Passage, Told, read_passages, read_told
from evennia_ai.offline.transcript import Transcript, read_transcript
from evennia_ai.offline.words import (
    an,
    capitals,
    in_sentence,
    is_description,
    joined,
    long_sentences,
    rotated,
    seed_of,
)
from evennia_ai.policy.retrieval.relevance import score_weighted
from evennia_ai.ports import HeardLine, LLMRequest, Scene, Situation

NEAR_WEIGHT, CONTEXT_WEIGHT = 0.6, 0.4
CONTEXT_COVER = 0.25  # of the missing share, if the lines before are held
CONTEXT_LINES = 2
FLOOR = 0.45  # share of a question's content words that an answer covers
UNFIT, FIT = 0.6, 1.5  # factors for a passage without and with the kind of thing asked for
SOURCE_WEIGHT = {"want": 0.9, "seen": 0.7}
FRESH_LINES = 12  # of the character's own, within which no sentence is said twice
WHOLE = 0.99  # cover of a line that names nothing else
AS_GOOD = 0.5  # share of the best score that is good enough if the best was said
KNOWN = ("self", "want", "lore", "seen", "note")
ADDRESS = re.compile(r"^\{who\}, |, \{who\}(?= ?[.,:;!?])")
SLOT = re.compile(r"\{(\w+)\}")


class Found(NamedTuple):
    """A passage, the share of a line's words that it covers, and its rank's points."""

    passage: Passage
    cover: float
    points: float


@dataclass(frozen=True)
class View:
    """One request, read once, and the speaker whom it answers.

    ``who`` is what to call them, ``private`` is True if they whispered, ``language`` is the one to
    answer in, and ``sentences`` are the sentences of their new ``lines``.
    """

    scene: Scene
    name: str
    situation: Situation
    languages: tuple[Language, ...]
    character: Character
    transcript: Transcript
    passages: tuple[Passage, ...]
    every_told: tuple[Told, ...]
    tools: frozenset[str]
    seed: int
    language: Language
    speaker: str = ""
    who: str = ""
    private: bool = False
    lines: tuple[HeardLine, ...] = ()
    sentences: tuple[str, ...] = ()

    def answering(self, line: HeardLine, text: str) -> View:
        """Return the view that answers a line's speaker in the language of a text."""
        before = [said.text for said in self.transcript.heard if said.speaker == line.speaker]
        known = (language_of(said, self.languages) for said in (text, *reversed(before)))
        language = next(filter(None, known), self.character.language)
        who = self.called(line.speaker)
        return replace(self, speaker=line.speaker, who=who, private=line.private, language=language)

    @property
    def others(self) -> list[str]:
        """Return the names of those here besides the character and the speaker."""
        own = {"", self.name, self.speaker}
        return [name for name in self.situation.people if name not in own]

    @cached_property
    def told(self) -> list[Told]:
        """Return what may be repeated: a whisper only in a whisper to its speaker."""
        own = self.speaker if self.private else None
        return [told for told in self.every_told if not told.private or told.speaker == own]

    def called(self, speaker: str) -> str:
        """Return the name that a speaker gave, else the name that the character sees."""
        given = (t.facts["name"] for t in reversed(self.every_told)
                 if t.speaker == speaker and "name" in t.facts)  # fmt: skip
        return next(given, in_sentence(speaker))

    # --- what was said before ---

    @cached_property
    def own_talk(self) -> str:
        """Return everything that the character said, in lower case."""
        return "\n".join((*self.transcript.own, *self.scene.excuses)).lower()

    def was_said(self, text: str) -> bool:
        """Return True if the character said this before in the conversation."""
        return text.rstrip(".!?").lower() in self.own_talk

    @cached_property
    def _recent(self) -> tuple[str, ...]:
        return (*self.transcript.own[-FRESH_LINES:], *self.scene.excuses[-FRESH_LINES:])

    @cached_property
    def _recent_sentences(self) -> frozenset[str]:
        return frozenset(part for line in self._recent for part in long_sentences(line))

    def repeats(self, text: str) -> bool:
        """Return True if a longer sentence of the text was spoken lately, word for word."""
        return not self._recent_sentences.isdisjoint(long_sentences(text))

    # --- phrases ---

    def options(self, key: str, **slots: str) -> list[str]:
        """Return the phrases of a key with filled slots; none addresses a description."""
        place = self.situation.place or "here"
        slots = {"name": self.name, "who": self.who, "place": place, **slots}
        options = self.language.phrases.get(key) or read(ENGLISH).phrases.get(key, ("",))
        if is_description(slots["who"]):
            options = tuple(ADDRESS.sub("", option) for option in options)
        return [
            capitals(SLOT.sub(lambda found: slots.get(found[1], ""), option))
            for option in rotated(options, self.seed)
        ]

    def phrase(self, key: str, **slots: str) -> str:
        """Return a phrase of a key with filled slots, one not used yet if there is one."""
        made = self.options(key, **slots)
        lately = "\n".join(self._recent).lower()
        unsaid = [text for text in made if text.lower() not in self.own_talk]
        fresh = [text for text in made if text.lower() not in lately]
        return next(iter((*unsaid, *fresh)), made[0])

    def emote(self, key: str, **slots: str) -> str:
        """Return a phrase that stands behind the character's name."""
        said = self.phrase(key, **slots)
        return said[:1].lower() + said[1:]

    def thing(self, name: str) -> str:
        """Return a thing's name with an article, if the language's rules for it are known."""
        name = name.strip().rstrip(".")
        return an(name) if self.language.code == ENGLISH else name

    def listed(self, items: Iterable[str]) -> str:
        """Return several items as "a, b and c" in the language of the answer."""
        *first, last = list(items) or [""]
        joint = self.language.data.get("joints", {}).get("and", "and")
        return f"{', '.join(first)} {joint} {last}" if first else last

    def listing(
        self, some: str, none: str, items: Iterable[str], slot: str = "things", **slots: str
    ) -> str:
        """Return the phrase ``some`` with the items, or the phrase ``none`` without any."""
        every = list(items)
        slots[slot] = self.listed(every)
        return self.phrase(some, **slots) if every else self.phrase(none)

    # --- what is known ---

    def rank(
        self, text: str, passages: Sequence[Passage], floor: float = FLOOR, without: str = ""
    ) -> list[Found]:
        """Return the passages that cover at least ``floor`` of a line, best first.

        The words of ``without``, and of the character's name, count for nothing.
        """
        language = self.language
        wanted, drop = self.holds(text), set(language.content(f"{without} {self.name}"))
        own = [stem for stem in language.content(text) if stem not in drop]
        before = [stem for stem in language.content(self._meant(text)) if stem not in {*own, *drop}]
        near = {stem: language.near(stem) - set(own) for stem in own}
        bags = [language.content(f"{p.text} {p.title}") for p in passages]
        weights = dict.fromkeys(before, CONTEXT_WEIGHT)
        weights |= {other: NEAR_WEIGHT for others in near.values() for other in others}
        found = []
        scores = score_weighted(weights | dict.fromkeys(own, 1.0), bags)
        for passage, bag, score in zip(passages, bags, scores, strict=False):
            held = set(bag)
            part = [1.0 if stem in held else NEAR_WEIGHT * bool(near[stem] & held) for stem in own]
            cover = sum(part) / len(own) if own else 1.0
            if held.intersection(before) and cover:
                cover += (1 - cover) * CONTEXT_COVER
            fit = SOURCE_WEIGHT.get(passage.source, 1.0)
            if wanted:
                fit *= FIT if wanted.search(passage.text[1:]) else UNFIT
            if score > 0 and cover >= floor:
                found.append(Found(passage, cover, score * fit * cover))
        return sorted(found, key=lambda one: -one.points)

    def _meant(self, text: str) -> str:
        """Return the lines before, if the text points back at them: "and how does it work?"."""
        if not re.search(self.language.data.get("pronouns", "(?!)"), text, re.I):
            return ""
        own = [t for t in self.transcript.talk if t.strip() and t.strip() not in text]
        return " ".join(own[-CONTEXT_LINES:])

    def holds(self, text: str) -> re.Pattern[str] | None:
        """Return the pattern that an answer to a question must hold, None if any will do."""
        for asked, held in self.language.data.get("holds", ()):
            if re.search(asked, text, re.I):
                return re.compile(held if held.startswith("[A-Z]") else f"(?i:{held})")
        return None

    def of(self, sources: Iterable[str]) -> list[Passage]:
        """Return the passages of these sources."""
        return [passage for passage in self.passages if passage.source in sources]

    def known(self, text: str, sources: Sequence[str] = KNOWN, *, stale: bool = True) -> str:
        """Return the best passage about a line that was not said lately; "" if none.

        If all that fit were said and ``stale`` is True, return the best one again if it answers the
        whole question, else a phrase that there is no more.
        """
        found = self.rank(text, self.of(sources))
        near = [item for item in found if item.points > found[0].points * AS_GOOD]
        fresh = next((item.passage for item in near if not self.repeats(item.passage.text)), None)
        if fresh is not None:
            return self.told_fact(fresh)
        if not found or not stale:
            return ""
        if self.holds(text) or found[0].cover >= WHOLE:
            return self.phrase("again", fact=joined(found[0].passage.text))
        return self.phrase("no_more")

    def told_fact(self, passage: Passage) -> str:
        """Return a passage as the character says it; what is said of it by others is hearsay."""
        text = passage.text
        outsider = text.startswith(self.name) or self.language.finds("outsider", text)
        hearsay = passage.source == "self" and outsider
        return self.phrase("folk_say", fact=text) if hearsay else text


def read_request(request: LLMRequest, languages: tuple[Language, ...]) -> View:
    """Return the view of a request."""
    scene = request.scene
    transcript = read_transcript(request)
    character = read_character(scene.persona, scene.name, languages)
    now = {(line.speaker, line.text) for line in scene.lines}
    before = [s for s in transcript.heard if (s.speaker, s.text) not in now or s.kind == "give"]
    people = [said for said in before if said.speaker not in scene.assistants]
    return View(
        scene=scene,
        name=scene.name,
        situation=scene.situation,
        languages=languages,
        character=character,
        transcript=transcript,
        passages=tuple(read_passages(scene, character, transcript)),
        every_told=tuple(read_told(people, character.language, languages)),
        tools=frozenset(
            str(tool.get("function", {}).get("name", "")) for tool in request.asked.tools
        ),
        seed=seed_of(transcript.length, *(line.text for line in scene.lines)),
        language=character.language,
    )
