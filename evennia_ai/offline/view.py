"""The view of a request: what an answer can use, retrieval, and the choice of phrases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from evennia_ai.offline.character import Character, named_as_self, read_character, rules_of
from evennia_ai.offline.languages import ENGLISH, Language, language_of, read
from evennia_ai.offline.passages import (
    FLOOR,
    Found,
    Passage,
    Told,
    holds,
    latest,
    lore_passages,
    rank,
    read_told,
)
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
    sentences,
)
from evennia_ai.ports import HeardLine, LLMRequest, Scene, Situation

FRESH_LINES = 12  # of the character's own, within which no sentence is said twice
CONTEXT_LINES = 2
WHOLE = 0.99  # cover of a line that names nothing else
AS_GOOD = 0.5  # share of the best score that is good enough if the best was said
KNOWN = ("self", "want", "lore", "seen", "saw", "note")
ADDRESS = re.compile(r"^\{who\}, |, \{who\}(?= ?[.,:;!?])")
SLOT = re.compile(r"\{(\w+)\}")
SEEN_LABELS = re.compile(r"(People|Things|Exits): ([^.]*+)(?:\.|\Z)")


@dataclass(frozen=True)
class View:
    """One request, read once, and the speaker whom it answers.

    ``private`` is True if they whispered, ``code`` is the language to answer in, and ``sentences``
    are the sentences of their new ``lines``.
    """

    scene: Scene
    character: Character
    transcript: Transcript
    passages: tuple[Passage, ...]
    every_told: tuple[Told, ...]
    tools: frozenset[str]
    seed: int
    speaker: str = ""
    private: bool = False
    code: str = ENGLISH
    lines: tuple[HeardLine, ...] = ()
    sentences: tuple[str, ...] = ()

    def answering(self, line: HeardLine, text: str) -> View:
        """Return the view that answers a line's speaker in the language of a text."""
        before = [said.text for said in self.transcript.heard if said.speaker == line.speaker]
        codes = (language_of(said) for said in (text, *reversed(before)))
        code = next(filter(None, codes), self.character.language)
        return replace(self, speaker=line.speaker, private=line.private, code=code)

    @property
    def language(self) -> Language:
        """Return the language to answer in."""
        return read(self.code)

    @property
    def who(self) -> str:
        """Return what to call the speaker that it answers."""
        return self.called(self.speaker)

    @property
    def assistant(self) -> bool:
        """Return True if another assistant speaks."""
        return self.speaker in self.scene.assistants

    @property
    def keys(self) -> list[str]:
        """Return the keys of the sentences' intents."""
        return [self.language.key_of(text) for text in self.sentences]

    @property
    def name(self) -> str:
        """Return the character's own name."""
        return self.scene.name

    @property
    def situation(self) -> Situation:
        """Return what the character sees now."""
        return self.scene.situation

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
        own = latest(self.every_told, speaker, "name")
        return own.facts["name"] if own else in_sentence(speaker)

    @cached_property
    def recent(self) -> tuple[str, ...]:
        """Return the lines that the character said lately, also as excuses."""
        return (*self.transcript.own[-FRESH_LINES:], *self.scene.excuses[-FRESH_LINES:])

    @cached_property
    def own_talk(self) -> str:
        """Return everything that the character said, in lower case."""
        return "\n".join((*self.transcript.own, *self.scene.excuses)).lower()

    def was_said(self, text: str) -> bool:
        """Return True if the character said this before in the conversation."""
        return text.rstrip(".!?").lower() in self.own_talk

    @cached_property
    def _recent_sentences(self) -> frozenset[str]:
        return frozenset(part for line in self.recent for part in long_sentences(line))

    def repeats(self, text: str) -> bool:
        """Return True if a longer sentence of the text was spoken lately, word for word."""
        return not self._recent_sentences.isdisjoint(long_sentences(text))

    def options(self, key: str, **slots: str) -> list[str]:
        """Return the phrases of a key with filled slots; none addresses a description."""
        slots = {
            "name": self.name,
            "who": self.who,
            "place": self.situation.place or "here",
            **slots,
        }
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
        lately = "\n".join(self.recent).lower()
        unsaid = [text for text in made if text.lower() not in self.own_talk]
        fresh = [text for text in made if text.lower() not in lately]
        return next(iter((*unsaid, *fresh)), made[0])

    def emote(self, key: str, **slots: str) -> str:
        """Return a phrase that stands behind the character's name."""
        said = self.phrase(key, **slots)
        return said[:1].lower() + said[1:]

    def rank(self, text: str, sources: Iterable[str], floor: float = FLOOR) -> list[Found]:
        """Return the passages of these sources that answer a line, best first."""
        kept = [p for p in self.passages if p.source in set(sources)]
        context = self.context(text)
        return rank(text, self.language, kept, floor, context=context, without=self.name)

    def known(self, text: str, sources: Sequence[str] = KNOWN, *, stale: bool = True) -> str:
        """Return the best passage about a line that was not said lately; "" if none.

        If all that fit were said and ``stale`` is True, return the best one again if it answers the
        whole question, else a phrase that there is no more.
        """
        found = self.rank(text, sources)
        near = [item for item in found if item.points > found[0].points * AS_GOOD]
        fresh = next((item.passage for item in near if not self.repeats(item.passage.text)), None)
        if fresh is not None:
            return self.told_fact(fresh.text, fresh.source)
        if not found or not stale:
            return ""
        if holds(text, self.language) or found[0].cover >= WHOLE:
            return self.phrase("again", fact=joined(found[0].passage.text))
        return self.phrase("no_more")

    def told_fact(self, text: str, source: str) -> str:
        """Return a passage as the character says it; a third-person one is hearsay."""
        outsider = text.startswith(self.name) or self.language.finds("outsider", text)
        return self.phrase("folk_say", fact=text) if source == "self" and outsider else text

    def context(self, text: str) -> str:
        """Return the lines before, if the text points back at them: "and how does it work?"."""
        if not re.search(self.language.data.get("pronouns", "(?!)"), text, re.I):
            return ""
        own = [t for t in self.transcript.talk if t.strip() and t.strip() not in text]
        return " ".join(own[-CONTEXT_LINES:])

    def thing(self, name: str) -> str:
        """Return a thing's name with an article, if the language's rules for it are known."""
        name = name.strip().rstrip(".")
        return an(name) if self.code == ENGLISH else name

    def listed(self, items: Iterable[str]) -> str:
        """Return several items as "a, b and c" in the language of the answer."""
        *first, last = list(items) or [""]
        joint = self.language.data.get("joints", {}).get("and", "and")
        return f"{', '.join(first)} {joint} {last}" if first else last

    def listing(
        self, some: str, none: str, items: Iterable[str], slot: str = "things", **slots: str
    ) -> str:
        """Return the phrase ``some`` with the items, or the phrase ``none`` without any."""
        every, numbers = list(items), self.language.data.get("numbers", ())
        number = numbers[len(every)] if len(every) < len(numbers) else str(len(every))
        slots |= {slot: self.listed(every), "number": number}
        return self.phrase(some, **slots) if every else self.phrase(none)


def read_request(request: LLMRequest) -> View:
    """Return the view of a request."""
    scene = request.scene
    transcript = read_transcript(request)
    character = read_character(scene.persona, scene.name)
    now = {(line.speaker, line.text) for line in scene.lines}
    before = [s for s in transcript.heard if (s.speaker, s.text) not in now or s.kind == "give"]
    people = [said for said in before if said.speaker not in scene.assistants]
    return View(
        scene=scene,
        character=character,
        transcript=transcript,
        passages=tuple(_passages(scene, character, transcript)),
        every_told=tuple(read_told(people, character.language)),
        tools=frozenset(str(tool.get("function", {}).get("name", "")) for tool in request.tools),
        seed=seed_of(transcript.length, *(line.text for line in scene.lines)),
    )


def _passages(scene: Scene, character: Character, transcript: Transcript) -> list[Passage]:
    found = [Passage(text, "self") for text in character.facts]
    found += [Passage(text, "want") for text in character.wants]
    language = rules_of(character.language)
    for piece in lore_passages(scene.lore, language):
        found.append(replace(piece, text=named_as_self(piece.text, scene.name, language)))
    found += [Passage(part, "seen") for part in sentences(scene.situation.description)]
    found += [Passage(f"{note.rstrip('.')}.", "seen") for note in scene.situation.notes]
    for sight in dict.fromkeys(transcript.sights):
        title, _, text = sight.partition(": ")
        if title != scene.situation.place and "nothing special" not in text:
            found += [Passage(part, "saw", title) for part in seen_parts(text)]
    return found + [Passage(said.text, "note") for said in transcript.heard if said.kind == "note"]


def seen_parts(text: str) -> list[str]:
    """Return the sentences of a look's result; the last one lists the things."""
    parts = [part for part in sentences(SEEN_LABELS.sub("", text)) if len(part) > 3]
    things = [found[2] for found in SEEN_LABELS.finditer(text) if found[1] == "Things"]
    if not things:
        return parts
    return [*parts[:-1], f"{''.join(parts[-1:])} Things there: {things[-1]}.".strip()]
