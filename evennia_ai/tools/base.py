"""Define tools: a function, a pydantic model of its arguments, and an Evennia lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

from pydantic import BaseModel

from evennia_ai.policy.conversation.react import FINAL, FREE, ONCE
from evennia_ai.policy.tokens import count_tools
from evennia_ai.ports import ToolContext, ToolSpec

CATEGORIES = (FREE, ONCE, FINAL)
EVERYBODY = "all()"
NAMED_SCHEMAS = ("properties", "$defs")


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
        needed: returns whether the character can need the tool now; None if it always can. A tool
            that is not needed yet is left out of requests, but still runs if a model calls it.
    """

    name: str
    run: Callable[[ToolContext, Any], Any]
    arguments: type[BaseModel]
    category: str = FREE
    lock: str = EVERYBODY
    world: bool = True
    safe_to_retry: bool = False
    needed: Callable[[ToolContext], bool] | None = None

    def __post_init__(self) -> None:
        if self.category not in CATEGORIES:
            raise ValueError(f"{self.name}: the category must be one of {', '.join(CATEGORIES)}.")

    @cached_property
    def spec(self) -> ToolSpec:
        """Return the tool as it is described to a model."""
        parameters = brief_schema(self.arguments.model_json_schema())
        parameters.pop("description", None)  # of the model class; no model needs to read it
        function = {
            "name": self.name,
            "description": " ".join((self.run.__doc__ or "").split()),
            "parameters": parameters,
        }
        schema = {"type": "function", "function": function}
        tokens = count_tools([schema])
        return ToolSpec(self.name, self.category, self.world, self.safe_to_retry, schema, tokens)


def brief_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON schema without what costs tokens and tells a model nothing.

    This removes titles, empty defaults, a ban on other properties, and the null alternative of an
    optional value. Names of properties are kept, whatever they are.
    """
    brief: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("title", "additionalProperties") and not isinstance(value, Mapping):
            continue
        if key == "default" and value in (None, ""):
            continue
        if key == "anyOf":
            forms = [brief_schema(form) for form in value if form != {"type": "null"}]
            brief |= forms[0] if len(forms) == 1 else {key: forms}
        elif key in NAMED_SCHEMAS:
            brief[key] = {name: brief_schema(each) for name, each in value.items()}
        else:
            brief[key] = brief_schema(value) if key == "items" else value
    return brief


def tool(
    name: str,
    *,
    category: str = FREE,
    lock: str = EVERYBODY,
    world: bool = True,
    safe_to_retry: bool = False,
    needed: Callable[[ToolContext], bool] | None = None,
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
        return Tool(name, run, models[0], category, lock, world, safe_to_retry, needed)

    return make
