"""The demo game's own settings, screens and starter; no part of the package `evennia_ai`."""
