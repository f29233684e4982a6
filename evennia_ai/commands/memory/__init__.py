"""``aimemory``: what a character remembers, to be read, searched and changed."""
