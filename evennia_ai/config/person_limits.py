"""The game-wide entry ``PLAYER_LIMITS``: what one person may cause."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from evennia_ai.config.fields import brief
from evennia_ai.errors import ConfigError
from evennia_ai.policy.limits.people import PersonLimits


def read_person_limits(value: object) -> PersonLimits:
    """Return the limits; raises ConfigError for an unknown name or a value out of its range."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"it must be a dictionary, not {brief(value)}.")
    try:
        return PersonLimits(**value)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg'].lower()}" for one in error.errors()
        )
        known = ", ".join(PersonLimits.model_fields)
        raise ConfigError(f"{wrong}. The limits are: {known}.") from error
