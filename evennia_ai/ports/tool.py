"""Define tools: a function, a pydantic model of its arguments, and an Evennia lock."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

from pydantic import BaseModel

from evennia_ai.policy.conversation.tool_call_rules import FINAL, FREE, ONCE
from evennia_ai.policy.tokens import count_tools
from evennia_ai.ports.mind import ToolContext, ToolSpec

CATEGORIES = (FREE, ONCE, FINAL)
EVERYBODY = "all()"
NAMED_SCHEMAS = ("properties", "$defs")


@dataclass(frozen=True)
class Tool:
    """One tool.

    Attributes:
        run: called with the `ToolContext` and the checked arguments; returns the text for the
            model, or a `ToolResult`, or a Deferred of either; raises `NothingDone` with a sentence
            for the model if it cannot do its work. After any other error the act may have been
            done, and is not repeated.
        category: ``free`` (may be chained), ``once`` (once in a turn) or ``final`` (ends the turn).
        lock: lock functions that every author of the prompt must pass.
        world: True if others notice its effect.
        safe_to_retry: True if running it again after a crash does no harm.
        answers_only: True for a sensitive act at the speaker's own new words: the lock is asked of
            those who speak now, not of everybody whose words are in the prompt, and the act waits
            until the one who spoke confirms it in the game.
        approval: lock functions of the staff who must approve each call before it runs (the
            extension ``approvals``); "" if nobody must. Without that extension, it never runs.
        needed: returns whether the character can need the tool now; None if it always can. A tool
            that is not needed yet is left out of requests, but still runs if a model calls it.
        rare: True for a tool of which the talk tells in a line, instead of a schema that each
            request would send.
        reads: True if it only reads, so that a trial (``aitest``) really runs it.
        leaves: True if it takes the character away from those who hear it. The words of a reply are
            said after its acts, but before such an act if they come before it.
        sells: True for a tool that takes the price of what it moves; no other tool may move a
            thing with a price away from a character that has such a tool.
        subject: returns the thing that a call is about and the call's arguments as they must be
            now, from the context and the arguments, and may raise `NothingDone`. What a person
            agrees to is that thing at these arguments: if either changes, they are asked anew.
        check: raises `NothingDone` if a call cannot work now, and does nothing; what only tries a
            call asks it, with the context and the checked arguments.
        question: returns what the one who spoke is asked to confirm, from the context and the
            checked arguments, and may raise `NothingDone`; None for the tool's name and arguments.
    """

    name: str
    run: Callable[[ToolContext, Any], Any]
    arguments: type[BaseModel]
    category: str = FREE
    lock: str = EVERYBODY
    world: bool = True
    safe_to_retry: bool = False
    needed: Callable[[ToolContext], bool] | None = None
    rare: bool = False
    answers_only: bool = False
    approval: str = ""
    reads: bool = False
    leaves: bool = False
    sells: bool = False
    subject: Callable[[ToolContext, Any], tuple[Any, Any]] | None = None
    check: Callable[[ToolContext, Any], object] | None = None
    question: Callable[[ToolContext, Any], str] | None = None

    def __post_init__(self) -> None:
        if self.answers_only and self.approval:
            raise ValueError(f"{self.name}: choose either answers_only or approval.")
        if self.category not in CATEGORIES:
            raise ValueError(f"{self.name}: the category must be one of {', '.join(CATEGORIES)}.")

    @property
    def waits(self) -> bool:
        """Return True if a person must agree to each call."""
        return self.answers_only or bool(self.approval)

    @cached_property
    def family(self) -> str:
        """Return the last part of the name of its module, such as ``world``."""
        return (self.run.__module__ or "").rpartition(".")[2]

    @property
    def purpose(self) -> str:
        """Return what the tool does, on one line."""
        return " ".join((self.run.__doc__ or "").split())

    @cached_property
    def spec(self) -> ToolSpec:
        parameters = brief_schema(self.arguments.model_json_schema())
        parameters.pop("description", None)  # of the model class; no model needs to read it
        function = {"name": self.name, "description": self.purpose, "parameters": parameters}
        schema = {"type": "function", "function": function}
        tokens = count_tools([schema])
        flags = {"reads": self.reads, "leaves": self.leaves}
        world, safe = self.world, self.safe_to_retry
        return ToolSpec(self.name, self.category, world, safe, schema, tokens, **flags)


def brief_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON schema without what costs tokens and tells a model nothing."""
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


class NoArguments(BaseModel):
    """Nothing more need be said."""


def tool(name: str, **options: Any) -> Callable[[Callable[[ToolContext, Any], Any]], Tool]:
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
        return Tool(name, run, models[0], **options)

    return make
