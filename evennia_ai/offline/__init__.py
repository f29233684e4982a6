"""The brain that answers without a model, and is honest about it.

It needs no key and no network. It uses only what is in the request: persona, lore, situation, and
the conversation as the prompt's audience may know it, so a whisper stays private.
"""

from evennia_ai.offline.brain import MODEL, StandIn

__all__ = ["MODEL", "StandIn"]
