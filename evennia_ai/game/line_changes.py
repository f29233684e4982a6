"""What must be read anew when the words of logged lines change, or whether they are recalled."""

from __future__ import annotations

from collections.abc import Sequence

from evennia_ai.game.script_ports import GameScript


def renew(script: GameScript, seqs: Sequence[int]) -> None:
    """Let the next prompt and the next recall show lines as they are amended now."""
    script.conversation.forget_view()
    script.services.memory_indices.renew(script, seqs)
