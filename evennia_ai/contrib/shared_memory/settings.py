"""The settings of an assistant that shares memories."""

from dataclasses import dataclass

from evennia_ai.config import setting
from evennia_ai.config.declared import Bounds, seconds
from evennia_ai.contrib.shared_memory.telling import OFF, read_scopes


@dataclass(frozen=True)
class SharedMemorySettings:
    """With whom an assistant shares, what, and when."""

    share_memory: str = setting(
        OFF,
        "With whom the character shares public memories during sleep, and from whom it receives "
        "them: `off`, `faction`, `room`, `world`, or single scopes such as `faction:guards`, "
        "separated by commas.",
        check=read_scopes,
    )
    share_delay: float = setting(
        3_600.0, "Time until others know a memory, from when it was learned.", seconds(0.0)
    )
    share_importance: int = setting(
        5, "Minimum importance (1-10) of an entry that is shared.", Bounds(1, 10)
    )
