"""Character cards V1 to V3: their fields as a persona and lore, and back."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from evennia_ai.contrib.cards import book
from evennia_ai.contrib.cards.book import Json, cleaned
from evennia_ai.errors import ConfigError
from evennia_ai.policy.conversation.persona_and_lore import CHAR, LoreEntry, Persona, render_persona
from evennia_ai.policy.sanitize import clean_heard, strip_reasoning
from evennia_ai.policy.texts import counted

V3 = "chara_card_v3"
VERSIONS = {"chara_card_v2": "2.0", V3: "3.0"}
WORDS = ("description", "personality", "scenario")
V1_FIELDS = ("name", *WORDS, "first_mes", "mes_example")
V2_FIELDS = ("creator_notes", "system_prompt", "post_history_instructions", "creator",
             "character_version")  # fmt: skip
# What is in no prompt: orders to a model, and openings of a talk that a game opens itself.
LEFT_OUT = ("system_prompt", "post_history_instructions", "first_mes", "alternate_greetings",
            "group_only_greetings")  # fmt: skip
KEPT = ("creator_notes", "creator_notes_multilingual", "tags", "creator", "character_version",
        "source", "assets", "creation_date", "modification_date",
        "extensions")  # fmt: skip
TEXT_CHARS, LINE_CHARS, MOST_EXAMPLES, NAME_CHARS = 6_000, 300, 12, 40
MOST_OWN = 100  # pieces of lore of one character: each prompt reads them all (200: 13 ms)
BEGINNING = "You are {{char}}."
SPEAKERS = {"{{char}}", "<bot>"}  # before a line of the character's own
NO_NAME = re.compile(r"[^\w '.-]+|_")


def usable_name(written: str) -> str:
    """Return a name that a game can use, without any markup; "" if nothing is left."""
    words = NO_NAME.sub(" ", clean_heard(written, 2 * NAME_CHARS))
    return " ".join(words.split())[:NAME_CHARS].strip(" -.'")


@dataclass(frozen=True)
class CharacterCard:
    """A card whose fields are checked.

    Attributes:
        raw: the object of its file.
        data: its fields, as V2 and V3 name them.
        called: the name of the character when it got the card.
        others: titles in lower case of the character's lore that is not from a card.
    """

    raw: Json
    data: Json
    called: str = ""
    others: tuple[str, ...] = ()

    def text(self, field: str) -> str:
        return self.data.get(field) or ""

    @cached_property
    def entries(self) -> list[Json]:
        stored = self.data.get("character_book")
        return book.read_entries(stored) if stored else []

    @property
    def nickname(self) -> str:
        """Return what V3 puts for ``{{char}}``, "" for the name or if a builder chose another."""
        is_own = self.called == usable_name(self.text("name"))
        return usable_name(self.text("nickname")) if is_own else ""

    @cached_property
    def persona(self) -> Persona:
        """Return the persona; ``{{char}}`` and ``{{user}}`` stay, and are read with each use."""
        name = self.nickname
        return self._persona.map_texts(partial(CHAR.sub, name)) if name else self._persona

    @cached_property
    def _persona(self) -> Persona:
        about, manner, scene = (cleaned(self.text(field), TEXT_CHARS) for field in WORDS)
        begins = about.startswith(BEGINNING)
        text = " ".join(filter(None, ("" if begins else BEGINNING, about, scene)))
        own = {*SPEAKERS, *(self.text(n).strip().lower() for n in ("name", "nickname"))} - {""}
        parts = [line.partition(":") for line in self.text("mes_example").splitlines()]
        spoken = (words for who, _, words in parts if who.strip().lower() in own)
        examples = [line for words in spoken if (line := cleaned(words, LINE_CHARS))]
        return Persona(text=text, manner=manner, examples=tuple(examples[:MOST_EXAMPLES]))

    @cached_property
    def own_lore(self) -> list[LoreEntry | None]:
        """Return each entry of its book as own lore of a character, None for what is left out."""
        lore = book.lore_of(self.entries, self.nickname or self.called, self.others)
        own = set(book.in_order(self.entries, lore)[:MOST_OWN])
        return [item if item in own else None for item in lore]

    @property
    def lore(self) -> list[LoreEntry]:
        """Return its book as the own lore of a character, in the order in which it is told."""
        return book.in_order(self.entries, self.own_lore)

    def report(self) -> list[str]:
        """Return lines that tell what was taken, changed and left out."""
        lore, lines = len(self.lore), len(self.persona.examples)
        taken = [field for field in WORDS if self.text(field)]
        taken += [f"mes_example ({counted(lines, 'line')} of the character's own)"] * bool(lines)
        taken += [f"character_book ({counted(lore, 'entry', 'entries')})"] * bool(lore)
        changed = ["every text is one line of plain words"]
        texts = [self.text(field) for field in V1_FIELDS]
        if any(map(book.MACRO.search, texts)):
            changed.append("macros but {{char}} and {{user}} are gone")
        if any(strip_reasoning(text) != text.strip() for text in texts):
            changed.append("marks of models, and what stands behind them, are gone")
        changed += [f"{change} (kept)" for change in book.unknown_fields(self.entries)]
        left = [field for field in LEFT_OUT if self.data.get(field)]
        if missing := len(self.entries) - lore:
            left.append(f"{counted(missing, 'entry', 'entries')}: off, empty or too many")
        kept = [field for field in KEPT if self.data.get(field)]
        rows = {"Taken": taken, "Changed": changed, "Left out of prompts": left,
                "Kept for export only": kept}  # fmt: skip
        return [f"{head}: {', '.join(row) or 'nothing'}." for head, row in rows.items()]


def read_card(raw: Json) -> CharacterCard:
    """Return the card in the object of a file; raises ConfigError."""
    data = raw.get("data") if raw.get("spec") in VERSIONS else raw
    if not isinstance(data, dict) or not any(name in data for name in V1_FIELDS[1:]):
        raise ConfigError("This is neither a character card of V1, V2 or V3 nor a lorebook.")
    for name in (*V1_FIELDS, *V2_FIELDS, "nickname"):
        if not isinstance(data.get(name) or "", str):
            raise ConfigError(f"The card's field '{name}' is no text.")
    if not isinstance(data.get("character_book") or {}, dict):
        raise ConfigError("The card's field 'character_book' is no lorebook.")
    card = CharacterCard(raw, data)
    card.entries  # noqa: B018  # raises
    return card


def exported(
    card: CharacterCard | None, name: str, persona: Persona, lore: Sequence[LoreEntry]
) -> list[Json]:
    """Return the objects of files of V2, or of V1 if nothing needs more, and V3 for a character.

    Args:
        card: the card that it came from, None without one.
        name: its name now.
        persona: the persona as it is stored.
        lore: its own lore.
    """
    data: Json = dict(card.data) if card else {"name": name}
    before = card.persona if card else Persona()
    about = replace(persona, manner="", examples=())
    if about != replace(before, manner="", examples=()):
        data |= {"description": render_persona(about), "scenario": ""}
    if persona.manner != before.manner:
        data["personality"] = persona.manner
    if persona.examples != before.examples:
        lines = [f"{{{{char}}}}: {line}" for line in persona.examples]
        data["mes_example"] = "\n".join(["<START>", *lines])
    entries, former = (card.entries, card.own_lore) if card else ([], [])
    kept, new = book.written_back(entries, former, lore)
    if kept != entries or new:
        stored = data.get("character_book") or {"extensions": {}}
        added = [book.new_entry(item, len(kept) + number) for number, item in enumerate(new)]
        data["character_book"] = {**stored, "entries": [*kept, *added]}
    if card and name != card.called:
        data["name"] = name
    raw = card.raw if card else {}
    v2, v3 = (as_version(spec, raw, data) for spec in VERSIONS)
    is_v1 = card is not None and "spec" not in raw and "character_book" not in data
    return [data if is_v1 else v2, v3]


def as_version(spec: str, raw: Json, data: Json) -> Json:
    """Return the object of a file of one version, with what else stood beside the fields."""
    required: Json = dict.fromkeys((*V1_FIELDS, *V2_FIELDS), "")
    required |= {"alternate_greetings": [], "tags": [], "extensions": {}}
    required |= {"group_only_greetings": []} if spec == V3 else {}
    beside = {name: value for name, value in raw.items() if name not in {**required, **data}}
    version = raw.get("spec_version") if raw.get("spec") == spec else None
    same = {"spec": spec, "spec_version": version or VERSIONS[spec]}
    return {**beside, **same, "data": {**required, **data}}
