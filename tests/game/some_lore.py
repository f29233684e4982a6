"""A game's own lore, for a test."""

LORE = [
    {
        "title": "Harbour",
        "text": "It freezes in winter.",
        "scopes": "room:quay, tag:sailor",
        "keys": "ship, sail away",
    }
]
