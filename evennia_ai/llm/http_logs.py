"""The log lines of the HTTP libraries, without passwords and keys in addresses.

httpx logs the full address of each request at INFO, which a game's ``LOGGING`` may write to a file.
"""

from __future__ import annotations

import logging

from evennia_ai.policy.secrecy import hide_in_addresses

LOGGERS = ("httpx", "httpx2")


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
