"""``aimemory``: read, search and change what a character remembers."""
