"""What a character knows beside the talk: of itself, and of the people present."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai import ports
from evennia_ai.config import usable_window
from evennia_ai.config.profiles import request_form
from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import Audience, turn_label
from evennia_ai.policy.audience import GAME, KnownLine, of_record, of_records
from evennia_ai.policy.conversation.persona_and_lore import (
    MEANING_FLOOR,
    Fit,
    LoreEntry,
    LoreTrial,
    breaks_rule,
    is_known,
    is_of_talk,
    names_title,
    quests_of,
    try_lore,
)
from evennia_ai.policy.facts.terms import heard_words
from evennia_ai.policy.records.entity_consolidation import PersonPresent, acquaintance_line
from evennia_ai.policy.records.record import is_known_to
from evennia_ai.policy.retrieval.words import name_words, without_words
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.policy.tool_call_modes.plain_prompt import LEAST_FIT
from evennia_ai.scheduling import Coroutine, yield_to_reactor

log = Logger()

MOST_PEOPLE = 6
PEOPLE_PART = 0.02  # share of the window
LORE_PART = 0.025  # share of the window
NEVER_TOLD = "the persona never talks about it"


@dataclass(eq=False)
class PinnedContext:
    """What the character keeps in mind, as lines of a prompt.

    ``audience`` are the dbrefs of those who may know a line; None selects public ones.
    """

    _mind: ports.MindContext

    @inlineCallbacks
    def load(self) -> Coroutine[None]:
        """Load the character's records in slices; fails with StoreUnavailable."""
        who = self._mind.character
        for records in (who.journal, who.ai_profiles, who.ai_goals, who.ai_plan):
            yield records.load(self._mind.slices.put)
        yield yield_to_reactor(
            self._mind.slices.put
        )  # the conversation may have to be read as well

    def pins(self, audience: Audience | None) -> list[KnownLine]:
        return [
            KnownLine(pin["content"], pin["audience"] is not None, of_record(pin), pin["id"])
            for pin in self._mind.character.journal.pinned(audience)
        ]


@dataclass(eq=False)
class LoreContext:
    """What the character knows of the world, as its builders wrote it."""

    _mind: ports.MindContext

    @inlineCallbacks
    def prepare(self, lines: Sequence[str], audience: Audience) -> Coroutine[None]:
        """Make ready what these listeners may hear for some lines of the talk; never fails."""
        entries, labels = self._mind.world.lore(self._mind.character, audience)
        known = [entry for entry in entries if is_known(entry, labels)]
        never, services = self._mind.who.persona.never, self._mind.services
        if known:
            texts = [*map(self._words_of, lines), *never]
            yield services.lore_ranking.prepare(services, known, texts)

    def known(self, audience: Audience) -> list[LoreEntry]:
        """Return all pieces that the character knows and these listeners may hear."""
        entries, labels = self._mind.world.lore(self._mind.character, audience)
        return self._told_of([entry for entry in entries if is_known(entry, labels)])

    def tellable(self, audience: Audience) -> list[LoreEntry]:
        """Return all pieces that these listeners may hear, known to it here and now or not."""
        entries, labels = self._mind.world.lore(self._mind.character, audience)
        return self._told_of([entry for entry in entries if labels.issuperset(quests_of(entry))])

    @property
    def budget_tokens(self) -> int:
        """Return the most tokens of a prompt; half the usual for a model that reads slowly."""
        config, profile = self._mind.config, self._mind.profile
        part = LORE_PART if request_form(profile).native else LORE_PART / 2
        return min(config.lore_tokens, int(part * usable_window(config, profile)))

    @property
    def budget_words(self) -> str:
        """Return the budget in words, with the reason if it is a small model's."""
        form = request_form(self._mind.profile)
        why = f", half of the usual: the model is asked in the mode {form.name}"
        return f"{self.budget_tokens} tokens{'' if form.native else why}"

    def try_lines(self, lines: Sequence[str], audience: Audience) -> list[LoreTrial]:
        """Return what becomes of each piece for some lines, the most important line first."""
        entries, labels = self._mind.world.lore(self._mind.character, audience)
        # What the listeners may not hear is never ranked (P9).
        known = [entry for entry in entries if is_known(entry, labels)]
        words = [*map(self._words_of, lines)]
        fits = [(line, self._fits(known, line)) for line in words]
        tellable = {*self._told_of(known, fits[0][1] if fits else None)}
        return [
            trial
            if trial.why_unknown or trial.entry in tellable
            else replace(trial, why_unknown=NEVER_TOLD, is_chosen=False)
            for trial in try_lore(entries, labels, fits, self.budget_tokens)
        ]

    def _told_of(
        self, entries: Sequence[LoreEntry], line: Mapping[LoreEntry, Fit] | None = None
    ) -> list[LoreEntry]:
        """Return pieces without what the persona never talks about, unless a quest lets it be
        heard or ``line``, by how well they fit it, asks plainly for what is only near that."""
        untold: set[LoreEntry] = set()
        guarded = [entry for entry in entries if not quests_of(entry)]
        for rule in self._mind.who.persona.never:
            fits = self._mind.services.lore_ranking.fits(guarded, rule)
            if not any(fit.meaning for fit in fits.values()):
                untold.update(entry for entry in guarded if names_title(rule, entry))
            elif is_of_talk(rule):
                plain = [(line or {}).get(entry, Fit()).score for entry in fits]
                near_ones = breaks_rule([fit.score for fit in fits.values()], plain)
                untold.update(compress(fits, near_ones))
        return [entry for entry in entries if entry not in untold]

    def _fits(self, known: Sequence[LoreEntry], line: str) -> Mapping[LoreEntry, Fit]:
        """Return how well pieces fit a line; of a plain prompt those that may answer it.

        They compete with memories there, so the best of them counts as asked for.
        """
        fits = self._mind.services.lore_ranking.fits(known, line)
        if request_form(self._mind.profile).native:
            return fits
        near = {entry: fit for entry, fit in fits.items() if fit.score >= LEAST_FIT}
        return {
            entry: fit._replace(meaning=max(fit.meaning, MEANING_FLOOR) if fit.meaning else 0.0)
            for entry, fit in near.items()
        }

    def _words_of(self, line: str) -> str:
        """Return the words of a line, without its speaker and the character's own name."""
        return without_words(heard_words(line), name_words(self._mind.name))


@dataclass(eq=False)
class PeopleContext:
    """What the character knows of others."""

    _mind: ports.MindContext

    def describe_present(self, audience: Audience, known_only: bool = False) -> list[KnownLine]:
        """Return a line for each person present: what the character knows, the audience may (P9).

        With ``known_only``, those of whom it only knows how well they get on have none.

        The setting ``entity_tokens`` limits the lines; a small window gets fewer. A tick loads the
        profiles before it thinks; without loaded profiles there are no lines.
        """
        config = self._mind.config
        profiles = self._mind.character.ai_profiles
        window = usable_window(config, self._mind.profile)
        room = min(int(config.entity_tokens), int(PEOPLE_PART * window))
        if not room or not profiles.is_loaded:
            return []
        lines: list[KnownLine] = []
        present = self._mind.world.listeners(self._mind.character) | audience
        is_partner = self._mind.presence.is_in_conversation
        # Conversation partners first, then by number.
        for dbref in sorted(present, key=lambda person: (not is_partner(person), int(person[1:]))):
            description = self._describe(profiles, dbref, audience, known_only)
            if description is None:
                continue
            room -= estimate_tokens(description.text)
            if room < 0 or len(lines) == MOST_PEOPLE:
                break
            lines.append(description)
        return lines

    def _describe(
        self, profiles: ports.EntityProfiles, dbref: str, audience: Audience, known_only: bool
    ) -> KnownLine | None:
        """Return the line of one person, None if nothing is known about them."""
        values = profiles.attributes(dbref, audience)
        relationship = profiles.relationship(dbref)
        if not values and (known_only or not relationship["contacts"]):
            return None
        name_of = partial(self._mind.world.name_of, self._mind.character)
        person = PersonPresent(
            name=name_of(dbref),
            dbref=dbref,
            relationship=relationship,
            values=values,
            contradicted=frozenset(
                value["id"]
                for value in values
                for other in map(profiles.get, value["contradicts"])
                if other and is_known_to(other, audience)
            ),
            is_talking=self._mind.presence.is_in_conversation(dbref),
        )
        line = acquaintance_line(person, self._mind.now(), name_of)
        private = any(value["audience"] is not None for value in values)
        authors = of_records(values) or frozenset({GAME})
        return KnownLine(line, private, authors) if line and person.name else None

    @inlineCallbacks
    def record_contacts(self, turn: ports.TurnRecord) -> Coroutine[None]:
        """Raise the familiarity of everybody who spoke in a turn.

        If the database is busy, only this contact is lost. Fires when all contacts are stored.
        """
        if not self._mind.status.may_think():  # deleted or stopped while the answer was stored
            return
        profiles = self._mind.character.ai_profiles
        yield profiles.load(self._mind.slices.put)
        if not self._mind.status.may_think():
            return
        for speaker in sorted({event.heard.speaker for event in turn.events} - {""}):
            try:
                profiles.note_contact(speaker)
            except StoreUnavailable as error:
                named = f"{self._mind.name}, {turn_label(turn.id)}"
                log.info("{named}: contact not stored: {error}", named=named, error=error)
