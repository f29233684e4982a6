"""What clients may send us out of band; `apps.py` adds this module to Evennia's
``INPUT_FUNC_MODULES``. Every function in here can be called by any client."""

from __future__ import annotations

from typing import Any


def ai_typing_setup(session: Any, *args: Any, **kwargs: Any) -> None:
    """A client says that it can show who is thinking, and by which message (``shows``):
    ``is_typing``, as Evennia's own plugin has it from 6.1 on, or else ``ai_typing``."""
    shows = "is_typing" if kwargs.get("shows") == "is_typing" else "ai_typing"
    session.update_flags(AI_TYPING=shows)
