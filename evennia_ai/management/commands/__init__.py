"""One file for each command, named like it, as Django wants it."""
