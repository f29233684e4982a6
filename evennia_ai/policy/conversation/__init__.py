"""Who is spoken to, which events belong together, when a turn is over."""
