"""A talk that needs many compactions."""
