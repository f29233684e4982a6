"""A mind without a model: deterministic, in persona, and honest about what it is.

It needs no key and no network. All it knows is in the request: persona, lore, what is seen, and
the conversation as the prompt's audience may know it, so what was whispered stays whispered.
"""

from evennia_ai.offline.brain import MODEL as MODEL
from evennia_ai.offline.brain import OfflineBrain as OfflineBrain

__all__ = ["MODEL", "OfflineBrain"]
