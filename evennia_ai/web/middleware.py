"""What happens to Evennia's pages on their way out. `apps.py` registers both classes, so that a
game edits none of its own settings and templates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evennia_ai.web.libraries import with_local_libraries, with_script

# What a page of the web client holds, and one that would load fonts from elsewhere.
CLIENT_MARK = b"webclient/js/webclient_gui.js"
FONTS_MARK = b"webclient/js/plugins/font.js"


class PageMiddleware:
    """Changes whole HTML pages and nothing else: no stream, no other type, nothing compressed."""

    def __init__(self, get_response: Callable[[Any], Any]) -> None:
        self.get_response = get_response

    def __call__(self, request: Any) -> Any:
        """Let the game answer, then change the answer if it is a page."""
        response = self.get_response(request)
        if is_page(response):
            page = self.change(response.content)
            if page != response.content:
                response.content = page
                if response.has_header("Content-Length"):
                    response["Content-Length"] = str(len(page))
        return response

    def change(self, page: bytes) -> bytes:
        """The page as it shall be sent."""
        raise NotImplementedError


class LocalLibraries(PageMiddleware):
    """Has libraries loaded from the game itself, so that pages need no network and tell nobody
    who is playing. ``AI_ASSISTANT = {"LOCAL_LIBRARIES": False}`` turns it off."""

    def change(self, page: bytes) -> bytes:
        """The page with our files for those of others."""
        page = with_local_libraries(page)
        return with_script(page, "local_fonts.js") if FONTS_MARK in page else page


class ClientPlugin(PageMiddleware):
    """Gives Evennia's web client the plugin that shows who is thinking about an answer.
    ``AI_ASSISTANT = {"TYPING_INDICATOR": False}`` turns it off."""

    def change(self, page: bytes) -> bytes:
        """The page with our script, if it is the web client."""
        return with_script(page, "webclient.js") if CLIENT_MARK in page else page


def is_page(response: Any) -> bool:
    """True for a whole, uncompressed HTML page."""
    return (
        not response.streaming
        and response.get("Content-Type", "").startswith("text/html")
        and not response.has_header("Content-Encoding")
    )
