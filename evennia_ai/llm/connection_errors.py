"""Why a request got no HTTP answer, read from the exception and its causes."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

from evennia_ai.policy.probe.cases import BROKEN, NO_HOST, NO_TLS, REFUSED, TIMEOUT


def connection_trouble(error: BaseException) -> str:
    """Return the kind of trouble: one of the constants of `policy.probe.cases`."""
    causes = list(causes_of(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return NO_HOST
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return REFUSED
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return NO_TLS
    if any("Timeout" in type(cause).__name__ for cause in causes):
        return TIMEOUT
    return BROKEN


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, its causes, and the members of exception groups among them."""
    while error is not None:
        yield error
        for member in getattr(error, "exceptions", ()):
            yield from causes_of(member)
        error = error.__cause__ or error.__context__
