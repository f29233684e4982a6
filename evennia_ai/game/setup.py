"""What a change of an assistant or of lore must keep to, wherever staff make it."""

import re
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

from evennia.objects.models import ObjectDB

from evennia_ai.config import FIELDS, AssistantConfig, ModelProfile, parse_value, resolve_profile
from evennia_ai.config.declared import OWNERS
from evennia_ai.errors import ConfigError
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.minds import PERSONA_AUTHORS, unknown_families
from evennia_ai.game.settings import game_setting
from evennia_ai.policy.conversation.persona_and_lore import check_scope
from evennia_ai.store.attributes import read_attribute, write_attributes

PERSONA_FIELDS: Mapping[str, str] = {
    "text": "who the character is",
    "voice": "how it sounds",
    "manner": "how it behaves",
    "knows": "what it knows and others may not",
    "wants": "what it wants",
    "never": "what it never does",
    "examples": "lines that it might say",
}
# The groups of the core's settings, in their order, each by its first one.
GROUPS = {
    "profile": "Model",
    "turn_deadline": "Turns, talk and tools",
    "tick_rate": "Acting unasked",
    "lore_tokens": "Lore",
    "sleep_schedule": "Sleep",
    "compact_enabled": "Summaries",
    "prune_enabled": "Old journal entries",
    "pin_tokens": "Memory",
    "thinking_after": "What players see",
}
OF_EXTENSIONS = "Settings of extensions"
LINE_CHARS = 78
ENDS = re.compile(r"\. "), re.compile(r"[.,;] | \(")  # of sentences, of clauses
DISCRETION = "whisper_policy"
HERE = "room:here"
ROOM_NUMBER = re.compile(r"room:#?(\d{1,18})")


def read_setting(services: Any, name: str, typed: str) -> Any:
    """Return the checked value that a builder typed, None to inherit; raises ConfigError."""
    value = parse_value(name, typed) if typed else None
    families = str(value or "") if name == "tools_off" else ""
    if wrong := unknown_families(families, services.toolbox.tools):
        raise ConfigError(wrong)
    return value


def value_words(name: str, value: Any) -> str:
    """Return the value of a setting in words, with its unit."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    shown = f"{value:,.15g}" if isinstance(value, int | float) else str(value)
    return f"{shown} {FIELDS[name].metadata['unit']}".strip() or "none"


def setting_lines(values: Mapping[str, object], origins: Mapping[str, str]) -> Iterator[str]:
    """Yield every setting on a line below its group; ``origins`` say where a value comes from."""
    core = [name for name in FIELDS if OWNERS[name] is AssistantConfig]
    for name in core:
        if name in GROUPS:
            yield f"|c{GROUPS[name]}|n"
        yield setting_line(name, values[name], origins.get(name, ""))
    yield f"|c{OF_EXTENSIONS}|n"
    for name in sorted(FIELDS.keys() - core):
        yield setting_line(name, values[name], origins.get(name, ""))


def setting_line(name: str, value: object, origin: str = "", width: int = LINE_CHARS) -> str:
    """Return a setting with its value and what it does, the latter shortened to about a width."""
    shown = ", ".join(filter(None, (value_words(name, value)[:60], origin)))
    about = first_clauses(FIELDS[name].metadata["help"], width - len(f"{name} ({shown}): "))
    first, *more = map(clean_output, wrap(f"{name} ({shown}): {about}", width - 4))
    return "\n    ".join([f"|w{name}|n {first.removeprefix(f'{name} ')}", *more])


def first_clauses(text: str, columns: int) -> str:
    """Return the whole sentences of a text that fit, else whole clauses, one at least."""
    if len(text) <= columns:
        return text
    ends = [[match.start() for match in end.finditer(f"{text} ")] for end in ENDS]
    near = ([at for at in places if at <= columns] for places in ends)
    return text[: max(next(filter(None, near), ends[1][:1]))]


def sets_discretion(services: Any, profile: ModelProfile, name: str, value: Any) -> bool:
    """Return True if a setting changes the whisper_policy, which only admins may do.

    ``profile`` is the present one. Raises ConfigError for an unknown profile.
    """
    profiles = []
    if name == "profile":
        chosen = game_setting(name, FIELDS[name].default) if value is None else value
        profiles = [profile, resolve_profile(str(chosen), services.profiles)]
    return name == DISCRETION or any(DISCRETION in item.settings for item in profiles)


def write_persona(character: Any, persona: Any, author: str, keep_authors: bool) -> None:
    """Store a persona; its authors count as those before, if a part of it is theirs."""
    before = read_attribute(character, PERSONA_AUTHORS) if keep_authors else None
    authors = sorted({*(before or ()), *filter(None, [author])})
    write_attributes(character, **{"ai_persona": persona, PERSONA_AUTHORS: authors})


def read_scope(written: str, here: str = "") -> str:
    """Return a scope in its normal form, a room as its tag or number; raises ConfigError.

    ``here`` is the dbref of the room of whoever wrote it.
    """
    scope = check_scope(written)
    if scope == HERE:
        if not here:
            raise ConfigError("You are in no room. Name the room by its number or by a tag.")
        return f"room:{here}"
    number = ROOM_NUMBER.fullmatch(scope)
    if number is None:
        return scope
    if not ObjectDB.objects.filter(id=number[1], db_location=None).exists():
        raise ConfigError(f"There is no room #{number[1]}.")
    return f"room:#{number[1]}"
