"""Opinions: what people did to a character moves a number, by rules that a builder sees."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from evennia_ai import signals
from evennia_ai.assistant_character import AssistantMixin
from evennia_ai.config.profiles import request_form
from evennia_ai.contrib.opinions.aiopinions import CmdAIOpinions
from evennia_ai.contrib.opinions.deeds import dbref_of, record_deed, store_of, weigh_words
from evennia_ai.contrib.opinions.opinion_records import OpinionDeeds
from evennia_ai.contrib.opinions.opinion_rules import OpinionSettings
from evennia_ai.extension import Allow, EntryReader, Extension, Tool
from evennia_ai.game.wares import Trade
from evennia_ai.messages import PERCEIVED, SAY, WHISPER, Audience, InboxEvent
from evennia_ai.policy.audience import KnownLine, of_records
from evennia_ai.policy.records.record import is_known_to
from evennia_ai.ports import MindContext, RecordStore, ToolContext

__all__ = ["EXTENSION", "OpinionTrade", "Opinions", "record_deed"]

LABEL = "Your opinion"
NEUTRAL = 2.0  # points below which a prompt tells nothing
MOST_ROWS, MOST_REASONS = 3, 2
FEELINGS = ((6, "you like {} very much"), (0, "you like {}"), (-6, "you do not like {}"))
WORST = "you loathe {}"


@dataclass(frozen=True)
class Opinions:
    """What a character thinks of people: ``character.ai_opinions``."""

    character: Any

    def of(self, person: Any) -> float:
        """Return the opinion of a person, an object or its dbref, from -10 to 10; 0 is neutral."""
        store = store_of(self.character)
        return round(store.value(store.deeds_of(dbref_of(person))), 1)

    def reasons(self, person: Any) -> list[str]:
        """Return what a person did, newest first; also what only some may know."""
        deeds = store_of(self.character).deeds_of(dbref_of(person))
        return [record["content"] for record in reversed(deeds)]


class OpinionTrade(Trade):
    """Lowers prices for whom a shopkeeper likes, and pays them more; the reverse for others.

    For a trade of your own, name ``class MyTrade(OpinionTrade, OwnTrade)``.
    """

    def price(self, keeper: Any, item: Any, customer: Any) -> int | None:
        price = super().price(keeper, item, customer)
        return price and max(1, round(price * (1 - self.discount(keeper, customer))))

    def offer(self, keeper: Any, item: Any, customer: Any) -> int | None:
        """Return what the keeper pays: never more than the thing costs that customer."""
        offer, price = super().offer(keeper, item, None), self.price(keeper, item, customer)
        if offer is None or price is None:
            return offer
        return min(price, int(offer * (1 + self.discount(keeper, customer))))

    def discount(self, keeper: Any, customer: Any) -> float:
        """Return the part of a price that an opinion takes off; below 0, what it adds."""
        mind = getattr(keeper, "ai_mind", None)
        if mind is None or customer is None:
            return 0.0
        percent: float = mind.settings.config.part(OpinionSettings).opinion_prices
        return Opinions(keeper).of(customer) * percent / 100


class OpinionsExtension(Extension):
    """Keeps what characters think of people, from what these did. Off by default."""

    name = "opinions"
    by_default = False
    settings = OpinionSettings

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        AssistantMixin.ai_opinions = property(Opinions)
        signals.event_heard.connect(self._hear)
        signals.deed_done.connect(self._note)
        return True

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAIOpinions,)

    @classmethod
    def records(cls) -> Mapping[type[RecordStore], str]:
        return {OpinionDeeds: "added"}

    def before_tool_call(self, context: ToolContext, tool: Tool, arguments: BaseModel) -> Allow:
        """Let the next look at an opinion see what comes of a call that somebody agreed to."""
        if context.confirmed_by:
            OpinionDeeds.of(context.character).is_behind = True
        return Allow()

    def prompt_rows(
        self, around: MindContext, audience: Audience
    ) -> Iterable[tuple[str, KnownLine]]:
        """Return the strongest opinions of those who hear the reply; one for a small model.

        Each is made of what the whole audience may know.
        """
        profile, store, rows = around.profile, store_of(around.character), []
        for person in audience:
            known = [item for item in store.deeds_of(person) if is_known_to(item, audience)]
            value, name = store.value(known), around.world.name_of(around.character, person)
            if abs(value) < NEUTRAL or not name:
                continue
            known.sort(key=lambda record: store.points(record) / value, reverse=True)
            agreeing = [record for record in known if store.points(record) / value > 0]
            reasons = dict.fromkeys(record["content"].rstrip(".") for record in agreeing)
            feeling = next((words for least, words in FEELINGS if value >= least), WORST)
            line = f"{feeling.format(name)} ({'; '.join([*reasons][:MOST_REASONS])})"
            private = any(record["audience"] is not None for record in known)
            rows.append((abs(value), KnownLine(line, private, of_records(known), known[0]["id"])))
        rows.sort(reverse=True)
        most = MOST_ROWS if request_form(profile).native else 1
        return [(LABEL, line) for _weight, line in rows[:most]]

    def _hear(self, sender: Any, character: Any, event: InboxEvent, **_more: Any) -> None:
        """Read the deeds of the log soon, and weigh what a player says to the character."""
        if not self._serves(sender):
            return
        line, store = event.heard, OpinionDeeds.of(character)
        if line.evidence == PERCEIVED and not store.is_behind:
            sender.services.slices.put(store_of, character)
        store.is_behind = True
        if line.addressed and not line.hops and line.kind in (SAY, WHISPER):
            sender.services.slices.put(weigh_words, character, event)

    def _note(self, sender: Any, signal: Any, **deed: Any) -> None:
        if self._serves(sender):
            record_deed(**deed)

    def _serves(self, script: Any) -> bool:
        return bool(script.services) and self in script.services.extensions


EXTENSION = OpinionsExtension
