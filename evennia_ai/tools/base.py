"""Define tools: a function, a pydantic model of its arguments, and an Evennia lock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

from pydantic import BaseModel

from evennia_ai.policy.conversation.react import FINAL, FREE, ONCE
from evennia_ai.policy.tokens import count_tools
from evennia_ai.ports import ToolContext, ToolSpec

CATEGORIES = (FREE, ONCE, FINAL)
EVERYBODY = "all()"


@dataclass(frozen=True)
class Tool:
    """One tool.

    Attributes:
        run: called with the `ToolContext` and the checked arguments; returns the text for the
            model, or a `ToolResult`, or a Deferred of either; raises `ToolError` with a sentence
            for the model if it cannot do its work.
        category: ``free`` (may be chained), ``once`` (once in a turn) or ``final`` (ends the turn).
        lock: lock functions that every author of the prompt must pass.
        world: True if others notice its effect.
        safe_to_retry: True if running it again after a crash does no harm.
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
        """Return the tool as it is described to a model."""
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
    """Turn a function ``(context, arguments: SomeModel)`` into a `Tool`.

    The model reads the function's docstring. The annotation of its second parameter is the pydantic
    model of the arguments. The keyword arguments are `Tool`'s fields.
    """

    def make(run: Callable[[ToolContext, Any], Any]) -> Tool:
        hints = get_type_hints(run)
        hints.pop("return", None)
        models = [h for h in hints.values() if isinstance(h, type) and issubclass(h, BaseModel)]
        if len(models) != 1:
            raise TypeError(f"{name}: annotate the second parameter with a pydantic model.")
        return Tool(name, run, models[0], category, lock, world, safe_to_retry)

    return make
