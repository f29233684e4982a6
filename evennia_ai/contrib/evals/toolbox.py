"""The tools of a scene: their arguments are checked as in the game, and nothing is done."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai import messages
from evennia_ai.contrib.evals.format import EvalScene
from evennia_ai.contrib.evals.results import EvalUtterance
from evennia_ai.errors import NothingDone
from evennia_ai.extension import Tool
from evennia_ai.game.wares import ensure_agreed, price_list, trade_of
from evennia_ai.messages import EMOTE, SAY, WHISPER, Audience, Situation
from evennia_ai.policy.audience import may_be_said
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry, Persona
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import ToolContext, ToolResult, ToolSpec
from evennia_ai.ports.tool import EVERYBODY
from evennia_ai.scheduling import Coroutine
from evennia_ai.tools.registry import BUILT_IN, ToolRegistry
from evennia_ai.turn.tool_executor import ASKED, DONE, failed_call

Need = Callable[[ToolContext], bool] | None
HARMLESS = frozenset({"add_journal_entry", "search_journal", "search_memory", "noop"})
SPOKEN = (SAY, WHISPER, EMOTE)
PRICES, SELL, BUY = "prices", "sell", "buy"  # tools of a shop, if the game has them


@dataclass(frozen=True)
class EvalCast:
    """Who plays: a persona with its lore, its place, its settings, and what its goods cost."""

    name: str
    persona: Persona
    lore: tuple[LoreEntry, ...]
    situation: Situation
    settings: Mapping[str, Any]
    prices: Mapping[str, int]


class EvalToolbox(ToolRegistry):
    """The game's tools: arguments are checked, words are kept in ``spoken``, nothing is done."""

    def __init__(
        self, tools: Iterable[Tool], scene: EvalScene, cast: EvalCast, people: Mapping[str, str]
    ) -> None:
        """Take the tools of everybody, and others that the scene names."""
        self.spoken: list[EvalUtterance] = []
        self._scene, self._cast, self._people = scene, cast, people
        allowed = (item for item in tools if item.lock == EVERYBODY or item.name in scene.tools)
        super().__init__(replace(item, needed=need_of(item, cast, len(people))) for item in allowed)

    def permitted(self, context: ToolContext, specs: Iterable[ToolSpec]) -> list[ToolSpec]:
        """Return all: nobody here is in the game, so no lock can be asked."""
        return list(specs)

    def _ensure_rights(self, item: Tool, context: ToolContext) -> None:
        """Let every tool pass, since none is run that changes anything."""

    @inlineCallbacks
    def run(
        self, context: ToolContext, call: messages.ToolCallRequest, dry: bool = False
    ) -> Coroutine[ToolResult]:
        """Check a call and tell what it would do. Fires with a `ToolResult`; never fails."""
        checked: ToolResult = yield super().run(context, call, dry=True)
        if dry or checked.state != DONE:
            return checked
        if call.name in self._scene.results:
            return ToolResult(DONE, self._scene.results[call.name])
        if call.name in HARMLESS:
            result: ToolResult = yield super().run(context, call)
            return result
        item, arguments = self.tools[call.name], json.loads(call.arguments or "{}")
        try:
            if call.name in SPOKEN:
                return self._speak(context, call.name, arguments)
            if call.name == SELL:
                self._ensure_for_sale(arguments)
        except NothingDone as error:
            return failed_call(error, in_doubt=False)
        if item.waits:
            return ToolResult(ASKED, "Not done yet. Somebody is asked whether you may.")
        is_list = call.name == PRICES and not arguments.get("offered")
        return ToolResult(DONE, price_list(None, self._cast.prices) if is_list else "Done.")

    def _ensure_for_sale(self, arguments: Mapping[str, Any]) -> None:
        """Raise NothingDone unless the scene has a thing at the price that people agreed to."""
        wanted, prices = arguments["item"].casefold(), self._cast.prices
        prices_found = [price for thing, price in prices.items() if thing.casefold() in wanted]
        prices_found = prices_found or [
            price for thing, price in prices.items() if wanted in thing.casefold()
        ]
        ensure_agreed(trade_of(None), prices_found[0] if prices_found else None, arguments["price"])

    def _speak(self, context: ToolContext, kind: str, arguments: Mapping[str, str]) -> ToolResult:
        """Keep words; who hears them is decided as in `tools.speech`. Raises NothingDone."""
        here = frozenset(self._people.values())
        to_all = not context.whispered and may_be_said(here, context.audience, context.private)
        if kind == EMOTE and not may_be_said(here, context.audience, context.private):
            raise NothingDone("Others would see that, and this talk is private: whisper instead.")
        receivers = here & context.audience
        if kind == WHISPER and arguments.get("target"):
            receivers = self._person(arguments["target"])
        if not receivers:
            raise NothingDone("Nobody of that name is here to hear you.")
        private = kind == WHISPER or (kind == SAY and not to_all)
        if private and not may_be_said(receivers, context.audience, context.private):
            raise NothingDone("What was told you in confidence is not for that person.")
        words = spoken_words(
            arguments["text"], self._cast.name, context.assistant.config.max_speech_chars
        )
        if not words:
            raise NothingDone("There were no words in that.")
        self.spoken.append(EvalUtterance(WHISPER if private else kind, words, private))
        return ToolResult(
            DONE,
            messages.WHISPERED if private else messages.OWN_RESULTS[kind],
            receivers if private else None,
        )

    def _person(self, name: str) -> Audience:
        wanted = name.strip().lower()
        people_found = (
            ref for who, ref in self._people.items() if wanted and who.lower().startswith(wanted)
        )
        return frozenset(list(people_found)[:1])


def need_of(item: Tool, cast: EvalCast, people: int) -> Need:
    """Return a tool's test whether it is needed, without a look at objects of the game.

    ``people`` is how many there are.
    """
    seen = cast.situation
    in_scene = {
        **dict.fromkeys(("move", "follow"), bool(seen.exits)),
        "get": bool(seen.things),
        **dict.fromkeys(("drop", "give"), bool(seen.carrying)),
        "whisper": people > 1,
        **dict.fromkeys(("put", "go_to_sleep"), False),
        **dict.fromkeys((PRICES, SELL, BUY), bool(cast.prices)),
    }
    if item.needed and item.name in in_scene:
        return lambda _: in_scene[item.name]
    return item.needed if item.run.__module__ in BUILT_IN else None
