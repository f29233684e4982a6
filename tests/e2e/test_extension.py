"""The extension of the guide, word for word, in a running game."""

from collections.abc import Callable

from tests.e2e.fresh_game import DOCS, read_blocks
from tests.e2e.harness import ADMIN, GameServer
from tests.e2e.test_talk import thinking_with
from tests.provider import FaultyProvider

FILE = "world/library.py"
LOUD = {
    "tool_calls": [
        {"name": "ring_bell", "arguments": {"times": 2}},
        {"name": "say", "arguments": {"text": "QUIET!"}},
    ]
}


def test_the_guides_extension_works_after_a_reload(
    make_server: Callable[..., GameServer], stub: FaultyProvider
) -> None:
    game = make_server(assistant=thinking_with(stub))
    blocks = read_blocks((DOCS / "extensions.md").read_text(encoding="utf-8"))
    (code,) = (block.body for block in blocks if block.marks == FILE)
    stub.rules({"thank you": {"text": "As you like."}, "ring the bell": LOUD})
    with game.player("Ann") as ann, game.player(ADMIN) as admin:
        (game.folder / FILE).write_text(code, encoding="utf-8")
        game.assistant["EXTENSIONS"] = ["world.library.LibraryExtension"]
        game.write_settings()
        game.reload()
        ann.send("say Mira, ring the bell.")
        ann.expect("A small bell rings.")
        ann.send("say Mira, thank you.")
        ann.expect('Mira says, "As you like."')
        assert "QUIET" not in ann.clean
        admin.send("aistatus")
        admin.expect("Mira")
        assert "EXTENSIONS" not in admin.clean
    assert "Traceback" not in game.log()
