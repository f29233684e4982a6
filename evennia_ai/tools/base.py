"""A tool: a function, a pydantic model for its arguments, an Evennia lock for its use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

from pydantic import BaseModel

from evennia_ai.messages import Audience
from evennia_ai.policy.conversation.react import FINAL, FREE, ONCE
from evennia_ai.policy.tokens import count_tools
from evennia_ai.ports import ToolContext, ToolSpec

CATEGORIES = (FREE, ONCE, FINAL)
EVERYBODY = "all()"


@dataclass(frozen=True)
class Reached:
    """What a tool returns that has more to tell than its text.

    ``heard_by`` are those who could perceive it, where these are only some of those present;
    ``read`` and ``changed`` name what was consulted, so that it can be at hand later: see
    `evennia_ai.policy.compaction.consulted`; ``speakers`` are those whose remembered words are in
    it.
    """

    text: str
    heard_by: Audience | None = None
    read: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    speakers: Audience = frozenset()


@dataclass(frozen=True)
class Tool:
    """One tool.

    Attributes:
        name: its name on the wire.
        run: called with the `ToolContext` and the checked arguments; returns the text the model
            gets back, or `Reached`, or a Deferred of either; raises `ToolError` with a sentence
            where it cannot.
        arguments: the pydantic model of its arguments.
        category: ``free`` (may be chained), ``once`` (once in a turn) or ``final`` (ends the turn).
        lock: who may have it used on his words: lock functions, checked against every speaker.
        world: True where it does something that others can see or feel.
        safe_to_retry: True where doing it a second time after a crash does no harm.
    """

    name: str
    run: Callable[[ToolContext, Any], Any]
    arguments: type[BaseModel]
    category: str = FREE
    lock: str = EVERYBODY
    world: bool = True
    safe_to_retry: bool = False

    def __post_init__(self) -> None:
        if self.category not in CATEGORIES:
            raise ValueError(f"{self.name}: the category must be one of {', '.join(CATEGORIES)}.")

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool as a model is told of it."""
        parameters = self.arguments.model_json_schema()
        parameters.pop("title", None)
        for detail in parameters.get("properties", {}).values():
            detail.pop("title", None)
        function = {
            "name": self.name,
            "description": " ".join((self.run.__doc__ or "").split()),
            "parameters": parameters,
        }
        schema = {"type": "function", "function": function}
        tokens = count_tools([schema])
        return ToolSpec(self.name, self.category, self.world, self.safe_to_retry, schema, tokens)


def tool(
    name: str,
    *,
    category: str = FREE,
    lock: str = EVERYBODY,
    world: bool = True,
    safe_to_retry: bool = False,
) -> Callable[[Callable[[ToolContext, Any], Any]], Tool]:
    """Make a tool of a function ``(context, arguments: SomeModel)``.

    The function's docstring is what the model reads; the annotation of its second parameter is the
    pydantic model of the arguments.
    """

    def make(run: Callable[[ToolContext, Any], Any]) -> Tool:
        hints = get_type_hints(run)
        hints.pop("return", None)
        models = [hint for hint in hints.values() if _is_model(hint)]
        if len(models) != 1:
            raise TypeError(f"{name}: annotate the second parameter with a pydantic model.")
        return Tool(name, run, models[0], category, lock, world, safe_to_retry)

    return make


def _is_model(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, BaseModel)
