"""The view of a request: whom it answers, what was said before, what can answer it, and phrases."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Self

from evennia_ai.contrib.stand_in import words
from evennia_ai.contrib.stand_in.character import StandInPersona, read_character
from evennia_ai.contrib.stand_in.languages import ENGLISH, Intent, Language, language_of, read
from evennia_ai.contrib.stand_in.likeness import AnswerRule, likeness
from evennia_ai.contrib.stand_in.passages import Passage, read_known, read_told
from evennia_ai.contrib.stand_in.transcript import (
    HeardLine,
    StandInRequest,
    Transcript,
    read_transcript,
)
from evennia_ai.messages import Situation
from evennia_ai.policy.conversation.persona_and_lore import PER_RULE, UNTOLD, breaks_rule
from evennia_ai.policy.texts import an, plain_words

FRESH_LINES = 12  # of the character's own, within which no sentence is said twice
ADDRESS = re.compile(r"^\{who\}, |, \{who\}(?= ?[.,:;!?])")
SLOT = re.compile(r"\{(\w+)\}")
BEFORE = 0.1  # that likeness to a line with the one before it counts less
LEAST_LETTERS, SPELLED = 4, 0.82  # of a misspelled word, and its likeness to the right one
HALF, ALL_BUT = 0.5, 0.6  # of a rule's words that a text about it has, without and with an embedder
# How much more the nearest to it must be like a question to be told, by its source; and how near
# to it what was told is left out.
PLAINER, LEFT_OUT = {"self": 0.3, "told": 0.3, "lore": 0.15}, 0.15
LONGEST_PIECE = 220  # characters of a piece of lore that is told whole
AS_GOOD = 0.93  # least share of the best likeness to be told instead of what was said before
# What passages of a source count less as answers to questions.
LESS = {"want": 0.1, "never": 0.1, "exit": 0.1, "seen": 0.05, "told": -0.05}
KNOWN = ("self", "ware", "exit", "want", "never", "lore", "seen", "note")
Scored = list[tuple[float, Passage]]


@dataclass(frozen=True)
class StandInView:
    """One request, read once, the speaker whom it answers, and what the character knows of it.

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
    seed: int
    language: Language
    speaker: str = ""
    who: str = ""
    private: bool = False
    lines: tuple[HeardLine, ...] = ()
    sentences: tuple[str, ...] = ()

    def answering(self, line: HeardLine, text: str) -> Self:
        """Return the view that answers a line's speaker in the language of a text."""
        language = language_of(read(ENGLISH).plain(text), self.languages) or self.character.language
        who = language.name_in(text) or self.called(line.speaker)
        return replace(self, speaker=line.speaker, who=who, private=line.private, language=language)

    @property
    def is_foreign(self) -> bool:
        """Return True if the answer's language is not that of persona and lore."""
        return self.language is not self.character.language

    @property
    def is_open(self) -> bool:
        """Return True if what is only near a line may be told: nothing is to be kept back."""
        return not (self.is_foreign or self.silent or self.scene.persona.never)

    @property
    def others(self) -> list[str]:
        """Return the names of those here besides the character and the speaker."""
        return [name for name in self.situation.people if name not in ("", self.name, self.speaker)]

    @cached_property
    def told(self) -> list[Passage]:
        """Return what may be repeated: a whisper only in a whisper to its speaker."""
        own = self.speaker if self.private else None
        return [line for line in self.every_told if not line.private or line.speaker == own]

    def called(self, speaker: str) -> str:
        """Return the name that a speaker gave, else the name that the character sees."""
        lines = (line for line in reversed(self.every_told) if line.speaker == speaker)
        given = (self.language.name_in(line.text) for line in lines)
        return next(filter(None, given), words.in_sentence(speaker))

    def of(self, sources: Iterable[str]) -> list[Passage]:
        """Return the passages of these sources."""
        return [passage for passage in self.passages if passage.source in sources]

    def spelled(self, text: str) -> str:
        """Return a text whose unknown words are spelled as the nearest in the names of things here."""
        names = (*self.situation.carrying, *self.situation.things, *self.situation.exits)
        known = [word for word in plain_words(" ".join(names)) if len(word) >= LEAST_LETTERS]
        for word in {*plain_words(text)} - self.language.vocabulary - {*known}:
            long = len(word) >= LEAST_LETTERS and word.isalpha()
            near = get_close_matches(word.removesuffix("s"), known, 1, SPELLED) if long else ()
            text = re.sub(rf"\b{word}\b", near[0], text, flags=re.I) if near else text
        return text

    @property
    def silent(self) -> tuple[str, ...]:
        """Return what it never speaks of: subjects, and whole rules."""
        return (*self.character.silent, *self.scene.talk_rules)

    def is_silent_about(self, text: str, least: float = UNTOLD) -> bool:
        """Return True if a text is about what it never speaks of: by its words, or meaning."""
        content = self.character.language.content
        stems = set(content(text))
        for rule in self.silent:
            share = len(stems & {*content(rule)}) / (len(content(rule)) or 1)
            if share >= (ALL_BUT if rule in self.scene.vectors else HALF):
                return True
        return any(forbidden >= least for forbidden in self.forbids(text))

    def forbids(self, text: str) -> list[float]:
        """Return how near a text is to each rule of what it never speaks of, as far as it is known."""
        rules = [rule for rule in self.silent if rule in self.scene.vectors]
        return [self.likeness(rule, [Passage(text, "told")])[1][0] for rule in rules]

    def tellable(self, lines: Sequence[Passage]) -> tuple[Passage, ...]:
        """Return passages without what the character never speaks of.

        What is nearest to that must be asked for plainly; of what it was told, it is left out.
        """
        known = [line for line in lines if not self.is_silent_about(line.searched)]
        for source in ("self", "told", "lore"):
            own = [at for at, line in enumerate(known) if line.source == source]
            own = [at for at in own if known[at].text != self.character.identity]
            for fits in zip(*(self.forbids(known[at].searched) for at in own), strict=True):
                for at, fit, breaks in zip(own, fits, breaks_rule(fits), strict=True):
                    near = breaks * (1.0 if source == "self" else PER_RULE * fit)
                    is_told = source == "told" and fit >= LEFT_OUT
                    nearest = (1.0 if is_told else PLAINER[source]) * (fit == max(fits))
                    known[at] = replace(known[at], guarded=max(near, nearest, known[at].guarded))
        return tuple(known)

    @property
    def in_the_open(self) -> Self:
        """Return the view without what the persona, or a speaker by a name of theirs, keeps back."""
        persona = replace(self.scene.persona, knows=())
        facts = read_character(persona, self.name, self.languages).facts
        known = (item for item in self.passages if item.source != "self" or item.text in facts)
        return replace(self, passages=tuple(known), who=words.in_sentence(self.speaker))

    @cached_property
    def talk_before(self) -> list[str]:
        """Return what anybody said before the new lines, oldest first."""
        now = {line.text.strip() for line in self.lines}
        return [line for line in self.transcript.talk if line.strip() and line.strip() not in now]

    @cached_property
    def own_talk(self) -> str:
        """Return everything that the character said, in lower case."""
        return "\n".join((*self.transcript.own, *self.scene.excuses)).lower()

    @cached_property
    def recent(self) -> tuple[str, ...]:
        """Return the character's newest lines, to the speaker if there is one."""
        own = self.transcript.answers_to(self.speaker) if self.speaker else self.transcript.own
        return (*own[-FRESH_LINES:], *self.scene.excuses[-FRESH_LINES:])

    def repeats(self, text: str) -> bool:
        """Return True if a longer sentence of the text was spoken lately, word for word."""
        sentences = (part for line in self.recent for part in words.long_sentences(line))
        return not {*sentences}.isdisjoint(words.long_sentences(text))

    def options(self, key: str, **slots: str) -> list[str]:
        """Return the phrases of a key in the character's tone, with filled slots."""
        here = self.situation.place or "here"
        slots = {"name": self.name, "who": self.who, "place": here, **slots}
        phrases = self.language.phrases
        options = phrases.get(f"{key}_{self.character.tone}") or phrases.get(key)
        options = options or read(ENGLISH).phrases.get(key, ("",))
        if words.is_description(slots["who"]) or slots["who"] in "".join(self.transcript.own[-1:]):
            options = tuple(ADDRESS.sub("", option) for option in options)
        texts = words.rotated(options, self.seed)
        filled = (SLOT.sub(lambda match: slots.get(match[1], ""), text) for text in texts)
        return [*map(words.capitals, filled)]

    def phrase(self, key: str, **slots: str) -> str:
        """Return a phrase of a key with filled slots, one not used yet if there is one."""
        made = self.options(key, **slots)
        fresh = [text for text in made if text.lower() not in "\n".join(self.recent).lower()]
        unsaid = (text for text in made if text.lower() not in self.own_talk)
        return next(iter((*(t for t in unsaid if not self.repeats(t)), *fresh)), made[0])

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

    def likeness(self, text: str, lines: Sequence[Passage]) -> tuple[AnswerRule, list[float]]:
        """Return how like a text some lines are, and how like an answer must be."""
        return likeness(text, [line.parts for line in lines], self.scene.vectors, self.language)

    def find(
        self, text: str, lines: Sequence[Passage], intent: Intent | None = None, sure: bool = False
    ) -> Scored:
        """Return the passages that answer a line, the best first, with how like it they are.

        Those of an intent need no likeness; what is asked of a person must name them.
        """
        if intent:
            lines = [item for item in lines if self._tells(intent, item)]
        if text not in self.scene.vectors and not intent and self.language.finds("yes_no", text):
            sure = True
        rule, fits = self.likeness(text, lines)
        if text not in self.scene.vectors:
            in_talk = self.likeness(self.meant(text), lines)[1]
            fits = [max(fit, other - BEFORE) for fit, other in zip(fits, in_talk, strict=True)]
        if not intent:
            # Who it is answers nothing else.
            apart = "" if self.name in text else self.character.identity
            less = [LESS.get(p.source, 0) + p.guarded + (p.text == apart) for p in lines]
            fits = [fit - part for fit, part in zip(fits, less, strict=True)]
        least = rule.sure if sure else rule.known
        least = least if not intent else least / 2 if intent.exact else -1.0
        scored = [(fit, item) for fit, item in zip(fits, lines, strict=True) if fit >= least]
        return sorted(scored, key=lambda item: -item[0])

    def _tells(self, intent: Intent, passage: Passage) -> bool:
        """Return True for what answers an intent."""
        kinds = filter(None, (language.intent(intent.key).tells for language in self.languages))
        bare = passage.text.replace(self.name, "")
        return any(kind.search(bare) for kind in kinds)

    def meant(self, text: str) -> str:
        """Return a line that points back, "and how does it work?", behind what it points at."""
        if not self.language.finds("points_back", text):
            return text
        own = self.sentences[: self.sentences.index(text)] if text in self.sentences else ()
        return " ".join((*(own or self.transcript.answers_to(self.speaker))[-1:], text))

    def known(self, text: str, sources: Sequence[str] = KNOWN, intent: Intent | None = None) -> str:
        """Return the best passage about a line; "" if none."""
        if self.is_foreign and not intent:
            return ""  # words that look alike mean something else
        return self.best(self.find(text, self.of(sources), intent))

    def best(self, scored: Scored) -> str:
        """Return the best of what was found, or one nearly as good that was not said lately."""
        near = [item for fit, item in scored if fit >= AS_GOOD * scored[0][0]]
        if not near:
            return ""
        fresh = next((item for item in near if not self.repeats(item.text)), None)
        reply = self.spoken(self._with_rest(fresh) if fresh and self.scene.vectors else near[0])
        return self.phrase("again", fact=reply) if not fresh and reply == near[0].text else reply

    def _with_rest(self, passage: Passage) -> Passage:
        """Return a sentence of lore with others of its piece that may be told and were not, if short.

        A piece that does not name its title begins with it: "Kite Races: Flown from the walls."
        """
        piece = [item for item in self.of(("lore",)) if item.entry and item.entry == passage.entry]
        left = LONGEST_PIECE - len(passage.text)
        kept = {passage.text}
        for item in piece:
            if not (item.guarded or self.repeats(item.text)) and len(item.text) < left:
                kept, left = {*kept, item.text}, left - len(item.text)
        text = " ".join(item.text for item in piece if item.text in kept) or passage.text
        content = self.character.language.content
        named = not passage.title or not {*content(passage.title)}.isdisjoint(content(text))
        return replace(passage, text=text if named else f"{words.capitals(passage.title)}: {text}")

    def spoken(self, passage: Passage) -> str:
        """Return a passage as the character says it: if in another language, it says so in that."""
        text, opening = passage.text, self.character.language.pattern("requests", "opening")
        if passage.source in KNOWN:  # no "And" or "But" without what was before
            text = words.capitals(opening.sub("", text))
        written = language_of(text, self.languages) or self.character.language
        if written is not self.language and written.full:
            return replace(self, language=written).phrase("foreign", fact=text)
        return text


def read_request(scene: StandInRequest, languages: tuple[Language, ...]) -> StandInView:
    transcript = read_transcript(scene)
    persona = replace(scene.persona, wants=(*scene.persona.wants, *transcript.goals))
    character = read_character(persona, scene.name, languages)
    now = {(line.speaker, line.text) for line in scene.lines}
    before = [s for s in transcript.heard if (s.speaker, s.text) not in now or s.kind == "give"]
    people = [spoken for spoken in before if spoken.speaker not in scene.assistants]
    view = StandInView(
        scene=scene,
        name=scene.name,
        situation=scene.situation,
        languages=languages,
        character=character,
        transcript=transcript,
        passages=tuple(read_known(scene, character, transcript)),
        every_told=tuple(read_told(people, scene.name, character.language, languages)),
        seed=words.seed_of(len(scene.messages), *(line.text for line in scene.lines)),
        language=character.language,
    )
    return replace(
        view,
        scene=replace(scene, lore=tuple(e for e in scene.lore if not view.is_silent_about(e))),
        passages=view.tellable(view.passages),
        every_told=view.tellable(view.every_told),
    )
