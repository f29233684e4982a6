"""Steps 1 and 2 of the menu: the character and its persona. `nodes` has the others."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from evennia.objects.objects import DefaultCharacter

from evennia_ai.commands.common import UsageError
from evennia_ai.commands.setup.archetypes import archetypes, filled_persona, next_blank
from evennia_ai.commands.setup.attaching import read_new
from evennia_ai.commands.setup.draft import Draft, read_draft, update_draft, write_draft
from evennia_ai.commands.setup.menu import actor_of, page, refuse
from evennia_ai.commands.setup.personas import PERSONA_CHARS, changed_persona, typed_persona
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


def character(caller: Any, raw_string: str = "", **kwargs: Any) -> Any:
    """Show the characters of the room that can have an assistant."""
    chosen, here = read_draft(caller).name, caller.location.contents if caller.location else ()
    characters = (one for one in here if isinstance(one, DefaultCharacter))
    suitable = islice((one for one in characters if _is_suitable(caller, one)), MOST_LISTED)
    choices = [(_described(one), (_choose, {"who": one.dbref})) for one in suitable]
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
        actor_of(caller).ensure_suitable(obj)
    except UsageError:
        return False
    return True


def _described(one: Any) -> str:
    has = getattr(one, "assistant", None)
    return f"{one.key} ({one.dbref}){', has an assistant: change it' if has else ''}"


def _no_step_before(caller: Any, **kwargs: Any) -> None:
    raise UsageError("This is the first step. To leave the menu, type |wquit|n.")


def _choose(caller: Any, raw_string: str, who: str = "", **kwargs: Any) -> str:
    typed = who or raw_string.strip()
    word, _, name = typed.partition(" ")
    if word.lower() == "new":
        write_draft(caller, Draft(name=read_new(name)[0], typed=name))
        return "persona"
    found = actor_of(caller).find_character(typed)
    actor_of(caller).ensure_suitable(found)
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
    words = persona_words(caller)
    ready = "Take a ready one and fill in its blanks, or type it in your own words: You are ..."
    return page(
        "persona",
        [f"Who is {draft.name}? {ready}", f"Now: {words}" if words else ""],
        choices,
        "Type a number, a persona, or @ and the name of a shared persona.",
        typed=_describe,
        next=(_go_on, {"to_model": True}),
    )


def persona_words(caller: Any) -> str:
    """Return the beginning of the chosen persona, "" if none is chosen, or why it is unusable."""
    try:
        found = actor_of(caller).services.personas.resolve(read_draft(caller).persona)
    except ConfigError as error:
        return str(error)
    return cut_text(found.text, SHOWN_CHARS)


def _go_on(caller: Any, raw_string: str, **kwargs: Any) -> str:
    draft = read_draft(caller)
    if not draft.name:
        raise UsageError("Choose a character first: a number, a name, or new and a name.")
    if not draft.persona and "to_model" in kwargs:
        raise UsageError("Say first who the character is: type a number, or You are ...")
    return "model" if "to_model" in kwargs else "persona"


def _take(caller: Any, raw_string: str, key: str, **kwargs: Any) -> str:
    draft = read_draft(caller)
    former = archetypes().get(draft.archetype, {}).get("settings", {})
    kept = {name: v for name, v in draft.settings.items() if (name, v) not in former.items()}
    update_draft(caller, archetype=key, answers={}, settings=kept)
    return "blank"


def _describe(caller: Any, raw_string: str, **kwargs: Any) -> str:
    typed = typed_persona(raw_string)
    if " " not in typed and not typed.startswith("@"):
        refuse(caller, typed, len(archetypes()))
    actor_of(caller).services.personas.resolve(typed)
    update_draft(caller, persona=typed)
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
    update_draft(caller, persona=changed_persona(read_draft(caller).persona, name, text))
    return "fields"
