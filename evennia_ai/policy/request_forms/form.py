"""What every request form has in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]

AUTO, TOOLS, SCHEMA, TEXT = "auto", "tools", "schema", "text"
FORMS = (TOOLS, SCHEMA, TEXT)


@dataclass(frozen=True)
class Asked:
    """What the reading of a reply depends on."""

    tools: Sequence[Schema] = ()  # the offered tools, as chat-completions schemas
    addressee: str = ""  # name of the person whose line is answered, "" if nobody spoke
    things: Sequence[str] = ()  # names of what lies here
    carrying: Sequence[str] = ()  # names of what the character carries
    exits: Sequence[str] = ()  # names of the exits
    people: Sequence[str] = ()  # names of those present
    heard: str = ""  # the words that are answered


@dataclass(frozen=True)
class NamedCall:
    """A tool call before it has an id; ``arguments`` is JSON text."""

    name: str
    arguments: str


@dataclass(frozen=True)
class RequestForm:
    """One way to ask a model for a turn."""

    name: str  # as profiles name it
    native: bool = False  # True if the tools' schemas are sent with the request
    # of a request without a configured one, None for the model's default
    temperature: float | None = None

    @property
    def persona_in_system(self) -> bool:
        """Return True if the persona follows the rules, in the same message.

        Chat templates put native tools behind the system message, and the persona comes after them.
        """
        return not self.native

    def rules(self, tools: Sequence[Schema]) -> str:
        """Return the beginning of every prompt: the same for every character of a game."""
        raise NotImplementedError

    def question(self, name: str, addressee: str) -> str:
        """Return the last line of a prompt, "" for none."""
        raise NotImplementedError

    def response_schema(self, asked: Asked, words_only: bool = False) -> Schema | None:
        """Return the JSON schema that the reply must fit, None for none."""
        return None


def tool_name(schema: Schema) -> str:
    """Return a tool's name."""
    return str(schema["function"]["name"])


def parameters_of(schema: Schema) -> Mapping[str, Any]:
    """Return the properties of a tool's arguments by name."""
    properties: Mapping[str, Any] = schema["function"].get("parameters", {}).get("properties", {})
    return properties
