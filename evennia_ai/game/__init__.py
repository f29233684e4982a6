"""Code around Evennia's objects: hearing, perception, sleep state, settings."""
