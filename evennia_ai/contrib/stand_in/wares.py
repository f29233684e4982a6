"""What a shop has: its prices, what it has not, and the words to an order."""

from dataclasses import replace

from evennia_ai.contrib.stand_in.languages import Intent
from evennia_ai.contrib.stand_in.passages import Passage
from evennia_ai.contrib.stand_in.recalled import told_last
from evennia_ai.contrib.stand_in.view import StandInView
from evennia_ai.contrib.stand_in.words import capitals

ROWS = 3  # that make a list


def to_order(view: StandInView, text: str, known: str, intent: Intent) -> str:
    """Return what is known of a ware, behind a word of consent if the line orders it."""
    finds, content = view.language.finds, view.language.content
    if view.language.asks(text) or not finds("orders", text) or finds("denies", known):
        return known
    is_new = any(set(content(known)).issubset(content(passage.text)) for passage in view.passages)
    is_told = any(intent.tells and intent.tells.search(item.text) for item in told_last(view))
    return view.phrase("ordered", fact=known if is_new and not is_told else "").strip()


def priced(view: StandInView, intent: Intent, text: str) -> str:
    """Return the price, or the ware, that a line asks for, or that there is none; "" if unknown."""
    scored = view.find(text, view.of(intent.sources), intent=intent)
    parts = [(at, _asked_rows(view, text, item)) for at, item in scored]
    known = view.best([(at, part) for at, part in parts if part.text])
    return known or denied(view, text)


def _asked_rows(view: StandInView, text: str, passage: Passage) -> Passage:
    """Return of a list of prices only the rows that a line asks for, "" if none is its.

    A service, "Sharpening a sword costs …", has its price only for who names the service.
    """
    rows = passage.text.rstrip(".").split(", ")
    content, service = view.language.content, view.character.language.pattern("patterns", "service")
    stems = set(content(text)).difference(content(text.split(maxsplit=1)[0]))
    hits = [row for row in rows if stems.intersection(content(row))]
    served = [row for row in hits if service.match(row)]
    named = [row for row in served if stems.intersection(content(row.split(maxsplit=1)[0]))]
    own = named or [row for row in hits if row not in served]
    if (len(rows) < ROWS and own == hits) or not stems:
        return passage
    own[:1] = (view.language.rewritten("row", row) for row in own[:1])
    return replace(passage, text=f"{capitals(', '.join(own))}." if own else "")


def told_of_ware(view: StandInView, text: str) -> str:
    """Return what is known of a thing's sale; "" if nothing."""
    tells = view.language.intent("buy").tells
    goods = [item for item in view.of(("self", "lore")) if tells and tells.search(item.text)]
    return view.best(view.find(text, goods)) or denied(view, text)


def denied(view: StandInView, text: str) -> str:
    """Return what is known of a thing if it says that there is none: "Swords are not made here."."""
    bare = view.language.pattern("patterns", "question").sub(" ", text).partition(",")[0]
    content, finds = view.language.content, view.language.finds
    stems = set(content(bare))
    none = [
        item
        for item in view.of(("self", "never", "lore"))
        if any(finds("denies", part) and stems.intersection(content(part))
               for part in item.text.replace(";", ",").split(","))
    ]  # fmt: skip
    return view.best([(1.0, item) for item in none[:1]])
