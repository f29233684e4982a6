"""The stub provider with every fault and habit that endpoints and models were seen to have."""

from tests.provider.process import FaultyProvider

__all__ = ["FaultyProvider"]
