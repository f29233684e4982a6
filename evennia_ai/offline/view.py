"""The view of a request: whom it answers, what can answer, and the choice of phrases.

What the character knows are the persona, the lore, what it sees, and what the package recalled for
this prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from evennia_ai.messages import Situation
from evennia_ai.offline.character import Character, read_character
from evennia_ai.offline.languages import ENGLISH, Asked, Intent, Language, language_of, read
from evennia_ai.offline.passages import Passage, is_sure, ranked, read_known, read_told, split_lore
from evennia_ai.offline.transcript import Transcript, read_transcript
from evennia_ai.offline.words import (
    an,
    capitals,
    in_sentence,
    in_title,
    is_description,
    long_sentences,
    rotated,
    seed_of,
)
from evennia_ai.policy.conversation.character import Fit
from evennia_ai.ports import HeardLine, LLMRequest, LoreRanking, Scene

FRESH_LINES = 12  # of the character's own, within which no sentence is said twice
WHOLE = 0.8  # words of a `Fit` that answers without what its kind of question asks for
SEEN = 4.0  # meaning of a `Fit` with what stands in the room's description
SAID_OF = 0.35  # words of a `Fit` with the room, or with lore for a question about the character
AS_GOOD = 0.8  # share of the best score that is good enough if the best was said
KNOWN = ("self", "want", "lore", "seen", "note")
MOST_OFFERED = 2
ADDRESS = re.compile(r"^\{who\}, |, \{who\}(?= ?[.,:;!?])")
NAME = re.compile(r"(?<!^)\b[A-Z]\w+")
SLOT = re.compile(r"\{(\w+)\}")


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
    every_told: tuple[Passage, ...]
    tools: frozenset[str]
    seed: int
    language: Language
    ranking: LoreRanking
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

    @property
    def before(self) -> list[str]:
        """Return the speaker's earlier lines, oldest first."""
        own = [said.text for said in self.transcript.heard if said.speaker == self.speaker]
        return [text for text in own if text != self.lines[-1].text]

    @property
    def at_home(self) -> bool:
        """Return True if the place is the character's own: its name, or who it is, tells so."""
        content = self.language.content
        own = content(f"{self.name} {self.character.identity}")
        return not set(content(self.situation.place)).isdisjoint(own)

    @cached_property
    def told(self) -> list[Passage]:
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
        fresh = [text for text in made if text.lower() not in lately]
        unsaid = [t for t in made if t.lower() not in self.own_talk and not self.repeats(t)]
        return next(iter((*unsaid, *fresh)), made[0])

    def emote(self, key: str, **slots: str) -> str:
        """Return a phrase that stands behind the character's name."""
        said = self.phrase(key, **slots)
        return said[:1].lower() + said[1:]

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

    # --- what is known ---

    def of(self, sources: Iterable[str]) -> list[Passage]:
        """Return the passages of these sources."""
        return [passage for passage in self.passages if passage.source in sources]

    def find(
        self, text: str, passages: Sequence[Passage], passes: Callable[[Fit], bool] = is_sure
    ) -> list[tuple[Fit, Passage]]:
        """Return the passages that answer a question, the best first, with how well they fit it.

        A question that fits nothing and points back at the line before is sought with that.
        """
        holds, text = self._held_by_kind(text)
        found = ranked(self.ranking, text, passages)
        meant = "" if any(passes(fit) for fit, _ in found) else self._meant(text)
        words = self.language.content(text)
        if meant:
            shared = [one for fit, one in found if fit.words or not words]
            found, passes = ranked(self.ranking, f"{meant} {text}", shared), is_sure
        personal = self.language.finds("about_you", text)

        def answers(item: tuple[Fit, Passage]) -> bool:
            fit, one = item
            distant = one.source == "seen" or (personal and one.source == "lore")
            whole = len(words) > 1 and fit.words >= WHOLE
            held = not holds or whole or holds.search(one.text)
            near = one.source != "seen" or fit.meaning >= SEEN
            return passes(fit) and bool(held) and near and (not distant or fit.words >= SAID_OF)

        return [*filter(answers, found)]

    def about(self, text: str, asked: Asked) -> list[tuple[Fit, Passage]]:
        """Return the passages that answer a line's intent, the best for the line first.

        If they must hold another word of the line and none does, return what has it: a price that
        of a bed.
        """
        (intent, _, rest), named = asked, self.name
        holds = self._told_by(intent)
        every = sorted(self.of(intent.sources), key=lambda one: one.source != "lore")
        listed = [one for one in every if holds.search(one.text.replace(named, ""))]
        found = ranked(self.ranking, text, listed)
        if self.language is not self.character.language and len(listed) == 1:
            return found
        if not (intent.exact and self.language.content(rest)):
            sure = [(fit, one) for fit, one in found if fit.words >= SAID_OF or is_sure(fit)]
            return sure or [(Fit(), one) for one in listed]
        exact = [(fit, one) for fit, one in ranked(self.ranking, rest, listed) if fit.words]
        exact = exact or [(fit, one) for fit, one in found if is_sure(fit)]
        topics = (one for one in self.language.intents if one.label and one is not intent)
        other = next((one for one in topics if one.match.search(text)), None)
        if exact or not other:
            return exact
        holds = self._told_by(other)
        return [(fit, one) for fit, one in found if holds.search(one.text)]

    def _told_by(self, intent: Intent) -> re.Pattern[str]:
        every = filter(None, (one.intent(intent.key).tells for one in self.languages))
        return re.compile("|".join(one.pattern for one in every), re.IGNORECASE)

    def _meant(self, text: str) -> str:
        """Return what was said before, if the text points back at it: "and how does it work?"."""
        if not self.language.finds("pronouns", text):
            return ""
        here = self.sentences[: self.sentences.index(text)] if text in self.sentences else ()
        return "" if any(map(self.language.asks, here)) else ["", *self.before, *here][-1]

    def _held_by_kind(self, text: str) -> tuple[re.Pattern[str] | None, str]:
        """Return what an answer to this kind of question holds, None for any kind, and the text
        without the words that ask for it."""
        for pattern, held in self.language.data.get("holds", ()):
            rest, asked = re.subn(pattern, "", text, flags=re.I)
            if asked:
                return re.compile(held if held.startswith("[A-Z]") else f"(?i:{held})"), rest
        return None, text

    def known(self, text: str, sources: Sequence[str] = KNOWN, asked: Asked | None = None) -> str:
        """Return the best passage about a line, of those that answer an intent if it has one.

        If it was said lately, return one that is nearly as good, else the same once more.
        """
        if self.language is not self.character.language and not asked:
            return ""  # words that look alike mean something else
        found = self.about(text, asked) if asked else self.find(text, self.of(sources))
        found.sort(key=lambda item: self.only_names(text, item[1]))
        best = max((fit.score for fit, _ in found), default=0.0)
        near = [one for fit, one in found if fit.score >= min(best, AS_GOOD * best)]
        if not near:
            return ""
        first = near[0]
        like = (one for one in near if (one.source, one.title) == (first.source, first.title))
        fresh = next((one for one in like if not self.repeats(one.text)), None)
        said = self.spoken(fresh or first)
        if fresh and said == fresh.text and self.only_names(text, fresh):
            return self.phrase("only_this", fact=said)
        return said

    def only_names(self, text: str, passage: Passage) -> bool:
        """Return True if a passage shares with a question only names or a word of its title."""
        asked, body, title, names = (
            set(self.language.content(one))
            for one in (text, passage.text, passage.title, " ".join(NAME.findall(text)))
        )
        others, whole = asked - names, body | title
        if passage.source == "lore" and asked & title and not asked & body:
            return True
        own = passage.text == self.character.identity
        return bool(others and names & whole) and not (own or others & whole)

    def spoken(self, passage: Passage) -> str:
        """Return a passage with words that tell of another language, or that it was said lately."""
        text = passage.text
        written = language_of(text, self.languages) or self.character.language
        if written is not self.language and written.full:
            return replace(self, language=written).phrase("foreign", fact=text)
        return self.phrase("again", fact=text) if self.repeats(text) else text

    def offer(self) -> str:
        """Return what the character could tell instead, "" if nothing or told before."""
        if self.language is not self.character.language:
            return ""
        titles = [in_title(split_lore(entry)[0]) for entry in self.scene.lore]
        texts = [passage.text for passage in self.of(("self", "lore"))]
        labels = (
            one.label
            for one in self.language.intents
            if one.label and one.tells and any(map(one.tells.search, texts))
        )
        recent = "\n".join(self.recent).lower()
        every = [*filter(None, titles)] or dict.fromkeys(labels)
        fresh = [one for one in every if one.lower() not in recent]
        topics = rotated(fresh, self.seed)[:MOST_OFFERED]
        return self.phrase("could_tell", topics=self.listed(topics, "or")) if topics else ""


def read_request(
    request: LLMRequest, languages: tuple[Language, ...], ranking: LoreRanking
) -> View:
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
        passages=tuple(read_known(scene, character, transcript)),
        every_told=tuple(read_told(people, character.language, languages)),
        tools=frozenset(
            str(tool.get("function", {}).get("name", "")) for tool in request.asked.tools
        ),
        seed=seed_of(transcript.length, *(line.text for line in scene.lines)),
        language=character.language,
        ranking=ranking,
    )
