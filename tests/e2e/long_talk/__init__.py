"""A talk long enough to be summed up again and again."""
