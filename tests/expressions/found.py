"""Find every regular expression of the package.

Expressions of modules are taken from the imported module, containers included. Those inside
functions are read from the source: `NAMES` stands for a name that exists only while one runs.
"""

import ast
import builtins
import dataclasses
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from evennia_ai.policy.texts import BoundedPattern
from tests.layout import PACKAGE, modules

STAND_IN = "evennia_ai.contrib.stand_in"
CALLS_OF_RE = frozenset("compile search match fullmatch sub subn findall finditer split".split())
NAMES = "Mira|Old Tom"
TABLES = (
    "facts",
    "requests",
    "patterns",
    "results",
    "voice",
)  # of a language's data, which hold patterns


@dataclass(frozen=True)
class Expression:
    """One expression and where it stands."""

    place: str
    reader: re.Pattern[str] | BoundedPattern

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return it without the bound on what it reads."""
        return self.reader.compiled if isinstance(self.reader, BoundedPattern) else self.reader


@cache
def expressions() -> list[Expression]:
    """Return every expression of the package, each once."""
    files = modules()
    trees = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in files.items()}
    loaded = {name: importlib.import_module(f"{PACKAGE}.{name}") for name in files}
    found: dict[tuple[str, int, type], Expression] = {}
    for name, tree in trees.items():
        for one in (*_of_module(name, loaded[name]), *_of_functions(name, loaded[name], tree)):
            found.setdefault((one.pattern.pattern, one.pattern.flags, type(one.reader)), one)
    return [*found.values(), *(_of_languages() if find_spec(STAND_IN) else ())]


def _of_languages() -> Iterator[Expression]:
    """Yield the stand-in's expressions, which stand in data files."""
    languages = importlib.import_module(f"{STAND_IN}.languages")
    compiled = languages.compiled
    for code in (languages.ENGLISH, languages.GERMAN):
        language = languages.read(code)
        for row in language.intents:
            yield _of_data(f"{code}.{row.key}", row.match)
            if row.tells:
                yield _of_data(f"{code}.{row.key}.tells", row.tells)
        for table in TABLES:
            rows = language.data.get(table, {})
            for key, given in rows.items():
                leads = table == "requests" and key in _leading()
                text = f"{rows['lead']}(?:{given})" if leads else given
                flags = 0 if table == "facts" else re.IGNORECASE
                yield _of_data(f"{code}.{table}.{key}", compiled(text, flags))
        pairs = language.data.get("holds", ())
        pairs = [
            *pairs,
            *(row for rule in language.data.get("rewrite", {}).values() for row in rule),
        ]
        for text in (*(row[0] for row in pairs), *_matches(language.data.get("emotes", ()))):
            yield _of_data(f"{code}.rows", compiled(text))


@cache
def _leading() -> frozenset[str]:
    """Return the keys of requests that are matched where a sentence begins, behind a "please"."""
    file = importlib.import_module(f"{PACKAGE}.policy.conversation.requested_acts").__file__
    calls = re.findall(r"\.lead\(([^)]*)\)", Path(str(file)).read_text())
    return frozenset(re.findall(r'"(\w+)"', " ".join(calls)))


def _of_data(place: str, reader: BoundedPattern) -> Expression:
    return Expression(f"offline.data.{place}", reader)


def _matches(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield from (str(row[key]) for key in ("match",) if key in row)


def _of_module(name: str, module: ModuleType) -> Iterator[Expression]:
    for variable, value in vars(module).items():
        if isinstance(value, ModuleType) or variable.startswith("__"):
            continue
        for pattern in _patterns(value, set()):
            yield Expression(f"{name}.{variable}", pattern)


def _patterns(value: Any, seen: set[int]) -> Iterator[re.Pattern[str] | BoundedPattern]:
    if isinstance(value, BoundedPattern):
        yield value
        return
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
        and node.func.attr in CALLS_OF_RE
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
        value = _value(given, names)
        flags = value if isinstance(value, int) else 0
    return Expression(f"{name}:{node.lineno}", re.compile(text, flags))
