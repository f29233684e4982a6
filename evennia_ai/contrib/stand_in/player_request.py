"""A request, whom it answers, what was said before, and the choice of phrases."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from evennia_ai.contrib.stand_in.character import StandInPersona
from evennia_ai.contrib.stand_in.languages import CHAT_WORD, ENGLISH, Language, language_of, read
from evennia_ai.contrib.stand_in.likeness import TextVectors
from evennia_ai.contrib.stand_in.passages import Passage
from evennia_ai.contrib.stand_in.stand_in_request import HeardLine, StandInRequest
from evennia_ai.contrib.stand_in.transcript import Transcript
from evennia_ai.contrib.stand_in.words import (
    an,
    capitals,
    in_sentence,
    is_description,
    long_sentences,
    rotated,
)
from evennia_ai.messages import Situation
from evennia_ai.policy.texts import plain_words

LEAST_SENSELESS, FEW_UNSAID = 3, 5  # words of a line
LEAST_KNOWN = 0.3  # share of a line's words
FRESH_LINES = 12  # of the character's own, within which no sentence is said twice
ADDRESS = re.compile(r"^\{who\}, |, \{who\}(?= ?[.,:;!?])")
SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class PlayerRequest:
    """One request, read once, and the speaker whom it answers.

    ``who`` is what to call them, ``private`` is True if they whispered, ``language`` is the one to
    answer in, and ``sentences`` are the sentences of their new ``lines``.
    """

    scene: StandInRequest
    name: str
    situation: Situation
    languages: tuple[Language, ...]
    character: StandInPersona
    transcript: Transcript
    passages: tuple[Passage, ...]
    every_told: tuple[Passage, ...]
    tools: frozenset[str]
    seed: int
    vectors: TextVectors
    language: Language
    speaker: str = ""
    who: str = ""
    private: bool = False
    lines: tuple[HeardLine, ...] = ()
    sentences: tuple[str, ...] = ()

    def answering(self, line: HeardLine, text: str) -> Self:
        """Return the view that answers a line's speaker in the language of a text."""
        before = self.transcript.texts_of(line.speaker)
        plain = read(ENGLISH).plain
        known = (
            language_of(plain(text_before), self.languages)
            for text_before in (text, *reversed(before))
        )
        language = next(filter(None, known), self.character.language)
        who = language.name_in(text) or self.called(line.speaker)
        return replace(self, speaker=line.speaker, who=who, private=line.private, language=language)

    @property
    def is_foreign(self) -> bool:
        """Return True if the answer's language is not that of persona and lore."""
        return self.language is not self.character.language

    @property
    def others(self) -> list[str]:
        """Return the names of those here besides the character and the speaker."""
        own = {"", self.name, self.speaker}
        return [name for name in self.situation.people if name not in own]

    @cached_property
    def told(self) -> list[Passage]:
        """Return what may be repeated: a whisper only in a whisper to its speaker."""
        own = self.speaker if self.private else None
        return [line for line in self.every_told if not line.private or line.speaker == own]

    def called(self, speaker: str) -> str:
        """Return the name that a speaker gave, else the name that the character sees."""
        lines = (line for line in reversed(self.every_told) if line.speaker == speaker)
        given = (self.language.name_in(line.text) for line in lines)
        return next(filter(None, given), in_sentence(speaker))

    def of(self, sources: Iterable[str]) -> list[Passage]:
        """Return the passages of these sources."""
        return [passage for passage in self.passages if passage.source in sources]

    @cached_property
    def known_people(self) -> list[str]:
        """Return the names of those here, and those that persona and lore hold within a sentence."""
        own = {*plain_words(self.name), *plain_words(self.situation.place)}
        inside = self.character.language.pattern("patterns", "named")
        texts = (item.text for item in self.of(("self", "want", "lore")))
        known = (name for text in texts for name in inside.findall(text))
        named = (name for name in known if own.isdisjoint(plain_words(name)))
        return list(dict.fromkeys([*self.others, *named]))

    def with_capitals(self, text: str) -> str:
        """Return a text with the names of known people in upper case."""
        people = {word.lower(): word for name in self.known_people for word in name.split()}
        people = {low: word for low, word in people.items() if low not in self.language.vocabulary}
        return CHAT_WORD.sub(lambda match: people.get(match[0], match[0]), text)

    # --- what was said before ---

    @cached_property
    def own_talk(self) -> str:
        """Return everything that the character said, in lower case."""
        return "\n".join((*self.transcript.own, *self.scene.excuses)).lower()

    @cached_property
    def recent(self) -> tuple[str, ...]:
        """Return the character's newest lines."""
        return (*self.transcript.own[-FRESH_LINES:], *self.scene.excuses[-FRESH_LINES:])

    @cached_property
    def _recent_sentences(self) -> frozenset[str]:
        return frozenset(part for line in self.recent for part in long_sentences(line))

    def repeats(self, text: str) -> bool:
        """Return True if a longer sentence of the text was spoken lately, word for word."""
        return not self._recent_sentences.isdisjoint(long_sentences(text))

    # --- phrases ---

    def options(self, key: str, **slots: str) -> list[str]:
        """Return the phrases of a key in the character's tone, with filled slots."""
        place = self.situation.place or "here"
        slots = {"name": self.name, "who": self.who, "place": place, **slots}
        phrases = self.language.phrases
        options = phrases.get(f"{key}_{self.character.tone}") or phrases.get(key)
        options = options or read(ENGLISH).phrases.get(key, ("",))
        if is_description(slots["who"]) or slots["who"] in "".join(self.transcript.own[-1:]):
            options = tuple(ADDRESS.sub("", option) for option in options)
        return [
            capitals(SLOT.sub(lambda match: slots.get(match[1], ""), option))
            for option in rotated(options, self.seed)
        ]

    def phrase(self, key: str, **slots: str) -> str:
        """Return a phrase of a key with filled slots, one not used yet if there is one."""
        made = self.options(key, **slots)
        lately = "\n".join(self.recent).lower()
        fresh = [text for text in made if text.lower() not in lately]
        unsaid = (text for text in made if text.lower() not in self.own_talk)
        return next(iter((*(t for t in unsaid if not self.repeats(t)), *fresh)), made[0])

    def emote(self, key: str, **slots: str) -> str:
        """Return a phrase that stands behind the character's name."""
        words = self.phrase(key, **slots)
        return words[:1].lower() + words[1:]

    def thing(self, name: str) -> str:
        """Return a thing's name with an article, if the language's rules for it are known."""
        name = name.strip().rstrip(".")
        return an(name) if self.language.code == ENGLISH else name

    def listed(self, items: Iterable[str], joint: str = "and") -> str:
        """Return several items as "a, b and c" in the language of the answer."""
        *first, last = list(items) or [""]
        word = self.language.data.get("joints", {}).get(joint, joint)
        return f"{', '.join(first)} {word} {last}" if first else last

    def listing(
        self, some: str, none: str, items: Iterable[str], slot: str = "things", **slots: str
    ) -> str:
        """Return the phrase ``some`` with the items, or the phrase ``none`` without any."""
        every = list(items)
        slots[slot] = self.listed(every)
        return self.phrase(some, **slots) if every else self.phrase(none)
