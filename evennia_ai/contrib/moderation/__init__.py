"""Words that the game refuses, heard or spoken, by the setting ``MODERATION``."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred

from evennia_ai.contrib.moderation.moderator import ClosedModeration, Moderation, make_moderation
from evennia_ai.contrib.moderation.rules import DOWN, HEARD, NOTHING_SPOKEN, SPOKEN
from evennia_ai.extension import EntryReader, Extension
from evennia_ai.messages import InboxEvent


class ModerationExtension(Extension):
    """Asks the game's word list, function and endpoint."""

    name = "moderation"
    entries = frozenset({"MODERATION"})
    moderation: Moderation | ClosedModeration

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        make = partial(make_moderation, services.clock, services.models.client.exchange)
        wrong = (ClosedModeration(), NOTHING_SPOKEN)
        moderation = settings.read("MODERATION", make, {}, wrong)
        if moderation is None:
            return False
        self.moderation = moderation
        return True

    def before_turn(self, events: Sequence[InboxEvent]) -> Deferred[Mapping[int, str]]:
        texts = [event.heard.text for event in events]
        checked = self.moderation.check(HEARD, texts)
        return checked.addCallback(lambda reasons: named(events, reasons))

    def before_speech(self, words: str, by_staff: bool) -> Deferred[str]:
        """Judge words; what staff wrote is refused by a verdict only, not by a failed check."""
        checked = self.moderation.check(SPOKEN, [words])
        return checked.addCallback(
            lambda reasons: "" if by_staff and reasons[0] == DOWN else reasons[0]
        )


def named(events: Sequence[InboxEvent], reasons: Sequence[str]) -> dict[int, str]:
    """Return the reason of each refused event, by its id."""
    pairs = zip(events, reasons, strict=True)
    return {event.id: f"moderation: {reason}" for event, reason in pairs if reason}


EXTENSION = ModerationExtension
