"""The direction of imports: the pure core never learns of the world outside."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import evennia_ai

ROOT = Path(evennia_ai.__file__).parent
OUTSIDE = ("evennia", "django", "openai", "httpx", "httpx2", "mem0", "tiktoken")
PURE = ["policy", "messages", "config", "errors", "events", "turn.prompt_contexts"]
PORTS = ["ports", "testing.scripted", "testing.memory_stores", "testing.stand_ins"]
ENGINE = [
    "turn",
    "memory.columns",
    "memory.index",
    "memory.lexical",
    "memory.ranking",
    "memory.vectors",
]


def modules_of(names):
    """Every module of the named packages and modules, as dotted names."""
    found = []
    for name in names:
        path = ROOT / name.replace(".", "/")
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
        for file in files:
            dotted = ".".join(file.relative_to(ROOT).with_suffix("").parts)
            found.append(f"evennia_ai.{dotted}".removesuffix(".__init__"))
    return found


def loaded_after_importing(modules):
    """What is in sys.modules of a fresh interpreter that imported these."""
    code = (
        "import importlib, json, sys\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def strangers(modules, forbidden):
    """Forbidden packages, and rooms of ours at another level, that came along."""
    return [name for name in loaded_after_importing(modules) if name.split(".")[0] in forbidden]


def test_the_pure_level_knows_the_standard_library_only():
    assert strangers(modules_of(PURE), (*OUTSIDE, "twisted", "asyncio", "logging")) == []


def test_ports_and_doubles_know_deferreds_but_no_reactor():
    loaded = strangers(modules_of(PORTS), OUTSIDE)
    assert loaded == []
    assert "twisted.internet.reactor" not in loaded_after_importing(modules_of(PORTS))


def test_the_engine_knows_neither_evennia_nor_django_nor_the_reactor():
    modules = modules_of([*PURE, *PORTS, *ENGINE])
    assert strangers(modules, OUTSIDE) == []
    assert "twisted.internet.reactor" not in loaded_after_importing(modules)


@pytest.mark.parametrize("room", ["store", "tools", "llm", "commands", "services"])
def test_the_engine_imports_nothing_from_the_edge(room):
    loaded = loaded_after_importing(modules_of([*PURE, *PORTS, *ENGINE]))
    assert not [name for name in loaded if name.startswith(f"evennia_ai.{room}")]


def test_the_check_itself_can_fail():
    assert strangers(["evennia_ai.ports"], ("twisted",)) != []
