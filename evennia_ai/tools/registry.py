"""The tools of a game, and the checks before each call."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from twisted.internet.defer import CancelledError, inlineCallbacks, maybeDeferred
from twisted.logger import Logger

from evennia_ai.config import read_families
from evennia_ai.errors import ConfigError, NothingDone, StoreUnavailable, ToolDenied, ToolError
from evennia_ai.game.extensions import extension_classes
from evennia_ai.game.perception import excessive_rights
from evennia_ai.game.settings import game_setting
from evennia_ai.game.texts import TEXTS
from evennia_ai.game.wares import KEEPING, Keeping, has_price
from evennia_ai.messages import ToolCallRequest, turn_label
from evennia_ai.policy.audience import known
from evennia_ai.policy.call_record import LockAsked
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.ports import ToolContext, ToolMindContext, ToolResult, ToolSpec
from evennia_ai.ports.extension import Extension, collect
from evennia_ai.scheduling import Coroutine, loggable
from evennia_ai.store.server_lock import ensure_here
from evennia_ai.store.transactions import store_errors
from evennia_ai.tools.base import Tool
from evennia_ai.tools.permission import LockSubjects, ask_people
from evennia_ai.turn.tool_executor import DONE, REFUSED, failed_call

log = Logger()

FAMILIES = "speech world company journal memory entity control".split()
BUILT_IN = tuple(f"evennia_ai.tools.{family}" for family in FAMILIES)


class ToolRegistry:
    """`ports.Toolbox` with the built-in tools and the game's."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self.tools: dict[str, Tool] = {}
        self.people = LockSubjects()
        for item in tools:
            self.add(item)

    def add(self, item: Tool) -> None:
        """Add a tool; replace one with the same name, so that a game may have its own `say`."""
        self.tools[item.name] = item

    def add_of(self, extensions: Iterable[Extension]) -> None:
        """Add the tools of some extensions, but of none that fails."""
        for item in collect(extensions, lambda extension: extension.tools()):
            self.add(item)

    def offered(self, context: ToolContext) -> Sequence[ToolSpec]:
        """Return the tools that every author may use: shown, late, and left out of requests.

        Without a list of allowed tools, those are shown that the talk needed at its start, and
        those are late that it needed since, or that are rarely used.
        """
        off = families_off(context)
        had = {item.name: item for item in self.tools.values() if item.family not in off}
        if context.allowed is not None:
            allowed = [item.spec for item in had.values() if item.name in context.allowed]
            return self.permitted(context, allowed)
        parts = context.assistant
        compaction = parts.log.current.record  # with which the conversation begins
        before = parts.offered.offer.after(compaction.id if compaction else None)
        left_out = [item for item in had.values() if item.name not in before.names]
        rare = frozenset(item.name for item in left_out if item.rare)
        parts.offered.offer = offer = before.grown(needed_now(left_out, context), rare)
        shown = [had[name].spec for name in offer.names if name in had]
        late = [had[name].spec.told_late for name in offer.late if name in had]
        known = {*offer.names, *offer.late}
        unneeded = [item.spec.left_out for name, item in had.items() if name not in known]
        return self.permitted(context, [*shown, *late, *unneeded])

    def permitted(self, context: ToolContext, specs: Iterable[ToolSpec]) -> list[ToolSpec]:
        """Return those of some tools whose locks let every author of the prompt pass."""
        passing: dict[tuple[bool, str], bool] = {}  # most tools have the same lock
        permitted = []
        for spec in specs:
            item = self.tools[spec.name]
            lock = (item.answers_only, item.lock)
            if lock not in passing:
                passing[lock] = all(self.answers(item, context).values())
            permitted += [spec] if passing[lock] else []
        return permitted

    @inlineCallbacks
    def run(
        self, context: ToolContext, call: ToolCallRequest, dry: bool = False
    ) -> Coroutine[ToolResult]:
        """Check and run one call, unless ``dry``. Fires with a `ToolResult`; never fails."""
        in_doubt = False
        try:
            item = self._find(context, call.name)
            arguments = read_arguments(item.arguments, call.arguments)
            self._ensure_rights(item, context)
            if dry:
                if item.check:
                    item.check(context, arguments)
                return ToolResult(DONE, "")
            if context.item and (now := changed_since(item, context, arguments)):
                arguments, context = now, replace(context, confirmed_by="")
            if waiting := ask_people(item, context, arguments):
                return waiting
            ask_hook(item, context, arguments)
            if item.world:
                with store_errors():  # the commit of its intent may have taken long
                    ensure_here(characters=[context.character.id])
                note_circumstances(context)
            in_doubt = item.world and not item.safe_to_retry
            result: ToolResult = yield self._run_keeping_wares(item, context, arguments)
        except ToolDenied as error:
            return ToolResult(REFUSED, str(error))
        except ToolError as error:
            return failed_call(error, in_doubt)
        except (StoreUnavailable, CancelledError) as error:
            line = "{turn}: tool {name} failed: {error!r}"
            log.warn(line, turn=turn_of(context), name=call.name, error=error)
            return failed_call(error, in_doubt)
        except Exception as error:  # noqa: BLE001  # a game's tool may raise anything
            line, failure = "{turn}: tool {name} failed", loggable(context.private)
            log.failure(line, failure, turn=turn_of(context), name=call.name)
            return failed_call(error, in_doubt)
        finally:
            context.character.ndb.ai_confidants = None
            context.character.ndb.ai_authors = None
        return result

    @inlineCallbacks
    def _run_keeping_wares(
        self, item: Tool, context: ToolContext, arguments: BaseModel
    ) -> Coroutine[ToolResult]:
        """Run a tool that moves no ware away unless it sells. Fires with its result."""
        off = families_off(context)
        sales = [t.name for t in self.tools.values() if t.sells and t.family not in off]
        keeping = Keeping(context.character, partial(has_price, context), item.sells, sales)
        KEEPING.set(keeping)
        try:
            returned = yield maybeDeferred(run_by_mind, item, context, arguments)
        except NothingDone as error:
            raise NothingDone(keeping.refusal or str(error)) from error
        result = returned if isinstance(returned, ToolResult) else ToolResult(DONE, str(returned))
        kept = f" But {keeping.refusal}" if keeping.refusal else ""
        return replace(result, text=result.text + kept)

    def answers(self, item: Tool, context: ToolContext) -> Mapping[str, bool]:
        """Return whether the tool's lock lets each author of the prompt pass."""
        # Of a tool that only answers, those who speak now count: one of them must confirm it.
        authors = known(context.speakers) if item.answers_only else context.all_authors
        return self.people.answers(authors, item.lock, open_turn(context.assistant))

    def _ensure_rights(self, item: Tool, context: ToolContext) -> None:
        """Raise ToolDenied if a lock or the character's rights forbid a tool; note the answers."""
        answers = self.answers(item, context)
        context.locks.append(LockAsked("use", item.name, answers))
        if not all(answers.values()):
            raise ToolDenied(TEXTS["cannot_for_all"])
        too_much = excessive_rights(context.character) if item.world else None
        if too_much:
            raise ToolDenied(f"Nothing was done: {too_much}")

    def _find(self, context: ToolContext, name: str) -> Tool:
        item = self.tools.get(name)
        foreign = context.allowed is not None and name not in context.allowed
        if item is None or foreign or item.family in families_off(context):
            known_locks = len(context.locks)
            known = ", ".join(spec.name for spec in self.offered(context) if spec.shown)
            del context.locks[known_locks:]  # they are not about this call
            raise NothingDone(f"There is no tool '{clean_heard(name, 60)}'. There are: {known}.")
        return item


def families_off(context: ToolContext) -> frozenset[str]:
    """Return the families of tools that the character lacks; none without an assistant."""
    return read_families(context.assistant.config.tools_off) if context.assistant else frozenset()


def open_turn(parts: ToolMindContext | None) -> tuple[int, int] | None:
    """Return what names an assistant's open turn, None without one."""
    current = parts.turns.current if parts else None
    return (parts.who.id, current) if parts and current is not None else None


def turn_of(context: ToolContext) -> str:
    """Return how log lines name the turn of a tool call."""
    turn = open_turn(context.assistant)
    return turn_label(turn and turn[1])


def needed_now(items: Sequence[Tool], context: ToolContext) -> list[str]:
    """Return the tools that can be needed now, those always needed first; a failed test counts."""
    passed: dict[Callable[[ToolContext], bool] | None, bool] = {None: True}
    for item in items:
        if item.needed is not None and item.needed not in passed:
            try:
                passed[item.needed] = item.needed(context)
            except Exception:  # noqa: BLE001  # a game's test may raise anything
                line = "{turn}: the test whether {name} is needed failed"
                failure = loggable(context.private)
                log.failure(line, failure, turn=turn_of(context), name=item.name)
                passed[item.needed] = True
    always = [item.name for item in items if item.needed is None]
    return always + [item.name for item in items if item.needed and passed[item.needed]]


def note_circumstances(context: ToolContext) -> None:
    """Store on the character what other assistants need when they perceive its act.

    Without ``ai_hops``, answers in a row, two could hand a thing back and forth forever; without
    ``ai_confidants`` another would take an act of a private turn for room talk and repeat it.
    """
    context.character.ndb.ai_hops = context.hops + 1 if context.waiting else 0
    context.character.ndb.ai_authors = context.all_authors
    context.character.ndb.ai_confidants = context.audience if context.private else None


def run_by_mind(item: Tool, context: ToolContext, arguments: BaseModel) -> Any:
    """Run a tool; what the character says until it returns is its mind's, not `PUPPETED`."""
    context.character.ndb.ai_acting = True
    try:
        return item.run(context, arguments)
    finally:
        context.character.ndb.ai_acting = False


def changed_since(item: Tool, context: ToolContext, arguments: BaseModel) -> BaseModel | None:
    """Return the arguments of a call as they must be now, None if what was agreed to stands.

    Raises NothingDone if the thing is not there any more.
    """
    if item.subject is None:
        return None
    thing, now = item.subject(context, arguments)
    return None if (thing.dbref, now) == (context.item, arguments) else cast(BaseModel, now)


def ask_hook(item: Tool, context: ToolContext, arguments: BaseModel) -> None:
    """Raise ToolDenied if the character's hook forbids a call."""
    if context.character.at_ai_pre_act(item.name, arguments.model_dump()) is False:
        raise ToolDenied(TEXTS["cannot_act"])


def read_arguments(model: type[BaseModel], text: str) -> BaseModel:
    """Return the checked arguments of a call; raises NothingDone with a sentence for the model."""
    try:
        return model.model_validate_json(text or "{}")
    except ValidationError as error:
        problems = "; ".join(describe_problem(item) for item in error.errors()[:5])
        raise NothingDone(f"The arguments do not fit: {problems}.") from error


def describe_problem(problem: Mapping[str, Any]) -> str:
    """Return one of pydantic's findings in a few words."""
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])


def load_game_tools() -> ToolRegistry:
    """Return the tools of a game whose server need not run; raises ConfigError."""
    registry = load_registry(game_setting("TOOLS", ()))
    registry.add_of(item() for item in extension_classes()[0])
    return registry


def load_registry(
    own_modules: Iterable[str], complain: Callable[[str], object] | None = None
) -> ToolRegistry:
    """Return the built-in tools and those of the game's modules.

    A module that cannot be imported adds none: ``complain`` is told why, or, without it,
    ConfigError is raised.
    """
    registry = ToolRegistry()
    for path in (*BUILT_IN, *own_modules):
        try:
            module = import_module(path)
        except Exception as error:  # a game's module may raise anything
            why = (
                str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
            )
            trouble = f"The tool module '{path}' cannot be imported: {why}."
            if complain is None:
                raise ConfigError(trouble) from error
            complain(f"AI_ASSISTANT['TOOLS']: {trouble} The other modules are used.")
            continue
        for item in vars(module).values():
            if isinstance(item, Tool):
                registry.add(item)
    return registry
