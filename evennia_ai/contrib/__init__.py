"""The package's own extensions, a folder each; delete a folder, and the rest goes on without it."""
