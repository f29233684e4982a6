"""Middleware that changes Evennia's pages before they are sent; `apps.py` registers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evennia_ai.web.libraries import with_local_libraries, with_script

# The marks of a web client page, and of a page that loads fonts from other hosts.
CLIENT_MARK = b"webclient/js/webclient_gui.js"
FONTS_MARK = b"webclient/js/plugins/font.js"


class PageMiddleware:
    """Middleware that changes whole HTML pages: no streams, no compressed responses."""

    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> Any:
        """Return the response of the game, changed if it is a page."""
        response = self.get_response(request)
        if is_page(response):
            response.content = self.change(response.content)
            if response.has_header("Content-Length"):
                response["Content-Length"] = str(len(response.content))
        return response

    def change(self, page: bytes) -> bytes:
        """Return the page to send."""
        raise NotImplementedError


class LocalLibraries(PageMiddleware):
    """Middleware that makes pages load their libraries from the game, and tell no other host.

    ``AI_ASSISTANT = {"LOCAL_LIBRARIES": False}`` turns it off.
    """

    def change(self, page: bytes) -> bytes:
        """Return the page with local libraries and fonts."""
        page = with_local_libraries(page)
        return with_script(page, "local_fonts.js") if FONTS_MARK in page else page


class ClientPlugin(PageMiddleware):
    """Middleware that adds the typing indicator to Evennia's web client.

    ``AI_ASSISTANT = {"TYPING_INDICATOR": False}`` turns it off.
    """

    def change(self, page: bytes) -> bytes:
        """Return the page, with the plugin if it is the web client."""
        return with_script(page, "webclient.js") if CLIENT_MARK in page else page


def is_page(response: Any) -> bool:
    """Return True for a whole, uncompressed HTML page."""
    return (
        not response.streaming
        and response.get("Content-Type", "").startswith("text/html")
        and not response.has_header("Content-Encoding")
    )
