"""Changes to Evennia's web pages: local libraries and the typing indicator."""
