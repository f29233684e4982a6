"""Every line a player may see that no model wrote, in one place.

A game overrides any of them with ``AI_ASSISTANT["TEXTS"] = {"fallback": "…"}``; an empty text turns
``first_meeting`` off. They are translated by gettext in the server's ``LANGUAGE_CODE``, where
``USE_I18N`` is on (Evennia's default is off).
"""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext, gettext_noop

from evennia_ai.errors import ConfigError
from evennia_ai.game_settings import game_setting

TEXTS = {
    "fallback": gettext_noop("Forgive me, my thoughts wandered. Ask me again in a moment?"),
    "first_meeting": gettext_noop(
        "({name} is played by a computer program. What you say near such characters is stored, so "
        "that they can remember it. |whelp minds|n tells more, and how to be forgotten.)"
    ),
    "picks_up": gettext_noop("{actor} picks up {item}."),
    "drops": gettext_noop("{actor} drops {item}."),
    "gives": gettext_noop("{actor} gives {item} to {receiver}."),
    "filler_1": gettext_noop("ponders this for a moment."),
    "filler_2": gettext_noop("takes a moment to think."),
    "filler_3": gettext_noop("weighs the words."),
    "mute_usage": gettext_noop("Whom? |wmute <name>|n, and |wmute|n alone shows whom you muted."),
    "mute_none": gettext_noop("You have muted nobody."),
    "mute_list": gettext_noop("You have muted: {names}."),
    "mute_on": gettext_noop(
        "You no longer hear {name}, and {name} no longer hears you. |wmute {name}|n again ends "
        "that."
    ),
    "mute_off": gettext_noop("You and {name} hear each other again."),
    "mute_unknown": gettext_noop("There is no character with a mind called '{name}' here."),
    "mute_unable": gettext_noop("Your character cannot mute anybody in this game."),
    "forget_ask": gettext_noop(
        "This makes every character forget what you said to it and what it answered, {count} lines "
        "in all, for ever. Go on? yes/[no]"
    ),
    "forget_nothing": gettext_noop("Nothing is stored of what you said."),
    "forget_kept": gettext_noop("Nothing was forgotten."),
    "forget_done": gettext_noop("It is forgotten, all of it."),
}
FILLER_KEYS = ("filler_1", "filler_2", "filler_3")


def text(key: str, **values: Any) -> str:
    """A line for players, in the game's own words or translated, with its values filled in."""
    own = game_setting("TEXTS", {})
    line = own.get(key) if isinstance(own, dict) else None
    words = gettext(TEXTS[key]) if line is None else str(line)
    return words.format(**values) if values else words


def check_texts(own: dict[str, str]) -> None:
    """Raise ConfigError where a game overrides a line there is not, or with unknown fields."""
    for key, line in own.items():
        if key not in TEXTS:
            raise ConfigError(f"There is no '{key}'. There are: {', '.join(TEXTS)}.")
        try:
            line.format(name="", count=0, names="", actor="", item="", receiver="")
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise ConfigError(f"'{key}' cannot be used: {error!r}.") from error
