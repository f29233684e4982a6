"""The out-of-band messages: any client may call every function of this module (see `apps.py`)."""

from typing import Any


def ai_typing_setup(session: Any, *args: Any, **kwargs: Any) -> None:
    """Note by which message a client shows typing: Evennia's (from 6.1 on), else ours."""
    shows = "is_typing" if kwargs.get("shows") == "is_typing" else "ai_typing"
    session.update_flags(AI_TYPING=shows)
