"""The stub provider with every fault that endpoints and models were seen to have."""

from tests.provider.process import FaultyProvider

__all__ = ["FaultyProvider"]
