"""Several servers by `evennia-shards`: a router, two shards, one PostgreSQL."""
