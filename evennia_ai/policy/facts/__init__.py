"""Facts in talk: found, compared with a summary, recalled."""
