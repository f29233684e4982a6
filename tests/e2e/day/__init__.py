"""A day of play: many players and assistants on a real server, with every kind of fault."""
