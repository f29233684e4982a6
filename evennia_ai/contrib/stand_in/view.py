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
from evennia_ai.contrib.stand_in.likeness import AnswerRule, likeness
from evennia_ai.contrib.stand_in.passages import Passage, read_known, read_told
from evennia_ai.contrib.stand_in.player_request import PlayerRequest
from evennia_ai.contrib.stand_in.stand_in_request import StandInRequest
from evennia_ai.contrib.stand_in.transcript import read_transcript
from evennia_ai.contrib.stand_in.words import capitals, seed_of
from evennia_ai.policy.texts import BoundedPattern

BEFORE = 0.1  # that likeness to a line with the one before it counts less
AS_GOOD = 0.93  # least share of the best likeness to be told instead of what was said before
KNOWN = ("self", "want", "never", "lore", "seen", "note")
Scored = list[tuple[float, Passage]]


@dataclass(frozen=True)
class StandInView(PlayerRequest):
    """What is heard, and what the character knows of it."""

    def likeness(self, text: str, lines: Sequence[Passage]) -> tuple[AnswerRule, list[float]]:
        """Return how like a text some lines are, and how like an answer must be."""
        return likeness(text, [line.parts for line in lines], self.vectors, self.language)

    def find(
        self,
        text: str,
        passages: Sequence[Passage],
        intent: Intent | None = None,
        sure: bool = False,
    ) -> Scored:
        """Return the passages that answer a line, the best first, with how like it they are.

        Those of an intent need no likeness, unless it asks for something named. What is asked of a
        person must name them and, asked for yes or no, tell more of what is asked.
        """
        meant = self.meant(text)
        if intent:
            passages = [item for item in passages if self._tells(intent, item, text)]
        if intent and intent.exact:  # it names a ware
            passages = self._sharing(meant, intent.drop, passages)
        named = "" if intent else match_name(text, self.known_people)
        if named:
            passages = [item for item in passages if match_name(named, [item.searched])]
        if not intent and self.language.finds("yes_no", text):
            passages = self._sharing(text, named, passages) if named else passages
            sure = sure or not named
        if not intent:
            holds = self._answer_of_kind(text)
            fit = [item for item in passages if not holds or self._holds(holds, item)]
            passages, sure = fit or passages, sure or not fit
        rule, fits = self.likeness(text, passages)
        if meant != text:
            in_talk = self.likeness(meant, passages)[1]
            fits = [max(fit, other - BEFORE) for fit, other in zip(fits, in_talk, strict=True)]
        least = -1.0 if intent else rule.sure if sure else rule.known
        scored = [(fit, item) for fit, item in zip(fits, passages, strict=True) if fit >= least]

        def order(item: tuple[float, Passage]) -> tuple[bool, float]:
            last = item[1].source == "never" or self.language.finds("denies", item[1].text)
            return bool(intent and last), -item[0]

        return sorted(scored, key=order)

    def _sharing(self, text: str, without: str, passages: Sequence[Passage]) -> list[Passage]:
        """Return the passages that share a word with a text, other than some words."""
        content = self.language.content
        stems = set(content(text)).difference(content(without))
        return [item for item in passages if stems.intersection(content(item.searched))]

    def _holds(self, holds: BoundedPattern, passage: Passage) -> bool:
        """Return True if a passage holds what answers, or denies that there is any."""
        return bool(holds.search(passage.text) or self.language.finds("denies", passage.text))

    def _tells(self, intent: Intent, passage: Passage, text: str) -> bool:
        """Return True for what answers an intent, in any language; of lore, if it asks of the
        character, only for what is its own."""
        kinds = filter(None, (language.intent(intent.key).tells for language in self.languages))
        bare = passage.text.replace(self.name, "")
        if not any(kind.search(bare) for kind in kinds):
            return False
        finds = self.language.finds
        of_it = intent.key.startswith("ask_") and passage.source == "lore"
        return not of_it or finds("subject_i", passage.text) or finds("mine", passage.text)

    def _answer_of_kind(self, text: str) -> BoundedPattern | None:
        """Return what an answer to this kind of question holds, None for any."""
        for pattern, held in self.language.data.get("holds", ()):
            if compiled(pattern).search(text):
                return compiled(held, 0 if "[A-Z]" in held else re.IGNORECASE)
        return None

    def meant(self, text: str) -> str:
        """Return a line that points back, "and how does it work?", behind what it points at."""
        if not self.language.finds("points_back", text):
            return text
        now = {line.text.strip() for line in self.lines}
        before = [line for line in self.transcript.talk if line.strip() and line.strip() not in now]
        return " ".join((*before[-1:], text))

    def known(self, text: str, sources: Sequence[str] = KNOWN, intent: Intent | None = None) -> str:
        """Return the best passage about a line; "" if none."""
        if self.is_foreign and not intent:
            return ""  # words that look alike mean something else
        return self.best(self.find(text, self.of(sources), intent))

    def best(self, scored: Scored) -> str:
        """Return the best of what was found as the character says it, "" if nothing.

        If it was said lately, return one that is nearly as good, else the same once more.
        """
        near = [item for fit, item in scored if fit >= AS_GOOD * scored[0][0]]
        if not near:
            return ""
        fresh = next((item for item in near if not self.repeats(item.text)), None)
        reply = self.spoken(fresh or near[0])
        again = not fresh and reply == near[0].text
        return self.phrase("again", fact=reply) if again else reply

    def spoken(self, passage: Passage) -> str:
        """Return a passage as the character says it: if in another language, it says so in that."""
        text = passage.text
        if passage.source in KNOWN:  # no "And" or "But" without what was before
            text = capitals(self.character.language.pattern("requests", "opening").sub("", text))
        written = language_of(text, self.languages) or self.character.language
        if written is not self.language and written.full:
            return replace(self, language=written).phrase("foreign", fact=text)
        return text


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
        vectors=scene.vectors,
        tools=scene.tools,
        seed=seed_of(transcript.length, *(line.text for line in scene.lines)),
        language=character.language,
    )
