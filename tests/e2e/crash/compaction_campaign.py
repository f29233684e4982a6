"""A campaign whose server is killed during compactions and their undo."""

import random
import time
from typing import Self

from server import running
from tests.e2e.crash.campaign import PATIENCE_S, Campaign
from tests.e2e.crash.model import SUMMARY_S
from tests.e2e.harness import ADMIN
from tests.e2e.telnet import TelnetPlayer

ASKED, STORED = "summary asked", "compaction stored"
UNDONE, JOURNALLED = "compaction undone", "summary journalled"
EMERGENCY = "emergency: "
NAMED = tuple(
    f"{side} {point}"
    for point in (ASKED, STORED, UNDONE, JOURNALLED)
    for side in ("before", "after")
)
URGENT = tuple(
    f"{EMERGENCY}{side} {point}" for point in (ASKED, STORED) for side in ("before", "after")
)
KEEP = "aicompact/keep Mira/2"
UNDO = "aicompact/undo Mira"
SET = "aisetup/set Mira/{} = {}"
CRAMPED = {"max_context_tokens": "5000", "compact_emergency_threshold": "0.1"}
LINES_BEFORE = 3
TALK_S = 60.0  # until a talk that has just begun is too long for a small window


class CompactionCampaign(Campaign):
    """Kills the server during a compaction that an admin orders or a small window needs."""

    admin: TelnetPlayer | None = None

    def __enter__(self) -> Self:
        super().__enter__()
        self.admin = self._open.enter_context(self.game.player(ADMIN))
        return self

    def start(self) -> None:
        """Start as any campaign does, and log the admin in too."""
        super().start()
        if self.admin:
            self.admin.mark()
            self.admin.send(f"ic {self.admin.name}")
            self.admin.expect(f"You become {self.admin.name}", PATIENCE_S)

    def kill(self, moment: str = "") -> None:
        """Kill the server at a named moment or during a summary, and start it again."""
        self.moments.append(moment or "during a summary")
        for _ in range(LINES_BEFORE):
            self.talk()
            self.game.wait_until(self._is_at_rest, PATIENCE_S)
        if moment:
            self._kill_in_compaction(moment)
        else:
            self._order(KEEP)
            time.sleep(self._random.uniform(0, SUMMARY_S))
            self.game.kill_server()
        self.start()
        if moment in URGENT:
            self._set(dict.fromkeys(CRAMPED, ""))

    def _kill_in_compaction(self, moment: str) -> None:
        """Kill the server at a named moment; an admin orders what leads to it, if anybody must."""
        self.game.order_file.write_text(moment.removeprefix(EMERGENCY))
        if moment in URGENT:
            self._set(CRAMPED)
        until = self.game.clock() + (TALK_S if moment in URGENT else PATIENCE_S)
        while not self.game.is_dead() and self.game.clock() < until:
            if moment in URGENT:
                self.talk()
            else:
                self._order(KEEP)
            if UNDONE in moment:
                running.wait_until(self.game.is_dead, 2 * SUMMARY_S + 1.0)
                self._order(UNDO)
            if running.wait_until(self.game.is_dead, 2 * SUMMARY_S + 1.0):
                return
            self.talk()  # there was nothing to compact, or the assistant was thinking
            self.game.wait_until(lambda: self.game.is_dead() or self._is_at_rest(), PATIENCE_S / 4)
        read = self.admin.transcript[-2_000:] if self.admin else ""
        assert self.game.is_dead(), f"nothing came by {moment!r}:\n{read}"

    def _order(self, line: str) -> None:
        assert self.admin
        if not self.game.is_dead():
            self.admin.send(line)

    def _set(self, settings: dict[str, str]) -> None:
        for name, value in settings.items():
            self._order(SET.format(name, value))


def schedule(kills: int, seed: int) -> list[str]:
    """Return the moments of the kills, shuffled: each named one, the rest during a summary."""
    moments = [*NAMED, *URGENT, *[""] * kills][:kills]
    random.Random(seed).shuffle(moments)
    return moments
