"""What touches Evennia's objects: hearing, perception, sleep state, settings, texts."""
