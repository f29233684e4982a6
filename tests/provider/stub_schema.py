"""Replies by JSON schema, as a server makes them that honours ``response_format``: pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]

SPOKEN = frozenset({"say", "whisper"})
ACTS = {"say": "none", "noop": "silence", "add_journal_entry": "remember"}  # others: as the tool
TARGETS = ("target", "item", "to", "content", "text")  # the arguments that can be an act's target
QUIET = ("none", "silence")
BREAKS = ("invalid", "cut", "newlines")
NEWLINES = 800  # for a request without max_tokens


class NoFit(ValueError):
    """A wish that a schema does not allow."""


def wanted_schema(body: Mapping[str, Any]) -> Schema | None:
    """Return the JSON schema that a request demands, or None."""
    wanted = body.get("response_format") or {}
    named = wanted.get("json_schema") or wanted
    schema: Schema | None = named.get("schema")
    return schema


def acts_of(schema: Schema) -> set[str]:
    """Return the acts that a schema allows, in all of its alternatives."""
    act = schema.get("properties", {}).get("act", {})
    acts = {*act.get("enum", ()), *([act["const"]] if "const" in act else ())}
    return acts.union(*(acts_of(part) for part in alternatives(schema)))


def alternatives(schema: Schema) -> Sequence[Schema]:
    """Return what ``anyOf`` or ``oneOf`` offers; nothing without them."""
    return schema.get("anyOf") or schema.get("oneOf") or ()


def write_object(schema: Schema, calls: Sequence[Mapping[str, Any]]) -> str:
    """Return tool calls as the one JSON object that a schema allows: an act, and the words."""
    acts = [call for call in calls if call["name"] not in SPOKEN]
    told = [arguments_of(call) for call in calls if call["name"] in SPOKEN]
    ours = (acts or list(calls) or [{"name": "noop"}])[0]
    wishes = wishes_of(ours["name"], arguments_of(ours))
    wishes["say"] = " ".join(str(words.get("text", "")) for words in told)
    for act in (wishes["act"], *QUIET, None):
        try:
            return json.dumps(fit(schema, {**wishes, "act": act}), ensure_ascii=False)
        except NoFit:
            continue
    raise NoFit(f"No reply fits the schema {schema!r}.")


def arguments_of(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call's arguments, which are a mapping or the JSON of one."""
    given = call.get("arguments", {})
    return dict(json.loads(given) if isinstance(given, str) else given)


def wishes_of(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a call's act."""
    target = next((arguments[key] for key in TARGETS if key in arguments), "")
    if name == "give":
        target = f"{arguments.get('item', '')} to {arguments.get('to', '')}"
    return {**arguments, "act": ACTS.get(name, name), "target": "" if name == "say" else target}


def fit(schema: Schema, wish: Any) -> Any:
    """Return the value nearest to a wish that a schema allows; raise NoFit if there is none."""
    if alternatives(schema):
        return next(fitting(alternatives(schema), wish))
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None:
        if wish is not None and wish not in allowed:
            raise NoFit(f"{wish!r} is not allowed.")
        return allowed[0] if wish is None else wish
    kind = schema.get("type", "object")
    if kind == "object":
        wishes = wish if isinstance(wish, Mapping) else {}
        parts = schema.get("properties", {}).items()
        return {name: fit(part, wishes.get(name)) for name, part in parts}
    if kind == "array":
        return [fit(schema.get("items", {}), item) for item in wish or ()]
    if kind == "string":
        return str(wish or "")[: schema.get("maxLength")]
    return {"boolean": bool(wish), "null": None}.get(kind, wish or schema.get("minimum", 0))


def fitting(schemas: Sequence[Schema], wish: Any) -> Iterator[Any]:
    """Yield the value for each of the schemas that allows the wish; raise NoFit after the last."""
    for schema in schemas:
        try:
            yield fit(schema, wish)
        except NoFit:
            continue
    raise NoFit(f"No alternative fits {wish!r}.")


def check_break(how: str) -> None:
    """Raise ValueError for an unknown way to break JSON."""
    if how not in BREAKS:
        raise ValueError(f"JSON cannot be broken by '{how}', only by {', '.join(BREAKS)}.")


def break_json(text: str, how: str, newlines: int) -> str:
    """Return JSON as a model breaks it: "invalid", "cut", or with ``newlines`` after it."""
    if how == "invalid":
        return text.replace('"', "'", 3)
    return text[: len(text) * 2 // 3] if how == "cut" else text + "\n" * newlines
