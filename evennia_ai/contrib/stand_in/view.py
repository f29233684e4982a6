"""The view of a request: what can answer it.

What the character knows are the persona, the lore, what it sees, and what the package recalled for
this prompt.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evennia_ai.contrib.stand_in.character import read_character
from evennia_ai.contrib.stand_in.languages import (
    Intent,
    Language,
    compiled,
    language_of,
    match_name,
)
from evennia_ai.contrib.stand_in.passages import (
    FLOOR,
    Passage,
    PassageQuery,
    read_known,
    read_told,
    search,
    split_lore,
)
from evennia_ai.contrib.stand_in.player_request import PlayerRequest
from evennia_ai.contrib.stand_in.stand_in_request import StandInRequest
from evennia_ai.contrib.stand_in.transcript import read_transcript
from evennia_ai.contrib.stand_in.words import capitals, ended, rotated, seed_of, sentences
from evennia_ai.policy.texts import BoundedPattern

CONTEXT_LINES = 2
SURE = 0.8  # share of a line's words that an answer of another kind than asked for holds
# Least share of the best score to be told instead of what was said before, and to a line that asks
# for more. To one that only points back, each sentence of the same piece of lore is good enough.
AS_GOOD, MORE = 0.93, 0.6
YES = 0.65  # share of the words of a question for yes or no that its answer holds
KNOWN = ("self", "want", "never", "lore", "seen", "note")
MOST_OFFERED = 2
MOURNED, SAD = 4, frozenset({"grief", "sad"})  # lines, and kinds of sentences of who mourns
OWN = ("wares", "task")  # topics that a persona alone may tell of


@dataclass(frozen=True)
class StandInView(PlayerRequest):
    """What is heard, and what the character knows of it."""

    def find(
        self,
        text: str,
        passages: Sequence[Passage],
        floor: float = FLOOR,
        intent: Intent | None = None,
        without: str = "",
    ) -> list[tuple[float, Passage]]:
        """Return the passages that answer a line, the best first, with how well they do.

        The words of ``without``, and of the character's name, count for nothing.
        """
        is_claim = bool(passages) and passages[0].source == "told"
        sought = self._sought(text, intent, without, is_claim)
        named = match_name(text, self.known_people)
        is_yes_no = not intent and self.language.finds("yes_no", text)
        if named and is_yes_no:
            # "Is she kind?" is answered by a sentence that tells it of her.
            other = set(self.language.content(named))
            sought = replace(sought, stems=tuple(x for x in sought.stems if x not in other))
            of_them = [
                passage for passage in passages if match_name(named, [passage.text, passage.title])
            ]
            passages = of_them if sought.stems else []
        if is_yes_no and not is_claim:
            floor = max(floor, YES)
        listed = self._in_order(text, passages, intent, named)
        scored = search(sought, listed, self.language, floor)
        if intent:
            return self._of_intent(text, scored, sought, intent)
        is_why = self.language.finds("why", text)  # nothing but a reason answers it
        if not scored and sought.holds and len(sought.stems) > 1 and not is_why:
            return search(replace(sought, holds=()), listed, self.language, SURE)
        return scored

    def _sought(
        self, text: str, intent: Intent | None, without: str, is_claim: bool
    ) -> PassageQuery:
        """Return what an answer to a line should hold."""
        content = self.language.content
        if not is_claim:  # "what do my hands tell you?": lore is not about the speaker's own
            mine = self.language.pattern("patterns", "of_mine").findall(text)
            without = " ".join((without, *mine))
        without = f"{without} {intent.drop}" if intent else without
        asked_for = [stem for stem in content(text) if stem not in content(without)]
        own = tuple(stem for stem in asked_for if stem not in content(self.name)) or (*asked_for,)
        before = frozenset(content(self._meant(text))).difference(own, content(without))
        holds, kind = (self._told_by(intent), "") if intent else self.held_by_kind(text)
        holds = [] if is_claim and self.language.finds("where_why", text) else holds
        own = tuple(stem for stem in own if stem not in content(kind))  # "which day did I say?"
        topic = bool(holds and (intent or (is_claim and not own)))
        back = bool(before) and self.language.finds("points_back", text)
        return PassageQuery(own, before, tuple(holds), topic, back)

    def _in_order(
        self, text: str, passages: Sequence[Passage], intent: Intent | None, named: str
    ) -> list[Passage]:
        """Return the passages that may answer, the more exact ones first: what begins with the
        name that is asked for, then lore."""
        if intent:
            holds, asks_of_it = self._told_by(intent)[0], intent.key.startswith("ask_")
            held = [
                passage for passage in passages if holds.search(passage.text.replace(self.name, ""))
            ]
            passages = [item for item in held
                        if not asks_of_it or item.source != "lore" or self._is_own(item, text)]  # fmt: skip
        order = bool(intent) or not self.language.finds("about_you", text)
        identity = self.character.identity

        def rank(passage: Passage) -> tuple[object, ...]:
            about = named and passage.text.startswith(named)
            return not about, order and (passage.source != "lore", passage.text == identity)

        return sorted(passages, key=rank)

    def _of_intent(
        self, text: str, scored: list[tuple[float, Passage]], sought: PassageQuery, intent: Intent
    ) -> list[tuple[float, Passage]]:
        """Return what was found for an intent, last what says that there is no such thing."""
        denies = self.character.language.pattern("patterns", "denies")

        def last(item: tuple[float, Passage]) -> bool:
            held = self.language.content(item[1].text)
            denied = denies.search(item[1].text) and set(sought.stems).isdisjoint(held)
            return item[1].source == "never" or bool(denied)

        scored = sorted(scored, key=last)
        if not (intent.exact and sought.stems and scored) or scored[0][0]:
            return scored
        # What has the price: a bed, a meal.
        topics = (entry for entry in self.language.intents
                  if entry.label and entry is not intent and entry.key not in OWN)  # fmt: skip
        named = (t for t in topics if t.match.search(text) or (t.tells and t.tells.search(text)))
        other = next(named, None)
        return [
            entry for entry in scored if other and self._told_by(other)[0].search(entry[1].text)
        ]

    def _told_by(self, intent: Intent) -> list[BoundedPattern]:
        """Return the pattern of what answers an intent, in any language."""
        every = filter(None, (language.intent(intent.key).tells for language in self.languages))
        return [compiled("|".join(item.compiled.pattern for item in every))]

    def _is_own(self, passage: Passage, text: str) -> bool:
        """Return True if a piece of lore is about the character, or about something of its own that
        is asked for: "My father …" does not say how long the character has been here."""
        if self.language.finds("subject_i", passage.text):
            return True
        if self.language.key_of(text) == "ask_how_long":
            return False
        content = self.language.content
        shared = set(content(text)).intersection(content(passage.text))
        return bool(shared) and self.language.finds("mine", passage.text)

    def _meant(self, text: str) -> str:
        """Return the lines before, if the text points back at them: "and how does it work?"."""
        if not self.language.finds("pronouns", text):
            return ""
        now = {line.text.strip() for line in self.lines}
        lines = [t.strip() for t in self.transcript.talk if t.strip() and t.strip() not in now]
        own = set(self.transcript.own)  # of its own lines those count that tell something
        return " ".join(line for line in lines[-CONTEXT_LINES:]
                        if line not in own or any(passage.text in line for passage in self.passages))  # fmt: skip

    def held_by_kind(self, text: str) -> tuple[list[BoundedPattern], str]:
        """Return what an answer to this kind of question holds, and the words that ask for it."""
        for pattern, held in self.language.data.get("holds", ()):
            match = compiled(pattern).search(text)
            if match:
                return [compiled(held, 0 if "[A-Z]" in held else re.IGNORECASE)], match[0]
        return [], ""

    def known(self, text: str, sources: Sequence[str] = KNOWN, intent: Intent | None = None) -> str:
        """Return the best passage about a line; "" if none."""
        if self.is_foreign and not intent:
            return ""  # words that look alike mean something else
        return self.best(self.find(text, self.of(sources), intent=intent))

    def best(self, scored: Sequence[tuple[float, Passage]]) -> str:
        """Return the best of what was found as the character says it, "" if nothing.

        If it was said lately, return one that is nearly as good, else the same once more.
        """
        finds, line = self.language.finds, " ".join(self.sentences)
        is_open = finds("pronouns", line) or finds("more", line)
        part = AS_GOOD if not is_open else MORE if self.language.content(line) else 0.0
        least = part * scored[0][0] if scored else 0.0
        near = [item for share, item in scored if share >= least]
        if not near:
            return ""
        first = near[0]
        like = (item for item in near if (item.source, item.title) == (first.source, first.title))
        sure = [item for share, item in scored if share >= AS_GOOD * scored[0][0]]
        fresh = next((item for item in (*like, *sure) if not self.repeats(item.text)), None)
        fresh = fresh or next(filter(None, (self._untold(line, item) for item in sure)), None)
        reply = self.spoken(fresh or near[0])
        if fresh or reply != near[0].text:
            return reply
        return (
            self.short(line, reply)
            or self._closest(line, reply)
            or self.phrase("again", fact=reply)
        )

    def _untold(self, question: str, passage: Passage) -> Passage | None:
        """Return what a passage tells of a question that was not said lately, None if nothing."""
        question_stems, every = set(self.language.content(question)), sentences(passage.text)
        new = " ".join(part for part in every if not self.repeats(part))
        fits = new != passage.text and not question_stems.isdisjoint(self.language.content(new))
        return replace(passage, text=new) if fits else None

    def short(self, question: str, fact: str) -> str:
        """Return only the words of a fact that a question asks for; "" if they are not certain."""
        for question_pattern, held in self.language.data.get("short", ()):
            match = (
                compiled(held, 0).search(fact)
                if compiled(question_pattern).search(question)
                else None
            )
            if match:
                return ended(capitals(match[1]))
        return ""

    def _closest(self, question: str, fact: str) -> str:
        """Return the one sentence of a fact that holds most of a question, "" if there is none."""
        content, near = self.language.content, self.language.near
        stem_sets = [frozenset({stem, *near(stem)}) for stem in content(question)]
        held = [(sum(not stem_set.isdisjoint(content(part)) for stem_set in stem_sets), part)
                for part in sentences(fact)]  # fmt: skip
        most = max(count for count, _ in held)
        best = [part for count, part in held if count == most]
        return best[0] if most and len(held) > 1 == len(best) else ""

    def spoken(self, passage: Passage) -> str:
        """Return a passage as the character says it: if in another language, it says so in that."""
        text = passage.text
        if passage.source in KNOWN:  # no "And" or "But" without what was before
            text = capitals(self.character.language.pattern("requests", "opening").sub("", text))
        written = language_of(text, self.languages) or self.character.language
        if written is not self.language and written.full:
            return replace(self, language=written).phrase("foreign", fact=text)
        return text

    @property
    def mourns(self) -> bool:
        """Return True if the speaker told of a death or a grief just now."""
        before = self.transcript.texts_of(self.speaker)
        moods = {self.language.key_of(text) for text in (*before[-MOURNED:], *self.sentences)}
        return not moods.isdisjoint(SAD)

    def with_offer(self, key: str, **slots: str) -> str:
        """Return a phrase, and what the character could tell instead; no offer to who mourns."""
        if self.mourns:
            return self.phrase("no_answer")
        return f"{self.phrase(key, **slots)} {self.offer()}".strip()

    def offer(self) -> str:
        """Return which of its own matters the character could tell of instead, once in a talk."""
        offers = self.language.pattern("patterns", "offer")
        if self.is_foreign or offers.search("\n".join(self.transcript.own)):
            return ""
        stems = set(self.language.content(" ".join(self.sentences)))
        own = " ".join(item.text for item in self.of(("self",)))
        kinds = map(self.language.intent, OWN)
        labels = (kind.label for kind in kinds if kind.tells and kind.tells.search(own))
        titles = (_mid_sentence(split_lore(entry)[0]) for entry in self.scene.lore)
        every = filter(None, dict.fromkeys([*titles, *labels]))
        fresh = [item for item in every if stems.isdisjoint(self.language.content(item))]
        topics = rotated(fresh, self.seed)[:MOST_OFFERED]
        return self.phrase("could_tell", topics=self.listed(topics, "or")) if topics else ""


def _mid_sentence(title: str) -> str:
    """Return a title as it stands within a sentence: "the arch", but "Old Tarn"."""
    first, _, rest = title.partition(" ")
    small = first.lower() in {"the", "a", "an", "der", "die", "das"} or rest[:1].islower()
    return title[:1].lower() + title[1:] if small else title


def read_request(scene: StandInRequest, languages: tuple[Language, ...]) -> StandInView:
    transcript = read_transcript(scene)
    character = read_character(scene.persona, scene.name, languages)
    now = {(line.speaker, line.text) for line in scene.lines}
    before = [s for s in transcript.heard if (s.speaker, s.text) not in now or s.kind == "give"]
    people = [spoken for spoken in before if spoken.speaker not in scene.assistants]
    return StandInView(
        scene=scene,
        name=scene.name,
        situation=scene.situation,
        languages=languages,
        character=character,
        transcript=transcript,
        passages=tuple(read_known(scene, character, transcript)),
        every_told=tuple(read_told(people, character.language, languages)),
        tools=scene.tools,
        seed=seed_of(transcript.length, *(line.text for line in scene.lines)),
        language=character.language,
    )
