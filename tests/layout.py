"""The house: its rooms, the floor each stands on, and what each may load.

`ROOMS` is the one list. The import tests, the table in ``docs/architecture.md`` and the counts come
from it. To print the table with what is measured::

    python -m tests.layout

With ``--write`` the tables of ``docs/architecture.md`` are written anew, and with ``--walk`` a
spoken line is run, to tell how many files and calls it takes.

A room is a file or a folder directly in the package. Imports run downward only: a room imports
rooms of lower floors, and no room of its own floor.
"""

import ast
import statistics
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = "evennia_ai"
ROOT = Path(__file__).resolve().parent.parent / PACKAGE

STANDARD = "the standard library, pydantic"
DEFERREDS = "+ Deferreds, numpy; no reactor"
EDGE = "its own library"

MOST_ROOMS, MOST_FLOORS, SHELL = 29, 13, 12  # from the shell up, parts reach everything
MOST_ROOMS_WALKED, MOST_CLIMBS = 12, 4
MOST_FILES = 250  # of the core; 190 is the aim
WHOLE = frozenset({"script", "mind"})  # parameters through which one reaches everything


@dataclass(frozen=True)
class Room:
    """A room: its floor, counted from 1 at the bottom, and the outside libraries it may load."""

    name: str
    floor: int
    loads: str
    purpose: str


ROOMS = (
    Room("errors", 1, STANDARD, "every error the package raises on purpose"),
    Room("messages", 1, STANDARD, "messages, events and replies as plain data; the wire form"),
    Room("models", 1, EDGE, "the tables of the log"),
    Room("signals", 1, EDGE, "Django signals for a game's own code"),
    Room("notifications", 1, STANDARD, "how a game's code tells an assistant what happened"),
    Room("policy", 2, STANDARD, "pure decisions: plain data in, a frozen decision out"),
    Room("scheduling", 2, DEFERREDS, "time slices, pauses, and writes tried again"),
    Room("migrations", 3, EDGE, "the migrations of the tables and of what is stored"),
    Room("config", 3, STANDARD, "every setting, model profile and retention limit"),
    Room(
        "ports",
        4,
        DEFERREDS,
        "protocols of what the engine needs from outside; what a character knows",
    ),
    Room("store", 5, EDGE, "the tables and the characters' records; alone writes them"),
    Room("turn", 5, DEFERREDS, "one turn of thought: prompt, ReAct loop, tool calls, fallback"),
    Room("llm", 5, EDGE, "the way to a model: gateway, client, endpoints"),
    Room("memory", 6, EDGE, "the search index and the embedders"),
    Room("sleep", 7, DEFERREDS, "a sleep pass, its steps, and compaction"),
    Room("mind", 8, DEFERREDS, "one assistant: its parts, put together once; its tick; dry runs"),
    Room("game", 9, EDGE, "what touches Evennia's objects: hearing, perception, sleep state"),
    Room("tools", 10, EDGE, "what an assistant can do, a file for each family"),
    Room("assistant_character", 10, EDGE, "the typeclass mixins of characters and players"),
    Room("assistant_script", 10, EDGE, "the assistant as Evennia's script: its hooks"),
    Room("apps", 10, EDGE, "the Django app"),
    Room("extension", 5, DEFERREDS, "the front of extensions: their hooks, and what these use"),
    Room("services", 12, EDGE, "the composition root, start and stop, the shared timers"),
    Room("commands", 12, EDGE, "what players, builders and admins type and read"),
    Room("web", 12, EDGE, "the web client's additions, and the addresses of extensions' pages"),
    Room("testing", 12, EDGE, "stand-ins that ship, for this suite and a game's own"),
    Room("management", 12, EDGE, "Evennia's command line: uninstalling"),
    Room("contrib", 13, EDGE, "the package's own extensions, a folder each"),
)
# What an extension may import: a room, or a module of one.
FRONT = (
    "assistant_character",
    "assistant_script",
    "commands.cmdset",
    "commands.common",
    "commands.dry_run",
    "commands.rendering",
    "commands.setup",
    "config",
    "errors",
    "extension",
    "game.client_text",
    "game.confirmations",
    "game.help_entries",
    "game.memory_reading",
    "game.model_access",
    "game.perception",
    "game.rate_limits",
    "game.room_lines",
    "game.settings",
    "game.setup",
    "game.sleep_state",
    "game.texts",
    "game.wares",
    "game.world_clock",
    "memory.remote_vectors",
    "memory.worker",
    "messages",
    "mind",
    "models",
    "notifications",
    "policy",
    "ports",
    "scheduling",
    "signals",
    "sleep",
    "store.attributes",
    "store.call_records",
    "store.conversation",
    "store.lines",
    "store.lore_records",
    "store.memory_editor",
    "store.names",
    "store.pending_acts",
    "store.personal_data",
    "store.reports",
    "store.rows",
    "store.server_settings",
    "store.transactions",
    "store.turns",
    "testing",
    "tools.memory_sources",
    "tools.permission",
    "tools.registry",
    "tools.speech",
    "tools.tool_relevance",
    "tools.world",
    "turn.prompt_building",
    "turn.prompt_contexts",
    "turn.react_loop",
    "turn.recall",
    "turn.tool_executor",
    "web",
)
FLOOR = {room.name: room.floor for room in ROOMS}
# Parts of an edge room that the engine's rule holds for all the same.
ENGINE_MODULES = tuple(
    f"memory.{name}" for name in ("columns", "index", "lexical", "ranking", "vectors")
)


# The public names that take an assistant's script, as users were promised.
SEEDS = frozenset(
    {
        "memory.entity_context.run_entity_consolidation_batch",
        "memory.working_memory.clear_stale_conversations",
        "sleep.compaction.compact.compact_conversation_history",
        "sleep.consolidation.consolidate_memories_to_semantic",
        "sleep.consolidation.prune_orphaned_memory_links",
        "sleep.extraction.run_pre_compaction_extraction",
        "sleep.pruning.prune_low_importance_entries",
        "sleep.run_sleep_tick",
        "turn.llm_interaction.build_llm_messages",
        "turn.llm_interaction.generate_context_summary",
    }
)


@dataclass(frozen=True)
class Arrow:
    """One file imports another."""

    source: str
    target: str


@cache
def modules(root: Path = ROOT) -> Mapping[str, Path]:
    """Return every module of the package by its dotted name without the package's own."""
    found: dict[str, Path] = {}
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = file
    return found


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    """Return what a file consists of, its module first; it is read once."""
    return tuple(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def arrows(files: Mapping[str, Path]) -> list[Arrow]:
    """Return every import between two modules, those inside functions included."""
    return [
        Arrow(name, target)
        for name, file in files.items()
        for target in sorted(set(_imported(file, files)))
        if target != name
    ]


def _imported(file: Path, files: Mapping[str, Path]) -> Iterator[str]:
    for node in nodes(file):
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        package, _, module = node.module.partition(".")
        if package != PACKAGE:
            continue
        for alias in node.names:
            inner = f"{module}.{alias.name}".lstrip(".")
            if inner in files:
                yield inner
            elif module:
                yield module


def room_of(module: str) -> str:
    """Return the room that a module belongs to."""
    return module.partition(".")[0]


def upward(found: Iterable[Arrow], floor: Mapping[str, int]) -> list[Arrow]:
    """Return the arrows between two rooms that do not run to a lower floor."""
    return [
        arrow
        for arrow in found
        if room_of(arrow.source) != room_of(arrow.target)
        and floor[room_of(arrow.target)] >= floor[room_of(arrow.source)]
    ]


def circles(found: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the groups of names that reach each other (Tarjan, 1972), each sorted."""
    edges: dict[str, set[str]] = {}
    for source, target in found:
        if source != target:
            edges.setdefault(source, set()).add(target)
            edges.setdefault(target, set())
    return [sorted(group) for group in _components(edges) if len(group) > 1]


def _components(edges: Mapping[str, set[str]]) -> list[list[str]]:
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for target in edges[name]:
            if target not in order:
                visit(target)
            if target in stack:
                lowest[name] = min(lowest[name], lowest[target])
        if lowest[name] == order[name]:
            at = stack.index(name)
            groups.append(stack[at:])
            del stack[at:]

    for name in edges:
        if name not in order:
            visit(name)
    return groups


def folder_circles(found: Iterable[Arrow], room: str) -> list[list[str]]:
    """Return the circles between the folders and files directly inside a room."""

    def inner(module: str) -> str:
        return ".".join(module.split(".")[:2])

    pairs = [(inner(arrow.source), inner(arrow.target)) for arrow in found]
    prefix = f"{room}."
    return circles(pair for pair in pairs if all(name.startswith(prefix) for name in pair))


def function_lengths(files: Iterable[Path]) -> list[int]:
    """Return the lines of every function, docstring included, shortest first."""
    return sorted(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for file in files
        for node in nodes(file)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def line_counts(files: Iterable[Path]) -> dict[Path, int]:
    """Return the lines of every file."""
    return {file: len(file.read_text(encoding="utf-8").splitlines()) for file in files}


def import_lines(files: Iterable[Path]) -> int:
    """Return how many lines the import statements take, those inside functions included."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for file in files
        for node in nodes(file)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def takes_the_whole(files: Mapping[str, Path]) -> list[str]:
    """Return the functions with a parameter of `WHOLE`, as "module.function", but the `SEEDS`."""
    found = [
        f"{name}.{node.name}"
        for name, file in files.items()
        for node in nodes(file)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and WHOLE & _parameters(node)
    ]
    return [function for function in found if function not in SEEDS]


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    wanted = function.args
    return {one.arg for one in (*wanted.posonlyargs, *wanted.args, *wanted.kwonlyargs)}


def markdown_table() -> str:
    """Return the table of rooms that ``docs/architecture.md`` holds, highest floor first."""
    highest_first = sorted(ROOMS, key=lambda room: -room.floor)
    rows = [f"| {r.floor} | `{r.name}` | {r.purpose} | {r.loads} |" for r in highest_first]
    return "\n".join(["| floor | room | what it is for | may load |", "|---|---|---|---|", *rows])


def report() -> str:
    """Return the rooms with their lines and imports, and the counts the tests hold."""
    files = modules()
    found = arrows(files)
    lines = line_counts(files.values())
    rows = [f"{'floor':5}  {'room':20} {'files':>5} {'lines':>6}  imports"]
    for room in sorted(ROOMS, key=lambda one: (-one.floor, one.name)):
        own = [file for name, file in files.items() if room_of(name) == room.name]
        used = {room_of(a.target) for a in found if room_of(a.source) == room.name} - {room.name}
        size = sum(lines[file] for file in own)
        targets = " ".join(sorted(used, key=lambda name: (-FLOOR[name], name)))
        rows.append(f"{room.floor:5}  {room.name:20} {len(own):5} {size:6}  {targets}")
    lengths = function_lengths(files.values())
    up, round_trips = upward(found, FLOOR), circles((a.source, a.target) for a in found)
    rows.append("")
    rows.append(
        f"rooms {len(ROOMS)}, floors {len(set(FLOOR.values()))}, arrows up {len(up)}, "
        f"circles {len(round_trips)}"
    )
    rows.append(
        f"files {len(lines)}, lines {sum(lines.values())}, longest {max(lines.values())}, "
        f"import lines {import_lines(lines)}"
    )
    rows.append(
        f"functions {len(lengths)}: median {statistics.median(lengths):g}, "
        f"p90 {lengths[len(lengths) * 9 // 10]}, longest {lengths[-1]} lines; "
        f"with the whole script or mind {len(takes_the_whole(files))}"
    )
    return "\n".join(rows)


if __name__ == "__main__":
    from tests import sizes

    if "--write" in sys.argv:
        sizes.write()
    print(report(), sizes.report(), sep="\n\n")
    if "--walk" in sys.argv:
        subprocess.run(
            [sys.executable, "-m", "pytest", "-qs", "tests/game/test_walk.py"], check=False
        )
