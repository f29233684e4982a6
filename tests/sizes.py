"""What the core, its spine and each extension are, and how long.

``docs/architecture.md`` has a table of the spine and one of the extensions. Both are held by
`tests.test_layout`; ``python -m tests.layout --write`` writes them anew.
"""

import ast
import re
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests import layout
from tests.layout import ROOT

PAGE = ROOT.parent / "docs" / "architecture.md"
CONTRIB = "contrib"
# To be read in this order.
SPINE: Mapping[str, str] = {
    "assistant_script": "the assistant, as Evennia stores it: its hooks",
    "assistant_character": "the character that it moves: what it hears, and hooks for a game",
    "mind": "the parts of an assistant, put together once; its tick",
    "game.hearing": "what happens becomes an event, stored before it is thought about",
    "turn": "one turn of thought: prompt, model, tool calls, fallback",
    "sleep": "a sleep pass: its steps, and the compaction of old talk",
    "messages": "messages, events and replies as plain data",
    "scheduling": "how long work is cut, and a refused write tried again",
    "errors": "every error that is raised on purpose",
    "signals": "what a game's code and extensions may watch",
}


# Code with its data, by the paths of both; those of the mode `plain` are among the first.
AREAS: Mapping[str, str] = {
    "way to models": "llm/*.py policy/tool_call_modes/* policy/replies/* policy/provider_errors.py "
    "turn/model_call.py turn/line_notes.py turn/plain_turns.py",
    "memory and lore": "memory/*.py policy/retrieval/*.py policy/facts/*.py turn/recall.py "
    "policy/conversation/persona_and_lore.py store/lore_records.py tools/memory_sources.py",
}


@dataclass(frozen=True)
class Part:
    """A part of the package: its modules by dotted name."""

    files: Mapping[str, Path]

    @cached_property
    def lines(self) -> int:
        return sum(layout.line_counts(self.files.values()).values())

    def __str__(self) -> str:
        lengths = layout.function_lengths(self.files.values()) or [0]
        median = statistics.median(lengths)
        return f"{len(self.files):5} files {self.lines:6} lines, median function {median:g}"


@dataclass(frozen=True)
class ExtensionSource:
    """An extension of the package, as its source tells of it."""

    name: str
    part: Part
    purpose: str  # the first line of its class's docstring
    hooks: tuple[str, ...]

    @property
    def row(self) -> str:
        """Return its row of the table without the lines."""
        hooks = ", ".join(f"`{hook}`" for hook in self.hooks)
        return f"| `{self.name}` | {self.purpose} | {hooks} |"


def part(*names: str) -> Part:
    """Return the modules with these names, and those in these folders."""
    prefixes = tuple(f"{name}." for name in names)
    files = layout.modules()
    return Part({n: file for n, file in files.items() if n in names or n.startswith(prefixes)})


def core() -> Part:
    """Return everything but the extensions."""
    files = layout.modules()
    return Part({n: file for n, file in files.items() if layout.room_of(n) != CONTRIB})


def extensions() -> list[ExtensionSource]:
    """Return the extensions that are there, by their folders."""
    (front,) = _classes(ROOT / "ports" / "extension.py", "")
    known = _members(front) - {"name", "by_default", "entries"}
    return [_read(file, known) for file in sorted((ROOT / CONTRIB).glob("*/__init__.py"))]


def _read(file: Path, known: set[str]) -> ExtensionSource:
    (item,) = _classes(file, "Extension")
    hooks = sorted(_members(item) & known)
    hooks += ["management commands"] * (file.parent / "management").is_dir()
    hooks = [hook for hook in hooks if hook != "set_up"] or hooks
    purpose = (ast.get_docstring(item) or "").partition("\n")[0].replace("``", "`")
    purpose += " Off by default." * ("by_default" in _members(item))
    own = part(f"{CONTRIB}.{file.parent.name}")
    return ExtensionSource(file.parent.name, own, purpose, tuple(hooks))


def _classes(file: Path, base: str) -> list[ast.ClassDef]:
    """Return the classes of a file with this base; without one, its class `Extension`."""
    nodes = ast.parse(file.read_text(encoding="utf-8")).body
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    if not base:
        return [node for node in classes if node.name == "Extension"]
    return [node for node in classes if base in map(ast.unparse, node.bases)]


def _members(item: ast.ClassDef) -> set[str]:
    """Return the names of a class's public methods and attributes."""
    names = [node.name for node in item.body if isinstance(node, ast.FunctionDef)]
    for node in item.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets += [node.target] if isinstance(node, ast.AnnAssign) else []
        names += [target.id for target in targets if isinstance(target, ast.Name)]
    return {name for name in names if not name.startswith("_")}


def spine_table() -> str:
    """Return the table of the spine, in the order of reading."""
    rows = ["| read | what it is | lines |", "|---|---|---|"]
    for name, purpose in SPINE.items():
        path = name.replace(".", "/")
        path += "" if (ROOT / path).is_dir() else ".py"
        rows.append(f"| `{path}` | {purpose} | {part(name).lines} |")
    return "\n".join(rows)


def extension_table() -> str:
    """Return the table of the extensions, by name."""
    rows = ["| extension | what it does | hooks | lines |", "|---|---|---|---|"]
    return "\n".join([*rows, *(f"{item.row} {item.part.lines} |" for item in extensions())])


def rows_with_lines(table: str) -> dict[str, int]:
    """Return the lines of each row of a table, by the row without them."""
    rows = re.findall(r"^(\|.+\|) (\d+) \|$", table, re.M)
    return {row: int(lines) for row, lines in rows}


def differences(page: str) -> list[str]:
    """Return the rows that a page lacks, or with lines that are more than a fifth off.

    A page may have the rows of extensions that are deleted.
    """
    there = rows_with_lines(page)
    return [
        row
        for row, lines in rows_with_lines(f"{spine_table()}\n{extension_table()}").items()
        if row not in there or abs(there[row] - lines) > max(30, lines / 5)
    ]


def write() -> None:
    """Write the tables of rooms, spine and extensions into the page."""
    page = PAGE.read_text(encoding="utf-8")
    for table in (spine_table(), extension_table(), layout.markdown_table()):
        head = re.escape(table.partition("\n")[0])
        before, after = re.split(rf"^{head}\n(?:\|.*\n)+", page, flags=re.M)
        page = f"{before}{table}\n{after}"
    PAGE.write_text(page, encoding="utf-8")


def area_lines(patterns: str) -> int:
    """Return the lines of the code and data at some paths."""
    files = [file for pattern in patterns.split() for file in ROOT.glob(pattern)]
    return sum(layout.line_counts(f for f in files if f.suffix in (".py", ".toml")).values())


def report() -> str:
    """Return the sizes of core, spine and extensions, and of some areas of the core."""
    parts = {"core": core(), "spine": part(*SPINE)}
    parts |= {f"{CONTRIB}/{item.name}": item.part for item in extensions()}
    rows = [f"{name:24} {sizes}" for name, sizes in parts.items()]
    rows += [f"{name:24} {area_lines(paths):18} lines with data" for name, paths in AREAS.items()]
    return "\n".join(rows)
