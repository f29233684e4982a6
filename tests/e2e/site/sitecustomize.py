"""Imported by every Python process of a game under test, since its folder is on their path.

Evennia imports `inflect`, which has `typeguard` rewrite its functions: 1.7 s of CPU in launcher,
portal and server alike, each time they start. Nothing else is different.
"""

from contextlib import suppress

with suppress(ImportError):
    import typeguard

    typeguard.typechecked = lambda target=None, **_: target or (lambda one: one)
