"""Find every regular expression of the package, and the methods the code calls on it.

Expressions of modules are taken from the imported module, containers included. Those inside
functions are read from the source: `NAMES` stands for a name that exists only while one runs.
"""

import ast
import builtins
import dataclasses
import importlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from evennia_ai.offline import requests
from evennia_ai.offline.languages import ENGLISH, GERMAN, read
from evennia_ai.offline.transcript import READ_CHARS
from tests.layout import PACKAGE, modules

METHODS = frozenset("search match fullmatch sub subn findall finditer split".split())
ALL_MATCHES = frozenset("sub subn findall finditer split".split())
WHOLE_CHARS = 10_000
NAMES = "Mira|Old Tom"
TABLES = (
    "facts",
    "requests",
    "patterns",
    "results",
    "voice",
)  # of a language's data, which hold patterns
# What the code hands to an expression is no longer than this, in characters.
BOUNDED = {
    "policy.replies.text_calls.OPENING_MARKS": 120,  # `CALL_CHARS`
    "policy.replies.text_calls.LINE_START": 12,
}


@dataclass(frozen=True)
class Expression:
    """One expression: where it stands, and how the code uses it."""

    place: str
    pattern: re.Pattern[str]
    methods: frozenset[str]

    @property
    def most_chars(self) -> int:
        """The longest text that the expression reads."""
        longest = READ_CHARS if self.place.startswith("offline.data.") else WHOLE_CHARS
        return BOUNDED.get(self.place, longest)


def expressions() -> list[Expression]:
    """Return every expression of the package, each once."""
    files = modules()
    trees = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in files.items()}
    loaded = {name: importlib.import_module(f"{PACKAGE}.{name}") for name in files}
    found: dict[tuple[str, int], Expression] = {}
    for name, tree in trees.items():
        for one in (
            *_of_module(name, loaded[name], trees),
            *_of_functions(name, loaded[name], tree),
        ):
            key = one.pattern.pattern, one.pattern.flags
            before = found.get(key)
            methods = one.methods | before.methods if before else one.methods
            found[key] = Expression(before.place if before else one.place, one.pattern, methods)
    return [*found.values(), *_of_languages()]


def _of_languages() -> Iterator[Expression]:
    """Yield the offline brain's expressions, which stand in data files."""
    for code in (ENGLISH, GERMAN):
        language = read(code)
        for row in language.intents:
            yield _of_data(f"{code}.{row.key}", row.match)
            if row.tells:
                yield _of_data(f"{code}.{row.key}.tells", row.tells)
        for table in TABLES:
            for key in language.data.get(table, ()):
                if table == "requests" and key in _leading():
                    continue
                yield _of_data(f"{code}.{table}.{key}", language.pattern(table, key))
        for key in _leading() & language.data.get("requests", {}).keys():
            text = "{lead}(?:{})".format(
                language.data["requests"][key], **language.data["requests"]
            )
            yield _of_data(f"{code}.requests.{key}", re.compile(text, re.IGNORECASE), "match")
        rows = language.data.get("holds", ())
        rows = [*rows, *(row for rule in language.data.get("rewrite", {}).values() for row in rule)]
        for text in (*(row[0] for row in rows), *_matches(language.data.get("emotes", ()))):
            yield _of_data(f"{code}.rows", re.compile(text, re.IGNORECASE))


@cache
def _leading() -> frozenset[str]:
    """Return the keys of requests that are matched where a sentence begins, behind a "please"."""
    calls = re.findall(r"\.lead\(([^)]*)\)", Path(requests.__file__).read_text())
    return frozenset(re.findall(r'"(\w+)"', " ".join(calls)))


def _of_data(place: str, pattern: re.Pattern[str], method: str = "search") -> Expression:
    return Expression(f"offline.data.{place}", pattern, frozenset({method}))


def _matches(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield from (str(row[key]) for key in ("match",) if key in row)


def _methods_on(variable: str, value: Any, trees: Mapping[str, ast.AST]) -> frozenset[str]:
    """Return the methods called on a name where it stands for this value.

    Of a table, those called on any variable beside it: a loop calls ``pattern.match(text)``.
    """
    found = set()
    one = isinstance(value, re.Pattern)
    for name, tree in trees.items():
        if vars(importlib.import_module(f"{PACKAGE}.{name}")).get(variable) is not value:
            continue
        called = _calls(tree)
        direct = called.get(variable, set())
        loops = {method for name, methods in called.items() if name.islower() for method in methods}
        mentions = not one and not direct and _mentions(tree, variable)
        found |= direct | (loops - {"split", "sub"} if mentions else set())
    return frozenset(found or {"search"})


@cache
def _calls(tree: ast.AST) -> dict[str, set[str]]:
    called: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            called[_owner(node.value)].add(node.attr)
    return called


@cache
def _mentions(tree: ast.AST, variable: str) -> bool:
    names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return any(name == variable for name in names)


def _owner(node: ast.expr) -> str:
    """Return the name that a method is called on: ``STRINGS`` of ``STRINGS[mark].match``."""
    if isinstance(node, ast.Subscript):
        return _owner(node.value)
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _of_module(name: str, module: ModuleType, trees: Mapping[str, ast.AST]) -> Iterator[Expression]:
    for variable, value in vars(module).items():
        if isinstance(value, ModuleType) or variable.startswith("__"):
            continue
        for pattern in _patterns(value, set()):
            methods = _methods_on(variable, value, trees)
            yield Expression(f"{name}.{variable}", pattern, methods)


def _patterns(value: Any, seen: set[int]) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Mapping):
        parts: Any = (*value.keys(), *value.values())
    elif isinstance(value, (tuple, list, set, frozenset)):
        parts = value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    else:
        return
    for part in parts:
        yield from _patterns(part, seen)


class _Values(dict[str, Any]):
    """The names an expression inside a function may use."""

    def __init__(self, module: ModuleType, function: ast.AST) -> None:
        super().__init__(vars(module))
        self.assigned = {
            target.id: node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        value = self.assigned.pop(name, None)
        return NAMES if value is None else _value(value, self)


def _value(node: ast.expr, names: _Values) -> Any:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(_value(part, names)) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _value(node.value, names)
    if isinstance(node, ast.Constant):
        return node.value
    try:
        return eval(compile(ast.Expression(node), "", "eval"), names)
    except Exception:  # noqa: BLE001  # the code runs out of its place; anything may be missing
        return NAMES


def _of_functions(name: str, module: ModuleType, tree: ast.AST) -> Iterator[Expression]:
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            continue
        for node in ast.walk(function):
            if not _is_call_of_re(node):
                continue
            yield _inline(name, module, function, node)


def _is_call_of_re(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in METHODS | {"compile"}
    )


def _inline(name: str, module: ModuleType, function: Any, node: Any) -> Expression:
    names = _Values(module, function)
    text = _value(node.args[0], names)
    flags = 0
    place = 1 if node.func.attr == "compile" else {"sub": 4, "split": 3}.get(node.func.attr, 2)
    for given in (
        *node.args[place:],
        *(word.value for word in node.keywords if word.arg == "flags"),
    ):
        flags = _value(given, names)
    method = "search" if node.func.attr == "compile" else node.func.attr
    return Expression(f"{name}:{node.lineno}", re.compile(text, flags), frozenset({method}))
