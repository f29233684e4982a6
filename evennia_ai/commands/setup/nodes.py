"""The steps of the menu. Each function without an underscore is a node of `SetupMenu`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evennia.objects.objects import DefaultCharacter
from evennia.utils.evmenu import EvMenuGotoAbortMessage

from evennia_ai.commands.common import UsageError
from evennia_ai.commands.setup.archetypes import archetypes, filled_persona, next_blank
from evennia_ai.commands.setup.attaching import SetupCommand, read_new
from evennia_ai.commands.setup.descriptions import (
    allowed_words,
    families,
    profile_words,
    value_words,
)
from evennia_ai.commands.setup.draft import Draft, InForce, in_force, read_draft, write_draft
from evennia_ai.commands.setup.menu import page, refuse
from evennia_ai.commands.setup.personas import PERSONA_CHARS, changed_persona, typed_persona
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
from evennia_ai.policy.conversation.persona import read_persona, stored_fields
from evennia_ai.policy.sanitize import clean_heard, cut_text
from evennia_ai.store.attributes import read_attribute

MOST_LISTED = 12
ANSWER_CHARS, SHOWN_CHARS = 200, 240
FIELD_HELP: Mapping[str, str] = {
    "text": "who the character is",
    "voice": "how it sounds",
    "manner": "how it behaves",
    "knows": "what it knows and others may not",
    "wants": "what it wants",
    "never": "what it never does",
    "examples": "lines that it might say",
}
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


def _actor(caller: Any) -> SetupCommand:
    actor: SetupCommand = caller.ndb._evmenu.actor
    return actor


def _found(caller: Any) -> InForce:
    return in_force(read_draft(caller), _actor(caller).services)


def _update(caller: Any, **changes: Any) -> None:
    write_draft(caller, replace(read_draft(caller), **changes))


def character(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    """Show the characters of the room that can have an assistant."""
    chosen, here = read_draft(caller).name, caller.location.contents if caller.location else ()
    choices = [
        (_described(one), (_choose, {"who": one.dbref}))
        for one in here
        if isinstance(one, DefaultCharacter) and _is_suitable(caller, one)
    ]
    return page(
        "character",
        [
            "Who shall have an assistant? It plays a character: hears, answers and remembers.",
            f"Chosen: {chosen}." if chosen else "",
        ],
        choices[:MOST_LISTED],
        "Type a number, the name of any character, or new and a name, such as new Mira.",
        typed=_choose,
        back=_no_step_before,
        next=_leave_character,
    )


def _is_suitable(caller: Any, obj: Any) -> bool:
    try:
        _actor(caller).ensure_suitable(obj)
    except UsageError:
        return False
    return True


def _described(one: Any) -> str:
    has = getattr(one, "assistant", None)
    return f"{one.key} ({one.dbref}){', has an assistant: change it' if has else ''}"


def _no_step_before(caller: Any, **kwargs: Any) -> None:
    raise UsageError("This is the first step. To leave the menu, type |wquit|n.")


def _leave_character(caller: Any, **kwargs: Any) -> str:
    if not read_draft(caller).name:
        raise UsageError("Choose a character first: a number, a name, or new and a name.")
    return "persona"


def _choose(caller: Any, raw_string: str, who: str = "", **kwargs: Any) -> str:
    typed = who or raw_string.strip()
    word, _, name = typed.partition(" ")
    if word.lower() == "new":
        write_draft(caller, Draft(name=read_new(name)[0], typed=name))
        return "persona"
    found = _actor(caller).find_character(typed)
    _actor(caller).ensure_suitable(found)
    stored = read_attribute(found, "ai_persona") or ""
    if not isinstance(stored, str):
        stored = stored_fields(read_persona(stored))
    write_draft(caller, Draft(name=found.key, dbref=found.dbref, persona=stored))
    return "persona"


def persona(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    """Show the archetypes, and take a persona in the builder's own words."""
    draft = read_draft(caller)
    choices: list[Any] = [(a["title"], (_take, {"key": key})) for key, a in archetypes().items()]
    if isinstance(draft.persona, dict) or draft.persona[:1] not in ("", "@"):
        choices.append(("Change the present persona, field by field", "fields"))
    words = _persona_words(caller)
    ready = "Take a ready one and fill in its blanks, or type it in your own words: You are ..."
    return page(
        "persona",
        [f"Who is {draft.name}? {ready}", f"Now: {words}" if words else ""],
        choices,
        "Type a number, a persona, or @ and the name of a shared persona.",
        typed=_describe,
        next=_leave_persona,
    )


def _persona_words(caller: Any) -> str:
    """Return the beginning of the chosen persona, "" if none is chosen."""
    found = _actor(caller).services.personas.resolve(read_draft(caller).persona)
    return cut_text(found.text, SHOWN_CHARS)


def _leave_persona(caller: Any, **kwargs: Any) -> str:
    if not read_draft(caller).persona:
        raise UsageError("Say first who the character is: type a number, or You are ...")
    return "model"


def _take(caller: Any, raw_string: str, key: str, **kwargs: Any) -> str:
    _update(caller, archetype=key, answers={})
    return "blank"


def _describe(caller: Any, raw_string: str, **kwargs: Any) -> str:
    typed = typed_persona(raw_string)
    if " " not in typed and not typed.startswith("@"):
        refuse(caller, typed, len(archetypes()))
    _actor(caller).services.personas.resolve(typed)
    _update(caller, persona=typed)
    return "model" if typed.startswith("@") else "fields"


def blank(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    """Ask for the next blank of the archetype."""
    draft = read_draft(caller)
    key = next_blank(draft.archetype, draft.answers)
    question, suggestion = archetypes()[draft.archetype]["blanks"][key]
    ask = f"Type the answer; next takes: {suggestion}."
    title, take = f"persona: {draft.archetype}", (_answer, {"text": suggestion})
    return page(title, [question], ask=ask, typed=_answer, back="persona", next=take)


def _answer(caller: Any, raw_string: str, text: str = "", **kwargs: Any) -> str:
    draft, typed = read_draft(caller), text or typed_persona(raw_string)[:ANSWER_CHARS]
    draft.answers[next_blank(draft.archetype, draft.answers)] = typed
    more = next_blank(draft.archetype, draft.answers)
    if not more:
        draft.persona = filled_persona(draft.archetype, {"name": draft.name, **draft.answers})
        draft.settings |= archetypes()[draft.archetype]["settings"]
    write_draft(caller, draft)
    return "blank" if more else "fields"


def fields(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    """Show the fields of the persona, and take one."""
    found = read_persona(read_draft(caller).persona)
    lines = []
    for name, purpose in FIELD_HELP.items():
        value = getattr(found, name)
        value = value if isinstance(value, str) else "; ".join(value)
        lines.append(f"{name} ({purpose}): {value or 'empty'}")
    ask = "To change a field, type for example: voice = low and dry. knows, wants, never and "
    ask += "examples are lists with semicolons."
    return page(
        "persona: field by field", lines, ask=ask, typed=_set_field, back="persona", next="model"
    )


def _set_field(caller: Any, raw_string: str, **kwargs: Any) -> str:
    name, is_field, text = raw_string.partition("=")
    name, text = name.strip().lower(), clean_heard(text, PERSONA_CHARS)
    if not is_field or name not in FIELD_HELP or (name == "text" and not text):
        known = ", ".join(FIELD_HELP)
        raise UsageError(f"Type a field, = and its text. The fields are {known}.")
    _update(caller, persona=changed_persona(read_draft(caller).persona, name, text))
    return "fields"


def model(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    """Show the model profiles."""
    services, choices = _actor(caller).services, []
    for name in sorted(services.profiles):
        try:
            told = services.endpoints.told(resolve_profile(name, services.profiles))
            words = profile_words(told)
        except ConfigError as error:
            words = f"{name}: cannot be used. {error}"
        choices.append((words, (_set, {"name": "profile", "value": name, "to": "tools"})))
    lines = ["Which model profile answers for it?", f"Now: {_found(caller).words('profile')}."]
    return page("model", lines, choices, "Type a number, or next to keep it.")


def tools(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    """Show the families of tools."""
    every = families(_actor(caller).services.toolbox.tools)
    off = read_families(_found(caller).config.tools_off)
    choices = [
        (f"{'off' if name in off else 'on'}: {name}. {purpose}", (_toggle, {"family": name}))
        for name, purpose in every.items()
        if name not in ALWAYS_ON
    ]
    always = [f"Always on: {name}. {every[name]}." for name in ALWAYS_ON]
    lines = ["What can it do? The game's locks are also asked, each time.", *always]
    return page("tools", lines, choices, "Type a number to turn a family on or off.")


def _toggle(caller: Any, raw_string: str, family: str, **kwargs: Any) -> str:
    off = read_families(_found(caller).config.tools_off) ^ {family}
    changed = {"tools_off": ", ".join(sorted(off))}  # "" also turns on what the game turns off
    _update(caller, settings={**read_draft(caller).settings, **changed})
    return "tools"


def habits(caller: Any, raw_string: str = "", start: int = 0, **kwargs: Any) -> Any:
    """Show the settings a page at a time, first those that decide how the character lives."""
    found, names = _found(caller), [*HABITS, *sorted(set(FIELDS) - set(HABITS))]
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
        f"Now: {_found(caller).words(name)}.",
    ]
    ask = "Type a new value. reset lets the character inherit it."
    typed = (_set, {"name": name, **there[1]})
    return page(f"habits: {name}", lines, ask=ask, typed=typed, back=there, next=there)


def _set(
    caller: Any, raw_string: str, name: str, value: str = "", to: str = "setting", **kwargs: Any
) -> Any:
    draft, typed = read_draft(caller), value or typed_persona(raw_string)
    checked = None if typed.lower() == "reset" else parse_value(name, typed)
    _actor(caller).sets_discretion(_found(caller).profile, name, checked)
    _update(caller, settings={**draft.settings, name: checked})
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
    start_trial(_actor(caller), read_draft(caller), raw_string)
    raise EvMenuGotoAbortMessage("")  # it stays in this step and shows nothing


def finish(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    """Show all that was chosen."""
    draft, found = read_draft(caller), _found(caller)
    names = sorted({*draft.settings} - {"profile", "tools_off"})
    changed = "; ".join(f"{n} {value_words(n, getattr(found.config, n))}" for n in names)
    what = "gets an assistant" if draft.dbref else "is created in this room with an assistant"
    choices = [
        (f"{draft.name} {'is changed' if draft.script else what}", "character"),
        (f"Persona: {_persona_words(caller)}", "persona"),
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
    draft, actor = read_draft(caller), _actor(caller)
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
