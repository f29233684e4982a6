"""One request: all that an answer can use, and the choice of phrases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from evennia_ai.offline.character import Character, read_character
from evennia_ai.offline.knowledge import Found, Passage, lore_passages, rank, seen_passages
from evennia_ai.offline.phrases import PHRASES
from evennia_ai.offline.speaker_facts import SpeakerFacts, read_speaker_facts
from evennia_ai.offline.transcript import Transcript, read_transcript
from evennia_ai.offline.words import (
    an,
    capital,
    ended,
    listed,
    rotated,
    seed_of,
    sentences,
    small,
    with_article,
    words,
)
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.ports import LLMRequest, Scene

CAPITALISED = ("fact", "exit", "item", "topic", "value", "people", "things", "number")
MOST_TOLD = 200  # characters of two facts
NAMED = re.compile(
    r"(?<![.!?:] )(?<!^)\b(?:the )?[A-ZÀ-Þ][\w'’-]+(?: (?:of the |of )?[A-ZÀ-Þ][\w'’-]+)*"
)


@dataclass(frozen=True)
class RequestView:
    """One request, read once; ``speaker`` is whom it answers."""

    scene: Scene
    character: Character
    transcript: Transcript
    speaker_facts: SpeakerFacts
    passages: tuple[Passage, ...]
    tools: frozenset[str]
    seed: int
    speaker: str = ""

    @property
    def who(self) -> str:
        """Return what to call the speaker that it answers."""
        return self.called(self.speaker)

    @property
    def name(self) -> str:
        """Return the character's own name."""
        return self.scene.name

    @property
    def others(self) -> list[str]:
        """Return the names of those here besides the character and the speaker."""
        own = {"", self.name, self.speaker}
        return [name for name in self.scene.situation.people if name not in own]

    def called(self, speaker: str) -> str:
        """Return the name that a speaker gave, else the name that the character sees."""
        return self.speaker_facts.of(speaker).get("name", speaker)

    def rank(self, question: str) -> list[Found]:
        """Return what the character knows about a question, best match first."""
        return rank(question, self.passages, (self.name,))

    def was_said(self, text: str) -> bool:
        """Return True if the character said this before in the conversation."""
        return text.rstrip(".!?").lower() in self.own_talk

    def asked_in(self, key: str) -> bool:
        """Return True if the character asked one of the questions of a key before."""
        ends = [option.split("{")[0].rstrip("?").lower() for option in PHRASES[key]]
        return any(end in self.own_talk for end in ends)

    @cached_property
    def own_talk(self) -> str:
        """Return everything that the character said, in lower case."""
        return "\n".join(self.transcript.own).lower()

    @cached_property
    def spoken(self) -> frozenset[str]:
        """Return the longer sentences that the character spoke, also as excuses."""
        lines = (*self.transcript.own, *self.scene.excuses)
        return frozenset(part for line in lines for part in long_sentences(line))

    def phrase(self, key: str, **slots: str) -> str:
        """Return a phrase of a key with its slots filled, if possible an unused one."""
        for slot in CAPITALISED:
            if slot in slots:
                slots[f"{slot}_capital"] = capital(slots[slot])
                slots[f"{slot}_small"] = small(slots[slot])
        place = self.scene.situation.place or "here"
        slots = {"name": self.name, "who": self.who, "place": place, **slots}
        made = [option.format(**slots) for option in rotated(PHRASES[key], self.seed)]
        fresh = [text for text in made if not self.repeats(text)]
        unsaid = [text for text in fresh if text.lower() not in self.own_talk]
        return next(iter((*unsaid, *fresh)), made[0])

    def repeats(self, text: str) -> bool:
        """Return True if a longer sentence of the text was spoken before, word for word."""
        return any(part in self.spoken for part in long_sentences(text))

    def told(self, fact: str) -> str:
        """Return a fact, with "as I said" or the like if it was said before."""
        fact = re.sub(r"\. ([A-Z]\w*)", lambda found: f"; {small(found[1])}", ended(fact))
        return (
            self.phrase("again", fact=fact) if self.repeats(fact) or self.was_said(fact) else fact
        )

    def tell_some(self, texts: Sequence[str]) -> str:
        """Return two untold texts if they are short, else one, else the first again."""
        fresh = self.untold(texts)
        if not fresh:
            return self.told(texts[0])
        both = " ".join(fresh[:2])
        return both if len(both) <= MOST_TOLD and not self.character.terse else fresh[0]

    def untold(self, texts: Iterable[str]) -> list[str]:
        """Return the texts that the character has not said yet."""
        return [text for text in texts if not self.was_said(text)]

    def offers(self) -> list[str]:
        """Return names that the character knows something about."""
        own = {*words(self.name), "i", "you"}
        everything = (
            *self.character.facts,
            *self.character.wants,
            *(p.text for p in self.passages if p.source == "lore"),
        )
        found = [match[0] for text in everything for match in NAMED.finditer(text)]
        return list(dict.fromkeys(name for name in found if not own & set(words(name))))


def long_sentences(text: str) -> list[str]:
    """Return the sentences of four words and more, without case and punctuation."""
    parts = (words(part) for part in re.split(r"[.!?…]+", text))
    return [" ".join(part) for part in parts if len(part) > 3]


def seen_parts(text: str) -> list[str]:
    """Return what a look or a walk showed, as sentences to say."""
    lists = re.compile(r"(People|Things|Exits): ([^.]*+)(?:\.|\Z)")
    plain = [ended(part) for part in sentences(lists.sub("", text)) if len(part) > 3]
    things = next((m[2].split(", ") for m in lists.finditer(text) if m[1] == "Things"), [])
    return [*plain, f"There I saw {listed([an(name) for name in things])}."] if things else plain


def read_request(request: LLMRequest) -> RequestView:
    """Return the view of a request."""
    scene = request.scene
    persona = scene.persona if isinstance(scene.persona, Persona) else Persona(str(scene.persona))
    transcript = read_transcript(request)
    character = read_character(persona, scene.name)
    return RequestView(
        scene=scene,
        character=character,
        transcript=transcript,
        speaker_facts=read_speaker_facts(transcript.heard, scene.name),
        passages=tuple(_passages(scene, character, transcript)),
        tools=frozenset(str(tool.get("function", {}).get("name", "")) for tool in request.tools),
        seed=seed_of(transcript.length, *(line.text for line in scene.lines)),
    )


def _passages(scene: Scene, character: Character, transcript: Transcript) -> list[Passage]:
    found = [Passage(text, "self") for text in character.facts if text not in character.wants]
    found += [Passage(text, "aside") for text in character.asides]
    found += [Passage(text, "want", "want goal need") for text in character.wants]
    found += [Passage(text, "never") for text in character.nevers]
    found += lore_passages(scene.lore)
    found += seen_passages(scene.situation.description)
    found += [Passage(ended(note), "seen") for note in getattr(scene.situation, "notes", ())]
    for item, to in transcript.gifts:
        found.append(Passage(f"I gave {with_article(item)} to {to}.", "deed", "hand have who"))
    for sight in dict.fromkeys(transcript.sights):
        title, _, text = sight.partition(": ")
        if title != scene.situation.place and "nothing special" not in text:
            found += [Passage(part, "saw", title) for part in seen_parts(text)]
    found += [Passage(said.text, "note") for said in transcript.heard if said.kind == "note"]
    return found
