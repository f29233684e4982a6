"""Middleware that changes Evennia's pages before they are sent; `apps.py` registers it.

Pages load local copies of the libraries that Evennia asks other hosts for. Each file is identical
to that of the other host, so that a page's ``integrity`` still matches;
``static/evennia_ai/vendor/README.md`` names the source of each.
"""

import re
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from evennia_ai.game.extensions import ask_classes

# The folder of each in ``vendor``; the file has its name there too.
VENDORED = {
    "cdn.jsdelivr.net/npm/bootstrap@4.6.0/dist/css/bootstrap.min.css": "bootstrap-4.6.0",
    "cdn.rawgit.com/ejci/favico.js/master/favico-0.3.10.min.js": "favico.js-0.3.10",
    "cdn.redoc.ly/redoc/v3.0.0-rc.0/redoc.standalone.js": "redoc-3.0.0-rc.0",
    "cdnjs.cloudflare.com/ajax/libs/popper.js/1.11.0/umd/popper.min.js": "popper.js-1.11.0",
    "cdnjs.cloudflare.com/ajax/libs/popper.js/1.12.9/umd/popper.min.js": "popper.js-1.12.9",
    "golden-layout.com/files/latest/css/goldenlayout-base.css": "golden-layout-1.5.9",
    "golden-layout.com/files/latest/css/goldenlayout-dark-theme.css": "golden-layout-1.5.9",
    "golden-layout.com/files/latest/js/goldenlayout.min.js": "golden-layout-1.5.9",
    "maxcdn.bootstrapcdn.com/bootstrap/4.0.0-beta/css/bootstrap.min.css": "bootstrap-4.0.0-beta",
    "maxcdn.bootstrapcdn.com/bootstrap/4.0.0-beta/js/bootstrap.min.js": "bootstrap-4.0.0-beta",
    "maxcdn.bootstrapcdn.com/bootstrap/4.0.0/js/bootstrap.min.js": "bootstrap-4.0.0",
}
LIBRARIES = {
    **{url: f"vendor/{folder}/{url.rpartition('/')[2]}" for url, folder in VENDORED.items()},
    "code.jquery.com/jquery-3.2.1.min.js": "vendor/jquery-3.2.1/jquery.min.js",
    "code.jquery.com/jquery-3.2.1.slim.min.js": "vendor/jquery-3.2.1/jquery.slim.min.js",
    # Evennia 5.0.1 uses this address; it named a moving version and no longer exists.
    "cdn.jsdelivr.net/npm/redoc@next/bundles/redoc.standalone.js": "redoc.js",
    # Not libraries, but the pictures of characters and objects without one of their own.
    "placehold.jp/250x250.png": "placeholder-250.svg",
    "placehold.jp/50x50.png": "placeholder-50.svg",
}
LOCAL = {address.encode(): path for address, path in LIBRARIES.items()}
FOREIGN = re.compile(
    rb"(?:https?:)?//(%b)(?=[\"'>\s])" % b"|".join(re.escape(address) for address in LOCAL)
)
# The marks of a web client page, of one that loads fonts from other hosts, and of one that
# describes Evennia's REST API. The library of the last reports each visit to its makers and loads
# pictures from them; the policy forbids both.
CLIENT_MARK = b"webclient/js/webclient_gui.js"
FONTS_MARK = b"webclient/js/plugins/font.js"
REDOC_MARK = b"<redoc "
STAY_HERE = (
    b'<meta http-equiv="Content-Security-Policy" content="'
    b"connect-src 'self'; img-src 'self' data:; font-src 'self' data:\">\n"
)


def page_middleware(change: Callable[[bytes, Any], bytes]) -> Callable[[Any], Any]:
    """Return middleware that changes whole HTML pages: no streams, no compressed responses."""

    def middleware(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def answer(request: Any) -> Any:
            response = get_response(request)
            is_whole = not (response.streaming or response.has_header("Content-Encoding"))
            if is_whole and response.get("Content-Type", "").startswith("text/html"):
                response.content = change(response.content, request)
                if response.has_header("Content-Length"):
                    response["Content-Length"] = str(len(response.content))
            return response

        return answer

    return middleware


@page_middleware
def local_libraries(page: bytes, request: Any) -> bytes:
    """Make pages load local libraries; off by ``AI_ASSISTANT = {"LOCAL_LIBRARIES": False}``."""
    page = FOREIGN.sub(lambda match: static_url(LOCAL[match[1]]).encode(), page)
    if REDOC_MARK in page:
        page = page.replace(b"<head>", b"<head>" + STAY_HERE, 1)
    return with_script(page, "local_fonts.js") if FONTS_MARK in page else page


@page_middleware
def client_plugin(page: bytes, request: Any) -> bytes:
    """Add the typing indicator; off by ``AI_ASSISTANT = {"TYPING_INDICATOR": False}``."""
    return with_script(page, "webclient.js") if CLIENT_MARK in page else page


def of_extensions(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the middleware of the extensions, the first outermost."""
    middleware = ask_classes(lambda item: [import_string(path) for path in item.middleware])
    for factory in reversed(middleware):
        get_response = factory(get_response)
    return get_response


def static_url(path: str) -> str:
    return f"{settings.STATIC_URL}evennia_ai/{path}"


def with_script(page: bytes, path: str) -> bytes:
    """Return a page with one of this package's scripts at the end of its head."""
    tag = f'<script src="{static_url(path)}"></script>\n'
    return page.replace(b"</head>", tag.encode() + b"</head>", 1)
