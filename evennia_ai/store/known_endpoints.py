"""What is known of model endpoints, in Evennia's table of server settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evennia.server.models import ServerConfig

from evennia_ai.store.brief_transaction import brief_transaction

FACTS_KEY = "evennia_ai_endpoints"


class StoredFacts:
    """`ports.FactStore` in one row."""

    def load(self) -> Mapping[str, Any]:
        """Return the stored facts by endpoint and model."""
        stored = ServerConfig.objects.conf(FACTS_KEY)
        return dict(stored) if isinstance(stored, Mapping) else {}

    def save(self, facts: Mapping[str, Any]) -> None:
        """Replace the stored facts; raises StoreUnavailable."""
        with brief_transaction():
            ServerConfig.objects.conf(FACTS_KEY, dict(facts))
