"""What Evennia reads to run this repository as a game."""
