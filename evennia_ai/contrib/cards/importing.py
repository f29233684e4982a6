"""Cards and lorebooks into the game and out of it; ``evennia ai_card`` runs this.

What a stranger wrote keeps a stranger for its author, beside the builders who can change it: no
lock of a tool lets more pass for it than for a stranger.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from evennia.objects.models import ObjectDB
from evennia.objects.objects import DefaultCharacter
from evennia.utils.create import create_object

from evennia_ai import models
from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.contrib.cards import book, card_files
from evennia_ai.contrib.cards.book import Json
from evennia_ai.contrib.cards.card import V3, CharacterCard, exported, read_card, usable_name
from evennia_ai.errors import ConfigError
from evennia_ai.game.perception import excessive_rights, is_played_by, owners_of
from evennia_ai.game.settings import game_setting
from evennia_ai.game.setup import read_scope, write_persona
from evennia_ai.policy.audience import STRANGER
from evennia_ai.policy.conversation.persona_and_lore import EVERYBODY, LoreEntry, stored_fields
from evennia_ai.policy.texts import counted
from evennia_ai.store import server_settings
from evennia_ai.store.attributes import read_attribute, write_attributes
from evennia_ai.store.lore_records import OWN_LORE, LoreRecords, PersonaRecords
from evennia_ai.store.lore_records import read_entries as read_own_lore
from evennia_ai.store.names import own_name

NUMBER = re.compile(r"#\d{1,18}")
# Attributes of a character: the card it came from, and what stood in others before.
CARD, BEFORE = "ai_card", "ai_card_before"
CHANGED = (CARD, OWN_LORE, "ai_persona", "ai_persona_authors")
BOOK = "evennia_ai_book "  # and a name: the server setting that holds a lorebook
BOOK_CHARS = 40
SPEAKER = "the speaker"  # in lore that many tell

Say = Callable[[str], Any]


def import_file(path: Path, name: str, room: str, scopes: Iterable[str], say: Say) -> None:
    """Take a card or a lorebook into the game; raises AssistantError and OSError.

    Args:
        path: the file.
        name: the character that gets the card, "" for the card's own name.
        room: the room of a new character, such as "#2"; "" for where new players start.
        scopes: who knows a lorebook, as `ailore` has it; none: everybody.
        say: told what was taken, changed and left out.
    """
    raw = card_files.read_card_file(path)
    with transaction.atomic():
        if book.is_book(raw):
            if name:
                raise ConfigError("A lorebook has no character: --scope says who knows it.")
            import_book(raw, path.stem, tuple(map(read_scope, scopes)) or (EVERYBODY,), say)
        else:
            import_card(read_card(raw), name, room, say)


def import_card(card: CharacterCard, name: str, room: str, say: Say) -> None:
    """Give a card to a character, a new one if there is none; raises AssistantError.

    Its lore takes the place of that of an earlier card, and no place of other lore.
    """
    character = find_character(name) if name else None
    if character is None:
        character = create_character(name or usable_name(card.text("name")), room)
        say(f"{own_name(character)} ({character.dbref}) is new.")
    ensure_suitable(character)
    before = {key: read_attribute(character, key) for key in CHANGED}
    former, lore = card_of(character), own_lore(character)
    replaced = {item.title.lower() for item in (former.lore if former else [])}
    kept = [item for item in lore if item.title.lower() not in replaced]
    others = tuple(item.title.lower() for item in kept)
    card = replace(card, called=own_name(character), others=others)
    add_assistant_mixin(character)
    write_persona(character, stored_fields(card.persona), STRANGER, keep_authors=False)
    stored = {"name": card.called, "text": json.dumps(card.raw), "others": list(others)}
    listed = [dict(vars(item)) for item in (*kept, *card.lore)]
    write_attributes(character, **{CARD: stored, OWN_LORE: listed, BEFORE: before})
    character.attach_assistant()
    for line in card.report():
        say(line)


def undo_import(name: str, say: Say) -> None:
    """Take the last card of a character back; raises AssistantError."""
    character = find_character(name)
    before = read_attribute(character, BEFORE) if character else None
    if not isinstance(before, dict):
        raise ConfigError(f"No card of a character called '{name}' is known.")
    with transaction.atomic():
        for key in (*CHANGED, BEFORE):
            character.attributes.remove(key)
        write_attributes(character, **{k: v for k, v in before.items() if v is not None})
    say(f"{own_name(character)} is what it was before its card; memories stay.")


def find_character(name: str) -> Any:
    """Return the character with a name or number, None without one; raises ConfigError."""
    wanted = {"id": name[1:]} if NUMBER.fullmatch(name) else {"db_key__iexact": name}
    rows = ObjectDB.objects.filter(**wanted)
    matches = [item for item in rows if isinstance(item, DefaultCharacter)]
    if len(matches) > 1:
        numbers = ", ".join(item.dbref for item in matches)
        raise ConfigError(f"Several characters are called '{name}': name one of {numbers}.")
    return matches[0] if matches else None


def create_character(name: str, room: str) -> Any:
    """Return a new character in a room; raises ConfigError."""
    if not name or usable_name(name) != name:
        raise ConfigError("The card has no name that a game can use: --character <name> gives one.")
    if find_character(name):
        raise ConfigError(f"{name} is there already: --character {name} gives it this card.")
    number = (room or settings.START_LOCATION).lstrip("#")
    here = ObjectDB.objects.filter(id=number, db_location=None) if number.isdecimal() else None
    if not here:
        raise ConfigError(f"There is no room #{number}: --room names one.")
    kind = settings.BASE_CHARACTER_TYPECLASS
    character = create_object(kind, name, location=here[0], home=here[0])
    character.locks.add("edit:perm(Admin);get:false()")
    return character


def ensure_suitable(character: Any) -> None:
    """Raise ConfigError for a character of a player, or one that a model must not act through."""
    name = own_name(character)
    is_played = any(is_played_by(owner, character) for owner in owners_of(character)[0])
    if character.has_account or is_played:
        raise ConfigError(f"{name} belongs to a player. Choose another character.")
    if too_much := excessive_rights(character):
        raise ConfigError(f"{name} cannot have an assistant: {too_much}")


def card_of(character: Any) -> CharacterCard | None:
    """Return the card of a character, None without one."""
    stored = read_attribute(character, CARD)
    if not isinstance(stored, dict):
        return None
    card = read_card(json.loads(stored["text"]))
    return replace(card, called=stored["name"], others=tuple(stored.get("others", ())))


def own_lore(character: Any) -> list[LoreEntry]:
    return read_own_lore(read_attribute(character, OWN_LORE))[0]


def import_book(raw: Json, file_name: str, scopes: tuple[str, ...], say: Say) -> None:
    """Take a lorebook in as lore of the game, in place of an earlier one of its name."""
    stored = book.book_in(raw)
    entries = book.read_entries(stored)
    name = book.cleaned(str(stored.get("name") or file_name), BOOK_CHARS) or "book"
    remove_lore(server_settings.read_mapping(f"{BOOK}{name}").get("titles", ()))
    lore = book.in_order(entries, book.lore_of(entries, SPEAKER))
    taken = add_lore([replace(item, scopes=scopes) for item in lore])
    values = {"titles": [item.title for item in taken], "text": json.dumps(raw)}
    server_settings.write(f"{BOOK}{name}", values)
    say(f"The lorebook '{name}': {counted(len(taken), 'entry', 'entries')} taken.")
    say(f"Changed: {', '.join(book.unknown_fields(entries)) or 'nothing'}.")
    off, same = len(entries) - len(lore), len(lore) - len(taken)
    say(f"Left out: {off} off or empty, {same} with titles that other lore has.")


def add_lore(entries: Iterable[LoreEntry]) -> list[LoreEntry]:
    """Store lore of the game and return it, but for what has the title of other lore."""
    others = {item.title.lower() for item in LoreRecords(game_setting("LORE", ())).entries()}
    new = [item for item in entries if item.title.lower() not in others]
    rows = [models.Lore(**vars(item) | {"authors": sorted(item.authors)}) for item in new]
    models.Lore.objects.bulk_create(rows)
    return new


def remove_lore(titles: Iterable[str]) -> None:
    """Delete lore that was written in the game by its titles."""
    wanted, known = {title.lower() for title in titles}, LoreRecords().entries()
    gone = [item.title for item in known if item.title.lower() in wanted]
    models.Lore.objects.filter(title__in=gone).delete()


def export_file(name: str, path: Path, picture: Path | None) -> None:
    """Write a character's card or a lorebook into a new file; raises AssistantError and OSError."""
    known, character = server_settings.read_mapping(f"{BOOK}{name}"), find_character(name)
    if character is None and not known:
        raise ConfigError(f"No character and no lorebook is called '{name}'.")
    image = picture.read_bytes() if picture else None
    content = book_file(known) if character is None else card_file_of(character, path, image)
    with path.open("xb") as file:
        file.write(content)


def book_file(known: Json) -> bytes:
    """Return a lorebook as its lore stands now, in the form in which it came."""
    raw = json.loads(known["text"])
    stored = book.book_in(raw)
    entries = book.read_entries(stored)
    before = [
        item if item and item.title in known["titles"] else None
        for item in book.lore_of(entries, SPEAKER)
    ]
    listed: Any = book.written_back(entries, before, LoreRecords().entries())[0]
    if isinstance(stored["entries"], dict):
        listed = {str(place): entry for place, entry in enumerate(listed)}
    new = {**stored, "entries": listed}
    return card_files.as_json(new if stored is raw else {**raw, "data": new})


def card_file_of(character: Any, path: Path, image: bytes | None) -> bytes:
    """Return a character's card as it is now, in the form that the file's name asks for."""
    card = card_of(character)
    personas = PersonaRecords(game_setting("PERSONAS", {}))
    persona = personas.resolve(read_attribute(character, "ai_persona"))
    v2, v3 = exported(card, own_name(character), persona, own_lore(character))
    is_v3 = path.suffix == ".charx" or (card and card.raw.get("spec") == V3)
    return card_files.card_file(path.suffix.lower(), v2, v3 if is_v3 else None, image)
