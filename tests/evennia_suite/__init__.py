"""Evennia's own tests, with this package's mixins below every character."""
