"""Which tests a step of `run` selects: marks, and files where importing all would take long."""

import re
from collections.abc import Iterator
from pathlib import Path

SMALL = "not game and not e2e and not bench and not campaign"
FURTHER = "e2e and not quick and not alone and not campaign"
GAME = "game and not bench and not campaign"
CAMPAIGN = "campaign and not e2e"
PROPERTY = "hypothesis"  # the mark that Hypothesis itself gives
# What differs with the database: the stores, the faults, and what reads rows in their order.
ON_POSTGRESQL = (
    *(
        path
        for name in ("costs", "explanations", "shared_memory")  # unless they are deleted
        if Path(path := f"tests/contrib/{name}").exists()
    ),
    *(f"tests/faults/test_{name}.py" for name in ("postgresql", "schema", "storage")),
    *(
        f"tests/game/test_{name}.py"
        for name in (
            *("columns", "compactions", "disclosure", "forgetting"),
            *("history_filters", "history_search", "journal_faults", "lost_turns", "old_records"),
            *("old_tables", "purge", "query_plans", "sleep_passes", "stores"),
            "talking",
        )
    ),
)
# Importing tests that a step leaves out costs it some seconds. conftest.py marks the tests of the
# first two folders; tests/test_repository.py checks that the others have neither game tests nor
# campaigns. The step of the small tests imports the benchmarks: a renamed helper must not break
# them unseen.
MARKED = ("e2e", "game")
PURE = ("llm", "memory", "policy", "turn")
# A file in which a step has a test, by its path and text.
HOLDS = {
    GAME: re.compile(r"\Atests/game/|mark\.game|\.pytestmark|import pytestmark"),
    CAMPAIGN: re.compile(r"campaign|short_form|\.pytestmark|import pytestmark"),
    SMALL: re.compile(r"\A(?!.*^pytestmark = [^\n]*mark\.game)", re.M | re.S),
}
# The main path through each room. It stands for the game tests on an interpreter whose Evennia and
# whose Python the ones before and after it try.
MAIN_PATHS = (
    "commands", "journal", "migrations", "service", "sleep_passes", "talking", "tools",
)  # fmt: skip
PAGES = ("access", "editing", "game_thread", "marks", "pages", "rest_api")
# What meets Evennia or Django where their lines differ: characters, sessions, menus, pages, tables.
# It stands for the game tests on the other line of Evennia, which `lines` runs whole.
ON_OTHER_LINE = (
    *(f"tests/faults/test_{name}.py" for name in ("corrupt_values", "schema", "storage", "world")),
    *(
        f"tests/game/test_{name}.py"
        for name in (
            *MAIN_PATHS,
            *("builders_npcs", "contribs", "disclosure_web", "file_modes", "following"),
            *("hearing", "lock_answers", "memory_command", "permission", "rpsystem"),
            *("status", "stop", "stores", "tables", "typing"),
            *("uninstall", "world", "world_clock"),
        )
    ),
    *(
        path
        for name in (
            *("doors", "quests", "setup_menu", "shop/test_purchases.py", "shop/test_trade.py"),
            *(f"staff_pages/test_{page}.py" for page in PAGES),
        )
        if Path(path := f"tests/contrib/{name}").exists()
    ),
)


def without_a_test_of(marks: str) -> Iterator[Path]:
    """Yield the test files that a step with these marks need not import: half of them, or more."""
    (holds,) = [pattern for of, pattern in HOLDS.items() if marks.startswith(of)] or [None]
    for file in sorted(Path("tests").rglob("test_*.py")) if holds else ():
        if not holds.search(f"{file.as_posix()}\n{file.read_text()}"):
            yield file
