"""The addresses that Evennia's pages load from elsewhere, and the same files of our own.

Every file is, byte for byte, what the foreign address serves, so a page's ``integrity`` holds.
``static/evennia_ai/vendor/README.md`` tells where each comes from.
"""

from __future__ import annotations

import re

from django.conf import settings

LIBRARIES = {
    "cdn.jsdelivr.net/npm/bootstrap@4.6.0/dist/css/bootstrap.min.css": (
        "vendor/bootstrap-4.6.0/bootstrap.min.css"
    ),
    # Evennia 5.0.1; the address is one of a moving version, and gone.
    "cdn.jsdelivr.net/npm/redoc@next/bundles/redoc.standalone.js": "redoc.js",
    "cdn.rawgit.com/ejci/favico.js/master/favico-0.3.10.min.js": (
        "vendor/favico.js-0.3.10/favico-0.3.10.min.js"
    ),
    "cdn.redoc.ly/redoc/v3.0.0-rc.0/redoc.standalone.js": (
        "vendor/redoc-3.0.0-rc.0/redoc.standalone.js"
    ),
    "cdnjs.cloudflare.com/ajax/libs/popper.js/1.11.0/umd/popper.min.js": (
        "vendor/popper.js-1.11.0/popper.min.js"
    ),
    "cdnjs.cloudflare.com/ajax/libs/popper.js/1.12.9/umd/popper.min.js": (
        "vendor/popper.js-1.12.9/popper.min.js"
    ),
    "code.jquery.com/jquery-3.2.1.min.js": "vendor/jquery-3.2.1/jquery.min.js",
    "code.jquery.com/jquery-3.2.1.slim.min.js": "vendor/jquery-3.2.1/jquery.slim.min.js",
    "golden-layout.com/files/latest/css/goldenlayout-base.css": (
        "vendor/golden-layout-1.5.9/goldenlayout-base.css"
    ),
    "golden-layout.com/files/latest/css/goldenlayout-dark-theme.css": (
        "vendor/golden-layout-1.5.9/goldenlayout-dark-theme.css"
    ),
    "golden-layout.com/files/latest/js/goldenlayout.min.js": (
        "vendor/golden-layout-1.5.9/goldenlayout.min.js"
    ),
    "maxcdn.bootstrapcdn.com/bootstrap/4.0.0-beta/css/bootstrap.min.css": (
        "vendor/bootstrap-4.0.0-beta/bootstrap.min.css"
    ),
    "maxcdn.bootstrapcdn.com/bootstrap/4.0.0-beta/js/bootstrap.min.js": (
        "vendor/bootstrap-4.0.0-beta/bootstrap.min.js"
    ),
    "maxcdn.bootstrapcdn.com/bootstrap/4.0.0/js/bootstrap.min.js": (
        "vendor/bootstrap-4.0.0/bootstrap.min.js"
    ),
    # Not libraries: the picture shown for a character or an object that has none.
    "placehold.jp/250x250.png": "placeholder-250.svg",
    "placehold.jp/50x50.png": "placeholder-50.svg",
}

LOCAL = {address.encode(): path for address, path in LIBRARIES.items()}
FOREIGN = re.compile(
    rb"(?:https?:)?//(%b)(?=[\"'>\s])" % b"|".join(re.escape(address) for address in LOCAL)
)


# What a page that describes the REST API holds, and what its library is kept from: it tells its
# makers that somebody reads, and has their pictures fetched.
REDOC_MARK = b"<redoc "
STAY_HERE = (
    b'<meta http-equiv="Content-Security-Policy" content="'
    b"connect-src 'self'; img-src 'self' data:; font-src 'self' data:\">\n"
)


def static_url(path: str) -> str:
    """The address of one of our static files."""
    return f"{settings.STATIC_URL}evennia_ai/{path}"


def with_local_libraries(page: bytes) -> bytes:
    """A page with every foreign address that we have a file for replaced by ours."""
    local = FOREIGN.sub(lambda match: static_url(LOCAL[match[1]]).encode(), page)
    return local.replace(b"<head>", b"<head>" + STAY_HERE, 1) if REDOC_MARK in page else local


def with_script(page: bytes, path: str) -> bytes:
    """A page with one of our scripts as the last thing in its head."""
    tag = f'<script src="{static_url(path)}"></script>\n'
    return page.replace(b"</head>", tag.encode() + b"</head>", 1)
