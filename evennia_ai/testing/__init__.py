"""Doubles that ship: for this package's tests and for those of a game's own tools."""
