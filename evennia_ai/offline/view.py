"""One request: all that an answer can use, and the choice of phrases."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from evennia_ai.offline.character import Character, read_character
from evennia_ai.offline.languages import ENGLISH, Language, language_of, read
from evennia_ai.offline.passages import (
    FLOOR,
    Found,
    Passage,
    Query,
    lore_passages,
    rank,
    seen_passages,
)
from evennia_ai.offline.told import Told, latest, read_told
from evennia_ai.offline.transcript import Said, Transcript, read_transcript
from evennia_ai.offline.voice import named_as_self
from evennia_ai.offline.words import (
    capitals,
    ended,
    listed,
    long_sentences,
    rotated,
    seed_of,
    sentences,
)
from evennia_ai.policy.conversation.persona import Persona
from evennia_ai.ports import LLMRequest, Scene

FRESH_LINES = 12  # of the character's own, within which no sentence is said twice
CONTEXT_LINES = 2
SEEN_LABELS = re.compile(r"(People|Things|Exits): ([^.]*+)(?:\.|\Z)")


@dataclass(frozen=True)
class View:
    """One request, read once; ``speaker`` is whom it answers, ``private`` if by a whisper."""

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

    def answering(self, speaker: str, text: str, private: bool) -> View:
        """Return the view for an answer to a speaker's words, in their language."""
        code = language_of(text) or self._last_language(speaker) or self.character.language
        return replace(self, speaker=speaker, private=private, code=code)

    def _last_language(self, speaker: str) -> str:
        lines = [s.text for s in self.transcript.heard if s.speaker == speaker]
        return next((code for text in reversed(lines) if (code := language_of(text))), "")

    @property
    def language(self) -> Language:
        """Return the language to answer in."""
        return read(self.code)

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

    @cached_property
    def told(self) -> list[Told]:
        """Return what may be told again now: a whisper only in a whisper to its speaker."""
        return [t for t in self.every_told if not t.private or (self.private and t.speaker == self.speaker)]  # fmt: skip

    def called(self, speaker: str) -> str:
        """Return the name that a speaker gave, else the name that the character sees."""
        own = latest(self.every_told, speaker, "name")
        return own.facts["name"] if own else speaker

    @cached_property
    def recent(self) -> frozenset[str]:
        """Return the longer sentences that the character said lately, also as excuses."""
        lines = (*self.transcript.own[-FRESH_LINES:], *self.scene.excuses[-FRESH_LINES:])
        return frozenset(part for line in lines for part in long_sentences(line))

    @cached_property
    def own_talk(self) -> str:
        """Return everything that the character said, in lower case."""
        return "\n".join((*self.transcript.own, *self.scene.excuses)).lower()

    def was_said(self, text: str) -> bool:
        """Return True if the character said this before in the conversation."""
        return text.rstrip(".!?").lower() in self.own_talk

    def repeats(self, text: str) -> bool:
        """Return True if a longer sentence of the text was spoken lately, word for word."""
        return any(part in self.recent for part in long_sentences(text))

    def phrase(self, key: str, **slots: str) -> str:
        """Return a phrase of a key with its slots filled; if possible one not used yet."""
        slots = {"speaker": self.who, "name": self.name, "who": self.who, "place": self.scene.situation.place or "here", **slots}  # fmt: skip
        options = self.language.phrases.get(key) or read(ENGLISH).phrases.get(key, ("",))
        made = [capitals(_filled(option, slots)) for option in rotated(options, self.seed)]
        lately = "\n".join((*self.transcript.own[-FRESH_LINES:], *self.scene.excuses)).lower()
        unsaid = [text for text in made if text.lower() not in self.own_talk]
        fresh = [text for text in made if text.lower() not in lately]
        return next(iter((*unsaid, *fresh)), made[0])

    def emote(self, key: str, **slots: str) -> str:
        """Return a phrase that stands behind the character's name."""
        said = self.phrase(key, **slots)
        return said[:1].lower() + said[1:]

    def rank(self, text: str, sources: Iterable[str] = (), floor: float = FLOOR) -> list[Found]:
        """Return what the character knows about a line, best first."""
        kept = [p for p in self.passages if not sources or p.source in set(sources)]
        drop = frozenset(self.language.content(self.name))
        return rank(Query(text, self.language, self.context(text), drop), kept, floor)

    def context(self, text: str) -> tuple[str, ...]:
        """Return the lines before, if the text points back at them: "and how does it work?"."""
        if not re.search(self.language.data.get("pronouns", "(?!)"), text, re.I):
            return ()
        own = [t for t in self.transcript.talk if t.strip() and t.strip() not in text]
        return tuple(own[-CONTEXT_LINES:])

    def listed(self, items: Iterable[str]) -> str:
        """Return several items as "a, b and c" in the language of the answer."""
        return listed(list(items), self.language.data.get("joints", {}).get("and", "and"))


def _filled(option: str, slots: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: slots.get(found[1], ""), option)


def read_request(request: LLMRequest) -> View:
    """Return the view of a request."""
    scene = request.scene
    persona = scene.persona if isinstance(scene.persona, Persona) else Persona(str(scene.persona))
    transcript = read_transcript(request)
    character = read_character(persona, scene.name)
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
    found += [Passage(text, "never") for text in character.nevers]
    for piece in lore_passages(scene.lore):
        found.append(Passage(named_as_self(piece.text, scene.name), "lore", piece.title))
    found += seen_passages(scene.situation.description)
    found += [Passage(ended(note), "seen") for note in getattr(scene.situation, "notes", ())]
    found += [Passage(part, "saw", place) for place, part in sights(transcript, scene)]
    found += [Passage(said.text, "note") for said in transcript.heard if _is_note(said)]
    return found


def _is_note(said: Said) -> bool:
    return said.kind == "note"


def sights(transcript: Transcript, scene: Scene) -> list[tuple[str, str]]:
    """Return what walks and looks showed of other places and things, with their names."""
    found = []
    for sight in dict.fromkeys(transcript.sights):
        title, _, text = sight.partition(": ")
        if title != scene.situation.place and "nothing special" not in text:
            found += [(title, part) for part in sentences(SEEN_LABELS.sub("", text)) if len(part) > 3]  # fmt: skip
            lists = {m[1]: m[2] for m in SEEN_LABELS.finditer(text)}
            if "Things" in lists:
                found[-1:] = [
                    (
                        title,
                        f"{''.join(p for _, p in found[-1:])} Things there: {lists['Things']}.".strip(),
                    )
                ]
    return found
