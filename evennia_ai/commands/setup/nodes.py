"""The nodes of `SetupMenu`: each function without an underscore is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evennia.utils.evmenu import EvMenuGotoAbortMessage

from evennia_ai.commands.common import UsageError
from evennia_ai.commands.setup.descriptions import (
    allowed_words,
    families,
    profile_words,
    value_words,
)
from evennia_ai.commands.setup.draft import InForce, in_force, read_draft, update_draft
from evennia_ai.commands.setup.menu import actor_of, page
from evennia_ai.commands.setup.persona_nodes import (
    blank,
    character,
    fields,
    persona,
    persona_words,
)
from evennia_ai.commands.setup.personas import typed_persona
from evennia_ai.commands.setup.trial import start_trial
from evennia_ai.config import (
    ALWAYS_ON,
    FIELDS,
    known_setting,
    parse_value,
    read_families,
    resolve_profile,
)
from evennia_ai.errors import ConfigError

__all__ = ("blank", "character", "fields", "persona")  # nodes of the other module
MOST_LISTED = 12
HABITS: Mapping[str, str] = {  # they come first among the settings
    "autonomous_calls_per_hour": "Turns in an hour that nobody asked for",
    "autonomy_quiet": "Silence before it acts unasked",
    "sleep_schedule": "Hours of sleep",
    "sleep_after_long_quiet": "Time from a conversation to a nap",
    "sleep_on_request": "Who may send it to sleep",
    "daily_plan": "Plans its day",
    "share_memory": "Shares memories with",
    "discretion": "Discretion about whispers (for admins)",
}


def found_for(caller: Any) -> InForce:
    """Return the settings that the caller's draft would bring into force."""
    return in_force(read_draft(caller), actor_of(caller).services)


def model(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    """Show the model profiles."""
    services, choices = actor_of(caller).services, []
    for name in sorted(services.profiles):
        try:
            told = services.endpoints.told(resolve_profile(name, services.profiles))
            words = profile_words(told)
        except ConfigError as error:
            words = f"{name}: cannot be used. {error}"
        choices.append((words, (_set, {"name": "profile", "value": name, "to": "tools"})))
    lines = ["Which model profile answers for it?", f"Now: {found_for(caller).words('profile')}."]
    return page("model", lines, choices, "Type a number, or next to keep it.")


def tools(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    """Show the families of tools."""
    every = families(actor_of(caller).services.toolbox.tools)
    off = read_families(found_for(caller).config.tools_off)
    choices = [
        (f"{'off' if name in off else 'on'}: {name}. {purpose}", (_toggle, {"family": name}))
        for name, purpose in every.items()
        if name not in ALWAYS_ON
    ]
    always = [f"Always on: {name}. {every[name]}." for name in ALWAYS_ON]
    lines = ["What can it do? The game's locks are also asked, each time.", *always]
    return page("tools", lines, choices, "Type a number to turn a family on or off.")


def _toggle(caller: Any, raw_string: str, family: str, **kwargs: Any) -> str:
    off = read_families(found_for(caller).config.tools_off) ^ {family}
    changed = {"tools_off": ", ".join(sorted(off))}  # "" also turns on what the game turns off
    update_draft(caller, settings={**read_draft(caller).settings, **changed})
    return "tools"


def habits(caller: Any, raw_string: str = "", start: int = 0, **kwargs: Any) -> Any:
    """Show the settings a page at a time, first those that decide how the character lives."""
    found, names = found_for(caller), [*HABITS, *sorted(set(FIELDS) - set(HABITS))]
    end = start + (MOST_LISTED if start else len(HABITS))
    choices: list[Any] = [
        (found.words(name, HABITS.get(name, "")), ("setting", {"name": name, "start": start}))
        for name in names[start:end]
    ]
    if end < len(names):
        choices.append((f"More settings ({len(names) - end})", ("habits", {"start": end})))
    back = {"back": "habits"} if start else {}
    ask = "Type a number, or the name of any setting."
    return page("habits", [], choices, ask, typed=(_named, {"start": start}), **back)


def _named(caller: Any, raw_string: str, **kwargs: Any) -> Any:
    return "setting", {**kwargs, "name": known_setting(raw_string.strip().lower())}


def setting(caller: Any, raw_string: str = "", name: str = "profile", **kwargs: Any) -> Any:
    """Show one setting, and ask for its value."""
    there = ("habits", {"start": kwargs.get("start", 0)})
    lines = [
        FIELDS[name].metadata["help"],
        f"Allowed: {allowed_words(name)}.",
        f"Default: {value_words(name, FIELDS[name].default)}.",
        f"Now: {found_for(caller).words(name)}.",
    ]
    ask = "Type a new value. reset lets the character inherit it."
    typed = (_set, {"name": name, **there[1]})
    return page(f"habits: {name}", lines, ask=ask, typed=typed, back=there, next=there)


def _set(
    caller: Any, raw_string: str, name: str, value: str = "", to: str = "setting", **kwargs: Any
) -> Any:
    draft, typed = read_draft(caller), value or typed_persona(raw_string)
    checked = None if typed.lower() == "reset" else parse_value(name, typed)
    actor_of(caller).sets_discretion(found_for(caller).profile, name, checked)
    update_draft(caller, settings={**draft.settings, name: checked})
    return to, {**kwargs, "name": name}


def trial(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    """Take lines for the trial talk."""
    line = (
        f"Type what you would say to {read_draft(caller).name}, and read what it would say and "
        "do. Nothing is done or stored, and nobody else sees it. Each line stands alone. If a "
        "model answers, its tokens count."
    )
    return page("trial", [line], ask="Type a line.", typed=_try)


def _try(caller: Any, raw_string: str, **kwargs: Any) -> None:
    start_trial(actor_of(caller), read_draft(caller), raw_string)
    raise EvMenuGotoAbortMessage("")  # it stays in this step and shows nothing


def finish(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    """Show all that was chosen."""
    draft, found = read_draft(caller), found_for(caller)
    names = sorted({*draft.settings} - {"profile", "tools_off"})
    changed = "; ".join(f"{n} {value_words(n, getattr(found.config, n))}" for n in names)
    what = "gets an assistant" if draft.dbref else "is created in this room with an assistant"
    choices = [
        (f"{draft.name} {'is changed' if draft.script else what}", "character"),
        (f"Persona: {persona_words(caller)}", "persona"),
        (f"Model profile {profile_words(found.profile)}", "model"),
        (f"Tools off: {found.config.tools_off or 'none'}", "tools"),
        (f"Settings: {changed or 'as they were'}", "habits"),
    ]
    fix = [f"Fix this: {complaint}" for complaint in found.complaints]
    ask = "Type live to put it into the game, or a number to change something."
    return page("finish", fix, choices, ask, typed=_live, next=_live)


def _live(caller: Any, raw_string: str, **kwargs: Any) -> None:
    if raw_string.strip().lower() != "live":
        raise UsageError("This is the last step. Type live, a number from 1 to 5, back or quit.")
    draft, actor = read_draft(caller), actor_of(caller)
    if draft.trial:
        raise UsageError("A trial is in progress. Wait for its answer.")
    present = in_force(replace(draft, settings={}), actor.services).profile
    for name, value in draft.settings.items():
        actor.sets_discretion(present, name, value)  # nothing is created if this may not be set
    if draft.script:
        actor.change(draft.script, draft.persona, draft.settings)
    else:
        found = draft.character or actor.create(draft.typed)
        actor.attach(found, draft.persona, draft.own_settings())
    caller.ndb._evmenu.is_done = True
    caller.ndb._evmenu.close_menu()
    raise EvMenuGotoAbortMessage("")
