"""What the SDK's HTTP library needs: clean log lines, and the cause of a failure.

httpx logs the full address of each request at INFO, which a game's ``LOGGING`` may write to a file.
"""

from __future__ import annotations

import importlib
import logging
import socket
import ssl
from collections.abc import Iterator
from typing import Any

from evennia_ai.policy.probe.cases import BROKEN, NO_HOST, NO_TLS, REFUSED, TIMEOUT
from evennia_ai.policy.secrecy import hide_in_addresses

LOGGERS = ("httpx", "httpx2")
CONNECTION_ERRORS = ("TransportError", "ClientError")


class CleanAddresses(logging.Filter):
    """Lets every record pass, with the addresses in it as people may read them."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean a record's arguments; always return True."""
        if isinstance(record.args, tuple):
            record.args = tuple(map(clean, record.args))
        return True


def clean(value: object) -> object:
    """Return a value of a log line; an address, of any type, as cleaned text."""
    text = str(value)
    return hide_in_addresses(text) if "://" in text else value


CLEAN_ADDRESSES = CleanAddresses()


def clean_http_logs() -> None:
    """Clean what the HTTP libraries log from now on; a second call changes nothing."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(CLEAN_ADDRESSES)


class UnwantedBody(Exception):
    """A body that the client stops reading. The text says what is wrong with it."""


def http_library(client_class: type) -> Any:
    """Return the library of the SDK's client class, httpx or httpx2; its base tells which."""
    bases = (base.__module__ for base in client_class.__mro__)
    name = next(name for name in bases if not name.startswith("openai"))
    return importlib.import_module(name.partition(".")[0])


def connection_trouble(error: BaseException) -> str:
    """Return the kind of trouble: one of the constants of `policy.probe.cases`."""
    causes = list(causes_of(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return NO_HOST
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return REFUSED
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return NO_TLS
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return TIMEOUT
    return BROKEN


def is_connection_error(error: Exception) -> bool:
    """Return True for an error of httpx or aiohttp about a connection."""
    return any(base.__name__ in CONNECTION_ERRORS for base in type(error).__mro__)


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception, its causes, and the members of exception groups among them."""
    while error is not None:
        yield error
        for member in getattr(error, "exceptions", ()):
            yield from causes_of(member)
        error = error.__cause__ or error.__context__
