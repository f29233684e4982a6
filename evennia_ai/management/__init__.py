"""Commands for the shell: ``evennia ai_uninstall``."""
