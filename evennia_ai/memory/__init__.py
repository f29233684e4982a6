"""Search over what characters remember; journal and log can rebuild every index."""
