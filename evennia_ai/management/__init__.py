"""Commands for the shell, such as ``evennia ai_uninstall``."""
