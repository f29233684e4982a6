"""Lorebooks: the entries of a card's book and of SillyTavern's World Info, as lore and back.

Both forms say the same by other names. An entry stays in its form: what lore does not know, such as
a probability, is kept where it stands, and goes out again.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evennia_ai.errors import ConfigError
from evennia_ai.policy.audience import STRANGER
from evennia_ai.policy.conversation.persona_and_lore import LoreEntry, with_names
from evennia_ai.policy.sanitize import clean_heard, strip_reasoning
from evennia_ai.policy.texts import counted

Json = dict[str, Any]

BOOK_V3 = "lorebook_v3"
MOST_ENTRIES, MOST_KEYS = 2_000, 40
TEXT_CHARS, TITLE_CHARS, KEY_CHARS = 2_000, 80, 60
# The specification's name of a field, and World Info's.
WORLD_INFO = {"keys": "key", "secondary_keys": "keysecondary", "insertion_order": "order"}
DECORATOR = re.compile(r"@@(@?)(\w+)[^\n]*(?:\n|\Z)")
ACTIVE, INACTIVE = "activate", "dont_activate"
PATTERN = re.compile(r"/.+/[a-z]*", re.DOTALL)
MACRO = re.compile(r"\{\{(?! *(?:char|user) *\}\})[^{}]*\}\}", re.IGNORECASE)
# What lore does not know: what it does instead, and by which fields with which values one sees it.
UNKNOWN: Mapping[str, tuple[tuple[str, ...], tuple[Any, ...]]] = {
    "secondary keys: one key is enough": (("secondary_keys", "keysecondary"), ([],)),
    "a probability: they always come": (("probability",), (100,)),
    "sticky, cool-down or delay: each line counts alone": (("sticky", "cooldown", "delay"), (0,)),
    "a group: all of them come": (("group",), ("",)),
    "keys in one case only: any case counts": (("case_sensitive", "caseSensitive"), (False,)),
}


def is_book(raw: Json) -> bool:
    """Return True for a lorebook: World Info, or the specification's."""
    is_spec = raw.get("spec") == BOOK_V3 and isinstance(raw.get("data"), dict)
    return is_spec or ("entries" in raw and "spec" not in raw and "first_mes" not in raw)


def book_in(raw: Json) -> Json:
    """Return the book in the object of its file."""
    book: Json = raw["data"] if raw.get("spec") == BOOK_V3 else raw
    return book


def read_entries(book: Json) -> list[Json]:
    """Return the entries of a book in either form; raises ConfigError."""
    entries = book.get("entries")
    listed = list(entries.values()) if isinstance(entries, dict) else entries
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise ConfigError("The lorebook's entries are no entries.")
    if len(listed) > MOST_ENTRIES:
        raise ConfigError(f"The lorebook has more than {MOST_ENTRIES:,} entries.")
    for number, entry in enumerate(listed, 1):
        keys = [field_of(entry, name) or [] for name in ("keys", "secondary_keys")]
        texts = [entry.get("content", ""), *(entry.get(name) or "" for name in ("name", "comment"))]
        texts += [key for part in keys if isinstance(part, list) for key in part]
        marks = [entry.get(name) or 0 for name in ("enabled", "disable", "constant")]
        kinds = ((texts, str), (keys, list), (marks, int))
        if not all(isinstance(item, kind) for items, kind in kinds for item in items):
            raise ConfigError(f"Entry {number} of the lorebook has a text or keys of another kind.")
    return listed


def field_of(entry: Json, name: str) -> Any:
    return entry.get(name, entry.get(WORLD_INFO.get(name, name)))


def cleaned(text: str, limit: int) -> str:
    """Return a stranger's text as one line of plain words, without macros but the names."""
    return clean_heard(strip_reasoning(MACRO.sub("", text[: 10 * limit])), limit)


def split_decorators(content: str) -> tuple[list[str], str]:
    """Return the names of the decorators before an entry's text (V3), and the text.

    One with ``@@@`` stands in for those right before it, if none of them is known.
    """
    names, at, is_known = list[str](), 0, False
    while match := DECORATOR.match(content, at):
        is_known &= bool(match[1])
        if not is_known:
            names.append(match[2])
            is_known = match[2] in (ACTIVE, INACTIVE)
        at = match.end()
    return names, content[at:]


def is_pattern(entry: Json, key: str) -> bool:
    return bool(entry.get("use_regex")) or bool(PATTERN.fullmatch(key))


def patterns_of(entry: Json) -> list[str]:
    return [key for key in field_of(entry, "keys") or [] if is_pattern(entry, key)]


def lore_of(
    entries: Sequence[Json], name: str, others: Iterable[str] = ()
) -> list[LoreEntry | None]:
    """Return each entry as lore for a character, None for one that tells nothing.

    ``others`` are titles in lower case that none of them may have.
    """
    titles = set(others)
    return [_lore_of(entry, name, titles) for entry in entries]


def _lore_of(entry: Json, name: str, titles: set[str]) -> LoreEntry | None:
    """Return an entry as lore, and note its title, which no other has."""
    decorators, content = split_decorators((entry.get("content") or "").strip())
    text = cleaned(with_names(content, name), TEXT_CHARS)
    always = bool(entry.get("constant")) or ACTIVE in decorators
    is_off = not entry.get("enabled", True) or entry.get("disable")
    if is_off or not text or (INACTIVE in decorators and ACTIVE not in decorators):
        return None
    keys = [key for key in field_of(entry, "keys") or [] if not is_pattern(entry, key)]
    words = [cleaned(with_names(key, name), KEY_CHARS) for key in keys]
    shown = entry.get("name") or entry.get("comment") or next(iter(keys), "") or text
    title = distinct(cleaned(with_names(shown, name), TITLE_CHARS) or text[:TITLE_CHARS], titles)
    kept = tuple(dict.fromkeys(filter(None, words)))[:MOST_KEYS]
    return LoreEntry(title, text, authors=frozenset({STRANGER}), keys=kept, always=always)


def distinct(title: str, titles: set[str]) -> str:
    """Return a title that is not among others, and add it to them; a number tells it apart."""
    number, free = len(titles), title
    while free.lower() in titles:
        number += 1
        free = f"{title} ({number})"
    titles.add(free.lower())
    return free


def in_order(entries: Sequence[Json], lore: Sequence[LoreEntry | None]) -> list[LoreEntry]:
    """Return lore as a full prompt takes it: by priority, then in the order of insertion."""

    def place(pair: tuple[Json, LoreEntry | None]) -> tuple[float, float]:
        values = pair[0].get("priority"), field_of(pair[0], "insertion_order")
        first, second = (value if isinstance(value, int | float) else 0 for value in values)
        return -first, second

    ordered = sorted(zip(entries, lore, strict=True), key=place)
    return [item for _entry, item in ordered if item is not None]


def unknown_fields(entries: Iterable[Json]) -> list[str]:
    """Return a sentence for each thing that entries ask for and lore does not know."""
    counts = Counter[str]()
    for entry in entries:
        extensions = entry.get("extensions")
        fields = {**(extensions if isinstance(extensions, dict) else {}), **entry}
        for what, (names, usual) in UNKNOWN.items():
            values = [fields[name] for name in names if fields.get(name) is not None]
            counts[what] += any(value not in usual for value in values)
        counts["patterns for keys: these are not read"] += bool(patterns_of(entry))
        decorators, _text = split_decorators((entry.get("content") or "").strip())
        counts["decorators: these are not followed"] += bool({*decorators} - {ACTIVE, INACTIVE})
    return [f"{counted(n, 'entry', 'entries')} with {what}" for what, n in counts.items() if n]


def written_back(
    entries: Sequence[Json], lore: Sequence[LoreEntry | None], current: Iterable[LoreEntry]
) -> tuple[list[Json], list[LoreEntry]]:
    """Return entries as lore stands now, and the lore that came from none of them.

    An entry that nobody changed stays as it is, and one whose lore was deleted goes.
    """
    by_title = {item.title.lower(): item for item in current}
    kept: list[Json] = []
    for entry, before in zip(entries, lore, strict=True):
        now = before and by_title.pop(before.title.lower(), None)
        if before is None:
            kept.append(entry)
        elif now:
            is_same = replace(now, scopes=before.scopes, authors=before.authors) == before
            kept.append(entry if is_same else changed_entry(entry, now))
    return kept, list(by_title.values())


def changed_entry(entry: Json, now: LoreEntry) -> Json:
    """Return an entry with what lore says now, in its own form."""
    keys = "keys" if "keys" in entry else "key"
    words = [*now.keys, *patterns_of(entry)]
    return {**entry, keys: words, "content": now.text, "constant": now.always}


def new_entry(item: LoreEntry, order: int) -> Json:
    """Return lore as an entry of a card's book, with every field that V2 and V3 require."""
    return {
        "keys": [*item.keys] or [item.title], "content": item.text, "extensions": {},
        "enabled": True, "insertion_order": order, "constant": item.always, "name": item.title,
        "selective": False, "secondary_keys": [], "use_regex": False,
    }  # fmt: skip
