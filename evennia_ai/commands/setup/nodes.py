"""The nodes of `SetupMenu`: each function without an underscore is one, in the order of `STEPS`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from evennia.objects.objects import DefaultCharacter
from evennia.utils.evmenu import EvMenuGotoAbortMessage

from evennia_ai import config
from evennia_ai.commands.common import UsageError
from evennia_ai.commands.setup.attaching import changed_persona, read_new
from evennia_ai.commands.setup.draft import (
    Draft,
    allowed_words,
    archetypes,
    value_words,
    write_draft,
)
from evennia_ai.commands.setup.menu import SetupMenu, page, refuse
from evennia_ai.config.profiles import request_form
from evennia_ai.errors import ConfigError
from evennia_ai.policy.conversation.character import read_persona, stored_fields
from evennia_ai.policy.sanitize import clean_heard, cut_text
from evennia_ai.store.attributes import read_attribute
from evennia_ai.store.names import own_name
from evennia_ai.tools.base import Tool

MOST_LISTED = 12
PERSONA_CHARS, ANSWER_CHARS, SHOWN_CHARS = 6_000, 200, 240
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


def _menu(caller: Any) -> SetupMenu:
    menu: SetupMenu = caller.ndb._evmenu
    return menu


def _words(raw_string: str) -> str:
    typed = clean_heard(raw_string, PERSONA_CHARS)
    if not typed:
        raise UsageError("Type some text, or |wback|n.")
    return typed


def character(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    chosen, here = _menu(caller).draft.name, caller.location.contents if caller.location else ()
    characters = (one for one in here if isinstance(one, DefaultCharacter))
    suitable = islice((one for one in characters if _is_suitable(caller, one)), MOST_LISTED)
    choices = []
    for one in suitable:
        has = ", has an assistant: change it" if getattr(one, "assistant", None) else ""
        choices.append((f"{own_name(one)} ({one.dbref}){has}", (_choose, {"who": one.dbref})))
    return page(
        "character",
        [
            "Who shall have an assistant? It plays a character: hears, answers and remembers.",
            f"Chosen: {chosen}." if chosen else "",
        ],
        choices,
        "Type a number, the name of any character, or new and a name, such as new Mira.",
        typed=_choose,
        back=_no_step_before,
        next=_go_on,
    )


def _is_suitable(caller: Any, obj: Any) -> bool:
    try:
        _menu(caller).actor.ensure_suitable(obj)
    except UsageError:
        return False
    return True


def _no_step_before(caller: Any, **kwargs: Any) -> None:
    raise UsageError("This is the first step. To leave the menu, type |wquit|n.")


def _choose(caller: Any, raw_string: str, who: str = "", **kwargs: Any) -> str:
    typed, actor = who or raw_string.strip(), _menu(caller).actor
    word, _, name = typed.partition(" ")
    if word.lower() == "new":
        write_draft(caller, Draft(name=read_new(name)[0], typed=name))
        return "persona"
    found = actor.find_character(typed)
    actor.ensure_suitable(found)
    stored = read_attribute(found, "ai_persona") or ""
    if not isinstance(stored, str):
        stored = stored_fields(read_persona(stored))
    write_draft(caller, Draft(name=own_name(found), dbref=found.dbref, persona=stored))
    return "persona"


def _go_on(caller: Any, raw_string: str, to: str = "persona", **kwargs: Any) -> str:
    draft = _menu(caller).draft
    if not draft.name:
        raise UsageError("Choose a character first: a number, a name, or new and a name.")
    if not draft.persona and to == "model":
        raise UsageError("Say first who the character is: type a number, or You are ...")
    return to


def persona(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    draft = _menu(caller).draft
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
        next=(_go_on, {"to": "model"}),
    )


def _persona_words(caller: Any) -> str:
    """Return the beginning of the chosen persona, "" if none is chosen, or why it is unusable."""
    menu = _menu(caller)
    try:
        return cut_text(menu.actor.services.personas.resolve(menu.draft.persona).text, SHOWN_CHARS)
    except ConfigError as error:
        return str(error)


def _describe(caller: Any, raw_string: str, **kwargs: Any) -> str:
    typed = _words(raw_string)
    if " " not in typed and not typed.startswith("@"):
        refuse(caller, typed, len(archetypes()))
    _menu(caller).actor.services.personas.resolve(typed)
    _menu(caller).update(persona=typed)
    return "model" if typed.startswith("@") else "fields"


def _take(caller: Any, raw_string: str, key: str, **kwargs: Any) -> str:
    draft = _menu(caller).draft
    former = archetypes().get(draft.archetype, {}).get("settings", {})
    kept = {name: v for name, v in draft.settings.items() if (name, v) not in former.items()}
    _menu(caller).update(archetype=key, answers={}, settings=kept)
    return "blank"


def blank(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    draft = _menu(caller).draft
    question, suggestion = archetypes()[draft.archetype]["blanks"][draft.next_blank]
    ask = f"Type the answer; next takes: {suggestion}."
    title, take = f"persona: {draft.archetype}", (_answer, {"text": suggestion})
    return page(title, [question], ask=ask, typed=_answer, back="persona", next=take)


def _answer(caller: Any, raw_string: str, text: str = "", **kwargs: Any) -> str:
    draft, typed = _menu(caller).draft, text or _words(raw_string)[:ANSWER_CHARS]
    draft.answers[draft.next_blank] = typed
    more = draft.next_blank
    if not more:
        draft.fill_in()
    write_draft(caller, draft)
    return "blank" if more else "fields"


def fields(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    found, lines = read_persona(_menu(caller).draft.persona), []
    for name, purpose in FIELD_HELP.items():
        value = getattr(found, name)
        value = value if isinstance(value, str) else "; ".join(value)
        lines.append(f"{name} ({purpose}): {value or 'empty'}")
    ask = "To change a field, type for example: voice = low and dry. knows, wants, never and "
    ask += "examples are lists with semicolons."
    title = "persona: field by field"
    return page(title, lines, ask=ask, typed=_set_field, back="persona", next="model")


def _set_field(caller: Any, raw_string: str, **kwargs: Any) -> str:
    name, is_field, text = raw_string.partition("=")
    name, text = name.strip().lower(), clean_heard(text, PERSONA_CHARS)
    if not is_field or name not in FIELD_HELP or (name == "text" and not text):
        known = ", ".join(FIELD_HELP)
        raise UsageError(f"Type a field, = and its text. The fields are {known}.")
    _menu(caller).update(persona=changed_persona(_menu(caller).draft.persona, name, text))
    return "fields"


def model(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    services, choices = _menu(caller).actor.services, []
    for name in sorted(services.profiles):
        try:
            told = services.endpoints.told(config.resolve_profile(name, services.profiles))
            words = _profile_words(told)
        except ConfigError as error:
            words = f"{name}: cannot be used. {error}"
        choices.append((words, (_set, {"name": "profile", "value": name, "to": "tools"})))
    now = f"Now: {_menu(caller).in_force.words('profile')}."
    lines = ["Which model profile answers for it?", now]
    return page("model", lines, choices, "Type a number, or next to keep it.")


def _profile_words(profile: config.ModelProfile) -> str:
    if profile.client == "offline":
        return f"{profile.name}: the offline brain, built in; needs no model and costs nothing"
    window = config.window_known(profile).tokens
    parts = (
        "local" if profile.is_local else "remote",
        profile.model or "no model named yet",
        f"form {request_form(profile).name}, {'tested' if profile.told.form else 'not tested'}",
        f"window {window:,} tokens" if window else "window unknown",
    )
    return f"{profile.name}: {'; '.join(parts)}"


def tools(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    every = _families(_menu(caller).actor.services.toolbox.tools)
    off = config.read_families(_menu(caller).in_force.config.tools_off)
    choices = [
        (f"{'off' if name in off else 'on'}: {name}. {purpose}", (_toggle, {"family": name}))
        for name, purpose in every.items()
        if name not in config.ALWAYS_ON
    ]
    always = [f"Always on: {name}. {every[name]}." for name in config.ALWAYS_ON]
    lines = ["What can it do? The game's locks are also asked, each time.", *always]
    return page("tools", lines, choices, "Type a number to turn a family on or off.")


def _families(known: Mapping[str, Tool]) -> dict[str, str]:
    """Return what each family of tools is for by its name: the first sentence of its module."""
    modules = {item.family: item.run.__module__ for item in known.values()}
    docs = {name: " ".join((sys.modules[m].__doc__ or "").split()) for name, m in modules.items()}
    return {name: doc.partition(". ")[0].rstrip(".") for name, doc in docs.items()}


def _toggle(caller: Any, raw_string: str, family: str, **kwargs: Any) -> str:
    menu = _menu(caller)
    off = config.read_families(menu.in_force.config.tools_off) ^ {family}
    changed = {"tools_off": ", ".join(sorted(off))}  # "" also turns on what the game turns off
    menu.update(settings={**menu.draft.settings, **changed})
    return "tools"


def habits(caller: Any, raw_string: str = "", start: int = 0, **kwargs: Any) -> Any:
    """Show the settings a page at a time, first those that decide how the character lives."""
    found, names = _menu(caller).in_force, [*HABITS, *sorted(set(config.FIELDS) - set(HABITS))]
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
    return "setting", {**kwargs, "name": config.known_setting(raw_string.strip().lower())}


def setting(caller: Any, raw_string: str = "", name: str = "profile", **kwargs: Any) -> Any:
    there = ("habits", {"start": kwargs.get("start", 0)})
    lines = [
        config.FIELDS[name].metadata["help"],
        f"Allowed: {allowed_words(name)}.",
        f"Default: {value_words(name, config.FIELDS[name].default)}.",
        f"Now: {_menu(caller).in_force.words(name)}.",
    ]
    ask = "Type a new value. reset lets the character inherit it."
    typed = (_set, {"name": name, **there[1]})
    return page(f"habits: {name}", lines, ask=ask, typed=typed, back=there, next=there)


def _set(
    caller: Any, raw_string: str, name: str, value: str = "", to: str = "setting", **kwargs: Any
) -> Any:
    menu, typed = _menu(caller), value or _words(raw_string)
    checked = None if typed.lower() == "reset" else config.parse_value(name, typed)
    menu.actor.sets_discretion(menu.in_force.profile, name, checked)
    menu.update(settings={**menu.draft.settings, name: checked})
    return to, {**kwargs, "name": name}


def trial(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    line = (
        f"Type what you would say to {_menu(caller).draft.name}, and read what it would say and "
        "do. Nothing is done or stored, and nobody else sees it. Each line stands alone. If a "
        "model answers, its tokens count."
    )
    return page("trial", [line], ask="Type a line.", typed=_try)


def _try(caller: Any, raw_string: str, **kwargs: Any) -> None:
    _menu(caller).actor.start_trial(raw_string)
    raise EvMenuGotoAbortMessage("")  # it stays in this step and shows nothing


def finish(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    draft, found = _menu(caller).draft, _menu(caller).in_force
    names = sorted({*draft.settings} - {"profile", "tools_off"})
    changed = "; ".join(f"{n} {value_words(n, getattr(found.config, n))}" for n in names)
    what = "gets an assistant" if draft.dbref else "is created in this room with an assistant"
    choices = [
        (f"{draft.name} {'is changed' if draft.script else what}", "character"),
        (f"Persona: {_persona_words(caller)}", "persona"),
        (f"Model profile {_profile_words(found.profile)}", "model"),
        (f"Tools off: {found.config.tools_off or 'none'}", "tools"),
        (f"Settings: {changed or 'as they were'}", "habits"),
    ]
    fix = [f"Fix this: {complaint}" for complaint in found.complaints]
    ask = "Type live to put it into the game, or a number to change something."
    return page("finish", fix, choices, ask, typed=_live, next=_live)


def _live(caller: Any, raw_string: str, **kwargs: Any) -> None:
    if raw_string.strip().lower() != "live":
        raise UsageError("This is the last step. Type live, a number from 1 to 5, back or quit.")
    menu = _menu(caller)
    draft, actor = menu.draft, menu.actor
    if draft.trial:
        raise UsageError("A trial is in progress. Wait for its answer.")
    present = replace(draft, settings={}).in_force(actor.services).profile
    for name, value in draft.settings.items():
        actor.sets_discretion(present, name, value)  # nothing is created if this may not be set
    if draft.script:
        actor.change(draft)
    else:
        found = draft.character or actor.create(draft.typed)
        actor.attach(found, draft.persona, draft.own_settings())
    menu.is_done = True
    menu.close_menu()
    raise EvMenuGotoAbortMessage("")
