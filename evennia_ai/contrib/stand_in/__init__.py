"""The stand-in: a brain that answers without a model, of what its request's audience may know."""

from collections.abc import Mapping

from evennia_ai.contrib.stand_in.brain import MODEL, StandIn
from evennia_ai.extension import EntryReader, Extension
from evennia_ai.ports import LLMClient

__all__ = ["EXTENSION", "MODEL", "StandIn", "StandInExtension"]


class StandInExtension(Extension):
    """Answers for the profiles without a model, and gives the last line if a model fails."""

    name = "stand_in"
    entries = frozenset({"OFFLINE_LANGUAGES"})

    @classmethod
    def model_clients(cls, settings: EntryReader) -> Mapping[str, LLMClient]:
        return {"offline": settings.read("OFFLINE_LANGUAGES", StandIn, ())}


EXTENSION = StandInExtension
