"""What characters remember, made findable: indices that can be rebuilt from the journal and log."""
