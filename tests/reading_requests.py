"""What a request is about, for models that tests script."""

from evennia_ai.ports import LLMRequest


def is_summary(request: LLMRequest) -> bool:
    """Return True if a summary is asked for."""
    return bool(request.source and request.source.material)


def step_of(request: LLMRequest) -> int:
    """Return the number of the turn's model call, from 1."""
    return request.trace.step if request.trace else 1
