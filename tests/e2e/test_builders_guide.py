"""The builders' guide, done word for word over telnet in a newly initialised game.

Two blocks are not run as they stand. One names a language model that a test does not have: the stub
provider takes its place, with rules that like the polite and pay for the key. The other names turns
by numbers, which depend on what happened before. All else is as on the page.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.fresh_game import DOCS, Block, FreshGame, read_blocks
from tests.provider import FaultyProvider

PAGE = "builders-guide.md"
TOOL_FILES = ("world/ai_tools.py", "world/test_ai_tools.py")


def saying(text: str) -> dict[str, Any]:
    """Return a reply that says a text."""
    return {"tool_calls": [{"name": "say", "arguments": {"text": text}}]}


RUDE = saying("You stay where you are.")
POLITE = {
    "tool_calls": [
        {"name": "open_gate", "arguments": {"visitor": "Ann"}},
        {"name": "say", "arguments": {"text": "Since you ask so nicely. In with you."}},
    ]
}
PAY = {
    "tool_calls": [
        {"name": "pay_reward", "arguments": {"finder": "Ann"}},
        {"name": "say", "arguments": {"text": "My thanks. I have something to tell you."}},
    ]
}
SECRET = "Behind the ivy a tunnel leads"


@pytest.fixture(scope="module")
def game(game_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshGame]:
    """A game as the quick start leaves it."""
    game = FreshGame(tmp_path_factory.mktemp("builders"), template=game_template)
    try:
        game.follow("quick-start.md", "Install")
        yield game
    finally:
        game.discard()


def test_the_builders_guide_does_what_it_says(game: FreshGame, tmp_path: Path) -> None:
    with FaultyProvider(tmp_path / "requests.jsonl") as stub:
        stub.rules(
            {
                "And now": saying("It does. Behind the ivy."),
                "gives you": PAY,
                "a tunnel lead": saying("Perhaps. I do not know you well enough."),
                "(?i)please": POLITE,
                "(?i)goat": RUDE,
            }
        )

        def start_with_model(block: Block) -> None:
            first, _, last = block.body.splitlines()
            game.env.update(OPENAI_BASE_URL=stub.base_url, EVENNIA_AI_MODEL="stub-1")
            game.shell(f"{first}\n{last}")

        game.follow(PAGE, instead={"sh model": start_with_model})
        sent = [request["body"] for request in stub.requests()]
    offered = [str(body.get("tools")) for body in sent]
    # The first request of a cold start only warms the model up.
    assert any("Open the gate to one person here whom you like." in tools for tools in offered)
    assert "open_gate" not in offered[-1]
    asked = [str(body["messages"]) for body in sent if "a tunnel lead into" in str(body)]
    assert SECRET not in asked[0]
    assert SECRET in asked[-1]
    assert "Traceback" not in game.log()


def test_a_tool_with_its_test_takes_25_lines() -> None:
    blocks = read_blocks((DOCS / PAGE).read_text(encoding="utf-8"))
    code = [block.body for block in blocks if block.marks in TOOL_FILES]
    lines = [line for line in "".join(code).splitlines() if line.strip()]
    assert len(code) == len(TOOL_FILES)
    assert len(lines) <= 25
