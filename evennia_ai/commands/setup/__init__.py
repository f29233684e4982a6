"""``aisetup``: the command, and the menu that it opens."""
