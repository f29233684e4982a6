"""All tools of a game, with the checks that stand before each use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from evennia.locks.lockhandler import check_lockstring
from evennia.objects.models import ObjectDB
from pydantic import BaseModel, ValidationError
from twisted.internet.defer import CancelledError, inlineCallbacks, maybeDeferred
from twisted.logger import Logger

from evennia_ai.errors import ConfigError, StoreUnavailable, ToolDenied, ToolError
from evennia_ai.game.perception import excessive_rights
from evennia_ai.messages import ToolCallRequest
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.ports import ToolContext, ToolResult, ToolSpec
from evennia_ai.scheduling import Steps
from evennia_ai.tools.base import EVERYBODY, Reached, Tool
from evennia_ai.turn.tool_execution import TOO_SLOW

log = Logger()

BUILT_IN = (
    "evennia_ai.tools.speech",
    "evennia_ai.tools.world",
    "evennia_ai.tools.company",
    "evennia_ai.tools.journal",
    "evennia_ai.tools.memory",
    "evennia_ai.tools.history",
    "evennia_ai.tools.entity",
    "evennia_ai.tools.goals",
    "evennia_ai.tools.control",
)
DONE, FAILED, REFUSED = "done", "failed", "refused"


class ToolRegistry:
    """The toolbox that the engine is given."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self.tools: dict[str, Tool] = {}
        for item in tools:
            self.add(item)

    def add(self, item: Tool) -> None:
        """Add a tool; one of the same name is replaced, so that a game may have its own `say`."""
        self.tools[item.name] = item

    def offered(self, context: ToolContext) -> Sequence[ToolSpec]:
        """The tools that everybody whose words are in the turn may have used."""
        return [
            item.spec
            for item in self.tools.values()
            if (context.allowed is None or item.name in context.allowed)
            and is_permitted(item, context)
        ]

    @inlineCallbacks
    def run(self, context: ToolContext, call: ToolCallRequest) -> Steps[ToolResult]:
        """Check everything again and run one call. Fires with a `ToolResult`; never fails."""
        try:
            item = self._find(context, call.name)
            arguments = read_arguments(item.arguments, call.arguments)
            ensure_may_act(item, context, arguments)
            if item.world:
                note_circumstances(context)
            came = yield maybeDeferred(item.run, context, arguments)
        except ToolDenied as error:
            return ToolResult(REFUSED, str(error))
        except ToolError as error:
            return ToolResult(FAILED, str(error))
        except StoreUnavailable as error:
            log.warn("the tool {name} failed: {error}", name=call.name, error=error)
            return ToolResult(FAILED, "That cannot be done just now.")
        except CancelledError:
            log.warn("the tool {name} took too long and was given up", name=call.name)
            return ToolResult(FAILED, TOO_SLOW)
        except Exception:  # noqa: BLE001  # the tool boundary: a game's tool may raise anything
            log.failure("the tool {name} failed", name=call.name)
            return ToolResult(FAILED, "That went wrong for a reason outside your control.")
        finally:
            context.character.ndb.ai_in_confidence = False
        if isinstance(came, Reached):
            told = came.heard_by, came.read, came.changed, came.speakers
            return ToolResult(DONE, came.text, *told)
        return ToolResult(DONE, str(came))

    def _find(self, context: ToolContext, name: str) -> Tool:
        item = self.tools.get(name)
        if item is None or (context.allowed is not None and name not in context.allowed):
            known = ", ".join(spec.name for spec in self.offered(context))
            raise ToolError(f"There is no tool '{clean_heard(name, 60)}'. There are: {known}.")
        return item


def note_circumstances(context: ToolContext) -> None:
    """Leave on the character what other assistants must know when they perceive what it does: how
    many answers in a row this is, or two of them could pass a thing back and forth for ever; and
    whether it acts on something private, or another who may know of it would take it for room talk
    and tell it on."""
    context.character.ndb.ai_hops = context.hops + 1
    context.character.ndb.ai_in_confidence = context.private


def is_permitted(item: Tool, context: ToolContext) -> bool:
    """True where the tool's lock lets every speaker in the turn pass, and everybody whose words
    came to mind.

    A speaker who is gone passes only a lock that everybody passes.
    """
    if item.lock == EVERYBODY:
        return True
    asking = context.speakers | context.remembered
    speakers = [ObjectDB.objects.dbref_search(dbref) for dbref in asking]
    found = [speaker[0] if speaker else None for speaker in speakers]
    return all(s is not None and check_lockstring(s, f"use:{item.lock}") for s in found)


def ensure_may_act(item: Tool, context: ToolContext, arguments: BaseModel) -> None:
    """Raise ToolDenied where rights, or the character's own hook, forbid this use."""
    if not is_permitted(item, context):
        raise ToolDenied("You may not do that for everybody who is speaking to you.")
    too_much = excessive_rights(context.character) if item.world else None
    if too_much:
        raise ToolDenied(f"Nothing was done: {too_much}")
    if context.character.at_ai_pre_act(item.name, arguments.model_dump()) is False:
        raise ToolDenied("Something holds you back from doing that.")


def read_arguments(model: type[BaseModel], text: str) -> BaseModel:
    """Parse and check a call's arguments; raises ToolError with a sentence the model can use."""
    try:
        return model.model_validate_json(text or "{}")
    except ValidationError as error:
        problems = "; ".join(describe_problem(item) for item in error.errors()[:5])
        raise ToolError(f"The arguments do not fit: {problems}.") from error


def describe_problem(problem: Mapping[str, Any]) -> str:
    """One of pydantic's findings, in a few words."""
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])


def tools_in(module: ModuleType) -> list[Tool]:
    """The tools that stand in a module, in the order they were written."""
    return [item for item in vars(module).values() if isinstance(item, Tool)]


def load_registry(own_modules: Iterable[str]) -> ToolRegistry:
    """The built-in tools and those of a game's own modules; raises ConfigError."""
    registry = ToolRegistry()
    for path in (*BUILT_IN, *own_modules):
        try:
            module = import_module(path)
        except ImportError as error:
            raise ConfigError(f"The tool module '{path}' cannot be imported: {error}.") from error
        for item in tools_in(module):
            registry.add(item)
    return registry
