"""Test doubles, for this package's tests and for tests of a game's own tools."""
