"""The out-of-band messages that clients may send.

`apps.py` adds this module to Evennia's ``INPUT_FUNC_MODULES``: any client can call every function
in it.
"""

from __future__ import annotations

from typing import Any


def ai_typing_setup(session: Any, *args: Any, **kwargs: Any) -> None:
    """Note that a client can show the typing indicator, and by which message.

    ``shows`` names the message: ``is_typing``, as Evennia's own plugin from 6.1 on uses it, else
    ``ai_typing``.
    """
    shows = "is_typing" if kwargs.get("shows") == "is_typing" else "ai_typing"
    session.update_flags(AI_TYPING=shows)
