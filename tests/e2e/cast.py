"""Record the moving picture of the README, ``docs/images/cast.svg``: `make screenshots`.

A new game of the demo's world is played over telnet with the stand-in, so every word in it was
said by a real game. The picture is one SVG with an animation in CSS; it needs no service and no
script, and is whole where nothing moves.
"""

import re
import textwrap
from collections.abc import Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.e2e.harness import ADMIN, ROOT, GameServer
from tests.e2e.telnet import TelnetPlayer

PICTURE = ROOT / "docs" / "images" / "cast.svg"
COLUMNS = 78
CHAR_PX, LINE_PX, EDGE_PX = 8.4, 21, 18
STORY_S, END_S = 9.5, 2.5  # for all lines to appear, and at the end
NOISE = re.compile(
    r"^\(|^Exits:|^You become|^You say|^You whisper|^$|has entered the game|web client"
    r"|Others here|^Last login"
)
STYLE = """
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d8d4cb;
  white-space: pre }
.order { fill: #8fc7ff } .note { fill: #9a958a; font-style: italic }
.line { animation: show %(whole).1fs infinite steps(1) }
@media (prefers-reduced-motion: reduce) { .line { animation: none } }
"""


class Line(NamedTuple):
    """A line of the picture; ``kind`` is the class of its style."""

    text: str
    kind: str = "answer"


def order(player: TelnetPlayer, words: str, answer: str) -> list[Line]:
    """Type an order, wait for the end of its answer, and return both."""
    begin = player.mark()
    player.send(words)
    player.expect(answer, 30)
    player.expect_not(r"\A\Z.", 1.0)  # what belongs to it may still come
    shown = [one for one in player.clean[begin:].splitlines() if not NOISE.search(one.strip())]
    return [Line(f"> {words}", "order"), *(Line(one) for one in shown)]


def play(server: GameServer) -> list[Line]:
    """Play the scene: tell, errand, whisper, leave, come back remembered, `aiwhy`."""
    with server.player("Ann") as ann:
        lines = order(ann, "say Good evening, Mira. My sister sails on the Petrel.", "Mira says")
        lines += order(ann, "say Mira, could you get me the mug?", "Mira says")
        lines += order(ann, "whisper Mira = I owe Brannoc five crowns.", "Mira whispers")
        lines.append(Line("Ann leaves. The server restarts. The next day:", "note"))
    server.reload()
    with server.player("Ann") as ann, server.player(ADMIN) as staff:
        lines += order(ann, "say Mira, what does my sister sail on?", "Mira says.*Petrel")
        lines.append(Line("And this is what staff see:", "note"))
        why = order(staff, "aiwhy Mira", "Near, but left out.*\n.*")
    texts = [line.text for line in why]
    sources = next(at for at, text in enumerate(texts) if text.startswith("Where each"))
    return [
        *lines,
        *why[:3],
        *(one for one in why[3:sources] if "(say" in one.text),
        *why[sources:],
    ]


def drawn(lines: Sequence[Line]) -> str:
    """Return lines as an animated picture."""
    rows = [
        Line(part, line.kind)
        for line in lines
        for part in textwrap.wrap(line.text, COLUMNS, subsequent_indent="  ") or [""]
    ]
    whole = STORY_S + END_S
    starts = [f"{100 * STORY_S * at / len(rows) / whole:.2f}%" for at in range(len(rows))]
    shows = "".join(
        f"@keyframes show{number} {{ 0% {{ opacity: 0 }} {at}, 100% {{ opacity: 1 }} }}\n"
        for number, at in enumerate(starts)
    )
    texts = "\n".join(
        f'<text class="line {row.kind}" style="animation-name: show{number}" x="{EDGE_PX}"'
        f' y="{EDGE_PX + LINE_PX * (number + 1) - 6}">{escape(row.text)}</text>'
        for number, row in enumerate(rows)
    )
    width, height = round(COLUMNS * CHAR_PX + 2 * EDGE_PX), len(rows) * LINE_PX + 2 * EDGE_PX
    style = STYLE % {"whole": whole}
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
 aria-label="A player talks with Mira, leaves, comes back, and is remembered">
<style>{style}{shows}</style>
<rect width="{width}" height="{height}" rx="10" fill="#1d1f23"/>
{texts}
</svg>
"""


def record() -> None:
    """Play the scene in a new game, and store its picture."""
    with TemporaryDirectory() as folder:
        server = GameServer.first_start(Path(folder) / "game")
        try:
            server.start()
            PICTURE.write_text(drawn(play(server)), encoding="utf-8")
        finally:
            server.discard()
    print(f"docs/images/{PICTURE.name}: {PICTURE.stat().st_size / 1000:.0f} kB")
