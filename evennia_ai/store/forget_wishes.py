"""Who waits to be forgotten, and by whom: kept until it is done, so that a restart resumes it."""

from __future__ import annotations

from collections.abc import Iterable

from evennia.server.models import ServerConfig

from evennia_ai.store.brief_transaction import brief_transaction

# The key in Evennia's table of server settings.
KEY = "evennia_ai_to_forget"


def wishes() -> dict[int | None, list[str]]:
    """Return the dbrefs of those who wait to be forgotten, by assistant; None: by all."""
    found: dict[int | None, list[str]] = {}
    for wish in stored():
        dbref, _, assistant = wish.partition(" ")
        found.setdefault(int(assistant) if assistant else None, []).append(dbref)
    return found


def add_wishes(people: Iterable[str], assistant: int | None = None) -> None:
    """Note that some people are to be forgotten; raises StoreUnavailable."""
    store({*stored(), *as_wishes(people, assistant)})


def drop_wishes(people: Iterable[str], assistant: int | None = None) -> None:
    """Note that some people are forgotten; raises StoreUnavailable."""
    store({*stored()}.difference(as_wishes(people, assistant)))


def as_wishes(people: Iterable[str], assistant: int | None) -> set[str]:
    """Return wishes as they are stored: "#12", or "#12 7" for the assistant 7 only."""
    return {dbref if assistant is None else f"{dbref} {assistant}" for dbref in people}


def stored() -> list[str]:
    """Return the stored wishes."""
    return list(ServerConfig.objects.conf(KEY) or ())


def store(wanted: set[str]) -> None:
    """Replace the stored wishes."""
    with brief_transaction():
        if wanted:
            ServerConfig.objects.conf(KEY, sorted(wanted))
        else:
            ServerConfig.objects.conf(KEY, delete=True)
