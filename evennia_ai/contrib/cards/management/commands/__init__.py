"""The commands of `evennia` in a shell."""
